import CofferTestSupport
import Foundation

/// A vault, the programs under the names of its links, and whoever runs them, with a home of its own.
struct CredentialScene {
    let daemon: DaemonProcess
    private let preamble: String

    /// - Parameter preamble: Lines of a shell before each of the scene's.
    init(preamble: String = "") throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault()
        let links = daemon.directory.appending("bin")
        try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: true)
        for name in ["coffer", "cargo-credential-coffer", "docker-credential-coffer", "git-credential-coffer"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(links)/\(name)",
                withDestinationPath: "\(Project.binaries)/coffer"
            )
        }
        self.preamble = preamble
    }

    /// Runs a line of bash without a terminal.
    func run(_ line: String, _ environment: [String: String] = [:]) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "100", "bash", "-c", preamble + line],
            environment: self.environment.merging(environment) { $1 },
            directory: daemon.directory.path
        )
    }

    /// Runs a line of bash on a terminal.
    func runOnTerminal(
        _ line: String,
        _ answers: [(prompt: String, answer: Answer)]
    ) throws -> (shown: String, status: Int32) {
        let path = "export PATH=\(environment["PATH"] ?? "") GIT_CONFIG_NOSYSTEM=1; "
        return try onTerminal(daemon, path + preamble + line, answers, home: daemon.directory.path)
    }

    private var environment: [String: String] {
        [
            "COFFER_SOCKET": daemon.socketPath, "HOME": daemon.directory.path, "GIT_CONFIG_NOSYSTEM": "1",
            "PATH": "\(links):/usr/sbin:/usr/bin:/sbin:/bin",
        ]
    }

    /// The folder of the links to `coffer`.
    var links: String { daemon.directory.appending("bin") }

    /// Leaves one verb to whoever runs the programs.
    func entitle(to verb: String) throws {
        try write("[Client]\nUID=\(geteuid())\nGroups=default\nVerbs=\(verb)\n", to: "e/10.conf")
        kill(daemon.processID, SIGHUP)
        guard try settles({ try daemon.coffer(["lock"]).status == 77 }) else { throw POSIXError(.ETIMEDOUT) }
    }

    /// Writes a file, which a line reads where a secret must not be in the line.
    func write(_ text: String, to name: String) throws {
        try daemon.directory.write(Array(text.utf8), to: name)
    }

    /// Where the secret in the file `needle` is seen by every user: in the arguments and variables of a process.
    static let sweep =
        "grep --files-with-matches --text --fixed-strings --file=needle /proc/[0-9]*/{cmdline,environ} 2>/dev/null"
}
