internal import CCofferShims
internal import CofferCore
package import Glibc

/// The seam for failing the Nth operation: it is called before each operation that changes the disk.
package struct FileSystem: Sendable {
    /// The operations that can fail.
    package enum Operation: String, CaseIterable, Sendable {
        case create, write, synchronize, rename, remove
    }

    private let intercept: (@Sendable (Operation) throws(SystemError) -> Void)?

    /// The real file system.
    package static let real = FileSystem(intercept: nil)

    /// Makes a file system that calls a function before each operation.
    ///
    /// - Parameter intercept: Throws the error that the operation has to fail with.
    package init(intercept: (@Sendable (Operation) throws(SystemError) -> Void)?) { self.intercept = intercept }

    /// Called before an operation that changes the disk.
    package func willPerform(_ operation: Operation) throws(SystemError) { try intercept?(operation) }
}

/// An open directory.
///
/// All entries are opened relative to it, so that changing a path can't redirect an access.
package final class Directory: Sendable {
    let descriptor: OwnedDescriptor
    /// The owners and modes that entries may have; any if there is none.
    let trust: FileTrust?
    /// The seam that each change goes through.
    package let fileSystem: FileSystem

    /// Opens a directory; if it is missing, creates it and its parents, for the owner only.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - fileSystem: The seam.
    package init(makingPath path: String, fileSystem: FileSystem = .real) throws(SystemError) {
        let ends = path.indices.filter { path[$0] == "/" } + [path.endIndex]
        for end in ends where end > path.startIndex {
            if unsafe mkdir(String(path[..<end]), 0o700) != 0 && errno != EEXIST { throw SystemError("mkdir") }
        }
        descriptor = try .open(path, O_RDONLY | O_DIRECTORY)
        trust = .own
        self.fileSystem = fileSystem
    }

    /// Opens an existing directory, which may belong to another user, as may its entries.
    package init(openingPath path: String) throws(SystemError) {
        descriptor = try .open(path, O_RDONLY | O_DIRECTORY)
        trust = nil
        fileSystem = .real
    }

    private init(_ descriptor: consuming OwnedDescriptor, below parent: Directory) {
        self.descriptor = descriptor
        trust = parent.trust
        fileSystem = parent.fileSystem
    }

    /// Locks the directory against other processes, for the lifetime of this value.
    ///
    /// - Returns: Whether the lock was free.
    package func lock() throws(SystemError) -> Bool {
        try tolerating(EWOULDBLOCK) { () throws(SystemError) in
            try retrying("flock") { flock(descriptor.number, LOCK_EX | LOCK_NB) }
        } != nil
    }

    /// The path of the directory without symbolic links, for a library that only takes paths.
    package func resolvedPath() throws(SystemError) -> String { try descriptor.resolvedPath() }

    /// Opens a subdirectory, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - name: One component.
    ///   - isSynced: Whether its name is on the disk then; if not, this directory must be synced before that counts.
    package func subdirectory(_ name: String, isSynced: Bool = true) throws(SystemError) -> Directory {
        if unsafe mkdirat(descriptor.number, name, 0o700) == 0 {
            if isSynced { try synchronize() }
        } else if errno != EEXIST {
            throw SystemError("mkdir")
        }
        return try existing(name)
    }

    /// Opens a subdirectory, if it exists.
    ///
    /// - Parameter name: One component.
    package func subdirectoryIfPresent(_ name: String) throws(SystemError) -> Directory? {
        try tolerating(ENOENT) { () throws(SystemError) in try existing(name) }
    }

    private func existing(_ name: String) throws(SystemError) -> Directory {
        let opened = try OwnedDescriptor.open(name, in: descriptor.number, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        try opened.require(S_IFDIR, trust, called: path(of: name))
        return Directory(opened, below: self)
    }

    /// Opens an existing file for reading.
    ///
    /// A file that is not regular, or that another user owns or can write, is refused.
    ///
    /// - Parameters:
    ///   - name: The name, relative to this directory.
    ///   - isSecret: Whether a file that another user can read is refused as well.
    package func open(_ name: String, isSecret: Bool = false) throws(SystemError) -> OwnedDescriptor {
        try open(name, O_RDONLY, isSecret ? trust.map { _ in .secret } : trust)
    }

    private func open(_ name: String, _ flags: Int32, _ trust: FileTrust?) throws(SystemError) -> OwnedDescriptor {
        try .openFile(name, in: descriptor.number, flags | O_NOFOLLOW, trusting: trust, called: path(of: name))
    }

    /// Opens a file for reading, if it exists.
    ///
    /// - Parameters:
    ///   - name: The name, relative to this directory.
    ///   - isSecret: Whether a file that another user can read is refused as well.
    package func openIfPresent(_ name: String, isSecret: Bool = false) throws(SystemError) -> OwnedDescriptor? {
        try tolerating(ENOENT) { () throws(SystemError) in try open(name, isSecret: isSecret) }
    }

    /// Creates a file, which must not exist, for the owner only.
    package func create(_ name: String) throws(SystemError) -> OwnedDescriptor {
        try fileSystem.willPerform(.create)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        return try OwnedDescriptor("create") { unsafe coffer_openat(descriptor.number, name, flags, 0o600) }
    }

    /// Opens a file for reading and writing; `nil` if it is missing or a symbolic link.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func openForWriting(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        try tolerating(ENOENT, ELOOP) { () throws(SystemError) in try open(name, O_RDWR, trust) }
    }

    /// Whether there is an entry of that name.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func contains(_ name: String) -> Bool {
        unsafe faccessat(descriptor.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// The status of an entry; `nil` if there is none.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func status(of name: String) -> stat? {
        var status = stat()
        return unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Renames a file atomically, replacing an existing one.
    ///
    /// - Parameters:
    ///   - name: Its name in this directory.
    ///   - newName: Its new name.
    ///   - target: The target directory; this one by default.
    package func rename(_ name: String, to newName: String, in target: Directory? = nil) throws(SystemError) {
        try fileSystem.willPerform(.rename)
        let there = target?.descriptor.number ?? descriptor.number
        _ = try retrying("rename") { unsafe renameat(descriptor.number, name, there, newName) }
    }

    /// Links a file into another directory under the same name, replacing an existing one.
    ///
    /// - Parameters:
    ///   - name: Its name in this directory.
    ///   - target: The other directory, on the same file system.
    /// - Returns: Whether it still has its name here: without support for links, or over an existing file, it is moved.
    package func link(_ name: String, to target: Directory) throws(SystemError) -> Bool {
        try fileSystem.willPerform(.rename)
        let (here, there) = (descriptor.number, target.descriptor.number)
        do {
            _ = try retrying("link") { unsafe linkat(here, name, there, name, 0) }
            return true
        } catch  where error.code != ENOENT {
            // The rename does nothing if both names are links to the same file.
            _ = try retrying("rename") { unsafe renameat(here, name, there, name) }
            return contains(name)
        }
    }

    /// Removes a file; a missing one is no error.
    package func remove(_ name: String) throws(SystemError) {
        try fileSystem.willPerform(.remove)
        if unsafe unlinkat(descriptor.number, name, 0) != 0 && errno != ENOENT { throw SystemError("unlink") }
    }

    /// Syncs the directory's entries.
    package func synchronize() throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        try descriptor.synchronize()
    }

    /// Syncs a file's content.
    package func synchronize(_ file: borrowing OwnedDescriptor) throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        try file.synchronize()
    }

    /// Syncs a file's content, but no times: what needs no entry in a journal of the file system is faster.
    package func synchronizeContent(of file: borrowing OwnedDescriptor) throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        try file.synchronizeContent()
    }

    /// Syncs everything on the file system, also what is not in this directory.
    package func synchronizeFileSystem() throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        try descriptor.synchronizeFileSystem()
    }

    /// Removes a file, or a directory with everything in it; a missing one is no error.
    ///
    /// It takes time in proportion to the content, so it must not run on the event loop.
    package func removeTree(_ name: String) throws(SystemError) {
        let opened = unsafe coffer_openat(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if opened < 0 && errno == ENOENT { return }
        guard opened >= 0 else { return try remove(name) }
        let tree = Directory(OwnedDescriptor(owning: opened), below: self)
        for entry in try tree.entries() { try tree.removeTree(entry) }
        try fileSystem.willPerform(.remove)
        if unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) != 0 && errno != ENOENT { throw SystemError("rmdir") }
    }

    /// The names of the entries, in no order.
    package func entries() throws(SystemError) -> [String] {
        try descriptor.entries()
    }

    /// Reads a small file.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - limit: The maximum number of bytes to read.
    /// - Returns: The bytes; `nil` if there is no such file.
    package func contents(of name: String, limit: Int) throws(SystemError) -> [UInt8]? {
        try openIfPresent(name)?.bytes(limit)
    }

    /// Replaces a small file atomically and synced: a crash at any instant leaves the old content or the new.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - bytes: The new content.
    package func replace(_ name: String, with bytes: RawSpan) throws(SystemError) {
        try stage(name, bytes) { (temporary) throws(SystemError) in
            try rename(temporary, to: name)
        }
        try synchronize()
    }

    /// - Parameter place: Moves the new file into place; what is left under the temporary name stays there.
    private func stage<Placement>(
        _ name: String,
        _ bytes: RawSpan,
        _ place: (String) throws(SystemError) -> Placement
    ) throws(SystemError) -> Placement {
        let temporary = Self.temporaryName(of: name)
        try remove(temporary)
        do {
            let file = try create(temporary)
            try fileSystem.willPerform(.write)
            try file.write(all: bytes)
            try synchronize(file)
            return try place(temporary)
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    private static func temporaryName(of name: String) -> String { name + ".new" }

    // MARK: Files whose old content must be overwritten

    /// The failure of a replacement.
    package struct ReplacementError: Error, Equatable, Sendable {
        /// The system error.
        package let cause: SystemError
        /// Whether the new content may be in place all the same, now or after a power cut.
        package let mayHaveHappened: Bool
    }

    /// How the new file was moved into place.
    private enum Placement {
        case withoutOld
        case exchanged
        case overOld
    }

    /// Replaces a small file as ``replace(_:with:)`` does, and overwrites the old content on the disk.
    ///
    /// The two files are exchanged. So the old one keeps a name by which ``shredLeftovers(of:)`` finds it after a
    /// crash, and the exchange can be undone if the directory can't be synced. If the file system does not support an
    /// exchange, the old content is freed without being overwritten.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - bytes: The new content.
    package func replace(_ name: String, shreddingOldFor bytes: RawSpan) throws(ReplacementError) {
        let placement: Placement
        do throws(SystemError) {
            try shredLeftovers(of: name)
            placement = try stage(name, bytes) { (temporary) throws(SystemError) in try place(temporary, as: name) }
        } catch {
            throw ReplacementError(cause: error, mayHaveHappened: false)
        }
        do throws(SystemError) {
            try synchronize()
        } catch {
            let isTakenBack: Void? = try? takeBack(name, placement)
            throw ReplacementError(cause: error, mayHaveHappened: isTakenBack == nil)
        }
        // The new content is stored: an error from here on must not be reported as a failure to store it.
        if placement == .exchanged { try? shred(Self.temporaryName(of: name)) }
    }

    private func place(_ temporary: String, as name: String) throws(SystemError) -> Placement {
        guard contains(name) else {
            try rename(temporary, to: name)
            return .withoutOld
        }
        let isExchanged: Void? = try tolerating(EINVAL, ENOSYS) { () throws(SystemError) in
            try exchange(temporary, name)
        }
        if isExchanged == nil { try rename(temporary, to: name) }
        return isExchanged == nil ? .overOld : .exchanged
    }

    private func exchange(_ one: String, _ other: String) throws(SystemError) {
        try fileSystem.willPerform(.rename)
        _ = try retrying("rename") { unsafe coffer_exchange(descriptor.number, one, descriptor.number, other) }
    }

    /// Undoes a replacement that was not synced.
    private func takeBack(_ name: String, _ placement: Placement) throws(SystemError) {
        let temporary = Self.temporaryName(of: name)
        switch placement {
        case .withoutOld: try rename(name, to: temporary)
        case .exchanged: try exchange(temporary, name)
        case .overOld: throw SystemError("rename", code: ENOSYS)
        }
        // The sync comes before the shredding: otherwise a power cut could restore the overwritten file.
        try synchronize()
        try? shred(temporary)
    }

    /// Shreds what an interrupted replacement left beside a file: its old content, or a new one that was not moved into
    /// place.
    ///
    /// - Parameter name: The name of the file.
    package func shredLeftovers(of name: String) throws(SystemError) {
        let temporary = Self.temporaryName(of: name)
        guard contains(temporary) else { return }
        // An interrupted exchange may not be synced yet: after a power cut, the file overwritten here could be the
        // current one.
        if contains(name) { try synchronize() }
        try shred(temporary)
    }

    /// Overwrites a small file with zeros, synced, and removes it; a missing one is no error.
    ///
    /// A read-only file is made writable first. Copies that the medium itself keeps of old blocks are out of reach.
    package func shred(_ name: String) throws(SystemError) {
        guard let file = try openForShredding(name) else { return try remove(name) }
        let status = try file.status()
        // A hole may be larger than memory and disk, and holds no old content.
        let blockBytes = Int64(status.st_blocks).nearestProduct(512)
        let count = min(Int64(status.st_size), max(Int64(Limits.shreddedBytes), blockBytes))
        try fileSystem.willPerform(.write)
        let zeros = [UInt8](repeating: 0, count: Int(min(count, Int64(Limits.copyBytes))))
        var offset: Int64 = 0
        while offset < count {
            let piece = unsafe zeros.span.bytes.extracting(first: Int(min(count - offset, Int64(zeros.count))))
            try file.write(all: piece, at: offset)
            offset += Int64(piece.byteCount)
        }
        try synchronize(file)
        try remove(name)
        try synchronize()
    }

    /// Opens a file without checking its owner: whichever user wrote it, it must be removed.
    private func openForShredding(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try open(name, O_RDWR, nil)
        } catch  where error.code == ENOENT || error.finding?.reason == .noFile {
            return nil
        } catch  where error.code == EACCES {
            _ = try retrying("chmod") { unsafe fchmodat(descriptor.number, name, 0o600, AT_SYMLINK_NOFOLLOW) }
            return try open(name, O_RDWR, nil)
        }
    }
}
