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
}
