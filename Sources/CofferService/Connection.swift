internal import CofferCore
internal import CofferKeychain
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// One connection: what has come, and what is to be sent.
final class Connection {
    let caller: Caller
    /// The process that has connected, with its user and its group: what others send is not the caller's.
    private let peer: ProcessCredentials
    /// Whose share of the daemon it has a part of.
    let tenant: Tenant
    /// What its peer wants, if it is a service manager, which speaks no protocol: it reads, and that is all.
    let credential: CredentialRequest?
    private let socket: OwnedDescriptor
    private let loop: EventLoop
    private let clock: BootClock
    private let buffers: BufferQuota
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest = .readable

    private var decoder = FrameDecoder()
    /// A descriptor that came, and was not taken yet.
    private var passed: OwnedDescriptor?
    /// The frame that it belongs to has begun in an earlier arrival: it is the next one to be complete.
    private var isPassedWithEarlierFrame = false
    /// Bytes behind a request that is being carried out; they may hold secrets.
    private var backlog: SecretBytes?

    private var outbox = Outbox()

    /// What the connection holds, as the room that all share knows it.
    private var held = BufferQuota.Held()
    /// When a frame began that is not complete.
    private var frameStart: UInt64?
    /// When something came last.
    private var lastArrival: UInt64

    /// What has come and is not answered yet, in the order of its coming.
    private(set) var requests: [PendingRequest] = []
    private var requestByteCount = 0
    private var requestCount = 0
    /// The peer has closed, or is to be cut off once it was told why.
    private(set) var isEnding = false
    /// What its socket was found ready for, and was not used for yet.
    var ready: EventLoop.Interest = []
    /// Whether it is among those whose turn it is to read.
    var isWaitingToRead = false
    /// Whether something of it waits that is no event: a request that another one has held up, or what was read ahead.
    var canGoOn: Bool { hasBacklog || nextToStart != nil }
    /// Whether it has been answered something that is sent at the end of the turn, and not before.
    var waitsForTurn = false
    /// Whether it is not watched, because its tenant has asked for too much.
    private(set) var isPaused = false
    /// Whether it waits for its turn to be sent to.
    var isToBeSent = false

    init(
        _ socket: consuming OwnedDescriptor,
        _ caller: Caller,
        _ peer: ProcessCredentials,
        _ tenant: Tenant,
        credential: CredentialRequest? = nil,
        on loop: EventLoop,
        clock: BootClock,
        buffers: BufferQuota
    ) {
        self.socket = socket
        self.caller = caller
        self.peer = peer
        self.tenant = tenant
        self.credential = credential
        if credential != nil { interest = [] }
        self.loop = loop
        self.clock = clock
        self.buffers = buffers
        lastArrival = clock.now
    }

    deinit { buffers.change(from: held, to: BufferQuota.Held(), of: tenant) }

    /// Begins to watch the socket.
    func start(_ note: @escaping (EventLoop.Interest) -> Void) throws(SystemError) {
        watch = try loop.watch(socket, for: interest, .noted, handler: note)
    }

    // MARK: Receiving

    /// What one look at the socket brought.
    enum Arrival {
        case bytes(Int)
        /// Not to be looked at, of so many bytes.
        case refused(CofferError, Int)
        case nothing
        case end
    }

