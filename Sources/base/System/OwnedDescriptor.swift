internal import CCofferShims
package import Glibc

/// A file descriptor with one owner: it is closed with the value.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for a system call that borrows it.
    package let number: Int32

    /// Takes ownership of a descriptor.
    ///
    /// - Parameter number: An open descriptor that has no other owner.
    package init(owning number: Int32) { self.number = number }

    /// Takes ownership of the descriptor that a system call makes.
    ///
    /// - Parameters:
    ///   - operation: The operation, for the error.
    ///   - call: The call, which is repeated while signals interrupt it.
    package init(_ operation: StaticString, _ call: () -> Int32) throws(SystemError) {
        number = try retrying(operation, call)
    }

    deinit { close(number) }

    /// Releases the descriptor without closing it.
    ///
    /// - Returns: The number, which the caller now owns.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Duplicates the descriptor; both share the open file.
    package borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
    }
}

extension OwnedDescriptor {
    /// Opens a path, close-on-exec.
    ///
    /// - Parameters:
    ///   - path: The path, relative to the directory.
    ///   - directory: The descriptor of a directory.
    ///   - flags: The flags of `open`.
    package static func open(
        _ path: String,
        in directory: Int32 = AT_FDCWD,
        _ flags: Int32
    ) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor("open") { unsafe coffer_openat(directory, path, flags, 0) }
    }

    /// Reads a regular file from the beginning.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - maximum: The maximum size. A longer content is read up to one byte more, so that the caller can tell.
    /// - Returns: `nil` if the file does not exist.
    package static func content(ofFile path: String, upTo maximum: Int) throws(SystemError) -> [UInt8]? {
        try tolerating(ENOENT) { () throws(SystemError) in
            try openFile(path, in: AT_FDCWD, O_RDONLY, called: path).content(upTo: maximum)
        }
    }

    /// Reads once.
    ///
    /// - Returns: The number of bytes; 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try retrying("read") { unsafe Glibc.read(number, buffer.baseAddress, buffer.count) }
    }

    /// Reads at an offset until the buffer is full or the file ends.
    ///
    /// - Parameters:
    ///   - buffer: The buffer.
    ///   - offset: The offset in bytes.
    /// - Returns: The number of bytes.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let place = off_t(offset) + done
            let count = try retrying("read") { unsafe pread(number, rest.baseAddress, rest.count, place) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads the content from the beginning.
    ///
    /// - Parameter maximum: The maximum size. A longer content is read up to one byte more, so that the caller can
    ///   tell.
    package borrowing func content(upTo maximum: Int) throws(SystemError) -> [UInt8] {
        // Most files are small, and the buffer for a large one costs a client that connects a tenth of a millisecond.
        let start = try bytes(min(maximum + 1, Self.usualBytes))
        if start.count < Self.usualBytes { return start }
        return start + (try bytes(maximum + 1 - start.count, at: Int64(start.count)))
    }

    private static let usualBytes = 16 << 10

    /// Reads at an offset.
    ///
    /// - Parameters:
    ///   - count: The number of bytes; fewer are returned only at the end of the file.
    ///   - offset: The offset in bytes.
    package borrowing func bytes(_ count: Int, at offset: Int64 = 0) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try read(into: buffer, at: offset) }
        }
        return Array(bytes.prefix(try outcome.get()))
    }

    /// Reads at an offset if that does not block on a disk.
    ///
    /// - Parameters:
    ///   - buffer: The buffer.
    ///   - offset: The offset in bytes.
    /// - Returns: Whether the buffer was filled.
    package borrowing func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
        unsafe coffer_read_cached(number, buffer.baseAddress, buffer.count, off_t(offset)) == buffer.count
    }

    /// Starts the writeback of a part of the file, so that a later sync takes less time.
    ///
    /// - Parameter range: The range in bytes.
    package borrowing func startWriting(_ range: Range<Int64>) {
        // Only an optimisation: the sync reports errors.
        _ = coffer_start_writing(number, off_t(range.lowerBound), off_t(range.count))
    }

    /// Gives back the memory in which the kernel caches the file, as far as that is on the disk.
    ///
    /// A file that is written once and not read soon would displace what other programs use.
    package borrowing func dropCache() { _ = posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED) }

    /// Writes all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: The offset in bytes; `nil` to continue where the open file is.
    package borrowing func write(all bytes: RawSpan, at offset: Int64? = nil) throws(SystemError) {
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: done)
            done += try retrying("write") {
                unsafe rest.withUnsafeBytes { buffer in
                    guard let offset else { return unsafe Glibc.write(number, buffer.baseAddress, buffer.count) }
                    return unsafe pwrite(number, buffer.baseAddress, buffer.count, off_t(offset) + done)
                }
            }
        }
    }

    /// Allocates disk space for a range, or none of it.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - offset: The beginning of the range.
    package borrowing func reserve(_ count: Int64, at offset: Int64) throws(SystemError) {
        let former = try status().st_size
        // If the disk is too small, a file system fills it before it fails: meanwhile no other process could write.
        guard try count < freeBytes() else { throw SystemError("fallocate", code: ENOSPC) }
        while true {
            let code = posix_fallocate(number, off_t(offset), off_t(count))
            if code == EINTR { continue }
            if code == 0 { return }
            if former <= offset { ftruncate(number, former) }
            throw SystemError("fallocate", code: code)
        }
    }

    /// Gives the space of a range back to the disk: it reads as zeros then.
    ///
    /// - Parameter range: The bytes.
    package borrowing func punch(_ range: Range<Int64>) throws(SystemError) {
        _ = try retrying("fallocate") { coffer_punch(number, range.lowerBound, Int64(range.count)) }
    }

    /// Truncates the file.
    ///
    /// - Parameter count: The new size.
    package borrowing func truncate(to count: Int64) throws(SystemError) {
        _ = try retrying("ftruncate") { ftruncate(number, off_t(count)) }
    }

    /// The free space of the file's file system, for unprivileged users.
    borrowing func freeBytes() throws(SystemError) -> Int {
        var disk = statvfs()
        _ = try retrying("fstatvfs") { unsafe fstatvfs(number, &disk) }
        return Int(clamping: UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize)).partialValue)
    }

    /// Syncs the content of a file, or the entries of a directory.
    borrowing func synchronize() throws(SystemError) { _ = try retrying("fsync") { fsync(number) } }

    /// Syncs the content of a file, and what is needed to read it.
    borrowing func synchronizeContent() throws(SystemError) { _ = try retrying("fdatasync") { fdatasync(number) } }

    /// Syncs the whole file system that the file or directory is on.
    package borrowing func synchronizeFileSystem() throws(SystemError) {
        _ = try retrying("syncfs") { coffer_sync_file_system(number) }
    }

    /// Whether it is the regular file at a path, under whatever name, or without a path that of another descriptor.
    package borrowing func isFile(at path: String?, orOpenAs other: Int32) throws(SystemError) -> Bool {
        var found = stat()
        let code = unsafe path.map { unsafe stat($0, &found) } ?? fstat(other, &found)
        if code != 0 && errno == ENOENT { return false }
        if code != 0 { throw SystemError("stat") }
        let own = try status()
        return own.st_mode & S_IFMT == S_IFREG && own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    package borrowing func status() throws(SystemError) -> stat {
        var result = stat()
        _ = try retrying("fstat") { unsafe fstat(number, &result) }
        return result
    }
}

extension OwnedDescriptor {
    /// The path of a file or a directory without symbolic links.
    borrowing func resolvedPath() throws(SystemError) -> String {
        guard let path = unsafe realpath("/proc/self/fd/\(number)", nil) else { throw SystemError("realpath") }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The names of a directory's entries, in no order.
    package borrowing func entries() throws(SystemError) -> [String] {
        let again = try Self.open(".", in: number, O_RDONLY | O_DIRECTORY)
        guard let stream = unsafe fdopendir(again.number) else { throw SystemError("opendir") }
        // The stream owns the descriptor now.
        _ = again.release()
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
}
