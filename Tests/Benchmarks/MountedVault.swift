import CofferCore
import Foundation

/// A vault of its own, mounted by `coffer mount`.
///
/// If this process can't unmount it, `packaging/bench` does.
final class MountedVault {
    let path: String
    private let vault: FilesVault
    private let program: String

    /// Makes a vault and mounts it.
    ///
    /// - Throws: `notAvailable` if it can't be mounted.
    init(_ setting: Setting) throws {
        vault = try FilesVault(setting, "mountable")
        path = "\(setting.directory)/mounted-vault"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        program = URL(filePath: setting.daemonPath).deletingLastPathComponent().appending(path: "coffer").path
        try coffer("mount")
    }

    private func coffer(_ verb: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [verb, "--socket", vault.daemon.socketPath, path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CofferError(.notAvailable, "coffer \(verb) has failed at \(quotedForDisplay(path))")
        }
    }

    var statePath: String { vault.daemon.statePath }
    var socketPath: String { vault.daemon.socketPath }

    func connect() throws -> BenchmarkConnection { try vault.daemon.connect() }

    /// The resident memory of the daemon in KiB.
    func memory() throws -> Int { try vault.daemon.memory().resident }

    func unmount() throws {
        try coffer("umount")
        vault.daemon.stop()
    }
}
