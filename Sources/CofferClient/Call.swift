internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// What a call came to.
typealias Outcome = Result<Answer, CofferError>

/// What the daemon answered.
struct Answer: Sendable {
    /// The result, as it came.
    let json: JSONValue
    /// The bytes that came with it.
    let payload: Secret
    /// The connection that it came on.
    let epoch: Int
}

/// A descriptor that goes with a request.
final class PassedDescriptor {
    /// Its number.
    let number: Int32
    private let owned: OwnedDescriptor?

    /// Borrows the caller's, who keeps it open meanwhile.
    init(borrowing number: Int32) {
        self.number = number
        owned = nil
    }

    /// Takes one over, which is closed when it has gone.
    init(_ descriptor: consuming OwnedDescriptor) {
        number = descriptor.number
        owned = consume descriptor
    }
}

/// A request on its way, from its first byte to its answer.
///
/// Lives on the client's actor.
final class Call {
    /// Its number on the wire: of one client, no two have the same.
    let number: Int64
    /// `nil` for one that this library makes by itself, whose answer nobody waits for.
    let method: Method?
    let head: [UInt8]
    private(set) var payload: Secret?
    let passesDescriptor: Bool
    /// The bytes of its frame.
    let byteCount: Int
    /// The descriptor that goes with it, until it has gone.
    private var descriptor: PassedDescriptor?
    /// The only connection that it means anything on.
    let epoch: Int?
    let progress: (@Sendable (TransferProgress) -> Void)?

    private(set) var sentCount = 0
    /// How many connections broke under it.
    private(set) var lossCount = 0
    /// When a daemon that was asked to cancel it has to have answered, in nanoseconds of boot time.
    var patienceEnds: UInt64?
    private(set) var outcome: Outcome?
    private var waiter: CheckedContinuation<Outcome, Never>?
    /// Called when the outcome is there.
    var whenEnded: (() -> Void)?

    init(
        _ number: Int64,
        _ method: Method?,
        _ request: Request,
        payload: Secret? = nil,
        descriptor: PassedDescriptor? = nil,
        epoch: Int? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        let json = request.serialized()
        self.number = number
        self.method = method
        head = FrameHeader.encode(jsonCount: json.count, payloadCount: payload?.count ?? 0) + json
        byteCount = head.count + (payload?.count ?? 0)
        self.payload = payload
        self.descriptor = descriptor
        passesDescriptor = descriptor != nil
        self.epoch = epoch
        self.progress = progress
    }

    /// Whether it says what is to become of another one.
    var isOrder: Bool { method == nil }

    /// Whether the daemon may be asked a second time without being told to do anything a second time.
    ///
    /// What was passed by descriptor is used up.
    var isIdempotent: Bool { method?.isIdempotent == true && !passesDescriptor }

    /// Whether it may go out on a new connection, after the one that it was on has broken.
    ///
    /// - Parameter wasSent: Whether the daemon may have it, and have acted on it: all its bytes had gone out.
    func mayBeRepeated(wasSent: Bool) -> Bool {
        method != nil && epoch == nil && patienceEnds == nil && outcome == nil && (!wasSent || isIdempotent)
    }

    /// Sends what can be sent.
    ///
    /// - Returns: Whether it is sent to its end; otherwise there is no room.
    func send(on channel: borrowing FrameChannel) throws(SystemError) -> Bool {
        while sentCount < byteCount {
            guard let count = try sendOnce(on: channel) else { return false }
            sentCount += count
        }
        // What is not needed again is not kept: of a stream, the daemon alone has the other end now.
        descriptor = nil
        if !isIdempotent || outcome != nil { payload = nil }
        return true
    }

    private func sendOnce(on channel: borrowing FrameChannel) throws(SystemError) -> Int? {
        let number = descriptor?.number
        guard let payload else { return try channel.send(head, nil, from: sentCount, passing: number) }
        return try channel.send(head, payload.content, from: sentCount, passing: number)
    }

    /// Makes it ready for another connection.
    func prepareRepetition() {
        sentCount = 0
        lossCount += 1
    }

    /// Ends it; only the first end counts.
    func end(_ outcome: Outcome) {
        if self.outcome != nil { return }
        self.outcome = outcome
        // What is sent in part has to be sent whole, whoever wants it: the next frame begins behind it.
        if sentCount == 0 { payload = nil }
        waiter?.resume(returning: outcome)
        waiter = nil
        whenEnded?()
        whenEnded = nil
    }

    /// Waits for its end: one waits at a time.
    func wait(on client: isolated CofferClient) async -> Outcome {
        // Looked at where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation(isolation: client) { continuation in
            if let outcome { continuation.resume(returning: outcome) } else { waiter = continuation }
        }
    }
}
