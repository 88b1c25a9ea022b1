internal import Glibc

/// A clock on `CLOCK_BOOTTIME`, in nanoseconds: it continues during suspend, and can't be set.
package struct BootClock: Sendable {
    /// Makes a timer of the clock on an event loop, whose thread runs the handler.
    package typealias TimerMaker =
        @Sendable (EventLoop, @escaping () -> Void) throws(SystemError) -> any ClockTimer

    /// Identifies the boot that the time counts from; `nil` if the kernel does not say.
    package let bootID: String?
    private let read: @Sendable () -> UInt64
    private let makeTimer: TimerMaker

    /// The clock of the kernel.
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
    ///   - bootID: Identifies the boot that the time counts from.
    ///   - read: Returns the time in nanoseconds, which never decreases.
    ///   - makeTimer: Makes a timer that follows this time, not the kernel's.
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
        let path = "/proc/sys/kernel/random/boot_id"
        let text = try? OwnedDescriptor.content(ofFile: path, upTo: 36).map { $0.prefix(36) }
        return text?.count == 36 ? text.map { String(decoding: $0, as: UTF8.self) } : nil
    }

    /// The time, in nanoseconds since the boot.
    package var now: UInt64 { read() }

    /// Makes a timer that is not set.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - handler: Runs on the loop's thread at the deadline.
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
    /// - Parameter deadline: Nanoseconds of the clock's time; a past one fires at once, `nil` stops the timer.
    func set(_ deadline: UInt64?)
}

/// The wall-clock time in milliseconds since 1970, for dates in items.
package func wallClockMilliseconds() -> Int64 { wallClockNanoseconds() / 1_000_000 }

/// The wall-clock time in nanoseconds since 1970, for the times of files.
package func wallClockNanoseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
