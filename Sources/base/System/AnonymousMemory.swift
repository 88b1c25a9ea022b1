internal import CCofferShims
internal import Glibc

/// Memory behind a descriptor, without a name in any file system: what is written to it is gone with the process.
///
/// The kernel may swap it out.
package struct AnonymousMemory: ~Copyable {
    private let memory: OwnedDescriptor

    /// Makes empty memory.
    ///
    /// - Parameter name: The name in `/proc/PID/fd`.
    package init(_ name: String) throws(SystemError) {
        memory = try OwnedDescriptor("memfd_create") { unsafe coffer_memory_create(name) }
    }

    /// The descriptor, close-on-exec.
    package var number: Int32 { memory.number }

    /// Has the next reader begin with the first byte.
    package func rewind() throws(SystemError) {
        let number = memory.number
        _ = try retrying("lseek") { Int32(truncatingIfNeeded: lseek(number, 0, SEEK_SET)) }
    }

    /// Gives the descriptor up, for who goes on writing.
    package consuming func released() -> OwnedDescriptor { memory }

    /// Writes bytes, and ends the writing for good, as ``sealed()`` does.
    package consuming func sealed(with bytes: [UInt8]) throws(SystemError) -> OwnedDescriptor {
        unsafe try memory.write(all: bytes.span.bytes)
        return try sealed()
    }

    /// Ends the writing for good, for every process that gets the descriptor.
    ///
    /// - Returns: The descriptor, at the first byte, of a file that only its owner can open, and only to read.
    package consuming func sealed() throws(SystemError) -> OwnedDescriptor {
        let number = memory.number
        // Programs such as ssh and psql refuse a file that others may read.
        _ = try retrying("fchmod") { fchmod(number, 0o400) }
        _ = try retrying("fcntl") { coffer_memory_seal(number) }
        try rewind()
        return memory
    }
}
