public import CofferCore
internal import CofferSystem
package import CofferWire

/// A connection to `cofferd` that many tasks use at once.
///
/// Calls suspend until the daemon has answered, each with its own answer, and a slow one holds up only those that have to do
/// with the same: a request that lists or counts waits for what is being stored, and so does a lock. A task that is cancelled
/// ends its call: with `userCanceled`, and then nothing has happened, or with the answer, where the daemon was quicker. A
/// connection that breaks is made again as its ``ReconnectPolicy`` says; what only asks is asked again, and what changes
/// something is never sent twice: it ends with ``CofferCore/ErrorCode/outcomeUnknown``.
public final class CofferClient: Sendable {
    let mailbox: Mailbox

    private init(socketPath: String, policy: ReconnectPolicy) throws(CofferError) {
        do throws(SystemError) {
            mailbox = try Mailbox()
            try ClientThread.start(mailbox, socketPath: socketPath, policy: policy)
        } catch {
            throw error.cofferError("can't start the client's thread")
        }
    }

    deinit { mailbox.post { $0.stop() } }

    // MARK: The time of a client

    /// Connects, and closes the connection when the body has ended, however it ends.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; ``SocketPath`` knows where it usually is.
    ///   - policy: What happens when the connection breaks.
    ///   - body: Uses the client. What it leaves running ends with the connection.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `notAvailable` where no daemon listens.
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
    /// - Throws: What `body` throws, of whatever kind; `notAvailable` where no daemon listens.
    public static nonisolated(nonsending) func withConnection<Value>(
        to socketPath: String,
        reconnecting policy: ReconnectPolicy = .standard,
        _ body: nonisolated(nonsending) (CofferClient) async throws -> Value
    ) async throws -> Value {
        let outcome = try await withConnection(to: socketPath, reconnecting: policy) {
            (client) throws(CofferError) -> Result<Value, any Error> in
            do { return .success(try await body(client)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    private func open() async throws(CofferError) {
        if Task.isCancelled { throw .cancelled }
        try await onThread { (thread) throws(CofferError) in try thread.open() }.get()
    }

    private func close() async { _ = await onThread { $0.close() } }

    private func onThread(
        _ body: @escaping @Sendable (ClientThread) throws(CofferError) -> Void
    ) async -> Result<Void, CofferError> {
        let pending = Pending<Void>(0)
        mailbox.post { thread in
            pending.end(Result { () throws(CofferError) in try body(thread) })
            pending.alarm.ring()
        }
        return await pending.outcome(onCancel: {})
    }

    // MARK: Calling

    /// What a call brought back.
    package struct Returned<Value: Sendable>: Sendable {
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
    ///   - params: Its parameters, which name the method.
    ///   - payload: Bytes that go with it.
    ///   - descriptor: The number of a descriptor to pass along; it stays the caller's, who keeps it open meanwhile.
    ///   - epoch: The only connection that it means anything on.
    ///   - progress: Told how far a transfer has come.
    /// - Returns: The result and the payload.
    /// - Throws: What the daemon answered; `userCanceled`; `notAvailable`, `protocolViolation`, `outcomeUnknown`.
    @discardableResult
    package func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        onlyOn epoch: Int? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Returned<Parameters.Result> {
        let passed = descriptor.map { PassedDescriptor(borrowing: $0) }
        let pending = try begin(params, payload: payload, passing: passed, onlyOn: epoch, progress: progress)
        let reply = try await outcome(of: pending).get()
        return Returned(value: try Parameters.Result(result: reply.json), payload: reply.payload, epoch: reply.epoch)
    }

    /// Sends a request without waiting.
    func begin(
        _ params: some MethodParameters,
        payload: Secret? = nil,
        passing descriptor: PassedDescriptor? = nil,
        onlyOn epoch: Int? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> PendingCall {
        if Task.isCancelled { throw .cancelled }
        let pending = PendingCall(mailbox.takeNumber(), progress: progress)
        let call = try Call(pending.number, params, payload: payload, descriptor: descriptor, epoch: epoch)
        mailbox.post { $0.submit(call, pending) }
        return pending
    }

    /// Waits for the end of a call; a task that is cancelled cancels it.
    func outcome(of pending: PendingCall) async -> PendingCall.Outcome {
        await pending.outcome { [mailbox] in mailbox.post { $0.cancel(pending.number) } }
    }
}

/// How far a transfer has come.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that are done; of a directory, its entries.
    public let done: Int64
    /// How many there are; `nil` where the end is not in sight.
    public let total: Int64?
}
