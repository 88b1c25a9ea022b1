internal import Glibc

/// Nanoseconds on `CLOCK_BOOTTIME`: goes on while the machine sleeps, and no one can set it.
package struct BootClock: Sendable {
    /// Makes a timer of the clock on an event loop, on whose thread the handler is to run.
    package typealias TimerMaker =
        @Sendable (EventLoop, @escaping @Sendable () -> Void) throws(SystemError) -> any ClockTimer

    private let read: @Sendable () -> UInt64
    private let makeTimer: TimerMaker

    /// The kernel's.
    package static let system = BootClock(
        read: {
            var now = timespec()
            unsafe clock_gettime(CLOCK_BOOTTIME, &now)
            return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
        },
        makeTimer: { (loop, handler) throws(SystemError) in try LoopTimer(on: loop, handler: handler) }
    )

    /// Makes a clock.
    ///
    /// - Parameters:
    ///   - read: Gives the time, in nanoseconds; never goes back.
    ///   - makeTimer: Makes a timer that goes off by that time, and not by the kernel's: the two may differ for ever.
    package init(read: @escaping @Sendable () -> UInt64, makeTimer: @escaping TimerMaker) {
        self.read = read
        self.makeTimer = makeTimer
    }

    /// The time, in nanoseconds since the machine came up.
    package var now: UInt64 { read() }

    /// Makes a timer that is not set.
    ///
    /// - Parameters:
    ///   - loop: The loop, on whose thread this is called.
    ///   - handler: Runs on the loop's thread when the time has come.
    package func timer(
        on loop: EventLoop,
        handler: @escaping @Sendable () -> Void
    ) throws(SystemError) -> any ClockTimer {
        try makeTimer(loop, handler)
    }
}

/// A one-shot timer of a clock.
package protocol ClockTimer: Sendable {
    /// Sets the timer.
    ///
    /// - Parameter deadline: Nanoseconds of the clock's time, also past ones; `nil` unsets it.
    func set(_ deadline: UInt64?)
}

/// Milliseconds since 1970, for the dates that an item carries.
package func wallClockMilliseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
