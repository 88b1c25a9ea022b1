/// The attempts to connect, and when the next one may be made.
struct Reconnection {
    let policy: ReconnectPolicy
    /// The number of consecutive attempts without an answer.
    private var failureCount = 0
    /// The earliest time of the next attempt; `nil` for at once.
    private(set) var time: ClientMachine.Instant?

    init(_ policy: ReconnectPolicy) { self.policy = policy }

    func isDue(at now: ClientMachine.Instant) -> Bool { time.map { $0 <= now } ?? true }

    mutating func connected() { time = nil }

    mutating func answered() { failureCount = 0 }

    /// Records a failed attempt.
    ///
    /// - Returns: Whether the policy allows a further one.
    mutating func failed(at now: ClientMachine.Instant) -> Bool {
        guard failureCount < policy.attempts else {
            self = Reconnection(policy)
            return false
        }
        time = now + policy.delay(before: failureCount)
        failureCount += 1
        return true
    }
}
