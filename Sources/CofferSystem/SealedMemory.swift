internal import CCofferShims
internal import Glibc

/// Memory behind a descriptor whose size and content can't be changed any more.
package enum SealedMemory {
    /// Makes sealed memory.
    ///
    /// - Parameters:
    ///   - name: The name in `/proc/PID/fd`.
    ///   - bytes: Its content. The kernel may swap it out, so it must not contain secrets in clear.
    /// - Returns: The descriptor, close-on-exec.
    package static func make(_ name: String, holding bytes: RawSpan) throws(SystemError) -> OwnedDescriptor {
        let memory = OwnedDescriptor(owning: try SystemError.check("memfd_create", unsafe coffer_memory_create(name)))
        try memory.write(all: bytes)
        _ = try SystemError.check("fcntl", coffer_memory_seal(memory.number))
        return memory
    }

    /// Reads sealed memory.
    ///
    /// - Parameters:
    ///   - memory: Any descriptor.
    ///   - byteCount: The size that it must have.
    /// - Returns: The bytes; `nil` if it is no sealed memory of that size.
    package static func contents(
        of memory: borrowing OwnedDescriptor,
        byteCount: Int
    ) throws(SystemError) -> [UInt8]? {
        guard coffer_memory_is_sealed(memory.number) == 1, try memory.status().st_size == byteCount else { return nil }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try memory.read(into: buffer, at: 0) }
        }
        let count = try outcome.get()
        return count == byteCount ? bytes : nil
    }
}
