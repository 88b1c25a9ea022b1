import Foundation

/// The real `coffer-mount` on a vault of its own.
package final class MountedVault {
    /// The daemon, whose vault is mounted.
    package let daemon: DaemonProcess
    /// The directory at which it is mounted.
    package let path: String
    private let process = Process()
    private let errorPath: String

    /// Whether FUSE can be used here: not in containers without its device, and by users whom its mode keeps out.
    package static let isPossible: Bool = {
        let descriptor = open("/dev/fuse", O_RDWR)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// Mounts a vault, and waits until it is there.
    ///
    /// - Parameters:
    ///   - daemon: The daemon of an existing vault; `nil` makes a vault.
    ///   - passcode: The passcode of a new vault; `nil` for none.
    ///   - daemonOptions: Options of the daemon of a new vault.
    ///   - options: Options of `coffer-mount`.
    package init(
        of daemon: DaemonProcess? = nil,
        passcode: String? = nil,
        daemonOptions: [String] = [],
        _ options: [String] = []
    ) throws {
        self.daemon = try daemon ?? Self.makeVault(passcode, daemonOptions)
        let directory = self.daemon.directory
        path = directory.appending("mount-\(UInt32.random(in: 0...UInt32.max))")
        errorPath = path + ".errors"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        // Foundation passes on the signals that the threads of tasks block, with which it could not be ended.
        process.executableURL = URL(filePath: "/usr/bin/env")
        let program = "\(Project.binaries)/coffer-mount"
        process.arguments =
            ["--default-signal", program, path, "--socket", self.daemon.socketPath, "--foreground"] + options
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try Data().write(to: URL(filePath: errorPath))
        process.standardError = FileHandle(forWritingAtPath: errorPath)
        try process.run()
        try awaitMount()
    }

    private static func makeVault(_ passcode: String?, _ options: [String]) throws -> DaemonProcess {
        let daemon = try DaemonProcess(options)
        let words = passcode == nil ? ["--no-passcode"] : ["--kdf", "interactive"]
        let made = try daemon.coffer(["init", "--no-recovery-key"] + words, passcode: passcode)
        guard made.status == 0 else { throw MountError(made.errors) }
        return daemon
    }

    private func awaitMount() throws {
        for _ in 0..<6000 {
            if isMounted { return }
            if !process.isRunning { throw MountError(errors) }
            usleep(10_000)
        }
        throw MountError("it does not mount")
    }

    deinit {
        kill()
        _ = try? runCommand("/bin/umount", ["-l", path])
        rmdir(path)
    }

    /// What it has written to standard error.
    package var errors: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

    /// Whether something is mounted there.
    package var isMounted: Bool {
        let table = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        return table.contains(" \(path) fuse.coffer ")
    }

    /// The process of the mount.
    package var processID: Int32 { process.processIdentifier }

    /// Kills the process of the mount.
    package func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the mount as the service manager does.
    ///
    /// - Returns: Its exit code.
    package func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Waits for the process, after it was unmounted.
    ///
    /// - Returns: Its exit code.
    package func waitUntilExit() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The path of a file in the mount.
    package func appending(_ name: String) -> String { "\(path)/\(name)" }

    /// Runs a script of bash in the mount.
    package func run(_ script: String) throws -> CommandResult {
        let environment = ["HOME": daemon.directory.path, "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"]
        return try runCommand(
            "/bin/bash",
            ["-euo", "pipefail", "-c", script],
            environment: environment,
            directory: path
        )
    }
}

/// A mount that could not be made.
package struct MountError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
