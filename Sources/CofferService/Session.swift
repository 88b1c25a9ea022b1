internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// One connection: what has come, and what is to be sent.
///
/// Lives on the server's actor.
final class Session {
    let caller: Caller
    private let socket: OwnedDescriptor
    private let loop: EventLoop
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest = .readable

    private var decoder = FrameDecoder()
    /// A descriptor that came, and was not taken yet.
    private var passed: OwnedDescriptor?
    /// The frame that it belongs to has begun in an earlier arrival: it is the next one to be complete.
    private var isPassedWithEarlierFrame = false
    /// Bytes behind a request that is being carried out; they may hold secrets.
    private var backlog: SecretBytes?

    private var outbox: [OutgoingFrame] = []
    private var outboxByteCount = 0

    /// Ends the transfer that the connection waits for.
    var cancellation: Cancellation?
    /// A request is being carried out on another thread: the next one waits.
    var isBusy = false
    /// The number of requests that were carried out so: names the transfer that is under way.
    var transferCount = 0
    /// The client wants to be told when protected data comes and goes.
    var isWatching = false
    /// The peer has closed, or is to be cut off once it was told why.
    private(set) var isEnding = false

    init(_ socket: consuming OwnedDescriptor, _ caller: Caller, on loop: EventLoop) {
        self.socket = socket
        self.caller = caller
        self.loop = loop
    }

    /// Begins to watch the socket.
    func start(_ handler: @escaping @Sendable (EventLoop.Interest) -> Void) throws(SystemError) {
        watch = try loop.watch(socket, for: interest, handler: handler)
    }

    // MARK: Receiving

    /// What one look at the socket brought.
    enum Arrival {
        case bytes(Int)
        case nothing
        case end
    }

    /// Receives once, into memory that the caller wipes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Arrival {
        do {
            guard var received = unsafe try socket.receive(into: buffer) else { return .nothing }
            let descriptor = received.descriptor.take()
            if received.hasTooManyDescriptors || (descriptor != nil && passed != nil) {
                fail(CofferError(.param, "more descriptors came than one frame may carry"))
                return .end
            }
            if descriptor != nil {
                passed = descriptor
                isPassedWithEarlierFrame = false
            }
            return received.count == 0 ? .end : .bytes(received.count)
        } catch {
            return .end
        }
    }

    /// Takes the next frame out of bytes that came; `nil` where they are used up.
    ///
    /// - Throws: Where the stream can't be read on.
    func nextFrame(_ bytes: RawSpan, at offset: inout Int) throws(FrameError) -> Frame? {
        try decoder.decode(bytes, at: &offset)
    }

    /// Takes the descriptor that belongs to a frame which is complete.
    ///
    /// The kernel ends an arrival behind the segment that a descriptor came with, and that segment begins with its frame. So
    /// it belongs to the last frame that begins in its arrival: the one that ends with it, or one that is still incomplete.
    ///
    /// - Parameter isLast: Whether the arrival ends with the frame.
    func takeDescriptor(isLast: Bool) -> OwnedDescriptor? {
        guard isLast || isPassedWithEarlierFrame else { return nil }
        isPassedWithEarlierFrame = false
        return passed.take()
    }

    /// Ends an arrival that was decoded to its end.
    func finishArrival() {
        if passed == nil { return }
        if decoder.isBetweenFrames {
            fail(CofferError(.param, "a descriptor came without a frame"))
        } else {
            isPassedWithEarlierFrame = true
        }
    }

    /// Whether requests wait that were not decoded yet.
    var hasBacklog: Bool { backlog != nil }

    /// Whether so much waits to be sent that no more is to be answered.
    var isFull: Bool { outboxByteCount >= Limits.outboxBytes }

    /// Keeps bytes for when the request that is being carried out has ended.
    func postpone(_ bytes: RawSpan) throws(SecretMemoryError) { backlog = try SecretBytes(copying: bytes) }

    /// Takes the bytes that were kept.
    func takeBacklog() -> SecretBytes? { backlog.take() }

    // MARK: Sending

    /// Queues a frame.
    func send(_ frame: OutgoingFrame) {
        outbox.append(frame)
        outboxByteCount += frame.byteCount
    }

    /// Replaces what was queued about the catalog, from a place in the queue on: its changes came to nothing.
    func replaceReplies(from mark: Int, with error: CofferError) {
        for index in outbox.indices where index >= mark && outbox[index].isTentative { replace(index, with: error) }
    }

    /// Whether a payload waits whose key is gone.
    func hasPayloadToWithhold(in state: VaultState) -> Bool { outbox.contains { !$0.mayBeSent(in: state) } }

    /// Takes back the payloads whose keys are gone.
    ///
    /// - Returns: Whether all of them could be: one that is sent in part takes the connection with it.
    func withholdPayloads(in state: VaultState, with error: CofferError) -> Bool {
        for index in outbox.indices where !outbox[index].mayBeSent(in: state) {
            guard outbox[index].sentCount == 0 else { return false }
            replace(index, with: error)
        }
        return true
    }

    private func replace(_ index: Int, with error: CofferError) {
        guard let id = outbox[index].id else { return }
        let frame = OutgoingFrame(id: id, json: Response.failureBytes(id: id, error: error))
        outboxByteCount += frame.byteCount - outbox[index].byteCount
        outbox[index] = frame
    }

    /// The place in the queue that the next frame gets.
    var outboxMark: Int { outbox.count }

    /// Says why to the peer, and ends.
    func fail(_ error: CofferError) {
        send(OutgoingFrame(id: nil, json: Response.failureBytes(id: nil, error: error)))
        isEnding = true
    }

    /// No more comes from the peer; what is queued is still sent.
    func end() { isEnding = true }

    /// Sends what can be sent.
    ///
    /// - Returns: Whether the connection lives on.
    func flush() -> Bool {
        while let frame = outbox.first {
            guard let isSent = try? sendSome(of: frame) else { return false }
            if !isSent { break }
            outboxByteCount -= frame.byteCount
            outbox.removeFirst()
        }
        if isEnding && outbox.isEmpty && !isBusy && backlog == nil { return false }
        updateInterest()
        return true
    }

    /// - Returns: Whether the frame is sent to its end; otherwise there is no room.
    private func sendSome(of frame: OutgoingFrame) throws(SystemError) -> Bool {
        while frame.sentCount < frame.byteCount {
            guard let count = try sendOnce(frame) else { return false }
            frame.sentCount += count
        }
        return true
    }

    private func sendOnce(_ frame: OutgoingFrame) throws(SystemError) -> Int? {
        let bytes = frame.head
        let head = unsafe bytes.span.bytes.extracting(droppingFirst: min(frame.sentCount, frame.head.count))
        switch frame.payload {
        case .none: return try socket.send(head)
        case .some(let payload):
            let skipped = max(0, frame.sentCount - frame.head.count)
            return try payload.withBytes { (bytes) throws(SystemError) in
                try socket.send(head, bytes.extracting(droppingFirst: skipped))
            }
        }
    }

    /// A peer that does not read is not read from either, nor is one whose request is being carried out: its memory stays
    /// bounded by its own doing.
    private func updateInterest() {
        var wanted: EventLoop.Interest = []
        if !isBusy && !isEnding && !isFull && backlog == nil { wanted.insert(.readable) }
        if !outbox.isEmpty { wanted.insert(.writable) }
        guard wanted != interest, let watch else { return }
        interest = wanted
        try? loop.change(watch, to: wanted)
    }

    /// Stops watching; the socket closes when the session goes.
    func stop() {
        cancellation?.cancel()
        if let watch { loop.unwatch(watch) }
        watch = nil
    }
}
