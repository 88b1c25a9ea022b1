/// How often and how soon a client connects again when its connection breaks.
///
/// Whatever it says, a request that changes something is sent once only.
public struct ReconnectPolicy: Hashable, Sendable {
    /// How many connections are tried, one after the other, before a call fails.
    public let attempts: Int
    /// How long it waits before the first; twice as long before each further one.
    public let firstDelay: Duration
    /// The longest that it waits.
    public let maximumDelay: Duration

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - attempts: How many connections are tried; with none, a call fails with its connection.
    ///   - firstDelay: How long it waits before the first.
    ///   - maximumDelay: The longest that it waits.
    public init(
        attempts: Int,
        firstDelay: Duration = .milliseconds(10),
        maximumDelay: Duration = .seconds(1)
    ) {
        self.attempts = max(0, attempts)
        self.firstDelay = max(.zero, firstDelay)
        self.maximumDelay = max(.zero, maximumDelay)
    }

    /// Tries for about ten seconds: longer than a daemon takes to restart.
    public static let standard = ReconnectPolicy(attempts: 16)
    /// A call fails when its connection breaks.
    public static let never = ReconnectPolicy(attempts: 0)

    /// How long to wait before an attempt.
    ///
    /// - Parameter attempt: Its number, from 0.
    func delay(before attempt: Int) -> Duration {
        // Far above any delay that is not cut off, and far from overflow.
        min(maximumDelay, firstDelay * (1 << min(attempt, 20)))
    }
}
