internal import CCofferShims
internal import Glibc

/// Wakes a thread that waits for a descriptor.
package struct WakeSignal: ~Copyable, Sendable {
    /// Readable until the signal is cleared.
    package let descriptor: OwnedDescriptor

    /// Makes a signal that is not set.
    package init() throws(SystemError) { descriptor = try OwnedDescriptor("eventfd", coffer_eventfd) }

    /// Sets the signal; any thread may do so, and several count as one.
    package borrowing func send() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.number, &one, 8)
    }

    package borrowing func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.number, &count, 8)
    }
}
