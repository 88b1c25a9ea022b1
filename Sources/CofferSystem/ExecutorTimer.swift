internal import CCofferShims

/// A one-shot timer of an event loop, on boot time: a machine that slept past the time wakes to it.
package final class ExecutorTimer {
    private let descriptor: OwnedDescriptor
    private let loop: ExecutorLoop
    private let watch: ExecutorLoop.Watch

    /// Makes a timer that is not set.
    ///
    /// - Parameters:
    ///   - loop: The loop, on whose thread this is called.
    ///   - handler: Runs on the loop's thread when the time has come.
    package init(on loop: ExecutorLoop, handler: @escaping @Sendable () -> Void) throws(SystemError) {
        let descriptor = OwnedDescriptor(owning: try retrying("timerfd_create") { coffer_timerfd() })
        let number = descriptor.number
        watch = try loop.watch(descriptor, for: .readable) { _ in
            // Setting a timer also clears its expiry, so that the descriptor is not readable again at once.
            _ = coffer_timerfd_set(number, 0)
            handler()
        }
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Sets the timer.
    ///
    /// - Parameter deadline: Nanoseconds of boot time; `nil` unsets it.
    package func set(_ deadline: UInt64?) {
        _ = coffer_timerfd_set(descriptor.number, deadline.map { max($0, 1) } ?? 0)
    }

    /// Lets go of the handler: for a timer that does not live as long as its loop, on whose thread this is called.
    package func invalidate() { loop.unwatch(watch) }
}
