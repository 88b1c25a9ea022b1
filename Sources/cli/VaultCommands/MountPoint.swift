internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import Glibc

/// The directory at which a vault is mounted.
struct MountPoint: ~Copyable {
    /// Its absolute path, without symbolic links.
    let path: String
    /// The directory below the mount, locked: of two processes that mount there at once, one sees the other's mount.
    private let directory: OwnedDescriptor

    /// Checks a directory.
    ///
    /// - Throws: `param` if it is not an empty directory, or a vault is mounted there.
    init(_ path: String) throws(CofferError) {
        try Self.checkNotMounted(path)
        let directory = try Self.locked(path)
        try Self.checkNotMounted(path)
        guard let resolved = unsafe realpath(path, nil) else {
            throw CofferError(.param, "can't use \(quotedForDisplay(path)): \(SystemError("realpath").reason)")
        }
        defer { unsafe free(resolved) }
        let absolute = unsafe String(cString: resolved)
        guard let entries = Self.entries(of: absolute) else {
            throw CofferError(.param, "\(quotedForDisplay(path)) is not a directory that you can read")
        }
        if entries > 0 {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is not empty",
                hint: "its contents would be hidden: make a new directory"
            )
        }
        self.path = absolute
        self.directory = directory
    }

    private static func checkNotMounted(_ path: String) throws(CofferError) {
        guard let mounted = MountTable.mount(at: path) else { return }
        throw CofferError(
            .param,
            "a vault is mounted at \(quotedForDisplay(path)) already",
            hint: "'coffer umount \(mounted)' ends that mount"
        )
    }

    /// Opens a directory, and locks it unless its file system has no locks.
    private static func locked(_ path: String) throws(CofferError) -> OwnedDescriptor {
        let directory: OwnedDescriptor
        do throws(SystemError) { directory = try OwnedDescriptor.open(path, O_RDONLY | O_DIRECTORY) } catch {
            throw CofferError(.param, "can't use \(quotedForDisplay(path)): \(error.reason)")
        }
        for _ in 0..<Limits.mountLockAttempts {
            if flock(directory.number, LOCK_EX | LOCK_NB) == 0 || errno != EAGAIN { return directory }
            usleep(Limits.startPauseMicroseconds)
        }
        throw CofferError(
            .io,
            "can't mount at \(quotedForDisplay(path)): another process has locked the directory",
            hint: "end that process, or choose another directory"
        )
    }

    // MARK: Dead mounts

    /// Unmounts a mount that no daemon answers any more.
    static func removeDead(_ path: String) {
        if let mounted = MountTable.mount(at: path), isDead(mounted) { unmount(mounted) }
    }

    /// Whether the daemon of a mount has died: everything there is `ENOTCONN` until it is unmounted.
    private static func isDead(_ path: String) -> Bool {
        // The kernel answers most other calls by what it remembers of the directory.
        var space = statvfs()
        return unsafe statvfs(path, &space) < 0 && errno == ENOTCONN
    }

    private static func entries(of path: String) -> Int? {
        guard let directory = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(directory) }
        var count = 0
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { count += 1 }
        }
        return count
    }

    /// Takes a mount out of the tree; programs that have files of it open go on as long as a daemon answers.
    static func unmount(_ path: String) {
        if geteuid() == 0, unsafe umount2(path, Int32(MNT_DETACH)) == 0 { return }
        var output: [UInt8] = []
        unsafe output.withUnsafeMutableBytes { buffer in
            _ = try? unsafe Tool.run("fusermount3", ["-u", "-z", "-q", "--", path], into: buffer)
        }
    }
}
