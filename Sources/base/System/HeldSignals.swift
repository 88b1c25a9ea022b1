internal import CCofferShims
internal import Glibc

/// Signals that are blocked while they would leave something half done.
///
/// They are delivered after the end of this value. The compiler may end it after its last use: `withExtendedLifetime` keeps
/// it. A caller that got one from ``wait(for:)`` has to raise it again.
package struct HeldSignals: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let mask: sigset_t
    /// Those that were neither blocked nor ignored before.
    package let numbers: [Int32]

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
        numbers = signals
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

    /// A descriptor that is readable when one of the signals has arrived.
    package var number: Int32 { descriptor.number }

    /// The next signal that has arrived.
    ///
    /// - Returns: Its number, and whether the kernel has sent it, as for the keys of a terminal.
    package borrowing func next() -> (number: Int32, isFromKernel: Bool)? {
        var isFromKernel: Int32 = 0
        let number = unsafe coffer_signalfd_take(descriptor.number, &isFromKernel)
        return number == 0 ? nil : (number, isFromKernel != 0)
    }
}
