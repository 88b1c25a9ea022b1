public import CofferCore
internal import CofferSystem
package import CofferWire

/// A connection to `cofferd` that many tasks use at once.
///
/// Calls suspend until the daemon has answered; each is answered for itself, and a slow one holds none up but those that have
/// to do with the same: what lists or counts waits for what is being stored, and so does a lock. A task that is cancelled ends
/// its call: with `userCanceled`, and then nothing has happened, or with the answer, where the daemon was quicker. A
/// connection that breaks is made again as its ``ReconnectPolicy`` says; what only asks is asked again, and what changes
/// something is never sent twice: it ends with ``CofferCore/ErrorCode/outcomeUnknown``.
public actor CofferClient {
    /// The one thread of the connections of a process: nothing on it waits for anything but all of them.
    private static let sharedLoop: Result<ExecutorLoop, SystemError> = Result { () throws(SystemError) in
        try ExecutorLoop.onOwnThread()
    }

    /// The thread of the connections of a process.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated let loop: ExecutorLoop
    let socketPath: String
    let policy: ReconnectPolicy

    /// What is there while there is a connection.
    var connection: Connection?
    /// How many connections there were.
    var epoch = 0
    /// Whether an answer has come on this connection.
    var hasHeard = false
    /// How many attempts in a row brought no answer.
    var failureCount = 0
    /// Whether the next attempt waits for its time.
    var isWaitingToConnect = false
    var isClosed = false
    var connectTimer: ExecutorTimer?
    var patienceTimer: ExecutorTimer?

    private var nextNumber: Int64 = 1
    /// What is not sent to its end; the first may be in part.
    var outbox: [Call] = []
    /// What was sent and not answered.
    var sent: [Int64: Call] = [:]
    /// Those who are told of events.
    var subscribers: [EventQueue] = []

    private init(socketPath: String, policy: ReconnectPolicy) throws(CofferError) {
        do { loop = try Self.sharedLoop.get() } catch { throw error.cofferError("can't start the client's event loop") }
        self.socketPath = socketPath
        self.policy = policy
    }

    // MARK: The time of a client

    /// Connects, and closes the connection when the body has ended, however it ends.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; ``SocketPath`` knows where it usually is.
    ///   - policy: What happens when the connection breaks.
    ///   - body: Uses the client. What it leaves running ends with the connection.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `notAvailable` where nobody listens.
    public static nonisolated(nonsending) func withConnection<Value>(
        to socketPath: String,
        reconnecting policy: ReconnectPolicy = .standard,
        _ body: nonisolated(nonsending) (CofferClient) async throws(CofferError) -> Value
    ) async throws(CofferError) -> Value {
        let client = try CofferClient(socketPath: socketPath, policy: policy)
        do throws(CofferError) {
            try await client.open()
            let value = try await body(client)
            await client.close()
            return value
        } catch {
            await client.close()
            throw error
        }
    }

    /// Connects, and closes the connection when the body has ended, however it ends.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; ``SocketPath`` knows where it usually is.
    ///   - policy: What happens when the connection breaks.
    ///   - body: Uses the client. What it leaves running ends with the connection.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, of whatever kind; `notAvailable` where nobody listens.
    public static nonisolated(nonsending) func withConnection<Value>(
        to socketPath: String,
        reconnecting policy: ReconnectPolicy = .standard,
        _ body: nonisolated(nonsending) (CofferClient) async throws -> Value
    ) async throws -> Value {
        let client = try CofferClient(socketPath: socketPath, policy: policy)
        do {
            try await client.open()
            let value = try await body(client)
            await client.close()
            return value
        } catch {
            await client.close()
            throw error
        }
    }

    // MARK: Calling

    /// What a call brought back.
    package struct Returned<Value: WireObject>: Sendable {
        /// The result.
        package let value: Value
        /// The bytes that came with it.
        package let payload: Secret
        /// The connection that they came on.
        package let epoch: Int
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters.
    ///   - payload: Bytes that go with it.
    ///   - descriptor: The number of a descriptor to pass along; it stays the caller's, who keeps it open meanwhile.
    ///   - epoch: The only connection that it means anything on.
    ///   - progress: Told how far a transfer has come.
    /// - Returns: The result and the payload.
    /// - Throws: What the daemon answered; `userCanceled`; `notAvailable`, `protocolViolation`, `outcomeUnknown`.
    package func call<Value: WireObject>(
        _ method: Method,
        _ params: some WireObject,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        onlyOn epoch: Int? = nil,
        returning: Value.Type = Value.self,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Returned<Value> {
        let call = try begin(
            method,
            params,
            payload: payload,
            passing: descriptor.map { PassedDescriptor(borrowing: $0) },
            onlyOn: epoch,
            progress: progress
        )
        let answer = try await outcome(of: call).get()
        return Returned(value: try Value(result: answer.json), payload: answer.payload, epoch: answer.epoch)
    }

    /// Sends a request without waiting.
    func begin(
        _ method: Method,
        _ params: some WireObject,
        payload: Secret? = nil,
        passing descriptor: PassedDescriptor? = nil,
        onlyOn epoch: Int? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> Call {
        if Task.isCancelled { throw .cancelled }
        if let payload, payload.count > Limits.framePayloadBytes {
            throw CofferError(
                .dataTooLarge,
                "\(payload.count) bytes are more than the \(Limits.framePayloadBytes) that can be sent at once",
                hint: "send them in pieces, as a stream"
            )
        }
        let number = takeNumber()
        let request = Request(id: .integer(number), method: method.rawValue, params: params.json)
        let call = Call(
            number,
            method,
            request,
            payload: payload,
            descriptor: descriptor,
            epoch: epoch,
            progress: progress
        )
        submit(call)
        return call
    }

    /// Waits for the answer; a task that is cancelled cancels the call.
    func outcome(of call: Call) async -> Outcome {
        let number = call.number
        return await withTaskCancellationHandler {
            await call.wait(on: self)
        } onCancel: {
            loop.post { self.assumeIsolated { $0.cancel(number) } }
        }
    }

    /// Waits for something on this actor.
    ///
    /// - Parameters:
    ///   - operation: What waits.
    ///   - wake: Ends the waiting when the task is cancelled; runs on this actor.
    func untilCancelled<Value: Sendable>(
        _ operation: (isolated CofferClient) async throws(CofferError) -> Value,
        onCancel wake: @escaping @Sendable () -> Void
    ) async throws(CofferError) -> Value {
        let result: Result<Value, CofferError> = await withTaskCancellationHandler {
            do throws(CofferError) { return .success(try await operation(self)) } catch { return .failure(error) }
        } onCancel: {
            loop.post(wake)
        }
        return try result.get()
    }

    func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }
}

/// How far a transfer has come.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that are done; of a directory, its entries.
    public let done: Int64
    /// How many there are; `nil` where the end is not in sight.
    public let total: Int64?
}
