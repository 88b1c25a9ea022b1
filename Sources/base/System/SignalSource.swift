internal import CCofferShims

/// Signals as events of a loop.
package final class SignalSource {
    private let descriptor: OwnedDescriptor

    /// Blocks signals for the calling thread and the threads that it starts later, and reports them.
    ///
    /// - Parameters:
    ///   - signals: Their numbers.
    ///   - loop: The loop; the caller must be on its thread.
    ///   - handler: Runs on the loop's thread with a signal's number.
    package init(
        _ signals: [Int32],
        on loop: EventLoop,
        handler: @escaping (Int32) -> Void
    ) throws(SystemError) {
        let descriptor = try OwnedDescriptor("signalfd") { unsafe coffer_signalfd(signals, Int32(signals.count)) }
        let number = descriptor.number
        _ = try loop.watch(descriptor, for: .readable) { _ in
            while case let signal = coffer_signalfd_read(number), signal != 0 { handler(signal) }
        }
        self.descriptor = descriptor
    }
}
