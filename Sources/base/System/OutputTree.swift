internal import CCofferShims
internal import Glibc

/// A directory whose tree is written while other users may exchange its entries.
///
/// Everything below it is opened and created by descriptors, through no symbolic link (`openat2`, Linux 5.6).
package final class OutputTree {
    private let root: OwnedDescriptor

    /// Opens a directory; it is created if it is missing, with its parents, for the owner only.
    ///
    /// Symbolic links are followed in the part of the path that exists, and in no other.
    package init(making path: String) throws(SystemError) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        root = try Self.open(parts[...], path.hasPrefix("/") ? "/" : "")
    }

    /// Creates a directory, which must not exist.
    ///
    /// - Parameters:
    ///   - name: One component.
    ///   - parent: The directory that it is created in.
    package init(new name: String, in parent: Directory) throws(SystemError) {
        if unsafe mkdirat(parent.descriptor.number, name, 0o700) != 0 { throw SystemError("mkdir") }
        root = try Self.openBeneath(name, parent.descriptor.number, O_RDONLY | O_DIRECTORY)
    }

    /// Refuses a directory that other users can change; if it is missing, one in which they could replace it.
    ///
    /// Root may own it. In a sticky directory, other users can't replace an entry, but make one in advance: so it is
    /// refused, and a directory in it is not.
    package static func requireUnshared(_ path: String) throws(SystemError) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        try requireUnshared(parts[...], path.hasPrefix("/") ? "/" : "", isWhole: true)
    }

    private static func requireUnshared(
        _ parts: ArraySlice<String>,
        _ start: String,
        isWhole: Bool
    ) throws(SystemError) {
        let path = start + parts.joined(separator: "/")
        let found = try tolerating(ENOENT) { () throws(SystemError) in
            try OwnedDescriptor.open(path.isEmpty ? "." : path, coffer_o_path | O_DIRECTORY)
        }
        if let found {
            guard !isWhole else { return try requireUnshared(found) }
            return try Directory.requireUnreplaceable("\(try found.resolvedPath())/.")
        }
        if parts.isEmpty { throw SystemError("open", code: ENOENT) }
        try requireUnshared(parts.dropLast(), start, isWhole: false)
    }

    private static func requireUnshared(_ directory: borrowing OwnedDescriptor) throws(SystemError) {
        let path = try directory.resolvedPath()
        try directory.require(S_IFDIR, .system, called: path)
        try Directory.requireUnreplaceable(path)
    }

    /// Refuses the tree if other users can change its directory.
    package func requireUnshared() throws(SystemError) { try Self.requireUnshared(root) }

    private static func open(_ parts: ArraySlice<String>, _ start: String) throws(SystemError) -> OwnedDescriptor {
        let path = start + parts.joined(separator: "/")
        let found = try tolerating(ENOENT) { () throws(SystemError) in
            try OwnedDescriptor.open(path.isEmpty ? "." : path, coffer_o_path | O_DIRECTORY)
        }
        if let found { return found }
        guard let last = parts.last else { throw SystemError("open", code: ENOENT) }
        let parent = try open(parts.dropLast(), start)
        return try subdirectory(last, of: parent)
    }

    private static func openBeneath(
        _ path: String,
        _ directory: Int32,
        _ flags: Int32
    ) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor("open") { unsafe coffer_open_beneath(directory, path, flags) }
    }

    private static func subdirectory(
        _ name: String,
        of parent: borrowing OwnedDescriptor
    ) throws(SystemError) -> OwnedDescriptor {
        let number = parent.number
        if unsafe mkdirat(number, name, 0o700) == 0 {
            let readable = try tolerating(EACCES) { () throws(SystemError) in
                try OwnedDescriptor.open(".", in: number, O_RDONLY | O_DIRECTORY)
            }
            if let readable { try readable.synchronize() }
        } else if errno != EEXIST {
            throw SystemError("mkdir")
        }
        return try openBeneath(name, number, coffer_o_path | O_DIRECTORY)
    }

    private static func descend(
        _ folders: ArraySlice<String>,
        from directory: consuming OwnedDescriptor
    ) throws(SystemError) -> OwnedDescriptor {
        guard let first = folders.first else { return directory }
        let next = try subdirectory(first, of: directory)
        return try descend(folders.dropFirst(), from: next)
    }

    /// Begins a file; the directories above it are created if they are missing.
    ///
    /// - Parameters:
    ///   - components: Its path below this directory.
    ///   - existing: The treatment of an existing file.
    ///   - isRemovedWhenKilled: Whether the signals that end the process remove a temporary name.
    package func file(
        _ components: [String],
        _ existing: PendingFile.Existing,
        isRemovedWhenKilled: Bool = true
    ) throws(SystemError) -> PendingFile {
        guard let name = components.last, !name.isEmpty else { throw SystemError("open", code: EISDIR) }
        let top = try OwnedDescriptor.open(".", in: root.number, coffer_o_path | O_DIRECTORY)
        let folder = try Self.descend(components.dropLast(), from: top)
        return try PendingFile(name, in: folder, existing, isRemovedWhenKilled: isRemovedWhenKilled)
    }

    /// Opens a file for reading; `nil` if it is missing, or no regular file is at that path.
    package func fileIfPresent(_ components: [String]) throws(SystemError) -> OwnedDescriptor? {
        let path = components.joined(separator: "/")
        let found = try tolerating(ENOENT, ENOTDIR, ELOOP, ENXIO, EACCES) { () throws(SystemError) in
            try Self.openBeneath(path, root.number, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        guard let opened = found, try opened.status().st_mode & S_IFMT == S_IFREG else { return nil }
        return opened
    }

    /// Syncs everything on its file system.
    package func synchronizeFileSystem() throws(SystemError) {
        try OwnedDescriptor.open(".", in: root.number, O_RDONLY | O_DIRECTORY).synchronizeFileSystem()
    }
}
