internal import CCofferShims
internal import Glibc

/// The seam for failing the Nth operation: sees each one that changes the disk before it happens.
package struct FileSystem: Sendable {
    /// The operations that can be made to fail.
    package enum Operation: String, CaseIterable, Sendable {
        case create, write, synchronize, rename, remove
    }

    private let intercept: (@Sendable (Operation) throws(SystemError) -> Void)?

    /// The real file system.
    package static let real = FileSystem(intercept: nil)

    /// Makes one that asks before each operation.
    ///
    /// - Parameter intercept: Throws what the operation is to fail with.
    package init(intercept: (@Sendable (Operation) throws(SystemError) -> Void)?) { self.intercept = intercept }

    /// Called before an operation that changes the disk.
    ///
    /// - Parameter operation: Which.
    package func willPerform(_ operation: Operation) throws(SystemError) { try intercept?(operation) }
}

/// An open directory.
///
/// Everything in it is named relative to it, so that nothing outside can be reached, or swapped for it, by changing a
/// path.
package final class Directory: Sendable {
    let descriptor: OwnedDescriptor
    /// Who may own and write what is opened in it; anybody if there is none.
    let trust: FileTrust?
    /// The seam that each change goes through.
    package let fileSystem: FileSystem

    /// Opens a directory, made with its parents if it is not there, for its owner only.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - fileSystem: The seam.
    package init(makingPath path: String, fileSystem: FileSystem = .real) throws(SystemError) {
        var made = ""
        for component in path.split(separator: "/", omittingEmptySubsequences: false) {
            made +=
                (made.isEmpty && component.isEmpty) ? "/" : (made.isEmpty || made == "/") ? component : "/" + component
            if unsafe made != "/" && mkdir(made, 0o700) != 0 && errno != EEXIST { throw SystemError("mkdir") }
        }
        descriptor = OwnedDescriptor(
            owning: try retrying("open") { unsafe coffer_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0) }
        )
        trust = .own
        self.fileSystem = fileSystem
    }

    /// Opens a directory that exists, and that may be another user's, as may the files in it.
    ///
    /// - Parameter path: The path.
    package init(openingPath path: String) throws(SystemError) {
        descriptor = OwnedDescriptor(
            owning: try retrying("open") { unsafe coffer_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0) }
        )
        trust = nil
        fileSystem = .real
    }

    private init(_ descriptor: consuming OwnedDescriptor, below parent: Directory) {
        self.descriptor = descriptor
        trust = parent.trust
        fileSystem = parent.fileSystem
    }

    /// Holds the directory against every other process that asks the same, until this value goes.
    ///
    /// - Returns: Whether nobody else holds it.
    package func lock() throws(SystemError) -> Bool {
        let number = descriptor.number
        do {
            _ = try retrying("flock") { flock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch  where error.code == EWOULDBLOCK {
            return false
        }
    }

    /// Where the directory is, with no symbolic link in the path: for a library that takes paths only.
    package func resolvedPath() throws(SystemError) -> String {
        guard let path = unsafe realpath("/proc/self/fd/\(descriptor.number)", nil) else {
            throw SystemError("realpath")
        }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Opens a directory inside this one, made if it is not there.
    ///
    /// - Parameter name: One component.
    package func subdirectory(_ name: String) throws(SystemError) -> Directory {
        if unsafe mkdirat(descriptor.number, name, 0o700) == 0 {
            try synchronize()
        } else if errno != EEXIST {
            throw SystemError("mkdir")
        }
        return try existing(name)
    }

    /// Opens a directory inside this one, if there is one.
    ///
    /// - Parameter name: One component.
    package func subdirectoryIfPresent(_ name: String) throws(SystemError) -> Directory? {
        do {
            return try existing(name)
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    private func existing(_ name: String) throws(SystemError) -> Directory {
        let opened = try retrying("open") {
            unsafe coffer_openat(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        }
        let directory = Directory(OwnedDescriptor(owning: opened), below: self)
        if let reason = trust?.reasonAgainst(try directory.descriptor.status()) { throw finding(reason, of: name) }
        return directory
    }

    /// Opens a file that exists for reading.
    ///
    /// What is no file is refused, and so is one that another user may write or owns.
    ///
    /// - Parameters:
    ///   - name: The name, relative to this directory.
    ///   - isSecret: Whether one that another user may read is refused as well.
    package func open(_ name: String, isSecret: Bool = false) throws(SystemError) -> OwnedDescriptor {
        try open(name, O_RDONLY, trusting: isSecret ? trust.map { _ in .secret } : trust)
    }

    private func open(
        _ name: String,
        _ flags: Int32,
        trusting trust: FileTrust?
    ) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor.openFile(
            name,
            in: descriptor.number,
            flags | O_NOFOLLOW,
            trusting: trust,
            called: path(of: name)
        )
    }

    /// Opens a file for reading, if there is one.
    ///
    /// - Parameters:
    ///   - name: The name, relative to this directory.
    ///   - isSecret: Whether one that another user may read is refused as well.
    package func openIfPresent(_ name: String, isSecret: Bool = false) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try open(name, isSecret: isSecret)
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// Makes a file that must not exist, for its owner only.
    ///
    /// - Parameter name: The name.
    package func create(_ name: String) throws(SystemError) -> OwnedDescriptor {
        try fileSystem.willPerform(.create)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        return OwnedDescriptor(
            owning: try retrying("create") { unsafe coffer_openat(descriptor.number, name, flags, 0o600) }
        )
    }

    /// Opens a file for reading and writing, if there is one; a symbolic link is none.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func openForWriting(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try open(name, O_RDWR, trusting: trust)
        } catch  where error.code == ENOENT || error.code == ELOOP {
            return nil
        }
    }

    /// Whether there is something of that name.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func contains(_ name: String) -> Bool {
        unsafe faccessat(descriptor.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Moves a file, over an existing one too, atomically.
    ///
    /// - Parameters:
    ///   - name: The file here.
    ///   - newName: Its name there.
    ///   - target: The directory to move it to; this one if none is given.
    package func rename(_ name: String, to newName: String, in target: Directory? = nil) throws(SystemError) {
        try fileSystem.willPerform(.rename)
        let there = target?.descriptor.number ?? descriptor.number
        _ = try retrying("rename") { unsafe renameat(descriptor.number, name, there, newName) }
    }

    /// Gives a file the same name in another directory as well, over an existing one too.
    ///
    /// - Parameters:
    ///   - name: The file here.
    ///   - target: The other directory, on the same file system.
    /// - Returns: Whether it has its name here still: a file system may have no second names, and move it.
    package func link(_ name: String, to target: Directory) throws(SystemError) -> Bool {
        try fileSystem.willPerform(.rename)
        let (here, there) = (descriptor.number, target.descriptor.number)
        do {
            _ = try retrying("link") { unsafe linkat(here, name, there, name, 0) }
            return true
        } catch  where error.code != ENOENT {
            // Does nothing where both names are those of one file.
            _ = try retrying("rename") { unsafe renameat(here, name, there, name) }
            return contains(name)
        }
    }

    /// Removes a file.
    ///
    /// One that is not there is removed already.
    ///
    /// - Parameter name: The name.
    package func remove(_ name: String) throws(SystemError) {
        try fileSystem.willPerform(.remove)
        if unsafe unlinkat(descriptor.number, name, 0) != 0 && errno != ENOENT { throw SystemError("unlink") }
    }

    /// Makes the directory's entries survive a power cut.
    package func synchronize() throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        _ = try retrying("fsync") { fsync(descriptor.number) }
    }

    /// Makes a file's content survive a power cut.
    ///
    /// - Parameter file: The file.
    package func synchronize(_ file: borrowing OwnedDescriptor) throws(SystemError) {
        try fileSystem.willPerform(.synchronize)
        let number = file.number
        _ = try retrying("fsync") { fsync(number) }
    }

    /// Removes a file, or a directory with all that is in it.
    ///
    /// Lasts as long as there is much in it: not for the event loop. What is not there is removed already.
    ///
    /// - Parameter name: The name.
    package func removeTree(_ name: String) throws(SystemError) {
        let opened = unsafe coffer_openat(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        if opened < 0 && errno == ENOENT { return }
        guard opened >= 0 else { return try remove(name) }
        let tree = Directory(OwnedDescriptor(owning: opened), below: self)
        for entry in try tree.entries() { try tree.removeTree(entry) }
        try fileSystem.willPerform(.remove)
        if unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) != 0 && errno != ENOENT { throw SystemError("rmdir") }
    }

    /// The names of what is in the directory, in no order.
    package func entries() throws(SystemError) -> [String] {
        try descriptor.entries()
    }

    /// Reads a small file whole.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - limit: The most bytes to read: a longer file is read up to there.
    /// - Returns: The bytes, or `nil` where there is no such file.
    package func contents(of name: String, limit: Int) throws(SystemError) -> [UInt8]? {
        guard let file = try openIfPresent(name) else { return nil }
        var bytes = [UInt8](repeating: 0, count: limit)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try file.read(into: buffer, at: 0) }
        }
        let count = try outcome.get()
        return Array(bytes.prefix(count))
    }

    /// Replaces a small file so that a crash at any instant leaves the old content or the new, and returning means synced.
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

    /// - Parameter place: Puts the new file in its place; what it leaves under the temporary name stays there.
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

    // MARK: Files whose old content must not stay

    /// A replacement that failed.
    package struct ReplacementError: Error, Equatable, Sendable {
        /// What failed.
        package let cause: SystemError
        /// Whether the new content may be in its place all the same, now or after a power cut.
        package let mayHaveHappened: Bool
    }

    /// How a new file has come to its place.
    private enum Placement {
        case withoutOld
        case exchanged
        case overOld
    }

    /// Replaces a small file as ``replace(_:with:)`` does, and overwrites the old content on the disk.
    ///
    /// The new file and the old one change places, so that the old one still has a name under which
    /// ``shredLeftovers(of:)`` finds it after a crash, and so that they can change back where the directory can't be synced. A
    /// file system that can't exchange files lets go of the old content as it is.
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
        // The new content is in its place: a failure from here on must not be taken for a failure to store it.
        if placement == .exchanged { try? shred(Self.temporaryName(of: name)) }
    }

    private func place(_ temporary: String, as name: String) throws(SystemError) -> Placement {
        guard contains(name) else {
            try rename(temporary, to: name)
            return .withoutOld
        }
        do throws(SystemError) {
            try exchange(temporary, name)
            return .exchanged
        } catch  where error.code == EINVAL || error.code == ENOSYS {
            try rename(temporary, to: name)
            return .overOld
        }
    }

    private func exchange(_ one: String, _ other: String) throws(SystemError) {
        try fileSystem.willPerform(.rename)
        _ = try retrying("rename") { unsafe coffer_exchange(descriptor.number, one, descriptor.number, other) }
    }

    /// Makes undone what was not synced.
    private func takeBack(_ name: String, _ placement: Placement) throws(SystemError) {
        let temporary = Self.temporaryName(of: name)
        switch placement {
        case .withoutOld: try rename(name, to: temporary)
        case .exchanged: try exchange(temporary, name)
        case .overOld: throw SystemError("rename", code: ENOSYS)
        }
        // Nothing is overwritten as long as a power cut could bring it back into the file's place.
        try synchronize()
        try? shred(temporary)
    }

    /// Overwrites and removes what an interrupted replacement left beside a file: its old content, or a new one that was not
    /// put in its place.
    ///
    /// - Parameter name: The name of the file.
    package func shredLeftovers(of name: String) throws(SystemError) {
        let temporary = Self.temporaryName(of: name)
        guard contains(temporary) else { return }
        // An exchange that was interrupted may not be on the disk yet: after a power cut, what is overwritten here must not be the
        // file.
        if contains(name) { try synchronize() }
        try shred(temporary)
    }

    /// Overwrites a small file with zeros, synced, and removes it.
    ///
    /// One that is not there is shredded already, and one that its owner may not write to is made writable. What the medium
    /// itself keeps of old blocks is out of reach.
    ///
    /// - Parameter name: The name.
    package func shred(_ name: String) throws(SystemError) {
        guard let file = try openForShredding(name) else { return try remove(name) }
        let count = Int(try file.status().st_size)
        try fileSystem.willPerform(.write)
        unsafe try file.write(all: [UInt8](repeating: 0, count: count).span.bytes)
        try synchronize(file)
        try remove(name)
        try synchronize()
    }

    /// Whoever may have written it: it has to go.
    private func openForShredding(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try open(name, O_RDWR, trusting: nil)
        } catch  where error.code == ENOENT || error.finding?.reason == .noFile {
            return nil
        } catch  where error.code == EACCES {
            _ = try retrying("chmod") { unsafe fchmodat(descriptor.number, name, 0o600, AT_SYMLINK_NOFOLLOW) }
            return try open(name, O_RDWR, trusting: nil)
        }
    }
}
