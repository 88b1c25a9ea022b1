internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// One end of the stream that a content goes through, and the call that it belongs to; the daemon has the other end.
final class ContentStream: @unchecked Sendable {
    // Sendable: used on the client's actor only.
    /// `nil` once it is closed.
    private var socket: OwnedDescriptor?
    private let loop: EventLoop
    private var watch: EventLoop.Watch?
    private var waiter: CheckedContinuation<Void, Never>?
    private var wakingCount = 0
    /// The call, once it was begun.
    private(set) var call: Call?
    /// The bytes that have come through it.
    var receivedCount: Int64 = 0
    /// Whether there is nothing more to be read.
    private(set) var hasEnded = false
    /// Whether what came with the answer was handed on.
    var isDelivered = false

    init(_ socket: consuming OwnedDescriptor, on loop: EventLoop) {
        self.socket = consume socket
        self.loop = loop
    }

    /// Ties the stream to its call: whoever waits at the stream learns of the call's end.
    func attach(_ call: Call) {
        self.call = call
        call.whenEnded = { [weak self] in self?.wake() }
    }

    /// Writes once.
    ///
    /// - Returns: The bytes written; `nil` where there is no room now; 0 where the daemon takes no more.
    func write(_ bytes: RawSpan) -> Int? {
        switch socket {
        case .none: return 0
        case .some(let socket):
            do { return try socket.send(bytes) } catch { return 0 }
        }
    }

    /// Reads once.
    ///
    /// - Returns: The bytes read, 0 at the end; `nil` where nothing has come yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        switch socket {
        case .none: return 0
        case .some(let socket):
            do { return unsafe try socket.read(into: buffer) } catch { return error.wouldBlock ? nil : 0 }
        }
    }

    /// Waits until the socket is ready, the call has ended or somebody wakes it.
    func wait(for interest: EventLoop.Interest, on client: isolated CofferClient) async throws(CofferError) {
        if Task.isCancelled { throw .cancelled }
        if hasEnded { return }
        switch call?.outcome {
        case nil: break
        case .failure: return
        // What came before the answer is still to be read.
        case .success: if interest == .writable { return }
        }
        let before = wakingCount
        try startWatching(interest)
        // Looked at where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation(isolation: client) { continuation in
            if wakingCount == before { waiter = continuation } else { continuation.resume() }
        }
    }

    private func startWatching(_ interest: EventLoop.Interest) throws(CofferError) {
        switch socket {
        case .none: return
        case .some(let socket):
            do {
                // The handler runs on the loop's thread, which is the client's actor.
                watch = try loop.watch(socket, for: interest) { [unowned self] _ in wake() }
            } catch {
                throw error.cofferError("can't watch a stream")
            }
        }
    }

    func wake() {
        wakingCount += 1
        if let watch { loop.unwatch(watch) }
        watch = nil
        waiter?.resume()
        waiter = nil
    }

    /// Closes this end: the daemon then takes what was written for all there is.
    func close() {
        wake()
        socket = nil
        hasEnded = true
    }
}

extension CofferClient {
    /// Begins a call that a content goes through.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters.
    ///   - progress: Told how far it has come.
    /// - Returns: Our end of the stream.
    func beginStream(
        _ method: Method,
        _ params: some WireObject,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) throws(CofferError) -> ContentStream {
        let pair: UnixSocket.Pair
        do { pair = try UnixSocket.pair() } catch { throw error.cofferError("can't make a stream") }
        return try pair.split { (own, other) throws(CofferError) in
            let stream = ContentStream(own, on: loop)
            stream.attach(try begin(method, params, passing: PassedDescriptor(other), progress: progress))
            return stream
        }
    }

    /// Writes a piece of a content.
    ///
    /// - Returns: Whether the daemon takes more.
    func write(_ piece: Secret, to stream: ContentStream) async throws(CofferError) -> Bool {
        try await untilCancelled { (client) throws(CofferError) in
            var done = 0
            while done < piece.count {
                if stream.call?.outcome != nil { return false }
                if Task.isCancelled { throw .cancelled }
                switch piece.withBytes({ stream.write($0.extracting(droppingFirst: done)) }) {
                case nil: try await stream.wait(for: .writable, on: client)
                case 0?: return false
                case let count?: done += count
                }
            }
            return true
        } onCancel: {
            stream.wake()
        }
    }

    /// Ends a content at its end.
    func finish(_ stream: ContentStream) async -> Outcome {
        stream.close()
        guard let call = stream.call else { return .failure(.cancelled) }
        return await outcome(of: call)
    }

    /// Reads a piece of a content.
    ///
    /// - Returns: The piece; `nil` behind the last one.
    func nextPiece(of stream: ContentStream) async throws(CofferError) -> Secret? {
        guard let call = stream.call else { return nil }
        while !stream.hasEnded {
            if case .failure(let error) = call.outcome { throw error }
            if Task.isCancelled { throw .cancelled }
            var memory: SecretBytes
            do { memory = try SecretBytes(zeros: Limits.chunkBytes) } catch { throw .noSecretMemory }
            switch unsafe memory.withUnsafeMutableBytes({ unsafe stream.read(into: $0) }) {
            case nil: try await waitForPiece(of: stream)
            case 0?: stream.close()
            case let count?:
                stream.receivedCount += Int64(count)
                memory.truncate(to: count)
                return Secret(memory)
            }
        }
        return try await lastPiece(of: stream, call)
    }

    private func waitForPiece(of stream: ContentStream) async throws(CofferError) {
        try await untilCancelled { (client) throws(CofferError) in
            try await stream.wait(for: .readable, on: client)
        } onCancel: {
            stream.wake()
        }
    }

    /// A keychain item comes with the answer, and a file came before it: then the answer says how long it was.
    private func lastPiece(of stream: ContentStream, _ call: Call) async throws(CofferError) -> Secret? {
        let answer = try await outcome(of: call).get()
        if stream.isDelivered { return nil }
        stream.isDelivered = true
        let result = try ItemGetResult(result: answer.json)
        guard result.byteCount == stream.receivedCount + Int64(answer.payload.count) else {
            throw CofferError(
                .protocolViolation,
                "the daemon announces \(result.byteCount) bytes, and sent \(stream.receivedCount + Int64(answer.payload.count))"
            )
        }
        return answer.payload.count > 0 ? answer.payload : nil
    }

    /// Ends a stream before its end: what the call does comes to nothing, and so is nothing left of it.
    ///
    /// - Returns: What the call came to: it may have been quicker.
    @discardableResult
    func abandon(_ stream: ContentStream) async -> Outcome {
        guard let call = stream.call else { return .failure(.cancelled) }
        release(stream)
        return await call.wait(on: self)
    }

    /// Lets go of a stream that nobody waits for.
    func release(_ stream: ContentStream) {
        guard let call = stream.call, call.outcome == nil else { return stream.close() }
        // Not before: the daemon would take what has come for all there is.
        call.whenEnded = { stream.close() }
        cancel(call.number)
    }
}
