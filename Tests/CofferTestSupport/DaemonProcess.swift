package import CofferClient
internal import CofferCore
import Foundation

/// The real `cofferd`, on its own vault in a temporary directory.
package final class DaemonProcess {
    /// The directory of the vault, the socket and the files of a test.
    package let directory: TemporaryDirectory
    private var process: Process?
    private let arguments: [String]
    private let launcher: [String]

    /// The passcode of the tests.
    package static let passcode = "correct horse battery staple"

    /// Starts a daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - directory: The directory of an existing vault; `nil` makes a new one.
    ///   - arguments: Options of the daemon.
    ///   - launcher: The path and the arguments of a program that executes the daemon.
    package init(
        in directory: TemporaryDirectory? = nil,
        _ arguments: [String] = [],
        launchedBy launcher: [String] = []
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        self.arguments = arguments
        self.launcher = launcher
        try start()
    }

    deinit { kill() }

    /// The state directory.
    package var statePath: String { directory.appending("state") }
    /// The socket.
    package var socketPath: String { directory.appending("socket") }
    /// Lets every user connect, as to the machine's vault, until the daemon makes its socket again.
    package func openToOthers() {
        chmod(directory.path, 0o711)
        chmod(socketPath, 0o666)
    }

    /// The daemon's process.
    package var processID: Int32 { process?.processIdentifier ?? 0 }
    /// Whether the process is running.
    package var isRunning: Bool { process?.isRunning ?? false }

    /// The removed files that it holds open, which only root may see.
    package var removedFiles: [String] {
        let folder = "/proc/\(processID)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
            .filter { $0.hasSuffix(" (deleted)") }
    }

    /// How a process ended.
    package enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// How it ended; `nil` while it runs.
    package var ending: Ending? {
        guard let process, !process.isRunning else { return nil }
        return process.terminationReason == .exit
            ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
    }

    private func start() throws {
        try launch()
        try awaitListening()
    }

    /// Starts the daemon without waiting until it listens.
    package func launch() throws {
        let process = Process()
        let words =
            launcher + ["\(Project.binaries)/cofferd", "--socket", socketPath, "--state", statePath] + arguments
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ["PATH": "/usr/bin:/bin"]
        // With inherited streams, a daemon that survives a crash of the tests would block the test runner.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
    }

    /// Waits until the daemon listens.
    ///
    /// - Throws: If it has ended, or does not listen in time.
    package func awaitListening() throws {
        for _ in 0..<6000 {
            if (try? connect()) != nil { return }
            if ending != nil { throw POSIXError(.ECHILD) }
            usleep(10_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    /// Kills the daemon, as a power cut would.
    package func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the daemon in order.
    ///
    /// - Returns: Its exit code.
    @discardableResult package func stop() -> Int32 {
        guard let process else { return -1 }
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Kills the daemon and starts another one on the same vault.
    package func restart() throws {
        kill()
        try start()
    }

    /// A new connection.
    package func connect() throws -> BlockingClient { try BlockingClient(checkedAt: socketPath) }

    /// Runs `coffer` against this daemon.
    package func coffer(
        _ arguments: [String],
        input: [UInt8] = [],
        passcode: String? = nil
    ) throws -> CommandResult {
        try runCommand(
            "\(Project.binaries)/coffer",
            arguments + (passcode == nil ? [] : ["--passcode-fd", "3"]),
            environment: ["COFFER_SOCKET": socketPath, "TZ": "UTC"],
            input: input,
            directory: directory.path,
            passcode: passcode
        )
    }
}
