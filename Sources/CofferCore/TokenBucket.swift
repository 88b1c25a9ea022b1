/// Lets something happen so many times in a second, over time, and so many times at once after a rest.
package struct TokenBucket: Sendable {
    private let interval: UInt64
    private let depth: UInt64
    /// When it is full again, in nanoseconds.
    private var fullTime: UInt64 = 0

    /// Makes a full bucket.
    ///
    /// - Parameters:
    ///   - rate: How many times in a second; from 1 to 1,000,000.
    ///   - burst: How many times at once; at least 1.
    package init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / UInt64(rate)
        depth = interval * UInt64(burst)
    }

    /// Takes note of one time, whether it was due or not.
    ///
    /// - Parameter now: Nanoseconds of a clock that does not go back.
    package mutating func take(at now: UInt64) { fullTime = max(fullTime, now) + interval }

    /// When the next time is due, in nanoseconds: a time that has passed where it is due now.
    package var nextTime: UInt64 { fullTime + interval > depth ? fullTime + interval - depth : 0 }

    /// Whether nothing is to be known of it any more.
    ///
    /// - Parameter now: Nanoseconds of the same clock.
    package func isFull(at now: UInt64) -> Bool { fullTime <= now }
}
