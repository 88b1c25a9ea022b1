internal import CCofferShims
internal import Glibc

/// Signals that wait until something is in order again which they would leave behind.
///
/// They act as ever once this is gone: who has learned of one from ``wait(for:)`` raises it again then.
package struct HeldSignals: ~Copyable {
    private let descriptor: OwnedDescriptor
    private let mask: sigset_t

    /// Holds signals back.
    ///
    /// - Parameter signals: Their numbers. The process has to have one thread only, the calling one.
    package init(_ signals: [Int32]) throws(SystemError) {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
        // What whoever started us has held back or ignored already is not for us: raised again, it would never act, and we would
        // learn of it for ever.
        let signals = signals.filter { signal in
            unsafe sigismember(&mask, signal) != 1 && coffer_signal_is_ignored(signal) == 0
        }
        do throws(SystemError) {
            let number = try retrying("signalfd") { unsafe coffer_signalfd(signals, Int32(signals.count)) }
            descriptor = OwnedDescriptor(owning: number)
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

    /// Waits until a descriptor can be read, or one of the signals comes.
    ///
    /// - Parameter number: The descriptor.
    /// - Returns: The signal; `nil` where the descriptor can be read.
    package borrowing func wait(for number: Int32) throws(SystemError) -> Int32? {
        let outcome = try retrying("poll") { coffer_wait_ready(number, Int16(POLLIN), descriptor.number) }
        return outcome == 0 ? coffer_signalfd_read(descriptor.number) : nil
    }
}
