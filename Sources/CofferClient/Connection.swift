internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// The socket of a client, while it has one.
///
/// Lives on the client's actor.
final class Connection {
    var channel: FrameChannel
    private let loop: EventLoop
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest = .readable

    init(to socketPath: String, on loop: EventLoop) throws(CofferError) {
        let socket: OwnedDescriptor
        do {
            socket = try UnixSocket.connect(to: socketPath, isBlocking: false)
        } catch {
            throw .unreachable(socketPath, error)
        }
        channel = try FrameChannel(socket)
        self.loop = loop
    }

    /// Begins to watch the socket.
    func start(_ handler: @escaping @Sendable (EventLoop.Interest) -> Void) throws(CofferError) {
        do {
            watch = try loop.watch(channel.socket, for: interest, handler: handler)
        } catch {
            throw error.cofferError("can't watch the connection")
        }
    }

    /// Says whether there is something to be sent.
    func wait(toSend hasMore: Bool) {
        let wanted: EventLoop.Interest = hasMore ? [.readable, .writable] : .readable
        guard wanted != interest, let watch else { return }
        interest = wanted
        try? loop.change(watch, to: wanted)
    }

    /// Stops watching; the socket closes when this goes.
    func stop() {
        if let watch { loop.unwatch(watch) }
        watch = nil
    }
}

// MARK: - Connecting

extension CofferClient {
    /// Makes the first connection.
    func open() throws(CofferError) {
        if Task.isCancelled { throw .cancelled }
        do throws(CofferError) {
            try connect()
        } catch {
            // One that is too busy now is tried again with the first call.
            if error.retry == .never { throw error }
        }
    }

    /// Ends whatever runs, and closes.
    func close() {
        isClosed = true
        disconnect(.clientClosed, mayRepeat: false)
        connectTimer?.invalidate()
        connectTimer = nil
        patienceTimer?.invalidate()
        patienceTimer = nil
    }

    private func connect() throws(CofferError) {
        let connection = try Connection(to: socketPath, on: loop)
        try connection.start { [unowned self] ready in assumeIsolated { $0.socketIsReady(ready) } }
        self.connection = connection
        epoch += 1
        hasHeard = false
    }

    /// Connects where there is something to be sent, or waits for the time to.
    private func connectAgain() {
        guard connection == nil, !isWaitingToConnect, !outbox.isEmpty, !isClosed else { return }
        do throws(CofferError) {
            try connect()
        } catch {
            return retryLater(after: error)
        }
        flush()
    }

    private func retryLater(after error: CofferError) {
        guard failureCount < policy.attempts else {
            failureCount = 0
            return failAll(error)
        }
        let delay = policy.delay(before: failureCount)
        failureCount += 1
        do throws(SystemError) {
            if connectTimer == nil { connectTimer = try timer { $0.timeToConnect() } }
        } catch {
            return failAll(error.cofferError("can't wait to connect again"))
        }
        isWaitingToConnect = true
        connectTimer?.set(BootClock.system.now + delay.nanoseconds)
    }

    private func timeToConnect() {
        isWaitingToConnect = false
        connectAgain()
    }

    private func failAll(_ error: CofferError) {
        let calls = outbox
        outbox = []
        for call in calls { call.end(.failure(error)) }
    }

    private func timer(
        _ body: @escaping @Sendable (isolated CofferClient) -> Void
    ) throws(SystemError) -> LoopTimer {
        try LoopTimer(on: loop) { [unowned self] in assumeIsolated { body($0) } }
    }

    /// Ends the connection, and decides of each call what becomes of it.
    ///
    /// - Parameters:
    ///   - reason: Why, for those that end.
    ///   - mayRepeat: Whether another connection may do better.
    func disconnect(_ reason: CofferError, mayRepeat: Bool) {
        connection?.stop()
        connection = nil
        let answerable = sent.values.sorted { $0.number < $1.number }
        let unsent = outbox
        sent = [:]
        outbox = []
        for call in answerable { settle(call, reason, mayRepeat, wasSent: true) }
        for call in unsent { settle(call, reason, mayRepeat, wasSent: false) }
        endEvents(isClosed ? nil : reason)
        if !outbox.isEmpty && !isWaitingToConnect { retryLater(after: reason) }
    }

