internal import CCofferShims
internal import Glibc

/// Signals that are blocked while they would leave something half done.
///
/// They are delivered after the end of this value. A caller that got one from ``wait(for:)`` has to raise it again.
package struct HeldSignals: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let mask: sigset_t

    /// Blocks signals.
    ///
    /// - Parameter signals: Their numbers. The process must have only the calling thread.
    package init(_ signals: [Int32]) throws(SystemError) {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
        // Signals that the parent has blocked or ignored are left alone: raised again, they would never take effect,
        // and would be reported forever.
        let signals = signals.filter { signal in
            unsafe sigismember(&mask, signal) != 1 && coffer_signal_is_ignored(signal) == 0
        }
        do throws(SystemError) {
            descriptor = try OwnedDescriptor("signalfd") { unsafe coffer_signalfd(signals, Int32(signals.count)) }
        } catch {
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
            throw error
        }
        self.mask = mask
    }

    deinit {
        var mask = mask
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Waits until a descriptor is readable or one of the signals arrives.
    ///
    /// - Parameter number: The descriptor.
    /// - Returns: The signal; `nil` if the descriptor is readable.
    package borrowing func wait(for number: Int32) throws(SystemError) -> Int32? {
        let outcome = try retrying("poll") { coffer_wait_ready(number, Int16(POLLIN), descriptor.number) }
        return outcome == 0 ? coffer_signalfd_read(descriptor.number) : nil
    }
}
