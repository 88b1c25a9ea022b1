import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A verb that writes to a file, and the request in whose middle it is stopped.
struct FileWriter: CustomTestStringConvertible, Sendable {
    let arguments: [String]
    let method: String
    /// How many of these requests are answered before.
    let answeredCount: Int
    let state: String
    /// Whether it replaces a file that is there.
    let replaces: Bool

    private init(_ arguments: String, _ method: String, answered: Int = 0, state: String = "unlocked", replaces: Bool) {
        self.arguments = arguments.split(separator: " ").map(String.init)
        self.method = method
        answeredCount = answered
        self.state = state
        self.replaces = replaces
    }

    var testDescription: String { arguments.joined(separator: " ") }

    static let all = [
        FileWriter("get a --output out", "item.get", replaces: true),
        FileWriter("file read a --output out", "file.read", answered: 1, replaces: true),
        FileWriter("doctor --salvage a --output out", "file.salvage", replaces: false),
        FileWriter("init --passcode-fd 0 --recovery-key-file out", "vault.init", state: "noVault", replaces: false),
        FileWriter("slot add --passcode-fd 0 --recovery-key-file out", "slot.add", replaces: false),
    ]
}

/// What is in a directory after a verb that writes there was ended in the middle.
@Suite struct OutputFileTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(Array("pass one".utf8), to: "pass")
    }

    /// A daemon that writes a part, or sends one, and says no more.
    private func daemon(_ writer: FileWriter, closes: Bool, _ reached: DispatchSemaphore) throws -> AnsweringDaemon {
        let rpc = try OpenRPC()
        return try AnsweringDaemon(at: folder.appending("socket")) {
            var count = 0
            return { request, descriptor in
                if request.method == writer.method {
                    count += 1
                    if count > writer.answeredCount {
                        switch descriptor {
                        case .some(let target): writeAll(target.number, Array(repeating: 0x73, count: 1 << 20))
                        case .none: break
                        }
                        reached.signal()
                        return closes ? [[]] : []
                    }
                }
                let fixed: [String: JSONValue] = ["state": .string(writer.state), "bytes": 1000]
                var answers = HostileAnswers(rpc.document, choice: 1, fixed: fixed)
                let schema = try rpc.method(request.method)["result"]?.objectValue?["schema"] ?? false
                let result: JSONObject = ["result": try answers.value(of: schema)]
                return [AnsweringDaemon.frame(result, to: request, payload: Array(repeating: 0x73, count: 1000))]
            }
        }
    }

    private func start(_ writer: FileWriter) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["--default-signal", "\(Project.binaries)/coffer"] + writer.arguments
        process.environment = ["PATH": "/usr/bin:/bin", "COFFER_SOCKET": folder.appending("socket")]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput = FileHandle(forReadingAtPath: folder.appending("pass"))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "socket" }.sorted()
    }

    @Test(arguments: FileWriter.all, [SIGINT, SIGTERM, SIGHUP, SIGKILL])
    func `a signal ends a verb that writes to a file, and nothing is left`(writer: FileWriter, signal: Int32) throws {
        let reached = DispatchSemaphore(value: 0)
        let daemon = try daemon(writer, closes: false, reached)
        if writer.replaces { try folder.write(Array("old".utf8), to: "out") }
        let before = try names()
        let process = try start(writer)
        try #require(reached.wait(timeout: .now() + 60) == .success)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == signal)
        #expect(try names() == before)
        #expect(folder.contents("out") == (writer.replaces ? Array("old".utf8) : nil))
        withExtendedLifetime(daemon) {}
    }

    @Test(arguments: FileWriter.all)
    func `nor is anything left by a daemon that goes away`(writer: FileWriter) throws {
        let daemon = try daemon(writer, closes: true, DispatchSemaphore(value: 0))
        let before = try names()
        let process = try start(writer)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 69)
        #expect(try names() == before)
        withExtendedLifetime(daemon) {}
    }

    @Test func `nor by a file that may not grow, and what was there stays`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        try client.put("a", Array(repeating: 0x73, count: 300_000))
        try daemon.directory.write(Array("old".utf8), to: "out")
        let before = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path).sorted()
        let line = "ulimit -f 100; exec \(Project.binaries)/coffer file read a --output out"
        let result = try runCommand(
            "/bin/bash",
            ["-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath],
            directory: daemon.directory.path
        )
        #expect(result.status != 0)
        #expect(daemon.directory.contents("out") == Array("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path).sorted() == before)
    }

    @Test(arguments: [["get", "a", "--output", "out"], ["file", "read", "a", "--output", "out"]])
    func `what is written is for its owner only, whatever the mask is`(arguments: [String]) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let content = [UInt8](repeating: 0x73, count: 300_000)
        try client.put("a", content)
        for mask in ["0", "777"] {
            let line = "umask \(mask); exec \(Project.binaries)/coffer \(arguments.joined(separator: " "))"
            let result = try runCommand(
                "/bin/bash",
                ["-c", line],
                environment: ["COFFER_SOCKET": daemon.socketPath],
                directory: daemon.directory.path
            )
            #expect(result.status == 0, "\(result.errors)")
            #expect(daemon.directory.contents("out") == content)
            let path = daemon.directory.appending("out")
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }
}
