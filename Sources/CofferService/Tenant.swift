internal import CofferCore
internal import CofferSystem

/// One of those who share the daemon: all connections of one identity, as far as the same limits are set for them.
final class Tenant {
    /// Who it is, and what was written of it.
    struct Key: Hashable {
        let principal: ClientPattern
        let limits: ClientLimits
    }

    /// Names it where those who share something take turns.
    let number: Int
    let key: Key
    private(set) var connectionCount = 0
    /// What its connections hold of frames on their way.
    var held = BufferQuota.Held()

    private var requests: TokenBucket?
    private var refusals = TokenBucket(rate: Limits.refusalsPerSecond, burst: Limits.refusals)
    /// Until when nothing of it is carried out.
    private(set) var throttleEnd: UInt64?

    init(_ number: Int, _ key: Key) {
        self.number = number
        self.key = key
        requests = key.limits.requestsPerSecond.map { TokenBucket(rate: $0, burst: $0) }
    }

    // MARK: Connections

    func addConnection() { connectionCount += 1 }
    func removeConnection() { connectionCount -= 1 }

    /// Whether it may have one more connection.
    ///
    /// - Parameter total: How many there are of all tenants.
    func mayConnect(besides total: Int) -> Bool {
        connectionCount < key.limits.connections ?? .max
            && FairShare.left(holding: connectionCount, used: total, of: Limits.connections) > 0
    }

    /// Whether nothing is lost where it is forgotten.
    func isForgettable(at now: UInt64) -> Bool {
        connectionCount == 0 && refusals.isFull(at: now) && requests?.isFull(at: now) ?? true
    }

    // MARK: Limits

    /// Takes note of a request.
    func noteRequest(at clock: BootClock) {
        guard requests != nil else { return }
        let now = clock.now
        requests?.take(at: now)
        rest(until: requests?.nextTime ?? 0, at: now)
    }

    /// Takes note of a refusal.
    func noteRefusal(at clock: BootClock) {
        let now = clock.now
        refusals.take(at: now)
        rest(until: refusals.nextTime, at: now)
    }

    private func rest(until end: UInt64, at now: UInt64) {
        if end > max(now, throttleEnd ?? 0) { throttleEnd = end }
    }

    var isThrottled: Bool { throttleEnd != nil }

    /// Ends a rest that is over.
    ///
    /// - Returns: Whether it was one.
    func endThrottling(at now: UInt64) -> Bool {
        guard let throttleEnd, throttleEnd <= now else { return false }
        self.throttleEnd = nil
        return true
    }
}
