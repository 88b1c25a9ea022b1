import CofferCore
import Foundation

/// A vault of its own, mounted by `coffer-mount`.
///
/// If this process can't unmount it, `packaging/bench` does.
final class MountedVault {
    let path: String
    private let vault: FilesVault
    private let process = Process()

    /// Makes a vault and mounts it.
    ///
    /// - Throws: `notAvailable` if it can't be mounted.
    init(_ setting: Setting) throws {
        vault = try FilesVault(setting, "mountable")
        path = "\(setting.directory)/mounted-vault"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let program = URL(filePath: setting.daemonPath).deletingLastPathComponent().appending(path: "coffer-mount").path
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            BenchmarkDaemon.endingWithUs + [program, "--foreground", "--socket", vault.daemon.socketPath, path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<500 where process.isRunning {
            if try isMounted { return }
            usleep(10_000)
        }
        process.terminate()
        throw CofferError(.notAvailable, "coffer-mount has not mounted \(quotedForDisplay(path))")
    }

    private var isMounted: Bool {
        get throws {
            try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).contains(" \(path) fuse.coffer ")
        }
    }

    /// The resident memory of the mount and of the daemon in KiB.
    func memory() throws -> (mount: Int, daemon: Int) {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8)
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (pages * Int(getpagesize()) >> 10, try vault.daemon.memory().resident)
    }

    func unmount() throws {
        process.terminate()
        process.waitUntilExit()
        vault.daemon.stop()
    }
}
