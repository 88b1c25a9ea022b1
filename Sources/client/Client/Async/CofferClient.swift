public import CofferCore
internal import CofferSystem
public import CofferWire
internal import Synchronization

/// A connection to `cofferd` that many tasks use at once.
///
/// A call suspends until the daemon has answered it. A slow call delays only calls that depend on it: a list
/// or a count waits for a pending store, and so does a lock. If a task is cancelled, its call ends with
/// `userCanceled` and has had no effect, or with the answer if the daemon was faster. If the connection
/// breaks, it is made again as the ``ReconnectPolicy`` says. Requests that only read are repeated. Requests
/// that change something are never sent twice: they end with ``CofferCore/ErrorCode/outcomeUnknown``.
public final class CofferClient: Sendable {
    let mailbox: Mailbox
    private let lastNumber = Mutex<Int64>(0)

    private init(socketPath: String, policy: ReconnectPolicy, timeout: Duration?) throws(CofferError) {
        do throws(SystemError) {
            mailbox = try Mailbox()
            try ClientThread.start(mailbox, socketPath: socketPath, policy: policy, timeout: timeout)
        } catch {
            throw error.cofferError("can't start the client's thread")
        }
    }

    deinit { mailbox.post { $0.stop() } }

    // MARK: Lifetime

    /// Connects, and closes the connection when the body returns or throws.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; ``SocketPath`` has the usual one.
    ///   - policy: How to reconnect when the connection breaks.
    ///   - timeout: How long the daemon may be silent during a call, before the call fails; `nil` for ever.
    ///   - body: Uses the client. Calls that it leaves pending end with the connection.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`; `notAvailable` if no daemon listens.
    public static nonisolated(nonsending) func withConnection<Value>(
        to socketPath: String,
        reconnecting policy: ReconnectPolicy = .standard,
        timeout: Duration? = .seconds(Limits.answerSeconds),
        _ body: nonisolated(nonsending) (CofferClient) async throws(CofferError) -> Value
    ) async throws(CofferError) -> Value {
        let client = try CofferClient(socketPath: socketPath, policy: policy, timeout: timeout)
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

    /// Connects, and closes the connection when the body returns or throws.
    ///
    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; ``SocketPath`` has the usual one.
    ///   - policy: How to reconnect when the connection breaks.
    ///   - timeout: How long the daemon may be silent during a call, before the call fails; `nil` for ever.
    ///   - body: Uses the client. Calls that it leaves pending end with the connection.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, of any type; `notAvailable` if no daemon listens.
    public static nonisolated(nonsending) func withConnection<Value>(
        to socketPath: String,
        reconnecting policy: ReconnectPolicy = .standard,
        timeout: Duration? = .seconds(Limits.answerSeconds),
        _ body: nonisolated(nonsending) (CofferClient) async throws -> Value
    ) async throws -> Value {
        let outcome = try await withConnection(to: socketPath, reconnecting: policy, timeout: timeout) {
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
        await withCheckedContinuation { continuation in
            mailbox.post { thread in
                continuation.resume(returning: Result { () throws(CofferError) in try body(thread) })
            }
        }
    }

    // MARK: Calling

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - params: The parameters, which determine the method.
    ///   - payload: The secret to send, if the method takes one.
    ///   - descriptor: A descriptor to pass. The caller keeps it open during the call, and closes it.
    ///   - epoch: The only connection on which the request is valid: that of the handle that it names.
    ///   - progress: Called with the progress of a transfer on the connection's thread; it must not block.
    /// - Returns: The result and its payload.
    /// - Throws: The daemon's error; `userCanceled`; `notAvailable`, `protocolViolation`, `outcomeUnknown`.
    @discardableResult
    public func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil,
        onlyOn epoch: Int? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(CofferError) -> Returned<Parameters.Result> {
        let passed = descriptor.map { PassedDescriptor(borrowing: $0) }
        let pending = try begin(params, payload: payload, passing: passed, onlyOn: epoch, progress: progress)
        return try Returned(await pending.outcome(through: mailbox).get(), to: Parameters.self)
    }

    /// A number for a new call.
    func takeNumber() -> Int64 {
        lastNumber.withLock { number in
            number += 1
            return number
        }
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
        let pending = PendingCall(takeNumber(), progress: progress)
        let call = try Call(pending.number, params, payload: payload, descriptor: descriptor, epoch: epoch)
        mailbox.post { $0.submit(call, pending) }
        return pending
    }
}

/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that are done; for a directory, its entries.
    public let done: Int64
    /// The total; `nil` if it is unknown.
    public let total: Int64?
}
