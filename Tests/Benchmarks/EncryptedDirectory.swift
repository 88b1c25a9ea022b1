import CofferCore
import Foundation

/// A mounted directory of gocryptfs.
///
/// If this process can't unmount it, `packaging/bench` does.
final class EncryptedDirectory {
    let path: String
    /// Where its sealed files are.
    let sealedPath: String
    private let process = Process()

    /// Mounts the directory.
    ///
    /// - Returns: `nil` if gocryptfs is not installed or can't mount.
    init?(_ setting: Setting) throws {
        path = "\(setting.directory)/mounted"
        sealedPath = "\(setting.directory)/gocryptfs"
        guard let program = Command.path(of: "gocryptfs"), unsafe access("/dev/fuse", R_OK | W_OK) == 0 else {
            return nil
        }
        let passwordFile = "\(setting.directory)/gocryptfs.password"
        for directory in [path, sealedPath] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        }
        try Data("correct horse battery staple".utf8).write(to: URL(filePath: passwordFile))
        try Command.run(program, ["-init", "-quiet", "-scryptn", "10", "-passfile", passwordFile, sealedPath])
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            BenchmarkDaemon.endingWithUs + [program, "-fg", "-quiet", "-passfile", passwordFile, sealedPath, path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<500 where process.isRunning {
            if try Self.isMounted(path) { return }
            usleep(10_000)
        }
        process.terminate()
        return nil
    }

    private static func isMounted(_ path: String) throws -> Bool {
        try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8).contains(" \(path) fuse.gocryptfs ")
    }

    func unmount() throws {
        guard let unmounter = Command.path(of: "fusermount3") ?? Command.path(of: "fusermount") else { return }
        try Command.run(unmounter, ["-u", path])
        // Some versions stay now and then, with nothing left to serve.
        for _ in 0..<200 where process.isRunning { usleep(10_000) }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }
}
