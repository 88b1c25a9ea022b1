public import CofferCore
package import CofferSystem
public import CofferWire

/// A connection to `cofferd` on which each call blocks its thread.
///
/// One thread uses a connection at a time; another one makes its own.
public final class BlockingClient {
    private var link: Link
    private var machine = ClientMachine(policy: .never, tellsUnknownOutcomes: false)
    private var nextNumber: Int64 = 1
    /// Events of the vault that were not asked for yet.
    private var events = EventBuffer()
    /// Why the connection has ended.
    private var end: CofferError?
    /// Checks each answer before the caller gets it, and may refuse it: for tests of the protocol.
    package var answerInspector: ((Method, Result<JSONValue, CofferError>) throws(CofferError) -> Void)?

    /// Connects.
    ///
    /// - Parameter socketPath: The path of the daemon's socket.
    /// - Throws: `notAvailable` where no daemon listens there.
    public convenience init(socketPath: String) throws(CofferError) {
        try self.init(Link(to: socketPath))
    }

    /// Connects to the first of some sockets where a daemon listens.
    ///
    /// - Parameter socketPaths: The paths, one at least.
    /// - Throws: What was wrong with the first of them, where no daemon listens at any.
    package static func connect(toFirstOf socketPaths: [String]) throws(CofferError) -> BlockingClient {
        do throws(CofferError) {
            return try BlockingClient(socketPath: socketPaths[0])
        } catch {
            for path in socketPaths.dropFirst() {
                if let client = try? BlockingClient(socketPath: path) { return client }
            }
            throw error
        }
    }

    /// Speaks over a socket that is connected already.
    ///
    /// - Parameter socket: A blocking stream socket.
    /// - Throws: `internal` where memory for secrets can't be locked.
    package convenience init(socket: consuming OwnedDescriptor) throws(CofferError) { try self.init(Link(socket)) }

    private init(_ link: consuming Link) {
        self.link = link
        machine.connected()
    }

    // MARK: Calling

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - params: Its parameters, which name the method.
    ///   - payload: The secret that goes with it, where the method takes one.
    ///   - descriptor: The number of a descriptor to pass along; it stays the caller's.
    ///   - progress: Told how far a transfer has come.
    /// - Returns: The result, and the payload that came with it.
    /// - Throws: What the daemon answered, or `notAvailable` where it is gone, or `protocolViolation`.
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

    /// Sends a request whose parameters may be none of its method, and waits for its answer.
    package func exchange(
        _ method: Method,
        _ params: JSONObject,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        progress: ((TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> Answer {
        if let end { throw end }
        let passed = descriptor.map { PassedDescriptor(borrowing: $0) }
        machine.submit(try Call(nextNumber, method, params, payload: payload, descriptor: passed))
        nextNumber += 1
        link.flush(&machine)
        while true {
            switch takeEnding(telling: progress) {
            case nil: receive()
            case .failed(let error)?: throw error
            case .answered(let outcome)?:
                try answerInspector?(method, outcome.map(\.json))
                return try outcome.get()
            }
        }
    }

    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() throws(CofferError) -> VaultStatus { try call(VaultStatusParameters()).value }

    // MARK: Events

    /// Asks for the events of the vault, which ``nextEvent()`` gives from here on.
    ///
    /// - Parameter selection: What else is to be told than locking and unlocking.
    /// - Throws: `notAvailable` where the daemon is gone.
    public func watch(_ selection: EventSelection = []) throws(CofferError) {
        try call(VaultWatchParameters(selection))
    }

    /// Waits for the next event of the vault, which may have come during another call on this connection.
    ///
    /// - Returns: The event.
    /// - Throws: `notAvailable` when the daemon goes.
    public func nextEvent() throws(CofferError) -> VaultEvent {
        while true {
            if let event = events.takeFirst() { return event }
            if let end { throw end }
            receive()
            _ = takeEnding(telling: nil)
        }
    }

    /// How a call ended.
    private enum Ending {
        case answered(Result<Answer, CofferError>)
        case failed(CofferError)
    }

    /// Takes in what has happened, and how the call ended, if it has.
    private func takeEnding(telling progress: ((TransferProgress) -> Void)?) -> Ending? {
        var ending: Ending?
        for effect in machine.takeEffects() {
            switch effect {
            case .answered(_, let outcome): ending = .answered(outcome)
            case .failed(_, let error): ending = .failed(error)
            case .progress(_, let reached): progress?(reached)
            case .event(let event): events.append(event)
            case .lost(let reason): end = reason
            }
        }
        return ending
    }

    private func receive() { _ = link.receive(into: &machine) }
}
