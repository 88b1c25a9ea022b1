internal import Glibc

// Checks of owners and modes.

extension Directory {
    /// Refuses a directory that another user owns, can write, or can replace.
    ///
    /// The directories above it may be writable for a group: many users have a group of their own. In a sticky
    /// directory, other users can't rename entries.
    package func requireOwn() throws(SystemError) {
        try descriptor.require(S_IFDIR, .state, called: path(of: nil))
        try Self.requireUnreplaceable(try resolvedPath())
    }

    /// Refuses a path if every user can replace a directory of it.
    ///
    /// - Parameter path: An absolute path without symbolic links. What it leads to is not examined.
    static func requireUnreplaceable(_ path: String) throws(SystemError) {
        var path = path[...]
        while let end = path.lastIndex(of: "/"), path != "/" {
            path = end == path.startIndex ? "/" : path[..<end]
            var status = stat()
            if unsafe stat(String(path), &status) != 0 { throw SystemError("stat") }
            if status.st_mode & (S_IWOTH | S_ISVTX) == S_IWOTH {
                throw SystemError("open", code: EPERM, FileFinding(reason: .replaceable, path: String(path)))
            }
        }
    }

    /// Refuses a file that a library will open by path if it is not regular, or if another user owns or can write it.
    ///
    /// A missing file is no error.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func requireOwnFile(_ name: String) throws(SystemError) {
        try check(name) { [trust] status in
            status.st_mode & S_IFMT == S_IFREG ? trust?.reasonAgainst(status) : .noFile
        }
    }

    /// Refuses an entry of any type that another user owns or can write.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func requireOwner(of name: String) throws(SystemError) {
        // The mode of a symbolic link means nothing, and links are never followed.
        try check(name) { [trust] status in
            status.st_mode & S_IFMT == S_IFLNK ? nil : trust?.reasonAgainst(status)
        }
    }

    private func check(_ name: String, _ judge: (stat) -> FileFinding.Reason?) throws(SystemError) {
        var status = stat()
        if unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            if errno == ENOENT { return }
            throw SystemError("stat")
        }
        guard let reason = judge(status) else { return }
        throw SystemError("open", code: EPERM, FileFinding(reason: reason, path: path(of: name)))
    }

    func path(of name: String?) -> String {
        let components = [try? resolvedPath(), name].compactMap { $0 }
        return components.joined(separator: "/")
    }
}
