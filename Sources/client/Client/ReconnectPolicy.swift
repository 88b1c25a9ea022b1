/// How often and how soon a client reconnects when its connection breaks.
///
/// With every policy, a request that changes something is sent only once.
public struct ReconnectPolicy: Hashable, Sendable {
    /// The number of consecutive attempts before a call fails.
    public let attempts: Int
    /// The delay before the first attempt, which doubles with each further one.
    public let firstDelay: Duration
    /// The maximum delay.
    public let maximumDelay: Duration

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - attempts: The number of consecutive attempts; with 0, a call fails when its connection breaks.
    ///   - firstDelay: The delay before the first attempt.
    ///   - maximumDelay: The maximum delay.
    public init(
        attempts: Int,
        firstDelay: Duration = .milliseconds(10),
        maximumDelay: Duration = .seconds(1)
    ) {
        self.attempts = max(0, attempts)
        self.firstDelay = max(.zero, firstDelay)
        self.maximumDelay = max(.zero, maximumDelay)
    }

    /// Retries for about ten seconds, which is longer than a restart of the daemon.
    public static let standard = ReconnectPolicy(attempts: 16)
    /// Never reconnects.
    public static let never = ReconnectPolicy(attempts: 0)

    /// The delay before an attempt.
    ///
    /// - Parameter attempt: Its number, from 0.
    func delay(before attempt: Int) -> Duration {
        // The exponent is bounded to prevent an overflow; the maximum delay applies far earlier.
        min(maximumDelay, firstDelay * (1 << min(attempt, 20)))
    }
}
