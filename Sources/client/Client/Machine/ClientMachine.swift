package import CofferCore
internal import CofferMemory
internal import CofferWire

/// The client's side of the protocol, without a socket, a thread or a clock.
///
/// A shell passes in calls, received bytes and the time; the machine returns the bytes to send and the
/// outcome of each call. Numbering, cancellation, the bounds of pending requests, and the effect of a broken
/// connection on each call are decided only here.
package struct ClientMachine: ~Copyable {
    /// A time of the monotonic clock.
    package typealias Instant = ContinuousClock.Instant

    /// An event that the shell must process.
    package enum Effect {
        /// The daemon has answered a call.
        case answered(Int64, Result<Answer, CofferError>)
        /// A call has ended without an answer.
        case failed(Int64, CofferError)
        /// The daemon reports the progress of a call.
        case progress(Int64, TransferProgress)
        /// The daemon reports an event of the vault.
        case event(VaultEvent)
        /// The connection has ended; without an error if the client closed it.
        case lost(CofferError?)
    }

    private let tellsUnknownOutcomes: Bool
    private var silence: Silence
    private var reconnection: Reconnection
    private var decoder = FrameDecoder()
    /// Whether there is a connection.
    package private(set) var isConnected = false
    /// The number of connections so far.
    package private(set) var epoch = 0
    /// Whether this connection has received an answer.
    private var hasHeard = false
    private var isClosed = false

    /// Calls that are not completely sent; the first may be partly sent.
    private var outbox: [Call] = []
    /// Calls that were sent and not answered.
    private var sent: [Int64: Call] = [:]
    private var effects: [Effect] = []

    /// Makes a machine without a connection.
    ///
    /// - Parameters:
    ///   - policy: How to reconnect when a connection breaks.
    ///   - tellsUnknownOutcomes: Whether a change that was sent ends with `outcomeUnknown` if the connection
    ///     breaks before the answer, instead of the error of the connection.
    ///   - timeout: How long a daemon that owes an answer may be silent; `nil` for ever.
    package init(policy: ReconnectPolicy, tellsUnknownOutcomes: Bool, timeout: Duration? = nil) {
        reconnection = Reconnection(policy)
        self.tellsUnknownOutcomes = tellsUnknownOutcomes
        silence = Silence(limit: timeout)
    }

    /// Takes the effects since the last call, in order.
    package mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Calls

    /// Accepts a call.
    package mutating func submit(_ call: Call, at now: Instant) {
        if isClosed { return effects.append(.failed(call.number, .clientClosed)) }
        if let bound = call.epoch, bound != epoch || !isConnected {
            return effects.append(.failed(call.number, .boundToConnection))
        }
        if !owesAnswer { silence.end(at: now) }
        outbox.append(call)
    }

    /// Cancels a call.
    ///
    /// A call that was not sent ends at once, and so does one that only reads. A change ends with the
    /// daemon's answer, because only the daemon knows whether it was made.
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
        if call.patienceEnds == nil { call.patienceEnds = now + Limits.cancelPatience }
        guard call.isIdempotent, !call.isSettled else { return }
        call.isSettled = true
        effects.append(.failed(call.number, .cancelled))
    }

    private mutating func askToCancel(_ number: Int64) { insertFirst(Call(cancelling: number, on: epoch)) }

    /// Sends a request of the machine's own before every call that has not begun to be sent.
    private mutating func insertFirst(_ call: Call) {
        outbox.insert(call, at: outbox.first.map { $0.sentCount > 0 ? 1 : 0 } ?? 0)
    }

    /// Fails every call and closes the connection, for good.
    package mutating func close(at now: Instant) {
        isClosed = true
        disconnected(.clientClosed, mayRepeat: false, at: now)
    }

    // MARK: Time

    /// The next time at which ``advance(to:)`` or ``wantsConnection(at:)`` may change; `nil` if time changes
    /// nothing.
    package var deadline: Instant? {
        let patience = (outbox + sent.values).compactMap(\.patienceEnds).min()
        let retry = outbox.isEmpty ? nil : reconnection.time
        return [patience, retry, owesAnswer ? silence.deadline : nil].compactMap(\.self).min()
    }

    /// Ends the connection if the daemon missed a deadline.
    package mutating func advance(to now: Instant) {
        if (outbox + sent.values).contains(where: { $0.patienceEnds.map { $0 <= now } ?? false }) {
            disconnected(.connectionBroken("the daemon does not answer"), at: now)
        }
        switch owesAnswer ? silence.demand(at: now) : nil {
        case nil: break
        case .probe: probe()
        case .loss(let limit): disconnected(.silent(for: limit), mayRepeat: false, at: now)
        }
    }

    /// Whether the daemon has something to answer.
    private var owesAnswer: Bool { isConnected && !(sent.isEmpty && outbox.isEmpty) }

    private mutating func probe() {
        let isPending = sent[Call.probeNumber] != nil || outbox.contains { $0.number == Call.probeNumber }
        if !isPending { insertFirst(Call(probeOn: epoch)) }
    }

    // MARK: Connections

    /// Whether to connect now.
    package func wantsConnection(at now: Instant) -> Bool {
        !isConnected && !isClosed && !outbox.isEmpty && reconnection.isDue(at: now)
    }

    /// Begins a new connection.
    package mutating func connected(at now: Instant) {
        silence.end(at: now)
        decoder = FrameDecoder()
        isConnected = true
        hasHeard = false
        epoch += 1
        reconnection.connected()
    }

    /// Records a failed attempt.
    ///
    /// - Parameters:
    ///   - error: The error, for waiting calls if the policy allows no further attempt.
    ///   - now: The time.
    package mutating func couldNotConnect(_ error: CofferError, at now: Instant) {
        if reconnection.failed(at: now) { return }
        for call in outbox { fail(call, error) }
        outbox = []
    }

    /// Ends the connection and decides the outcome of each call.
    ///
    /// - Parameters:
    ///   - reason: The error of the calls that end.
    ///   - mayRepeat: Whether a new connection may succeed.
    ///   - now: The time.
    package mutating func disconnected(_ reason: CofferError, mayRepeat: Bool = true, at now: Instant) {
        isConnected = false
        let (answerable, unsent) = (sent.values.sorted { $0.number < $1.number }, outbox)
        sent = [:]
        outbox = []
        for call in answerable { settle(call, reason, mayRepeat, wasSent: true) }
        for call in unsent { settle(call, reason, mayRepeat, wasSent: false) }
        effects.append(.lost(isClosed ? nil : reason))
        if !outbox.isEmpty && reconnection.time == nil { couldNotConnect(reason, at: now) }
    }

    private mutating func settle(_ call: Call, _ reason: CofferError, _ mayRepeat: Bool, wasSent: Bool) {
        if mayRepeat && call.lossCount < reconnection.policy.attempts && call.mayBeRepeated(wasSent: wasSent) {
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
    /// Whether there are bytes to send.
    package var hasOutput: Bool { isConnected && nextToSend != nil }

    /// The call to send next, or to go on sending; ``didSend(_:)`` counts the bytes.
    package mutating func output() -> Call? {
        guard isConnected, let index = nextToSend else { return nil }
        // A partly sent call stays first.
        if index > 0 { outbox.insert(outbox.remove(at: index), at: 0) }
        return outbox[0]
    }

    /// Counts sent bytes of the last output.
    package mutating func didSend(_ count: Int) {
        guard outbox[0].advance(by: count) else { return }
        let call = outbox.removeFirst()
        sent[call.number] = call
        if call.patienceEnds != nil && call.method != nil { askToCancel(call.number) }
    }

    /// The index of the call to send next.
    ///
    /// The daemon stops reading at its bound of unanswered requests. The client stays below it, so that a
    /// request to cancel is still read. Half of the daemon's transfers are reserved for stores and half for
    /// fetches: when contents are copied between items, each store then has its fetch, and progresses.
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
    /// Takes received bytes, in pieces of any size, up to the end of one frame.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes; only what is decoded from them is kept.
    ///   - offset: The first byte to take; afterwards, the first that was not taken.
    ///   - now: The time.
    package mutating func receive(_ bytes: RawSpan, from offset: inout Int, at now: Instant) {
        guard isConnected else { return offset = bytes.byteCount }
        silence.end(at: now)
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
            let answer = Answer(json: result, payload: Secret(frame.takePayload()), epoch: epoch)
            try handleAnswer(to: id, .success(answer))
        case .response(let id?, .failure(let error)): try handleAnswer(to: id, .failure(error))
        // An error without a request number: the daemon's reason for closing.
        case .response(nil, .failure(let error)): turnedAway(error, at: now)
        case .response(nil, .success):
            throw CofferError(.protocolViolation, "the daemon's answer does not name its request")
        case .notification(let method, let params): handleNews(method, params)
        }
    }

    /// Handles the daemon's reason for closing the connection.
    private mutating func turnedAway(_ error: CofferError, at now: Instant) {
        // A refusal of the client precedes the reading of its first byte, so no request was executed.
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
        reconnection.answered()
        hasHeard = true
        if call.method != nil && !call.isSettled { effects.append(.answered(number, outcome)) }
    }

    /// A newer daemon may send notifications that this build does not know.
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
