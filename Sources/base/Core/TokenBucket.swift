/// A token bucket: limits a rate over time, and allows a burst after a pause.
package struct TokenBucket: Sendable {
    private let interval: UInt64
    private let depth: UInt64
    /// The time at which it is full again, in nanoseconds.
    private var fullTime: UInt64 = 0

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Tokens per second; from 1 to 1,000,000.
    ///   - burst: Tokens in a full bucket; at least 1.
    package init(rate: Int, burst: Int) {
        interval = 1_000_000_000 / UInt64(rate)
        depth = interval * UInt64(burst)
    }

    /// Takes a token, even if none is available yet.
    ///
    /// - Parameter now: Nanoseconds of a clock that does not go back.
    package mutating func take(at now: UInt64) { fullTime = max(fullTime, now) + interval }

    /// When the next token is available, in nanoseconds; a time in the past if it is available now.
    package var nextTime: UInt64 { fullTime + interval > depth ? fullTime + interval - depth : 0 }

    /// Whether the bucket is full, so that its state need not be kept.
    ///
    /// - Parameter now: Nanoseconds of the same clock.
    package func isFull(at now: UInt64) -> Bool { fullTime <= now }
}
