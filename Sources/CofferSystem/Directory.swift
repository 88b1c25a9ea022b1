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
    private let descriptor: OwnedDescriptor
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
        self.fileSystem = fileSystem
    }

    private init(_ descriptor: consuming OwnedDescriptor, _ fileSystem: FileSystem) {
        self.descriptor = descriptor
        self.fileSystem = fileSystem
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
        let opened = try retrying("open") {
            unsafe coffer_openat(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        }
        return Directory(OwnedDescriptor(owning: opened), fileSystem)
    }

    /// Opens a file that exists for reading.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func open(_ name: String) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            owning: try retrying("open") { unsafe coffer_openat(descriptor.number, name, O_RDONLY | O_NOFOLLOW, 0) }
        )
    }

    /// Opens a file for reading, if there is one.
    ///
    /// - Parameter name: The name, relative to this directory.
    package func openIfPresent(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try open(name)
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

    /// The names of what is in the directory, in no order.
    package func entries() throws(SystemError) -> [String] {
        let again = try retrying("open") { unsafe coffer_openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY, 0) }
        guard let stream = unsafe fdopendir(again) else {
            close(again)
            throw SystemError("opendir")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
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
        let temporary = name + ".new"
        try remove(temporary)
        do {
            let file = try create(temporary)
            try fileSystem.willPerform(.write)
            try file.write(all: bytes)
            try synchronize(file)
            try rename(temporary, to: name)
            try synchronize()
        } catch {
            try? remove(temporary)
            throw error
        }
    }
}
