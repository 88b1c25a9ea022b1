package import CofferCore
internal import CofferMemory
internal import CofferWire

/// What a client says and hears, without a socket, a thread or a clock.
///
/// A shell gives it calls, the bytes that arrive and the time; it says which bytes go out, and what came of each call. Numbers,
/// cancelling, the bounds of what may be under way, and what a broken connection means for a call are decided here only.
package struct ClientMachine: ~Copyable {
    /// A time.
    package typealias Instant = ContinuousClock.Instant

    /// What a shell has to know.
    package enum Effect {
        /// The daemon has answered a call.
        case answered(Int64, Result<Answer, CofferError>)
        /// A call has ended without an answer.
        case failed(Int64, CofferError)
        /// The daemon says how far a call has come.
        case progress(Int64, TransferProgress)
        /// The daemon tells of an event.
        case event(VaultEvent)
        /// The connection has ended; without a reason where the client closed it.
        case lost(CofferError?)
    }

    /// The bytes that go out next.
    package struct Output {
        /// The header and the JSON of a frame.
        package let head: [UInt8]
        /// Its payload; `nil` where it has none, or the shell keeps it.
        package let payload: Secret?
        /// How many bytes of both have gone out.
        package let sentCount: Int
        /// The descriptor that goes with the frame's first byte.
        package let descriptor: Int32?
    }

    /// How long a daemon that was asked to cancel something may take to answer: it answers at once, unless it hangs.
    package static let patience: Duration = .seconds(10)

    private let policy: ReconnectPolicy
    private let tellsUnknownOutcomes: Bool
    private var decoder = FrameDecoder()
    /// Whether there is a connection.
    package private(set) var isConnected = false
    /// How many connections there were.
    package private(set) var epoch = 0
    /// Whether an answer has come on this connection.
    private var hasHeard = false
    /// How many attempts in a row brought no answer.
    private var failureCount = 0
    /// When the next connection may be tried, if not at once.
    private var retryTime: Instant?
    private var isClosed = false

    /// What is not sent to its end; the first may be in part.
    private var outbox: [Call] = []
    /// What was sent and not answered.
    private var sent: [Int64: Call] = [:]
    private var effects: [Effect] = []

    /// Makes a machine without a connection.
    ///
    /// - Parameters:
    ///   - policy: What happens when a connection breaks.
    ///   - tellsUnknownOutcomes: Whether a change that was sent ends with `outcomeUnknown` when the connection breaks before
    ///     its answer, and not with what broke the connection.
    package init(policy: ReconnectPolicy, tellsUnknownOutcomes: Bool) {
        self.policy = policy
        self.tellsUnknownOutcomes = tellsUnknownOutcomes
    }

    /// Takes what has happened since this was called last, in its order.
    package mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Calls

    /// Takes a call on.
    package mutating func submit(_ call: Call) {
        if isClosed { return effects.append(.failed(call.number, .clientClosed)) }
        if let bound = call.epoch, bound != epoch || !isConnected {
            return effects.append(.failed(call.number, .boundToConnection))
        }
        outbox.append(call)
    }

    /// Ends a call that is not wanted any more.
    ///
    /// What is not sent ends at once, and so does what only asks. What changes something ends with the daemon's answer, because
    /// only the daemon knows whether it has.
    package mutating func cancel(_ number: Int64, at now: Instant) {
        if let index = outbox.firstIndex(where: { $0.number == number }) {
            var call = outbox.remove(at: index)
            if call.sentCount == 0 { return effects.append(.failed(number, .cancelled)) }
            giveUp(&call, at: now)
            outbox.insert(call, at: index)
        } else if var call = sent[number], call.patienceEnds == nil {
            giveUp(&call, at: now)
            sent[number] = call
            askToCancel(number)
        }
    }

    private mutating func giveUp(_ call: inout Call, at now: Instant) {
        if call.patienceEnds == nil { call.patienceEnds = now + Self.patience }
        guard call.isIdempotent, !call.isSettled else { return }
        call.isSettled = true
        effects.append(.failed(call.number, .cancelled))
    }

    private mutating func askToCancel(_ number: Int64) {
        // The order overtakes what has not begun to go out.
        let place = outbox.first.map { $0.sentCount > 0 ? 1 : 0 } ?? 0
        outbox.insert(Call(cancelling: number, on: epoch), at: place)
    }

    /// Ends every call and the connection, for ever.
    package mutating func close(at now: Instant) {
        isClosed = true
        disconnected(.clientClosed, mayRepeat: false, at: now)
    }

    // MARK: Time

    /// When ``advance(to:)`` or ``wantsConnection(at:)`` has something new to say; `nil` where time changes nothing.
    package var deadline: Instant? {
        let patience = (outbox + sent.values).compactMap(\.patienceEnds).min()
        guard let retryTime, !outbox.isEmpty else { return patience }
        return patience.map { min($0, retryTime) } ?? retryTime
    }

    /// Ends a connection whose daemon does not answer.
    package mutating func advance(to now: Instant) {
        if (outbox + sent.values).contains(where: { $0.patienceEnds.map { $0 <= now } ?? false }) {
            disconnected(.connectionBroken("the daemon does not answer"), at: now)
        }
    }

    // MARK: Connections

    /// Whether a connection is to be tried now.
    package func wantsConnection(at now: Instant) -> Bool {
        !isConnected && !isClosed && !outbox.isEmpty && (retryTime.map { $0 <= now } ?? true)
    }

    /// There is a new connection.
    package mutating func connected() {
        decoder = FrameDecoder()
        isConnected = true
        hasHeard = false
        epoch += 1
        retryTime = nil
    }

    /// There is no new connection.
    ///
    /// - Parameters:
    ///   - error: Why, for the calls that wait where the policy allows no other attempt.
    ///   - now: The time.
    package mutating func couldNotConnect(_ error: CofferError, at now: Instant) {
        guard failureCount < policy.attempts else {
            failureCount = 0
            retryTime = nil
            for call in outbox { fail(call, error) }
            outbox = []
            return
        }
        retryTime = now + policy.delay(before: failureCount)
        failureCount += 1
    }

    /// The connection has ended: decides of each call what becomes of it.
    ///
    /// - Parameters:
    ///   - reason: Why, for the calls that end.
    ///   - mayRepeat: Whether another connection may do better.
    ///   - now: The time.
    package mutating func disconnected(_ reason: CofferError, mayRepeat: Bool = true, at now: Instant) {
        isConnected = false
        let (answerable, unsent) = (sent.values.sorted { $0.number < $1.number }, outbox)
        sent = [:]
        outbox = []
        for call in answerable { settle(call, reason, mayRepeat, wasSent: true) }
        for call in unsent { settle(call, reason, mayRepeat, wasSent: false) }
        effects.append(.lost(isClosed ? nil : reason))
        if !outbox.isEmpty && retryTime == nil { couldNotConnect(reason, at: now) }
    }

    private mutating func settle(_ call: Call, _ reason: CofferError, _ mayRepeat: Bool, wasSent: Bool) {
        if mayRepeat && call.lossCount < policy.attempts && call.mayBeRepeated(wasSent: wasSent) {
            var call = call
            call.prepareRepetition()
            outbox.append(call)
        } else if let method = call.method, tellsUnknownOutcomes && wasSent && !method.isIdempotent {
            fail(call, .outcomeUnknown(method.rawValue, reason))
        } else {
            let error = call.epoch == nil ? reason : .boundToConnection
            fail(call, call.patienceEnds == nil ? error : .cancelled)
        }
    }

    private mutating func fail(_ call: Call, _ error: CofferError) {
        if call.method != nil && !call.isSettled { effects.append(.failed(call.number, error)) }
    }
}

