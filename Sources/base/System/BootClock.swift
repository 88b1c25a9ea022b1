internal import CofferCore
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
            UInt64(clamping: timespec(of: CLOCK_BOOTTIME).nanoseconds)
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

    /// The time that has passed.
    ///
    /// - Parameter start: The point that it counts from, in nanoseconds since the boot.
    package func elapsed(since start: UInt64) -> Duration {
        .nanoseconds(Int64(clamping: now.nearestDifference(start)))
    }

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
package func wallClockMilliseconds() -> Int64 { timespec(of: CLOCK_REALTIME).milliseconds }

/// The wall-clock time in nanoseconds since 1970, for the times of files; the nearest that can be represented for what is
/// beyond the year 2262.
package func wallClockNanoseconds() -> Int64 { timespec(of: CLOCK_REALTIME).nanoseconds }

extension timespec {
    /// The present time of a clock.
    init(of clock: clockid_t) {
        self.init()
        unsafe clock_gettime(clock, &self)
    }

    /// The nearest number of nanoseconds that can be represented.
    var nanoseconds: Int64 { Int64(tv_sec).nearestProduct(1_000_000_000).nearestSum(Int64(tv_nsec)) }

    /// The nearest number of milliseconds that can be represented.
    var milliseconds: Int64 { Int64(tv_sec).nearestProduct(1000).nearestSum(Int64(tv_nsec) / 1_000_000) }
}
