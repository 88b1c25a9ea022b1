import Foundation

/// The real `coffer-secret-service`, on a bus of its own, for the vault of a daemon of its own.
package final class SecretServiceProcess {
    package let bus: SessionBus
    package let daemon: DaemonProcess
    private let arguments: [String]
    private let variables: [String: String]
    private var process: Process?

    /// Makes a vault with the passcode of the tests, and starts the service.
    ///
    /// - Parameters:
    ///   - arguments: Options of the service.
    ///   - variables: Variables of the service beside those of programs that use it.
    ///   - daemonArguments: Options of the daemon.
    ///   - passcode: The passcode of the vault; `nil` for none.
    ///   - hasVault: Whether there is a vault.
    package init(
        _ arguments: [String] = [],
        variables: [String: String] = [:],
        daemon daemonArguments: [String] = [],
        passcode: String? = DaemonProcess.passcode,
        hasVault: Bool = true
    ) throws {
        bus = try SessionBus()
        daemon = try DaemonProcess(daemonArguments)
        self.arguments = arguments
        self.variables = variables
        if hasVault { try daemon.connect().makeVault(passcode: passcode) }
        try daemon.directory.write(Self.calls.utf8, to: "calls.py")
        try start()
    }

    deinit { kill() }

    /// Starts the service, and waits until it owns its name.
    ///
    /// - Throws: If it has ended, or if another process owns the name.
    package func start() throws {
        try launch()
        guard settles({ !isRunning || owner != nil }), isRunning else { throw ServiceError(errors) }
        guard owner == processID else { throw ServiceError("the process \(owner ?? 0) owns the name") }
    }

    /// Starts the service without waiting for anything.
    package func launch() throws {
        let process = Process()
        // Foundation passes on the signals that the threads of tasks block.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["--default-signal", "\(Project.binaries)/coffer-secret-service"] + arguments
        // It has a screen, and no pinentry: nobody can be asked.
        let alone = ["PATH": daemon.directory.path, "DISPLAY": ":0"]
        process.environment = environment.merging(alone) { $1 }.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: try daemon.directory.write([], to: "service.err"))
        try process.run()
        self.process = process
    }

    /// The environment of programs that use the service.
    package var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": daemon.directory.path, "LC_ALL": "C.UTF-8",
            "COFFER": "\(Project.binaries)/coffer", "COFFER_SOCKET": daemon.socketPath,
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "PYTHONPATH": daemon.directory.path,
            "PYTHONDONTWRITEBYTECODE": "1",
        ]
    }

    /// The process that owns the name of the Secret Service on the bus.
    package var owner: Int32? {
        bus.ask("GetNameOwner", "org.freedesktop.secrets").flatMap { bus.ask("GetConnectionUnixProcessID", $0) }
            .flatMap { Int32($0) }
    }

    package var processID: Int32 { process?.processIdentifier ?? 0 }
    package var isRunning: Bool { process?.isRunning ?? false }

    /// What it has written to standard error.
    package var errors: String {
        String(decoding: daemon.directory.contents("service.err") ?? [], as: UTF8.self)
    }

    /// Waits until it ends by itself.
    ///
    /// - Returns: Its exit code; `nil` if a signal has ended it.
    package func awaitEnd() -> Int32? {
        guard let process else { return nil }
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Ends it in order.
    ///
    /// - Returns: Its exit code; `nil` if a signal has ended it.
    @discardableResult package func stop() -> Int32? {
        process?.terminate()
        return awaitEnd()
    }

    /// Kills it.
    package func kill() {
        guard let process, process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Runs a program that uses the service.
    package func run(_ path: String, _ arguments: [String] = [], input: [UInt8] = []) throws -> CommandResult {
        try runCommand(
            path,
            arguments,
            environment: environment,
            input: input,
            directory: daemon.directory.path
        )
    }

    /// Runs a script of Python with the functions of `calls.py`.
    package func result(of script: String, _ arguments: [String] = []) throws -> CommandResult {
        let path = try daemon.directory.write("from calls import *\n\(script)\n".utf8, to: "script.py")
        return try run("/usr/bin/python3", [path] + arguments)
    }

    /// Runs a script of Python with the functions of `calls.py`, which ends at the first assertion that does not hold.
    ///
    /// - Throws: What it has written to standard error.
    package func perform(_ script: String, _ arguments: [String] = []) throws {
        let result = try result(of: script, arguments)
        if !isRunning { throw ServiceError("the service has ended: \(errors)\(result.errors)") }
        guard result.status == 0 else {
            throw ServiceError("status \(result.status): \(result.text)\(result.errors)\(errors)")
        }
    }
}

/// A service that could not be started, or does something else than a script expects.
package struct ServiceError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
