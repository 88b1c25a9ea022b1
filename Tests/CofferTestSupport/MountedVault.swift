import Foundation

/// A vault of its own that `coffer mount` has mounted.
package final class MountedVault {
    /// The daemon, whose vault is mounted, and which answers the kernel.
    package let daemon: DaemonProcess
    /// The directory at which it is mounted.
    package let path: String
    private let options: [String]

    /// Whether FUSE can be used here: not in containers without its device, and by users whom its mode keeps out.
    package static let isPossible: Bool = {
        let descriptor = open("/dev/fuse", O_RDWR)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// Mounts a vault.
    ///
    /// - Parameters:
    ///   - daemon: The daemon of an existing vault; `nil` makes a vault.
    ///   - passcode: The passcode of a new vault; `nil` for none.
    ///   - daemonOptions: Options of the daemon of a new vault.
    ///   - options: Options of `coffer mount`.
    package init(
        of daemon: DaemonProcess? = nil,
        passcode: String? = nil,
        daemonOptions: [String] = [],
        _ options: [String] = []
    ) throws {
        self.daemon = try daemon ?? Self.makeVault(passcode, daemonOptions)
        self.options = options
        path = self.daemon.directory.appending("mount-\(UInt32.random(in: 0...UInt32.max))")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try mount()
    }

    private static func makeVault(_ passcode: String?, _ options: [String]) throws -> DaemonProcess {
        let daemon = try DaemonProcess(options)
        let words = passcode == nil ? ["--no-passcode"] : ["--kdf", "interactive"]
        let made = try daemon.coffer(["init", "--no-recovery-key"] + words, passcode: passcode)
        guard made.status == 0 else { throw MountError(made.errors) }
        return daemon
    }

    /// Mounts it again at the same place, after its mount has ended.
    package func mount() throws {
        let made = try daemon.coffer(["mount", path] + options)
        guard made.status == 0 else { throw MountError(made.errors) }
    }

    /// Starts the daemon again after a kill, which ends the mount, and mounts it again.
    package func restart() throws {
        try daemon.restart()
        try mount()
    }

    deinit {
        kill()
        rmdir(path)
    }

    /// Whether something is mounted there.
    package var isMounted: Bool {
        let table = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        return table.contains(" \(path) fuse.coffer ")
    }

    /// Unmounts it in order.
    package func unmount() throws {
        let ended = try daemon.coffer(["umount", path])
        guard ended.status == 0 else { throw MountError(ended.errors) }
    }

    /// Takes the mount out of the tree, whoever uses it.
    package func kill() { _ = try? runCommand("/bin/umount", ["-l", path]) }

    /// Ends the kernel's connection to the daemon, which only root may do: everything below the directory is `ENOTCONN`.
    package func abort() throws {
        // While a directory of it is open, the mount stays in the tree.
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        guard directory >= 0, umount2(path, Int32(MNT_FORCE)) < 0, errno == EBUSY else {
            throw MountError("the mount can't be aborted: errno \(errno)")
        }
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
