public import CofferCore
package import CofferSystem
public import CofferWire

/// A connection to `cofferd` on which each call blocks its thread.
///
/// A connection must not be used by two threads at a time.
public final class BlockingClient {
    private var link: Link
    private var machine: ClientMachine
    private var waiting = PollSet()
    /// Between the stream of the call and the daemon.
    private var relay: StreamRelay?
    private var nextNumber: Int64 = 1
    /// Events that were not taken yet.
    private var events = EventBuffer()
    /// The error that ended the connection.
    private var end: CofferError?
    /// Whether further calls can succeed: a connection that has broken stays so.
    package var isConnected: Bool { end == nil }
    /// The path of the daemon's socket, if the connection was made by one.
    package private(set) var socketPath: String?
    /// Called once, before the first request that changes the vault.
    package var willChange: (() -> Void)?
    /// Checks each answer before the caller gets it, and may refuse it; for tests of the protocol.
    package var answerInspector: ((Method, Result<JSONValue, CofferError>) throws(CofferError) -> Void)?

    /// Connects to a daemon.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket.
    ///   - timeout: How long the daemon may be silent during a call, before the call fails; `nil` for ever.
    /// - Throws: `notAvailable` if no daemon listens there.
    public convenience init(
        socketPath: String,
        timeout: Duration? = .seconds(Limits.answerSeconds)
    ) throws(CofferError) {
        self.init(try Link(to: socketPath), timeout)
        self.socketPath = socketPath
    }

    /// Connects to the first of several sockets on which a daemon listens.
    ///
    /// - Parameters:
    ///   - socketPaths: The paths, at least one.
    ///   - timeout: How long the daemon may be silent during a call; `nil` for ever.
    /// - Throws: The error of the first path, if no daemon listens on any.
    package static func connect(
        toFirstOf socketPaths: [String],
        timeout: Duration? = .seconds(Limits.answerSeconds)
    ) throws(CofferError) -> BlockingClient {
        do throws(CofferError) {
            return try BlockingClient(socketPath: socketPaths[0], timeout: timeout)
        } catch {
            for path in socketPaths.dropFirst() {
                if let client = try? BlockingClient(socketPath: path, timeout: timeout) { return client }
            }
            throw error
        }
    }

    /// Uses a connected socket.
    ///
    /// - Parameters:
    ///   - socket: A stream socket, which is made non-blocking.
    ///   - timeout: How long the daemon may be silent during a call; `nil` for ever.
    /// - Throws: `io` if memory for secrets can't be locked.
    package convenience init(
        socket: consuming OwnedDescriptor,
        timeout: Duration? = .seconds(Limits.answerSeconds)
    ) throws(CofferError) {
        do { try UnixSocket.setNonBlocking(socket) } catch { throw error.cofferError("can't use the socket") }
        self.init(try Link(socket), timeout)
    }

    private init(_ link: consuming Link, _ timeout: Duration?) {
        self.link = link
        machine = ClientMachine(policy: .never, tellsUnknownOutcomes: false, timeout: timeout)
        machine.connected(at: .now)
    }

