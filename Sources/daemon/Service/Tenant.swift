internal import CofferCore
internal import CofferSystem

/// A tenant: all connections of one identity with the same limits, which share its quotas and its quantum.
final class Tenant {
    /// The identity, and its configured limits.
    struct Key: Hashable {
        let principal: ClientPattern
        let limits: ClientLimits
    }

    /// Its number in round robins.
    let number: Int
    let key: Key
    var connectionCount = 0
    /// The buffers of its connections.
    var held = BufferQuota.Held()

    private var requests: TokenBucket?
    private var refusals = TokenBucket(rate: Limits.refusalsPerSecond, burst: Limits.refusals)
    /// The time until which it is throttled.
    private(set) var throttleEnd: UInt64?

    init(_ number: Int, _ key: Key) {
        self.number = number
        self.key = key
        requests = key.limits.requestsPerSecond.map { TokenBucket(rate: $0, burst: $0) }
    }

    // MARK: Connections

    /// Whether it may connect once more.
    ///
    /// - Parameter total: The number of connections of all tenants.
    func mayConnect(besides total: Int) -> Bool {
        connectionCount < key.limits.connections ?? .max
            && FairShare.left(holding: connectionCount, used: total, of: Limits.connections) > 0
    }

    /// Whether it has no state worth keeping.
    func isForgettable(at now: UInt64) -> Bool {
        connectionCount == 0 && refusals.isFull(at: now) && requests?.isFull(at: now) ?? true
    }

    // MARK: Limits

    /// Counts a request.
    func noteRequest(at clock: BootClock) {
        guard requests != nil else { return }
        let now = clock.now
        requests?.take(at: now)
        throttle(until: requests?.nextTime ?? 0, at: now)
    }

    /// Counts a refusal.
    func noteRefusal(at clock: BootClock) {
        let now = clock.now
        refusals.take(at: now)
        throttle(until: refusals.nextTime, at: now)
    }

    private func throttle(until end: UInt64, at now: UInt64) {
        if end > max(now, throttleEnd ?? 0) { throttleEnd = end }
    }

    var isThrottled: Bool { throttleEnd != nil }

    /// Ends the throttling if its time is over.
    ///
    /// - Returns: Whether it ended now.
    func endThrottling(at now: UInt64) -> Bool {
        guard let throttleEnd, throttleEnd <= now else { return false }
        self.throttleEnd = nil
        return true
    }
}