// MARK: - Sending

extension ClientMachine {
    /// Whether there is something to send.
    package var hasOutput: Bool { isConnected && nextToSend != nil }

    /// The bytes that go out next; ``didSend(_:)`` says how many have.
    package mutating func output() -> Output? {
        guard isConnected, let index = nextToSend else { return nil }
        // What is sent in part stays in front.
        if index > 0 { outbox.insert(outbox.remove(at: index), at: 0) }
        let call = outbox[0]
        let descriptor = call.sentCount == 0 ? call.descriptor?.number : nil
        return Output(head: call.head, payload: call.payload, sentCount: call.sentCount, descriptor: descriptor)
    }

    /// Counts bytes of the last output that have gone out.
    package mutating func didSend(_ count: Int) {
        guard outbox[0].advance(by: count) else { return }
        let call = outbox.removeFirst()
        sent[call.number] = call
        if call.patienceEnds != nil && call.method != nil { askToCancel(call.number) }
    }

    /// The place of the call whose bytes go out now.
    ///
    /// The daemon reads no more while too much is unanswered, which is bounded here so that an order to cancel still gets
    /// through. Of its places for transfers, those that store and those that fetch have half each: where contents go from one
    /// item to another, each that is stored has its fetching, and so goes on.
    private var nextToSend: Int? {
        guard let first = outbox.first else { return nil }
        if first.sentCount > 0 || first.method == nil { return 0 }
        let load = sent.values.reduce(into: Load()) { $0.add($1) }
        if load.isFull { return nil }
        return outbox.firstIndex { load.hasRoom(for: $0) }
    }
}

