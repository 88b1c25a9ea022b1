internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import Glibc

/// The directory at which a vault is mounted.
struct MountPoint {
    /// Its absolute path, without symbolic links.
    let path: String

    /// Checks a directory.
    ///
    /// - Throws: `param` if it is not an empty directory.
    init(_ path: String) throws(CofferError) {
        guard let resolved = unsafe realpath(path, nil) else {
            throw CofferError(.param, "can't use \(quotedForDisplay(path)): \(SystemError("realpath").reason)")
        }
        defer { unsafe free(resolved) }
        self.path = unsafe String(cString: resolved)
        guard let entries = Self.entries(of: self.path) else {
            throw CofferError(.param, "\(quotedForDisplay(path)) is not a directory that you can read")
        }
        if entries > 0 {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is not empty",
                hint: "what is in it would be hidden: make a new directory"
            )
        }
    }

    /// Unmounts what an earlier mount has left when its process died.
    static func removeDead(_ path: String) { if isDead(path) { unmount(path) } }

    /// Whether the process of a mount has died: everything there is `ENOTCONN` until it is unmounted.
    private static func isDead(_ path: String) -> Bool {
        // access(2) would be answered by the kernel, out of what it remembers of the directory.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return errno == ENOTCONN }
        close(descriptor)
        return false
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

    /// Takes a mount out of the tree; programs that have files of it open go on as long as its process lives.
    static func unmount(_ path: String) {
        if geteuid() == 0, unsafe umount2(path, Int32(MNT_DETACH)) == 0 { return }
        var output: [UInt8] = []
        let arguments = ["-u", "-z", "-q", "--", path]
        unsafe output.withUnsafeMutableBytes { buffer in
            // The service manager sends its signal to all processes of a unit, and to this one as well.
            _ = try? unsafe Tool.run("fusermount3", arguments, into: buffer, keepsBlockedSignals: true)
        }
    }
}
