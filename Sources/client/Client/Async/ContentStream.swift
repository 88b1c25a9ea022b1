internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// The client's end of the socket that carries a content, and the call that it belongs to.
final class ContentStream: Sendable {
    /// What a task waits for.
    enum Interest {
        case readable, writable
    }

    /// The call, whose alarm also rings when the stream is ready.
    let call: PendingCall
    private let socket: OwnedDescriptor
    private let mailbox: Mailbox

    /// Takes ownership of a non-blocking socket.
    init(_ socket: consuming OwnedDescriptor, of call: PendingCall, _ mailbox: Mailbox) {
        self.socket = consume socket
        self.call = call
        self.mailbox = mailbox
    }

    /// The descriptor of this end.
    var descriptor: Int32 { socket.number }

    // MARK: Storing

    /// Writes a piece of a content.
    ///
    /// - Returns: Whether the daemon accepts more.
    func write(_ piece: Secret) async throws(CofferError) -> Bool {
        var done = 0
        while done < piece.count {
            if call.outcome != nil { return false }
            if Task.isCancelled { throw .cancelled }
            switch piece.withBytes({ try? socket.send($0.extracting(droppingFirst: done)) ?? -1 }) {
            case nil: return false
            case .some(-1): await wait(for: .writable)
            case .some(let count): done += count
            }
        }
        return true
    }

    /// Marks the end of the content: the daemon takes the bytes so far for the whole.
    func finish() async -> PendingCall.Outcome {
        socket.shutDown()
        return await outcome()
    }

    // MARK: Fetching

    /// Reads a piece of a content.
    ///
    /// - Returns: The piece; `nil` if the daemon sends no more.
    func read() async throws(CofferError) -> Secret? {
        while true {
            if let error = call.error { throw error }
            if Task.isCancelled { throw .cancelled }
            var memory: SecretBytes
            do { memory = try SecretBytes(zeros: Limits.chunkBytes) } catch { throw .noSecretMemory }
            let arrival = unsafe memory.withUnsafeMutableBytes { memory in
                Result { () throws(SystemError) in unsafe try socket.read(into: memory) }
            }
            switch arrival {
            case .success(0): return nil
            case .success(let count):
                memory.truncate(to: count)
                return Secret(memory)
            case .failure(let error) where error.wouldBlock: await wait(for: .readable)
            case .failure: return nil
            }
        }
    }

    /// Waits for the end of the call, and cancels it if the task is cancelled.
    func outcome() async -> PendingCall.Outcome { await call.outcome(through: mailbox) }

    // MARK: Ending early

    /// Aborts the transfer, of which nothing is kept.
    ///
    /// - Returns: The outcome of the call, which may have ended before the abort.
    @discardableResult
    func abandon() async -> PendingCall.Outcome {
        release()
        return await outcome()
    }

    /// Aborts the transfer without waiting.
    func release() { mailbox.post { [self] in $0.cancel(call.number, holding: self) } }

    /// Waits until the socket is ready, the call has ended or the task is cancelled.
    private func wait(for interest: Interest) async {
        mailbox.post { [self] in $0.watch(self, for: interest) }
        await call.alarm.wait { [call] in call.alarm.ring() }
    }
}

extension CofferClient {
    /// Begins a call with a stream.
    ///
    /// - Parameters:
    ///   - params: The parameters of the call.
    ///   - progress: Called with the progress.
    /// - Returns: The client's end of the stream.
    func beginStream(
        _ params: some MethodParameters,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> ContentStream {
        let pair: UnixSocket.Pair
        do { pair = try UnixSocket.pair() } catch { throw error.cofferError("can't make a stream") }
        return try pair.split { (own, other) throws(CofferError) in
            let call = try begin(params, passing: PassedDescriptor(other), progress: progress)
            return ContentStream(own, of: call, mailbox)
        }
    }
}