    private func settle(_ call: Call, _ reason: CofferError, _ mayRepeat: Bool, wasSent: Bool) {
        if mayRepeat && call.lossCount < policy.attempts && call.mayBeRepeated(wasSent: wasSent) {
            call.prepareRepetition()
            outbox.append(call)
        } else if let method = call.method, wasSent && !method.isIdempotent {
            call.end(.failure(.outcomeUnknown(method.rawValue, reason)))
        } else {
            let error = call.epoch == nil ? reason : .boundToConnection
            call.end(.failure(call.patienceEnds == nil ? error : .cancelled))
        }
    }
}

// MARK: - Sending

extension CofferClient {
    /// Takes a call on.
    func submit(_ call: Call) {
        if isClosed { return call.end(.failure(.clientClosed)) }
        if let bound = call.epoch, bound != epoch || connection == nil {
            return call.end(.failure(.boundToConnection))
        }
        outbox.append(call)
        if connection == nil { connectAgain() } else { flush() }
    }

    private func flush() {
        guard let connection else { return }
        do throws(SystemError) {
            // Cancelling what has just gone out may have found the connection broken.
            while self.connection === connection, let index = nextToSend {
                let call = outbox.remove(at: index)
                // What is sent in part stays in front.
                outbox.insert(call, at: 0)
                guard try call.send(on: connection.channel) else { break }
                outbox.removeFirst()
                sent[call.number] = call
                if call.patienceEnds != nil { askToCancel(call) }
            }
        } catch {
            // A daemon that turned us away has said why before it closed.
            receive()
            if self.connection === connection { disconnect(.connectionBroken(error.reason), mayRepeat: true) }
            return
        }
        connection.wait(toSend: nextToSend != nil)
    }

    /// The place of the call whose bytes go out now.
    ///
    /// The daemon reads no more while too much is unanswered, which is bounded here so that an order to cancel still gets
    /// through. Of its places for transfers, those that store and those that fetch have half each: where contents go from one
    /// item to another, each that is stored has its fetching, and so goes on.
    private var nextToSend: Int? {
        guard let first = outbox.first else { return nil }
        if first.sentCount > 0 || first.isOrder { return 0 }
        let load = sent.values.reduce(into: Load()) { $0.add($1) }
        if load.isFull { return nil }
        return outbox.firstIndex { load.hasRoom(for: $0) }
    }

    // MARK: Cancelling

    /// How long a daemon that was asked to cancel something may take to answer: it answers at once, unless it hangs.
    private static let patience: Duration = .seconds(10)

    /// Ends a call whose task was cancelled.
    ///
    /// What is not sent ends at once, and so does what only asks. What changes something ends with the daemon's answer, which
    /// is the only one who knows whether it has.
    func cancel(_ number: Int64) {
        if let index = outbox.firstIndex(where: { $0.number == number }) {
            let call = outbox[index]
            if call.sentCount == 0 {
                outbox.remove(at: index)
                return call.end(.failure(.cancelled))
            }
            giveUp(call)
        } else if let call = sent[number], call.patienceEnds == nil {
            giveUp(call)
            askToCancel(call)
        }
    }

    private func giveUp(_ call: Call) {
        if call.isIdempotent { call.end(.failure(.cancelled)) }
        let deadline = BootClock.system.now + Self.patience.nanoseconds
        call.patienceEnds = deadline
        do throws(SystemError) {
            if patienceTimer == nil { patienceTimer = try timer { $0.patienceHasEnded() } }
        } catch {
            return disconnect(error.cofferError("can't wait for the end of a call"), mayRepeat: true)
        }
        patienceTimer?.set(deadline)
    }

    private func askToCancel(_ call: Call) {
        let params = RequestCancelParameters(.integer(call.number))
        let number = takeNumber()
        let request = Request(id: .integer(number), method: Method.requestCancel.rawValue, params: params.json)
        let order = Call(number, nil, request, epoch: epoch)
        // It overtakes what has not begun to go out.
        let place = outbox.first.map { $0.sentCount > 0 ? 1 : 0 } ?? 0
        outbox.insert(order, at: place)
        flush()
    }

    private func patienceHasEnded() {
        let now = BootClock.system.now
        let deadlines = (outbox + sent.values).compactMap(\.patienceEnds)
        guard let next = deadlines.min() else { return }
        if next > now {
            patienceTimer?.set(next)
        } else {
            disconnect(.connectionBroken("the daemon does not answer"), mayRepeat: true)
        }
    }
}

