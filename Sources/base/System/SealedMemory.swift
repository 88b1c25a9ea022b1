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
        let memory = try OwnedDescriptor("memfd_create") { unsafe coffer_memory_create(name) }
        try memory.write(all: bytes)
        let number = memory.number
        _ = try retrying("fcntl") { coffer_memory_seal(number) }
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
        let bytes = try memory.bytes(byteCount)
        return bytes.count == byteCount ? bytes : nil
    }
}