    // MARK: Calling

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - params: The parameters, which determine the method.
    ///   - payload: The secret to send, if the method takes one.
    ///   - descriptor: A descriptor to pass, which the caller closes.
    ///   - progress: Called with the progress of a transfer.
    /// - Returns: The result and its payload.
    /// - Throws: The daemon's error; `notAvailable` if the connection breaks; `protocolViolation`.
    @discardableResult
    public func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        progress: ((TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        let (method, json) = (Parameters.method, Parameters.coding.params(params))
        let answer = try exchange(method, json, payload: payload, passing: descriptor, progress: progress)
        return try Returned(answer, to: Parameters.self)
    }

    /// Sends a request with unchecked parameters, and waits for its answer.
    package func exchange(
        _ method: Method,
        _ params: JSONObject,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        progress: ((TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> Answer {
        relay = try descriptor.flatMap { (number) throws(CofferError) in try Self.relay(for: number, method) }
        defer { relay = nil }
        let passed = passed(descriptor)
        do throws(CofferError) {
            let number = try submit(method, params, payload: payload, passing: passed)
            let answer = try answer(to: number, method, telling: progress)
            try finishRelay()
            return answer
        } catch {
            try finishRelay()
            throw error
        }
    }

    /// The relay for a descriptor, which must not outlive the call in the daemon.
    private static func relay(for number: Int32, _ method: Method) throws(CofferError) -> StreamRelay? {
        // Over that one, the daemon sends a descriptor.
        guard let access = method.descriptor?.access, method != .backupRead else { return nil }
        do { return try StreamRelay.make(for: number, isReading: access == .read) } catch {
            throw error.cofferError("can't make a pipe")
        }
    }

    /// What is passed for a descriptor: itself, or the pipe of its relay.
    private func passed(_ number: Int32?) -> PassedDescriptor? {
        if let relay, let end = relay.takeOtherEnd() { return PassedDescriptor(end) }
        return number.map { PassedDescriptor(borrowing: $0) }
    }

    /// Writes the bytes that have arrived before the answer.
    private func finishRelay() throws(CofferError) {
        relay?.drain()
        if let failure = relay?.failure { throw TransferError.system(failure).cofferError }
    }

    /// Requests pages one after the other: the daemon makes the next one while a page is being taken.
    ///
    /// - Parameters:
    ///   - parameters: Returns the parameters of the page at a position.
    ///   - take: Called with each page.
    package func takePages<Parameters: MethodParameters>(
        _ parameters: (_ after: String?) -> Parameters,
        take: (Parameters.Result) throws(CofferError) -> Void
    ) throws(CofferError) where Parameters.Result: Page {
        func ask(for position: String?) throws(CofferError) -> Int64 {
            try submit(Parameters.method, Parameters.coding.params(parameters(position)))
        }
        var asked: Int64? = try ask(for: nil)
        while let number = asked {
            let answer = try answer(to: number, Parameters.method, telling: nil)
            asked = try Parameters.Result.next(in: answer.json).map { (next) throws(CofferError) in try ask(for: next) }
            try take(Parameters.coding.result(answer.json))
        }
    }

    /// Sends a request.
    ///
    /// - Returns: Its number.
    private func submit(
        _ method: Method,
        _ params: JSONObject,
        payload: Secret? = nil,
        passing descriptor: PassedDescriptor? = nil
    ) throws(CofferError) -> Int64 {
        if let end { throw end }
        if method.changesVault, let told = willChange.take() { told() }
        let number = nextNumber
        machine.submit(try Call(number, method, params, payload: payload, descriptor: descriptor), at: .now)
        nextNumber += 1
        link.flush(&machine)
        return number
    }

    /// Waits for the answer to a request.
    private func answer(
        to number: Int64,
        _ method: Method,
        telling progress: ((TransferProgress) -> Void)?
    ) throws(CofferError) -> Answer {
        while true {
            switch takeEnding(of: number, telling: progress) {
            case nil: takeTurn()
            case .failed(let error)?: throw error
            case .answered(let outcome)?:
                try answerInspector?(method, outcome.map(\.json))
                return try outcome.get()
            }
        }
    }

    /// The state of the vault and the number of its items.
    ///
    /// - Throws: `io` or `decode` if the vault can't be used.
    public func status() throws(CofferError) -> VaultStatus { try call(VaultStatusParameters()).value }

    // MARK: Events

    /// Subscribes to the events of the vault, which ``nextEvent()`` returns.
    ///
    /// - Parameters:
    ///   - selection: The events in addition to lock and unlock.
    ///   - group: The access group whose items they are about; `nil` for those that the client holds.
    /// - Throws: `notAvailable` if the daemon can't be reached.
    public func watch(_ selection: EventSelection = [], in group: String? = nil) throws(CofferError) {
        try call(VaultWatchParameters(selection, group: group))
    }

    /// Waits for the next event, which may already have arrived during another call.
    ///
    /// - Throws: `notAvailable` when the connection breaks.
    public func nextEvent() throws(CofferError) -> VaultEvent {
        while true {
            if let event = try nextEvent(until: nil) { return event }
        }
    }

    /// Waits for the next event.
    ///
    /// - Parameter limit: The end of the wait; `nil` for none.
    /// - Returns: `nil` if none came before.
    /// - Throws: `notAvailable` when the connection breaks.
    public func nextEvent(until limit: ContinuousClock.Instant?) throws(CofferError) -> VaultEvent? {
        var hasLooked = false
        while true {
            if let event = events.takeFirst() { return event }
            if let end { throw end }
            // What has come already is taken even if there is no time to wait.
            if let limit, hasLooked, !link.hasPending, limit <= .now { return nil }
            takeTurn(until: limit)
            _ = takeEnding(of: nil, telling: nil)
            hasLooked = true
        }
    }

    /// Watches on an event loop for what the daemon sends by itself: then ``nextEvent(until:)`` may have an event.
    package func watch(
        on loop: EventLoop,
        _ handler: @escaping () -> Void
    ) throws(CofferError) -> EventLoop.Watch {
        do { return try loop.watch(link.socket, for: .readable) { _ in handler() } } catch {
            throw error.cofferError("can't wait for the daemon")
        }
    }

    /// How a call ended.
    private enum Ending {
        case answered(Result<Answer, CofferError>)
        case failed(CofferError)
    }

    /// Processes the effects; returns how a call ended, if it has.
    ///
    /// - Parameter number: The call. The answer to a page that was asked for, and is not wanted any more, is dropped.
    private func takeEnding(of number: Int64?, telling progress: ((TransferProgress) -> Void)?) -> Ending? {
        var ending: Ending?
        for effect in machine.takeEffects() {
            switch effect {
            case .answered(number, let outcome): ending = .answered(outcome)
            case .failed(number, let error): ending = .failed(error)
            case .answered, .failed: break
            case .progress(_, let reached): progress?(reached)
            case .event(let event): events.append(event)
            case .lost(let reason): end = reason
            }
        }
        return ending
    }

    /// Sends, waits for the daemon, and receives.
    private func takeTurn(until limit: ContinuousClock.Instant? = nil) {
        if !link.hasPending {
            link.flush(&machine)
            guard machine.isConnected else { return }
            waiting.removeAll()
            waiting.add(link.socket.number, isReading: true, isWriting: machine.hasOutput)
            relay?.add(to: &waiting)
            waiting.wait(for: [machine.deadline, limit].compactMap(\.self).min().map { $0 - .now })
            if let relay, waiting.isReady(at: 1) {
                relay.advance()
                if !waiting.isReady(at: 0) { return }
            }
            guard waiting.isReady(at: 0) else { return machine.advance(to: .now) }
        }
        _ = link.receive(into: &machine)
    }
}

extension Method {
    /// Whether a request may change the vault, its state or what it holds.
    fileprivate var changesVault: Bool {
        let changing: Set<Verb> = [.write, .delete, .lock, .unlock, .admin]
        return !verbs.isDisjoint(with: changing) && (!isIdempotent || self == .vaultLock)
    }
}
