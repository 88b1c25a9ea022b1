internal import Glibc

/// Nanoseconds on `CLOCK_BOOTTIME`: goes on while the machine sleeps, and no one can set it.
package struct BootClock: Sendable {
    /// Makes a timer of the clock on an event loop, on whose thread the handler is to run.
    package typealias TimerMaker =
        @Sendable (EventLoop, @escaping () -> Void) throws(SystemError) -> any ClockTimer

    /// Names the boot that the time is counted from; `nil` where the kernel does not tell it.
    package let bootID: String?
    private let read: @Sendable () -> UInt64
    private let makeTimer: TimerMaker

    /// The kernel's.
    package static let system = BootClock(
        bootID: readBootID(),
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
    ///   - bootID: Names the boot that the time is counted from.
    ///   - read: Gives the time, in nanoseconds; never goes back.
    ///   - makeTimer: Makes a timer that goes off by that time, and not by the kernel's: the two may differ for ever.
    package init(
        bootID: String?,
        read: @escaping @Sendable () -> UInt64,
        makeTimer: @escaping TimerMaker
    ) {
        self.bootID = bootID
        self.read = read
        self.makeTimer = makeTimer
    }

    private static func readBootID() -> String? {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = OwnedDescriptor(owning: descriptor)
        var text = [UInt8](repeating: 0, count: 36)
        let count = unsafe Glibc.read(file.number, &text, text.count)
        return count == text.count ? String(decoding: text, as: UTF8.self) : nil
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
        handler: @escaping () -> Void
    ) throws(SystemError) -> any ClockTimer {
        try makeTimer(loop, handler)
    }
}

/// A one-shot timer of a clock.
package protocol ClockTimer: AnyObject {
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