// MARK: - Receiving

extension CofferClient {
    /// How often one connection is read before others get their turn.
    private static let readsPerTurn = 16

    private func socketIsReady(_ ready: EventLoop.Interest) {
        if ready.contains(.writable) { flush() }
        if !ready.isDisjoint(with: .readable) { receive() }
    }

    private func receive() {
        guard let connection else { return }
        do throws(CofferError) {
            for _ in 0..<Self.readsPerTurn {
                switch try receiveOnce(connection) {
                case .nothing: return
                case .end: return disconnect(.connectionBroken("it closed the connection"), mayRepeat: true)
                case .bytes: try handleFrames(connection)
                }
                if self.connection !== connection { return }
                // What is answered makes room for what waits.
                flush()
                if self.connection !== connection { return }
            }
        } catch {
            disconnect(error, mayRepeat: error.code == .notAvailable)
        }
    }

    private func receiveOnce(_ connection: Connection) throws(CofferError) -> FrameChannel.Arrival {
        do { return try connection.channel.receive() } catch { throw .connectionBroken(error.reason) }
    }

    private func handleFrames(_ connection: Connection) throws(CofferError) {
        while self.connection === connection, let frame = try connection.channel.nextFrame() {
            guard case .success(let json) = frame.json else {
                throw CofferError(.protocolViolation, "the daemon's answer is not JSON")
            }
            switch try Incoming(json) {
            case .response(let id?, let outcome):
                let payload = Secret(frame.takePayload())
                let epoch = epoch
                try handleAnswer(to: id, outcome.map { Answer(json: $0, payload: payload, epoch: epoch) })
            // An answer that belongs to no request: the daemon says why it closes.
            case .response(nil, .failure(let error)): return turnAway(error)
            case .response(nil, .success):
                throw CofferError(.protocolViolation, "the daemon answers, and does not say what")
            case .notification(let method, let params): handleNews(method, params)
            }
        }
    }

    /// Ends a connection that the daemon ends, with its reason.
    private func turnAway(_ error: CofferError) {
        // Who may not connect is told so before a byte is read.
        if [.missingEntitlement, .notAvailable].contains(error.code), !hasHeard {
            outbox = sent.values.sorted { $0.number < $1.number } + outbox
            sent = [:]
        }
        disconnect(error, mayRepeat: false)
    }

    private func handleAnswer(to id: RequestID, _ outcome: Outcome) throws(CofferError) {
        guard case .integer(let number) = id, let call = sent.removeValue(forKey: number) else {
            throw CofferError(.protocolViolation, "the daemon answers what nobody asked")
        }
        failureCount = 0
        hasHeard = true
        call.end(outcome)
    }

    private func handleNews(_ method: String, _ params: JSONObject) {
        guard method == Notification.progress.rawValue else { return handleEvent(method, params) }
        guard let report = try? ProgressParameters(result: .object(params)), case .integer(let number)? = report.request
        else { return }
        sent[number]?.progress?(TransferProgress(done: report.done, total: report.total))
    }
}

extension Duration {
    /// The whole nanoseconds of a duration that is not negative.
    fileprivate var nanoseconds: UInt64 {
        UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
    }
}

/// What the daemon has of a connection's requests and has not answered.
private struct Load {
    private var count = 0
    private var byteCount = 0
    private var storing = 0
    private var fetching = 0

    /// What orders to cancel may need.
    private static let reservedBytes = 64 << 10

    mutating func add(_ call: Call) {
        if call.isOrder { return }
        count += 1
        byteCount += call.byteCount
        if call.passesDescriptor && call.method == .itemPut { storing += 1 }
        if call.passesDescriptor && call.method != .itemPut { fetching += 1 }
    }

    var isFull: Bool { count >= Limits.requestsInFlight - 1 }

    func hasRoom(for call: Call) -> Bool {
        if count == 0 { return true }
        if call.passesDescriptor {
            let others = call.method == .itemPut ? storing : fetching
            if others >= Limits.transfersPerConnection / 2 { return false }
        }
        return byteCount + call.byteCount <= Limits.requestBytes - Self.reservedBytes
    }
}