// MARK: - Receiving

extension ClientMachine {
    /// Takes bytes that have arrived, in whatever pieces, up to the end of a frame.
    ///
    /// - Parameters:
    ///   - bytes: What has arrived; nothing of it is kept but what is decoded.
    ///   - offset: Where to begin in it; afterwards, the first byte that was not taken.
    ///   - now: The time.
    package mutating func receive(_ bytes: RawSpan, from offset: inout Int, at now: Instant) {
        guard isConnected else { return offset = bytes.byteCount }
        do throws(CofferError) {
            if let frame = try nextFrame(in: bytes, at: &offset) { try handle(frame, at: now) }
        } catch {
            disconnected(error, mayRepeat: false, at: now)
        }
    }

    private mutating func nextFrame(in bytes: RawSpan, at offset: inout Int) throws(CofferError) -> Frame? {
        do throws(FrameError) {
            return try decoder.decode(bytes, at: &offset)
        } catch .noMemory {
            throw .noSecretMemory
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer is not a frame: \(error.cofferError.message)")
        }
    }

    private mutating func handle(_ frame: consuming Frame, at now: Instant) throws(CofferError) {
        guard case .success(let json) = frame.json else {
            throw CofferError(.protocolViolation, "the daemon's answer is not JSON")
        }
        switch try Incoming(json) {
        case .response(let id?, .success(let result)):
            let answer = Answer(result, frame.takePayload(), on: epoch)
            try handleAnswer(to: id, .success(answer))
        case .response(let id?, .failure(let error)): try handleAnswer(to: id, .failure(error))
        // An answer that belongs to no request: the daemon says why it closes.
        case .response(nil, .failure(let error)): turnedAway(error, at: now)
        case .response(nil, .success):
            throw CofferError(.protocolViolation, "the daemon's answer does not name its request")
        case .notification(let method, let params): handleNews(method, params)
        }
    }

    /// Ends a connection that the daemon ends, with its reason.
    private mutating func turnedAway(_ error: CofferError, at now: Instant) {
        // A client that may not connect is told so before a byte of it is read: nothing that was sent was carried out.
        if [.missingEntitlement, .notAvailable].contains(error.code), !hasHeard {
            outbox = sent.values.sorted { $0.number < $1.number } + outbox
            sent = [:]
        }
        disconnected(error, mayRepeat: false, at: now)
    }

    private mutating func handleAnswer(
        to id: RequestID,
        _ outcome: Result<Answer, CofferError>
    ) throws(CofferError) {
        guard case .integer(let number) = id, let call = sent.removeValue(forKey: number) else {
            throw CofferError(.protocolViolation, "the daemon answers a request that was not made")
        }
        failureCount = 0
        hasHeard = true
        if call.method != nil && !call.isSettled { effects.append(.answered(number, outcome)) }
    }

    /// A newer daemon may send news that this build does not know.
    private mutating func handleNews(_ method: String, _ params: JSONObject) {
        guard method == Notification.progress.rawValue else {
            if let event = VaultEvent(notification: method, params) { effects.append(.event(event)) }
            return
        }
        guard let report = try? ProgressParameters(result: .object(params)),
            case .integer(let number)? = report.request,
            sent[number] != nil
        else { return }
        effects.append(.progress(number, TransferProgress(done: report.done, total: report.total)))
    }
}
