internal import CCofferShims

/// A timer on an event loop, on the clock that continues during suspend.
package final class LoopTimer: ClockTimer {
    private let descriptor: OwnedDescriptor
    private let loop: EventLoop
    private let watch: EventLoop.Watch
    /// Whether it may be set: to stop one that is not, the kernel need not be asked.
    private var isSet = false

    /// Makes a timer that is not set.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - handler: Called once for each deadline.
    package init(on loop: EventLoop, handler: @escaping () -> Void) throws(SystemError) {
        let descriptor = try OwnedDescriptor("timerfd_create", coffer_timerfd)
        let number = descriptor.number
        watch = try loop.watch(descriptor, for: .readable) { _ in
            // Setting a timer also clears its expiry, so that the descriptor is not readable again at once.
            _ = coffer_timerfd_set(number, 0)
            handler()
        }
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Sets or stops the timer.
    ///
    /// - Parameter deadline: Nanoseconds since the boot; `nil` stops it.
    package func set(_ deadline: UInt64?) {
        if deadline == nil && !isSet { return }
        isSet = deadline != nil
        _ = coffer_timerfd_set(descriptor.number, deadline.map { max($0, 1) } ?? 0)
    }

    /// Removes it from the loop: its handler is not called any more.
    package func invalidate() { loop.unwatch(watch) }
}
