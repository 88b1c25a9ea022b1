public import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// A connection to `cofferd` on which each call blocks its thread.
///
/// One thread uses a connection at a time; another one makes its own.
public final class BlockingClient {
    private let socket: OwnedDescriptor
    private var buffer: ReceiveBuffer
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
        let socket: OwnedDescriptor
        do { socket = try UnixSocket.connect(to: socketPath) } catch { throw .unreachable(socketPath, error) }
        try self.init(socket: socket)
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
    package init(socket: consuming OwnedDescriptor) throws(CofferError) {
        buffer = try ReceiveBuffer()
        self.socket = socket
        machine.connected()
    }

    // MARK: Calling

    /// What a call brought back.
    package struct Returned<Value: Sendable>: ~Copyable {
        /// The result.
        package let value: Value
        /// The bytes that came with it.
        package let payload: SecretBytes?

        /// Makes what a call brought back.
        package init(value: Value, payload: consuming SecretBytes?) {
            self.value = value
            self.payload = payload
        }

        /// Takes the payload out.
        package consuming func takePayload() -> SecretBytes? { payload }
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - params: Its parameters, which name the method.
    ///   - payload: Bytes that go with it.
    ///   - descriptor: The number of a descriptor to pass along; it stays the caller's.
    ///   - progress: Told how far a transfer has come: the bytes done, and the bytes there are.
    /// - Returns: The result and the payload.
    /// - Throws: What the daemon answered, or `notAvailable` where it is gone, or `protocolViolation`.
    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: borrowing SecretBytes? = nil,
        passing descriptor: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        let json = params.json
        let answer = try exchange(Parameters.method, json, payload: payload, passing: descriptor, progress: progress)
        return Returned(value: try Parameters.Result(result: answer.json), payload: answer.takePayload())
    }

    /// Sends a request whose parameters may be none of its method, and waits for its answer.
    package func exchange(
        _ method: Method,
        _ params: JSONObject,
        payload: borrowing SecretBytes? = nil,
        passing descriptor: Int32? = nil,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Answer {
        if let end { throw end }
        let passed = descriptor.map { PassedDescriptor(borrowing: $0) }
        machine.submit(try Call(nextNumber, method, params, payloadCount: payload.byteCount, descriptor: passed))
        nextNumber += 1
        send(payload)
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
    private func takeEnding(telling progress: ((Int64, Int64?) -> Void)?) -> Ending? {
        var ending: Ending?
        for effect in machine.takeEffects() {
            switch effect {
            case .answered(_, let outcome): ending = .answered(outcome)
            case .failed(_, let error): ending = .failed(error)
            case .progress(_, let reached): progress?(reached.done, reached.total)
            case .event(let event): events.append(event)
            case .lost(let reason): end = reason
            }
        }
        return ending
    }

    private func send(_ payload: borrowing SecretBytes?) {
        do throws(SystemError) {
            while let output = machine.output() { machine.didSend(try output.send(on: socket, payload) ?? 0) }
        } catch {
            // A daemon that turned us away has said why before it closed.
            while machine.isConnected && socket.hasHungUp { receive() }
            if machine.isConnected { machine.disconnected(.connectionBroken(error.reason), at: .now) }
        }
    }

    private func receive() { _ = buffer.receive(from: socket, into: &machine, at: .now) }
}
