internal import CofferCore
internal import Glibc

/// A point in time on `CLOCK_MONOTONIC`, to measure how long something takes.
///
/// The standard library's clocks belong to its runtime of concurrency, which brings libdispatch along: the daemon would
/// start both, and never use them.
package struct MonotonicTime: Comparable, Sendable {
    private let nanoseconds: Int64

    /// The present.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: timespec(of: CLOCK_MONOTONIC).nanoseconds) }

    /// A later point.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds.nearestProduct(1_000_000_000).nearestSum(attoseconds / 1_000_000_000)
        return MonotonicTime(nanoseconds: time.nanoseconds.nearestSum(nanoseconds))
    }

    /// The time from one point to another.
    package static func - (end: MonotonicTime, start: MonotonicTime) -> Duration {
        .nanoseconds(end.nanoseconds.nearestDifference(start.nanoseconds))
    }

    package static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.nanoseconds < other.nanoseconds }
}
