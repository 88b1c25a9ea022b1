import Foundation

/// A daemon whose state is on a disk of its own, which can be filled to the last byte.
package final class SmallDisk {
    /// The daemon.
    package let daemon: DaemonProcess
    private let state: String
    private var filler: String { "\(state)/filler" }

    /// - Parameter mebibytes: Its size.
    package init(mebibytes: Int = 4) throws {
        let directory = try TemporaryDirectory()
        state = directory.appending("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let options = "size=\(mebibytes)m,mode=0700"
        let mounted = try runCommand("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", state])
        guard mounted.status == 0 else { throw MountError(mounted.errors) }
        daemon = try DaemonProcess(in: directory)
    }

    deinit {
        daemon.kill()
        _ = try? runCommand("/bin/umount", ["--lazy", state])
    }

    /// What is free.
    package var freeBytes: Int {
        var disk = statvfs()
        guard statvfs(state, &disk) == 0 else { return -1 }
        return Int(disk.f_bavail) * Int(disk.f_frsize)
    }

    /// Takes the last byte.
    package func fill() throws {
        if !FileManager.default.fileExists(atPath: filler) { try Data().write(to: URL(filePath: filler)) }
        let handle = try FileHandle(forWritingTo: URL(filePath: filler))
        try handle.seekToEnd()
        // The daemon may truncate its log meanwhile.
        repeat {
            while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
        } while freeBytes > 0
        try handle.close()
        guard freeBytes == 0 else { throw MountError("\(freeBytes) bytes are free") }
    }

    /// Frees what was taken.
    package func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

    /// The exit code of `coffer`.
    package func run(_ arguments: String..., input: [UInt8] = [], passcode: String? = nil) throws -> Int32 {
        let result = try daemon.coffer(arguments, input: input, passcode: passcode)
        if result.status != 0 { lastErrors = result.errors }
        return result.status
    }

    /// What `coffer` has said when it failed last.
    package private(set) var lastErrors = ""
}
