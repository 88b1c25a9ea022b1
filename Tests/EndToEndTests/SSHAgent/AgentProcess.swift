import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The real `coffer ssh-agent`, for a daemon with a vault, and the programs of SSH that use it.
final class AgentProcess {
    let daemon: DaemonProcess
    private var process: Process?

    /// Makes a vault with the passcode of the tests, and starts the agent.
    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try start()
    }

    deinit { stop() }

    var socketPath: String { daemon.directory.appending("agent") }

    /// Starts the agent, and waits until it has printed the line for the shell.
    func start(_ environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "\(Project.binaries)/coffer")
        process.arguments = ["ssh-agent", "--listen", socketPath]
        let own = ["PATH": "/usr/bin:/bin", "COFFER_SOCKET": daemon.socketPath]
        process.environment = own.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = try daemon.directory.write([], to: "agent.out")
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: try daemon.directory.write([], to: "agent.err"))
        try process.run()
        self.process = process
        for _ in 0..<500 {
            if try String(contentsOfFile: output, encoding: .utf8)
                == "SSH_AUTH_SOCK=\(socketPath); export SSH_AUTH_SOCK;\n"
            {
                return
            }
            usleep(10_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    func stop() {
        // Foundation passes on blocked signals, so that SIGTERM would be none.
        if let process { kill(process.processIdentifier, SIGKILL) }
        process?.waitUntilExit()
        process = nil
    }

    /// Whether it still runs.
    var isRunning: Bool { process?.isRunning ?? false }

    /// What it has written to standard error.
    var errors: String {
        (try? String(contentsOfFile: daemon.directory.appending("agent.err"), encoding: .utf8)) ?? ""
    }

    /// Runs a script of bash in the directory of the daemon, with the agent.
    @discardableResult
    func run(_ script: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "bash", "-c", script],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "SSH_AUTH_SOCK": socketPath, "HOME": daemon.directory.path,
                "PATH": "\(Project.binaries):/usr/bin:/bin:/usr/sbin", "TMPDIR": daemon.directory.path,
            ],
            directory: daemon.directory.path
        )
    }

    /// Runs a script that must succeed, and returns its output.
    @discardableResult
    func succeed(_ script: String) throws -> String {
        let result = try run(script)
        try #require(result.status == 0, "\(script): \(result.text)\(result.errors)\(errors)")
        return result.text
    }

    /// Sends bytes on a connection of their own, and returns the answer without its length; `nil` if there is none.
    func exchange(_ bytes: [UInt8]) throws -> [UInt8]? {
        let socket = try UnixSocket.connect(to: socketPath)
        try socket.write(all: bytes.span.bytes)
        shutdown(socket.number, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(socket.number, &piece, piece.count)
            if count <= 0 { break }
            answer += piece.prefix(count)
        }
        return answer.count < 4 ? nil : Array(answer.dropFirst(4))
    }

    /// Sends a message, with its length.
    func ask(_ message: [UInt8]) throws -> [UInt8]? { try exchange(Self.string(message)) }

    /// A string of SSH.
    static func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let count = UInt32(bytes.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + bytes
    }
}

/// The types of keys that SSH has, as options of `ssh-keygen`.
enum AgentKeyKind: String, CaseIterable {
    case ed25519 = "-t ed25519"
    case p256 = "-t ecdsa -b 256"
    case p384 = "-t ecdsa -b 384"
    case rsa2048 = "-t rsa -b 2048"
    case rsa3072 = "-t rsa -b 3072"

    /// Makes `key` and `key.pub`.
    var making: String { "ssh-keygen -q \(rawValue) -N '' -C it -f key" }
}
