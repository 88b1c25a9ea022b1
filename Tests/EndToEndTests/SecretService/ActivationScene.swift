import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A person with a home and a session's bus of their own, which starts what the files in two directories say: the person's,
/// and that of the machine.
final class ActivationScene {
    /// Whether what it needs is installed.
    static let isPossible =
        ["/usr/bin/dbus-daemon", "/usr/bin/busctl", "/usr/lib/python3/dist-packages/dbus"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }

    /// Everything of the scene.
    let directory: TemporaryDirectory
    private let bus: Process
    private var owner: Process?

    /// The name that programs ask for.
    static let name = "org.freedesktop.secrets"
    /// A program that has the name until the bus goes, or it is killed.
    private static let owning = """
        import dbus, time
        bus = dbus.SessionBus()
        bus.request_name("\(name)", 4)
        while bus.get_name_owner("org.freedesktop.DBus"): time.sleep(0.05)
        """

    /// Starts the bus, and installs `coffer` with a program beside it that does no more than to have the name.
    init() throws {
        directory = try TemporaryDirectory()
        for folder in ["home", "tools", "bin", "bin/served", "machine/dbus-1/services"] {
            try FileManager.default.createDirectory(
                atPath: directory.appending(folder),
                withIntermediateDirectories: true
            )
        }
        for tool in ["env", "timeout", "busctl", "systemctl"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.appending("tools/\(tool)"),
                withDestinationPath: "/usr/bin/\(tool)"
            )
        }
        try FileManager.default.copyItem(
            atPath: "\(Project.binaries)/coffer",
            toPath: directory.appending("bin/coffer")
        )
        let served = directory.appending("bin/served/coffer-secret-service")
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: python, toPath: served)
        try directory.write(Array(Self.owning.utf8), to: "own.py")
        let script = "#!/bin/sh\nexec \(served) \(directory.appending("own.py"))\n"
        try directory.write(Array(script.utf8), to: "bin/coffer-secret-service", mode: 0o755)
        let configuration = """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory.appending("bus"))</listen>
              <servicedir>\(directory.appending("home/.local/share/dbus-1/services"))</servicedir>
              <servicedir>\(directory.appending("machine/dbus-1/services"))</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        bus = Process()
        bus.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
        bus.arguments = [
            "--nofork", "--nopidfile", "--config-file", try directory.write(Array(configuration.utf8), to: "bus.conf"),
        ]
        bus.environment = environment
        bus.standardInput = FileHandle.nullDevice
        bus.standardOutput = FileHandle.nullDevice
        bus.standardError = FileHandle.nullDevice
        try bus.run()
        let isUp = settles { FileManager.default.fileExists(atPath: directory.appending("bus")) || !bus.isRunning }
        try #require(isUp && bus.isRunning)
    }

    deinit {
        // Foundation passes on blocked signals, so that SIGTERM would be none.
        for process in [owner, bus] { if let process { kill(process.processIdentifier, SIGKILL) } }
        bus.waitUntilExit()
        owner?.waitUntilExit()
    }

    /// Where the person's file is.
    var filePath: String { directory.appending("home/.local/share/dbus-1/services/\(Self.name).service") }
    /// The program that Coffer has beside it.
    var programPath: String { directory.appending("bin/coffer-secret-service") }
    /// The variables of the session; nothing of the session in which the tests run is reached.
    var environment: [String: String] {
        [
            "HOME": directory.appending("home"), "XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin",
            "XDG_DATA_DIRS": directory.appending("machine"),
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.appending("bus"))",
        ]
    }

    /// Runs `coffer secret-service`.
    ///
    /// - Parameters:
    ///   - words: The rest of the command line.
    ///   - changes: Variables that are otherwise than in the session.
    func run(_ words: String..., with changes: [String: String] = [:]) throws -> CommandResult {
        try runCommand(
            directory.appending("bin/coffer"),
            ["secret-service"] + words,
            environment: environment.merging(changes) { $1 }
        )
    }

    /// What `coffer secret-service status --json` prints.
    func status() throws -> JSONObject {
        let result = try run("status", "--json")
        try #require(result.status == 0, "\(result.errors)")
        return try #require(try JSONValue(parsing: result.output.span.bytes).objectValue)
    }

    /// Writes a file by which the bus starts another program, which may be the machine's.
    func writeForeignFile(to path: String) throws {
        let folder = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = "[D-BUS Service]\nName=\(Self.name)\nExec=/usr/bin/false --start\n"
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// The person's file; `nil` if there is none.
    var file: String? { try? String(contentsOfFile: filePath, encoding: .utf8) }

    /// Calls a method of the bus.
    func call(_ method: String, _ arguments: String...) throws -> CommandResult {
        let bus = "org.freedesktop.DBus"
        return try runCommand(
            "/usr/bin/busctl",
            ["--user", "call", bus, "/org/freedesktop/DBus", bus, method] + arguments,
            environment: environment
        )
    }

    /// Has the bus start a program for the name, as a program does that asks for a secret.
    func activate() throws -> CommandResult { try call("StartServiceByName", "su", Self.name, "0") }

    /// Whether the bus would start a program for the name.
    func isActivatable() throws -> Bool { try call("ListActivatableNames").text.contains(Self.name) }

    /// Has another program own the name, and returns its process.
    func startForeignOwner() throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [directory.appending("own.py")]
        process.environment = environment
        process.standardError = FileHandle.nullDevice
        try process.run()
        owner = process
        try #require(try settles { try call("NameHasOwner", "s", Self.name).text == "b true\n" })
        return process.processIdentifier
    }

    /// Ends that program.
    func endForeignOwner() throws {
        if let owner { kill(owner.processIdentifier, SIGKILL) }
        owner?.waitUntilExit()
        try #require(try settles { try call("NameHasOwner", "s", Self.name).text == "b false\n" })
    }
}
