internal import Glibc

/// Nanoseconds on `CLOCK_BOOTTIME`: goes on while the machine sleeps, and no one can set it.
package struct BootClock: Sendable {
    private let read: @Sendable () -> UInt64

    /// The kernel's.
    package static let system = BootClock {
        var now = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Makes a clock.
    ///
    /// - Parameter read: Gives the time, in nanoseconds; never goes back.
    package init(_ read: @escaping @Sendable () -> UInt64) { self.read = read }

    /// The time, in nanoseconds since the machine came up.
    package var now: UInt64 { read() }
}

/// Milliseconds since 1970, for the dates that an item carries.
package func wallClockMilliseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
