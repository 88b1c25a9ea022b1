internal import CofferCore
internal import CofferSystem

/// One of those who share the daemon: all connections of one identity, as far as the same limits are set for them.
///
/// Lives on the server's actor.
final class Tenant {
    /// Who it is, and what was written of it.
    struct Key: Hashable {
        let principal: ClientPattern
        let limits: ClientLimits
    }

    /// Names it where those who share something take turns.
    let number: Int
    let key: Key
    /// The sockets of its connections.
    let crowd: EventLoop.Crowd
    private(set) var connectionCount = 0
    /// What its connections hold of frames on their way.
    var held = TransitRoom.Held()

    /// The connections that something waits for which is no event: what was read ahead, and what a request held up that has
    /// ended.
    private var resuming: [Int] = []
    /// The connections with something to send.
    private var sending: [Int] = []
    /// When it had a helping last, and got answers.
    var round: UInt64 = 0
    var sendingTurn: UInt64 = 0
    /// Whether it is in the queue of those who have something to do.
    var isQueued = false

    private var requests: TokenBucket?
    private var refusals = TokenBucket(rate: Limits.refusalsPerSecond, burst: Limits.refusals)
    /// Until when nothing of it is carried out.
    private(set) var restEnd: UInt64?

    init(_ number: Int, _ key: Key, on loop: EventLoop, handler: @escaping @Sendable () -> Void) throws(SystemError) {
        self.number = number
        self.key = key
        crowd = try loop.makeCrowd(handler: handler)
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

    // MARK: Turns

    /// A connection has something to go on with.
    func resume(_ connection: Int) {
        if !resuming.contains(connection) { resuming.append(connection) }
    }

    /// The connection that goes on next, if it is the turn of one.
    ///
    /// What was read ahead is held in locked memory: where many connections have some, no more is read.
    func takeResuming(besidesEvents hasEvents: Bool) -> Int? {
        if resuming.isEmpty { return nil }
        isEventsTurn.toggle()
        return hasEvents && isEventsTurn && resuming.count < Self.mostReadAhead ? nil : resuming.removeFirst()
    }

    private var isEventsTurn = false
    private static let mostReadAhead = 8

    var isResuming: Bool { !resuming.isEmpty }

    /// A connection has something to send.
    func send(to connection: Int) { sending.append(connection) }
    /// The connection that is sent to next.
    func takeSending() -> Int? { sending.isEmpty ? nil : sending.removeFirst() }
    var isSending: Bool { !sending.isEmpty }
    /// Whether it is to be sent a few answers, and none that waits for the end of the turn.
    func mayAnswerEarly(_ sessions: [Int: Session], upTo count: Int) -> Bool {
        sending.count <= count && sending.contains { sessions[$0]?.hasAnswers == true }
            && !sending.contains { sessions[$0]?.waitsForTurn == true }
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
        if end > max(now, restEnd ?? 0) { restEnd = end }
    }

    var isResting: Bool { restEnd != nil }

    /// Ends a rest that is over.
    ///
    /// - Returns: Whether it was one.
    func endRest(at now: UInt64) -> Bool {
        guard let restEnd, restEnd <= now else { return false }
        self.restEnd = nil
        return true
    }
}