    /// Receives once, into memory that the caller wipes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Arrival {
        lastArrival = clock.now
        do {
            guard var received = unsafe try socket.receive(into: buffer) else { return .nothing }
            let descriptor = received.descriptor.take()
            // The end is sent by nobody.
            if received.count > 0, let sender = received.sender, sender != peer {
                return .refused(.sentByAnother(sender, than: peer), received.count)
            }
            if received.hasTooManyDescriptors || (descriptor != nil && passed != nil) {
                fail(CofferError(.param, "more descriptors came than one frame may carry"))
            } else if descriptor != nil {
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
        let frame = try decoder.decode(bytes, at: &offset, room: buffers.room(for: tenant))
        if frame != nil { frameStart = nil }
        return frame
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
        frameStart = decoder.isBetweenFrames ? nil : frameStart ?? lastArrival
        noteHeld()
        if passed == nil { return }
        if decoder.isBetweenFrames {
            fail(CofferError(.param, "a descriptor came without a frame"))
        } else {
            isPassedWithEarlierFrame = true
        }
    }

    /// Wipes what has come of a payload that is not complete.
    func wipeUnfinishedPayload() {
        decoder.wipePayload()
        noteHeld()
    }

    /// Whether requests wait that were not decoded yet.
    var hasBacklog: Bool { backlog != nil }

    // MARK: Requests

    /// Whether one more request may come.
    var hasRoom: Bool {
        requests.count < (buffers.isShort ? 1 : Limits.requestsInFlight) && requestByteCount < Limits.requestBytes
    }

    /// Whether a request is being carried out.
    var isBusy: Bool { requests.contains(where: \.isStarted) }

    /// Takes a request in.
    func add(_ request: Request, _ method: Method, _ attachments: Attachments, byteCount: Int) {
        requestCount += 1
        requests.append(
            PendingRequest(requestCount, request, method, attachments, byteCount: byteCount, at: lastArrival)
        )
        requestByteCount += byteCount
        noteHeld()
    }

    /// The request of a number, until it is answered.
    func request(numbered number: Int) -> PendingRequest? { requests.first { $0.number == number } }

    /// Lets go of a request that was answered.
    func remove(_ request: PendingRequest) {
        guard let index = requests.firstIndex(where: { $0 === request }) else { return }
        requests.remove(at: index)
        requestByteCount -= request.byteCount
        noteHeld()
    }

    /// The first request that may begin, now that those before it are as far as they are.
    var nextToStart: PendingRequest? {
        for (index, request) in requests.enumerated() where !request.isStarted {
            if request.isTransfer && !mayStartTransfer { continue }
            let earlier = requests[..<index]
            if !earlier.contains(where: { RequestScope.mustWait(request.scope, for: $0.scope) }) { return request }
        }
        return nil
    }

    /// One client's peers, however slow, must not take all the threads that there are for transfers.
    private var mayStartTransfer: Bool {
        requests.count { $0.isStarted && $0.isTransfer } < Limits.transfersPerConnection
    }

    /// The client has gone: what was not begun is forgotten, and what was ends as soon as it can.
    func hangUp() {
        for request in requests where !request.isStarted { remove(request) }
        for request in requests { request.cancel() }
        backlog = nil
        isEnding = true
        stop()
    }

    /// It may not do any more what it could: what was not begun is forgotten, what was ends as soon as it can, and it is told.
    func revoke(_ error: CofferError) {
        for request in requests where !request.isStarted { remove(request) }
        for request in requests { request.cancel() }
        backlog = nil
        fail(error)
    }

    /// Whether the client has gone, whatever was heard of it.
    var hasHungUp: Bool { socket.hasHungUp }

    // MARK: Waiting bytes

    /// Whether so much waits to be sent that no more is to be answered.
    var isFull: Bool {
        outbox.byteCount >= Limits.outboxBytes || outbox.secretByteCount >= Limits.outboxSecretBytes
            || buffers.isShort && !outbox.isEmpty
    }

    /// Keeps bytes for when the request that is being carried out has ended.
    func postpone(_ bytes: RawSpan) throws(SecretMemoryError) {
        backlog = try SecretBytes(copying: bytes)
        noteHeld()
    }

    /// Takes the bytes that were kept.
    func takeBacklog() -> SecretBytes? {
        defer { noteHeld() }
        return backlog.take()
    }

    // MARK: What is held

    private func noteHeld() {
        let now = BufferQuota.Held(
            byteCount: decoder.heldJSONCount + outbox.byteCount - outbox.secretByteCount,
            secretByteCount: decoder.heldPayloadCount + requestByteCount + outbox.secretByteCount + backlog.byteCount
        )
        buffers.change(from: held, to: now, of: tenant)
        held = now
    }

    /// Since when the peer has owed the rest of a frame, the reading of an answer, or the end of what its requests wait for;
    /// `nil` where it owes nothing.
    var debtStart: UInt64? {
        let waiting = requests.first { !$0.isStarted }
        return [frameStart, outbox.firstStart, waiting?.arrival].compactMap { $0 }.min()
    }

    /// Since when nobody would miss the connection; `nil` where somebody would.
    var idleStart: UInt64? {
        let isWatching = caller.subscription.selection != nil || credential?.isWaiting == true
        if isBusy || isWatching || !caller.handles.isEmpty || !caller.context.factors.isEmpty { return nil }
        return debtStart ?? lastArrival
    }

    // MARK: Sending

    /// Queues a frame.
    func send(_ frame: OutgoingFrame) {
        outbox.append(frame, at: clock.now)
        noteHeld()
    }

    /// Queues an event, or counts it as missed where too much waits already.
    func notify(_ event: VaultEvent) {
        outbox.append(event, at: clock.now)
        noteHeld()
    }

    /// Answers the service manager more than it takes.
    func refuse() {
        credential?.refuse()
        isEnding = true
    }

    /// Answers so even though nobody watches the socket any more, as long as the peer reads.
    func refuseAtLast() {
        refuse()
        while flush(), socket.waitForRoom(milliseconds: 1000) {}
    }

    /// A descriptor of the connection, for what is streamed.
    func duplicateSocket() throws(SystemError) -> OwnedDescriptor { try socket.duplicate() }

    /// Whether a payload waits whose key is gone.
    func hasPayloadToWithhold(in state: VaultState) -> Bool { outbox.hasPayloadToWithhold(in: state) }

    /// Takes back the payloads whose keys are gone.
    ///
    /// - Returns: Whether all of them could be: one that is sent in part takes the connection with it.
    func withholdPayloads(in state: VaultState, with error: CofferError) -> Bool {
        defer { noteHeld() }
        guard credential != nil else { return outbox.withholdPayloads(in: state, with: error) }
        if outbox.hasPayloadToWithhold(in: state) {
            // There is no other.
            outbox.removeLast()
            refuse()
        }
        return true
    }

    /// Says why to the peer, and ends.
    func fail(_ error: CofferError) {
        if credential != nil { return refuse() }
        send(OutgoingFrame(id: nil, json: Response.failureBytes(id: nil, error: error)))
        isEnding = true
    }

    /// No more comes from the peer; what it has asked for is still carried out, and sent.
    func end() { isEnding = true }

    /// Sends what can be sent.
    ///
    /// - Returns: Whether the connection lives on.
    func flush() -> Bool {
        let isOpen = (try? outbox.send(to: socket, at: clock.now)) != nil
        noteHeld()
        if !isOpen { return false }
        if let credential, (try? credential.sendRefusal(to: socket)) == nil { return false }
        if isEnding && !hasMoreToSend && requests.isEmpty && backlog == nil {
            // Something else holds it as well: closing alone would not end it. One that has no whole answer must not end.
            if credential != nil { socket.shutDown() }
            return false
        }
        updateInterest()
        return true
    }

    private var hasMoreToSend: Bool { !outbox.isEmpty || credential?.isBeingRefused == true }

    /// Reads no more until ``resumeReading()``.
    func pauseReading() {
        isPaused = true
        updateInterest()
    }

    /// Reads on.
    func resumeReading() {
        isPaused = false
        updateInterest()
    }

    /// A peer that does not read is not read from either, nor is one that has asked for much already: what it makes the daemon
    /// hold has a bound.
    private func updateInterest() {
        var wanted: EventLoop.Interest = []
        if hasRoom && !isEnding && !isFull && backlog == nil && credential == nil && !isPaused {
            wanted.insert(.readable)
        }
        if hasMoreToSend { wanted.insert(.writable) }
        guard wanted != interest, let watch else { return }
        interest = wanted
        try? loop.change(watch, to: wanted)
    }

    /// Stops watching; the socket closes when the session goes.
    func stop() {
        for request in requests { request.cancel() }
        if let watch { loop.unwatch(watch) }
        watch = nil
    }
}

extension CofferError {
    fileprivate static func sentByAnother(_ sender: ProcessCredentials, than peer: ProcessCredentials) -> CofferError {
        CofferError(
            .missingEntitlement,
            "\(peer.words) has connected, and \(sender.words) has sent something on this connection",
            hint: "each process connects for itself: after it was forked, and as the user and the group that it stays"
        )
    }
}

extension ProcessCredentials {
    fileprivate var words: String {
        "\(processID == 0 ? "a process that can't be seen" : "process \(processID)") of user \(userID) and group \(groupID)"
    }
}
