internal import CCofferShims
internal import Glibc

/// Memory behind a descriptor, whose size and contents nobody can change any more.
package enum SealedMemory {
    /// Makes some.
    ///
    /// - Parameters:
    ///   - name: For people who look at `/proc/PID/fd`.
    ///   - bytes: What it holds. The kernel may swap it out, so nothing that is secret in clear.
    /// - Returns: The descriptor, close-on-exec.
    package static func make(_ name: String, holding bytes: RawSpan) throws(SystemError) -> OwnedDescriptor {
        let memory = OwnedDescriptor(owning: try SystemError.check("memfd_create", unsafe coffer_memory_create(name)))
        try memory.write(all: bytes)
        _ = try SystemError.check("fcntl", coffer_memory_seal(memory.number))
        return memory
    }

    /// Reads what it holds.
    ///
    /// - Parameters:
    ///   - memory: A descriptor, of whatever.
    ///   - byteCount: How many bytes there have to be.
    /// - Returns: The bytes; `nil` where the descriptor is no sealed memory, or of another size.
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
