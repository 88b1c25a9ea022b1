internal import CCofferShims
package import Glibc

/// A file descriptor with one owner: closed when it lets go.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number, for a system call that borrows it.
    package let number: Int32

    /// Takes a descriptor over.
    ///
    /// - Parameter number: An open descriptor that nobody else closes.
    package init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Gives the descriptor up without closing it.
    ///
    /// - Returns: The number, which the caller now owns.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// A second descriptor of the same open file.
    package borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(owning: try retrying("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) })
    }
}

extension OwnedDescriptor {
    /// Opens a file for reading, wherever it is, if there is one.
    ///
    /// What is no file is refused.
    ///
    /// - Parameter path: Where it is.
    /// - Returns: `nil` where there is none.
    package init?(openingIfPresent path: String) throws(SystemError) {
        do {
            self.init(owning: try Self.openFile(path, in: AT_FDCWD, O_RDONLY, called: path).release())
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// Reads once.
    ///
    /// - Parameter buffer: Where to.
    /// - Returns: The bytes read; 0 at the end.
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try retrying("read") { unsafe Glibc.read(number, buffer.baseAddress, buffer.count) }
    }

    /// Reads at an offset until the buffer is full or the file ends.
    ///
    /// - Parameters:
    ///   - buffer: Where to.
    ///   - offset: Where from, in bytes.
    /// - Returns: The bytes read.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = try retrying("read") {
                unsafe pread(
                    number,
                    buffer.baseAddress.map { unsafe $0 + done },
                    buffer.count - done,
                    off_t(offset) + done
                )
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The content from its beginning.
    ///
    /// - Parameter maximum: The most bytes that are wanted; where there are more, there is one more.
    package borrowing func content(upTo maximum: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: maximum + 1)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try read(into: buffer, at: 0) }
        }
        return Array(bytes.prefix(try outcome.get()))
    }

    /// Reads at an offset, if that can be done without waiting for a disk.
    ///
    /// - Parameters:
    ///   - buffer: Where to.
    ///   - offset: Where from, in bytes.
    /// - Returns: Whether the buffer is full.
    package borrowing func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
        unsafe coffer_read_cached(number, buffer.baseAddress, buffer.count, off_t(offset)) == buffer.count
    }

    /// Has the kernel begin to write a part of the file to the disk, so that a sync has less to wait for.
    ///
    /// - Parameter range: The bytes.
    package borrowing func startWriting(_ range: Range<Int64>) {
        // It is for speed only: what goes wrong, the sync will tell.
        _ = coffer_start_writing(number, off_t(range.lowerBound), off_t(range.count))
    }

    /// Writes everything.
    ///
    /// - Parameter bytes: The bytes.
    package borrowing func write(all bytes: RawSpan) throws(SystemError) {
        var done = 0
        while done < bytes.byteCount {
            done += try retrying("write") {
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe Glibc.write(number, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done)
                }
            }
        }
    }

    /// Writes everything at an offset.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: Where to, in bytes.
    package borrowing func write(all bytes: RawSpan, at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.byteCount {
            done += try retrying("write") {
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe pwrite(
                        number,
                        buffer.baseAddress.map { unsafe $0 + done },
                        buffer.count - done,
                        off_t(offset) + done
                    )
                }
            }
        }
    }

    /// Reserves room on the disk, or none of it.
    ///
    /// - Parameters:
    ///   - count: The bytes.
    ///   - offset: Where they begin.
    package borrowing func reserve(_ count: Int64, at offset: Int64) throws(SystemError) {
        let former = try status().st_size
        var disk = statvfs()
        _ = try retrying("fstatvfs") { unsafe fstatvfs(number, &disk) }
        // Asked for more than there is, a file system takes all there is before it refuses: nobody else could write then.
        guard UInt64(count) / UInt64(disk.f_frsize) < UInt64(disk.f_bavail) else {
            throw SystemError("fallocate", code: ENOSPC)
        }
        while true {
            let code = posix_fallocate(number, off_t(offset), off_t(count))
            if code == EINTR { continue }
            if code == 0 { return }
            if former <= offset { ftruncate(number, former) }
            throw SystemError("fallocate", code: code)
        }
    }

    /// Cuts the file off.
    ///
    /// - Parameter count: The bytes that stay.
    package borrowing func truncate(to count: Int64) throws(SystemError) {
        _ = try retrying("ftruncate") { ftruncate(number, off_t(count)) }
    }

    /// What the descriptor is, and how large.
    package borrowing func status() throws(SystemError) -> stat {
        var result = stat()
        _ = try retrying("fstat") { unsafe fstat(number, &result) }
        return result
    }
}

extension OwnedDescriptor {
    /// The names of what is in a directory, in no order.
    borrowing func entries() throws(SystemError) -> [String] {
        let number = number
        let again = try retrying("open") { unsafe coffer_openat(number, ".", O_RDONLY | O_DIRECTORY, 0) }
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
}
