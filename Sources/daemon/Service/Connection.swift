internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// A connection: its requests, and its outgoing frames.
final class Connection {
    /// Its number on the server.
    let number: Int
    let caller: Caller
    /// The credentials of the process that connected: data that another process sends is refused.
    private let peer: ProcessCredentials
    /// The tenant that the connection belongs to.
    let tenant: Tenant
    /// The request of a service manager, which speaks no protocol and only reads; `nil` for a client.
    let credential: CredentialRequest?
    private let socket: OwnedDescriptor
    private unowned let connections: Connections
    private let buffers: BufferQuota
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest = .readable

    private var decoder = FrameDecoder()
    /// A descriptor that was received, and not taken yet.
    private var passed: PeerDescriptor?
    /// It belongs to a frame that began in an earlier arrival, and will be the next complete frame.
    private var isPassedWithEarlierFrame = false
    /// Whether it came when a part of a frame had been received, and no later frame has begun in the arrival yet.
    private var isPassedAmidFrame = false
    /// Bytes after a request that is being carried out; they may contain secrets.
    private var backlog: SecretBytes?

    private let outbox = Outbox()
    /// The refusal of the credential, if it is refused.
    private var refusal: CredentialRefusal?

    /// The size of its buffers, as the quota has recorded it.
    private var held = BufferQuota.Held()
    /// The time when an incomplete frame began.
    private var frameStart: UInt64?
    /// The time of the last arrival.
    private var lastArrival: UInt64

    /// The requests that are not answered yet, in the order of their arrival.
    private(set) var requests: [PendingRequest] = []
    private var requestByteCount = 0
    /// The peer has closed the connection, or an error will end it.
    private(set) var isEnding = false
    /// The events of the socket that were not handled yet.
    var ready: EventLoop.Interest = []
    /// Whether it was added and not dropped yet.
    var isOpen = false
    /// Whether it is queued for reading.
    var isWaitingToRead = false
    /// Whether it has work without an event: a request that another one had blocked, or bytes that were read ahead.
    var hasWork: Bool { hasBacklog || nextToStart != nil }
    /// Whether it has an answer that may only be sent at the end of the turn.
    var sendsAtTurnEnd = false
    /// Whether it is queued for sending.
    var isToBeSent = false

    init(
        _ socket: consuming OwnedDescriptor,
        _ caller: Caller,
        _ peer: ProcessCredentials,
        _ tenant: Tenant,
        credential: CredentialRequest? = nil,
        in connections: Connections
    ) {
        number = connections.takeNumber()
        self.socket = socket
        self.caller = caller
        self.peer = peer
        self.tenant = tenant
        self.credential = credential
        if credential != nil { interest = [] }
        self.connections = connections
        buffers = connections.buffers
        lastArrival = connections.clock.now
    }

    deinit { buffers.change(from: held, to: BufferQuota.Held(), of: tenant) }

    /// Begins to watch the socket.
    func start(_ note: @escaping (EventLoop.Interest) -> Void) throws(SystemError) {
        watch = try connections.loop.watch(socket, for: interest, .noted, handler: note)
    }

    // MARK: Receiving

    /// Receives once; the caller wipes the memory.
    ///
    /// - Returns: The number of bytes, 0 at the end of the stream; why they must not be used; `nil` if there are none yet.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, CofferError>? {
        lastArrival = connections.clock.now
        do {
            let mayPass = PeerFiles.hasRoom(for: tenant.number)
            guard
                var received = unsafe try socket.receive(
                    into: buffer,
                    for: tenant.number,
                    acceptingDescriptor: mayPass
                )
            else { return nil }
            let descriptor = received.descriptor.take()
            // The end of the stream has no sender.
            if received.count > 0, let sender = received.sender, sender != peer {
                return .failure(.sentByAnother(sender, than: peer))
            }
            if received.hasTooManyDescriptors && !mayPass {
                fail(.tooManyDescriptors)
            } else if received.hasTooManyDescriptors || (descriptor != nil && passed != nil) {
                fail(CofferError(.param, "more descriptors came than one frame may carry"))
            } else if descriptor != nil {
                passed = descriptor
                isPassedWithEarlierFrame = false
                isPassedAmidFrame = !decoder.isBetweenFrames
            }
            return .success(received.count)
        } catch {
            return .success(0)
        }
    }

    /// Decodes the next frame; `nil` if the bytes are used up.
    ///
    /// - Throws: `FrameError` if the stream is malformed, or a descriptor was not passed with the first byte of its frame.
    func nextFrame(_ bytes: RawSpan, at offset: inout Int) throws(FrameError) -> Frame? {
        let frame = try decoder.decode(bytes, at: &offset, room: buffers.room(for: tenant))
        if isPassedAmidFrame && offset == bytes.byteCount { throw .lateDescriptor }
        isPassedAmidFrame = false
        if frame != nil { frameStart = nil }
        return frame
    }

    /// Takes the descriptor of a complete frame.
    ///
    /// The kernel ends an arrival after the segment that carries a descriptor, and that segment begins with its frame.
    /// So the descriptor belongs to the last frame that begins in the arrival: a complete one at its end, or an
    /// incomplete one.
    ///
    /// - Parameter isLast: Whether the arrival ends with the frame.
    func takeDescriptor(isLast: Bool) -> PeerDescriptor? {
        guard isLast || isPassedWithEarlierFrame else { return nil }
        isPassedWithEarlierFrame = false
        return passed.take()
    }

    /// Ends an arrival whose bytes were all decoded.
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

    /// Wipes the received part of an incomplete payload.
    func wipeUnfinishedPayload() {
        decoder.wipePayload()
        noteHeld()
    }

    /// Whether there are bytes that were not decoded yet.
    var hasBacklog: Bool { backlog != nil }

    // MARK: Requests

    /// Whether another request may be decoded: few requests and answers are pending.
    var acceptsRequests: Bool {
        requests.count < (buffers.isShort ? 1 : Limits.requestsInFlight) && requestByteCount < Limits.requestBytes
            && outbox.byteCount < Limits.outboxBytes && outbox.secretByteCount < Limits.outboxSecretBytes
            && (!buffers.isShort || outbox.isEmpty)
    }

    /// Whether a request is being carried out.
    var isBusy: Bool { requests.contains(where: \.isStarted) }

    func add(_ request: Request, _ method: Method, _ attachments: Attachments, byteCount: Int) {
        requests.append(PendingRequest(request, method, attachments, byteCount: byteCount, at: lastArrival))
        requestByteCount += byteCount
        noteHeld()
    }

    /// Removes a request that was answered.
    func remove(_ request: PendingRequest) {
        guard let index = requests.firstIndex(where: { $0 === request }) else { return }
        requests.remove(at: index)
        requestByteCount -= request.byteCount
        noteHeld()
    }

    /// The first request that may start: it waits for no earlier one.
    var nextToStart: PendingRequest? {
        for (index, request) in requests.enumerated() where !request.isStarted {
            if request.isTransfer && !mayStartTransfer { continue }
            let earlier = requests[..<index]
            if !earlier.contains(where: { RequestScope.mustWait(request.scope, for: $0.scope) }) { return request }
        }
        return nil
    }

    /// Slow descriptors of one client must not occupy all threads for transfers.
    private var mayStartTransfer: Bool {
        requests.count { $0.isStarted && $0.isTransfer } < Limits.transfersPerConnection
    }

    /// The transfers that run, and the items that they name.
    var transfers: [(method: Method, name: String?)] {
        requests.filter { $0.isStarted && $0.isTransfer }.map { ($0.method, $0.params["name"]?.stringValue) }
    }

    /// The client has disconnected: its answers can't be delivered any more.
    func hangUp() {
        abandonRequests()
        isEnding = true
        stop()
        connections.wantsToSend(self)
    }

    /// The client has lost its rights: the error is sent as the last answer.
    func revoke(_ error: CofferError) {
        abandonRequests()
        fail(error)
    }

    /// Drops the requests that have not started, and cancels the others.
    private func abandonRequests() {
        for request in requests where !request.isStarted { remove(request) }
        for request in requests { request.cancel() }
        backlog = nil
    }

    /// Whether the peer has disconnected, even if no event said so yet.
    var hasHungUp: Bool { socket.hasHungUp }

    // MARK: Pending bytes

    /// Keeps bytes until the request that is being carried out has ended.
    func postpone(_ bytes: RawSpan) throws(SecretMemoryError) {
        backlog = try SecretBytes(copying: bytes)
        noteHeld()
    }

    /// Takes out the bytes that were kept.
    func takeBacklog() -> SecretBytes? {
        defer { noteHeld() }
        return backlog.take()
    }

    // MARK: Buffers

    private func noteHeld() {
        let now = BufferQuota.Held(
            byteCount: decoder.heldJSONCount + outbox.byteCount - outbox.secretByteCount,
            secretByteCount: decoder.heldPayloadCount + requestByteCount + outbox.secretByteCount + backlog.byteCount,
            eventByteCount: outbox.eventByteCount,
            contentCount: decoder.heldPayloadCount > 0 || outbox.contentCount > 0 ? 1 : 0
        )
        buffers.change(from: held, to: now, of: tenant)
        held = now
    }

    /// The time since which the peer blocks progress: by an incomplete frame, an unread answer, or a request that
    /// waits.
    ///
    /// `nil` if it does not.
    var debtStart: UInt64? {
        let waiting = requests.first { !$0.isStarted }
        return [frameStart, outbox.firstStart, waiting?.arrival].compactMap { $0 }.min()
    }

    /// The time since which the connection is idle; `nil` if it is in use.
    var idleStart: UInt64? {
        let isWatching = caller.subscription.selection != nil || credential?.isWaiting == true
        if isBusy || isWatching || !caller.handles.isEmpty || !caller.context.factors.isEmpty { return nil }
        return debtStart ?? lastArrival
    }

    // MARK: Sending

    /// Queues a frame, which is sent at the end of the turn at the latest.
    func send(_ frame: OutgoingFrame) {
        outbox.append(frame, at: connections.clock.now)
        noteHeld()
        connections.wantsToSend(self)
    }

    /// Queues an event; if too much is pending, counts it as missed.
    ///
    /// - Parameter bytes: Its frame.
    func notify(_ event: VaultEvent, _ bytes: [UInt8]) {
        outbox.append(event, bytes, at: connections.clock.now, room: buffers.eventRoom(for: tenant))
        noteHeld()
        connections.wantsToSend(self)
    }

    /// Refuses a service manager's request, by sending more than it accepts.
    func refuse() {
        credential?.blockingState = nil
        refusal = refusal ?? CredentialRefusal()
        isEnding = true
        connections.wantsToSend(self)
    }

    /// Refuses at shutdown, when the loop has stopped, as long as the peer reads.
    func refuseAtLast() { CredentialRefusal.send(to: socket, patience: 1) }

    /// A duplicate of the socket, for streamed content.
    func duplicateSocket() throws(SystemError) -> PeerDescriptor {
        PeerDescriptor(owning: try socket.duplicate().release(), for: tenant.number)
    }

    /// Whether a payload is pending whose key is gone.
    func hasPayloadToWithhold(in state: VaultState) -> Bool { outbox.hasPayloadToWithhold(in: state) }

    /// Withholds the payloads whose keys are gone.
    ///
    /// - Returns: Whether all of them were replaced; if one is partly sent, the connection must be closed.
    func withholdPayloads(in state: VaultState, with error: CofferError) -> Bool {
        defer { noteHeld() }
        connections.wantsToSend(self)
        guard credential != nil else { return outbox.withholdPayloads(in: state, with: error) }
        if outbox.hasPayloadToWithhold(in: state) {
            // It is the only frame.
            outbox.removeLast()
            refuse()
        }
        return true
    }

    /// Sends an error, and ends the connection.
    func fail(_ error: CofferError) {
        if credential != nil { return refuse() }
        send(OutgoingFrame(error))
        isEnding = true
    }

    /// Reads no more from the peer; the pending requests are still answered.
    func end() { isEnding = true }

    /// Sends as much as possible.
    ///
    /// - Returns: Whether the connection stays open.
    func flush() -> Bool {
        do throws(SystemError) {
            defer { noteHeld() }
            try outbox.send(to: socket, at: connections.clock.now)
            try refusal?.send(to: socket)
        } catch {
            return false
        }
        if isEnding && !hasMoreToSend && requests.isEmpty && backlog == nil {
            // Another process may hold a duplicate, so closing is not enough. A connection without a whole answer must
            // not end.
            if credential != nil { socket.shutDown() }
            return false
        }
        updateInterest()
        return true
    }

    private var hasMoreToSend: Bool { !outbox.isEmpty || refusal?.isSent == false }

    /// Updates the watched events.
    ///
    /// A peer that does not read its answers, has many requests pending, or is throttled, is not read from: its buffers
    /// are limited.
    func updateInterest() {
        var wanted: EventLoop.Interest = []
        if acceptsRequests && !isEnding && backlog == nil && credential == nil && !tenant.isThrottled {
            wanted.insert(.readable)
        }
        if hasMoreToSend { wanted.insert(.writable) }
        guard wanted != interest, let watch else { return }
        interest = wanted
        try? connections.loop.change(watch, to: wanted)
    }

    /// Stops watching; the socket is closed with the last reference.
    func stop() {
        for request in requests { request.cancel() }
        if let watch { connections.loop.unwatch(watch) }
        watch = nil
    }
}

extension CofferError {
    fileprivate static let tooManyDescriptors = CofferError(
        .notAvailable,
        "too many descriptors that were passed are still in use",
        hint: "a file system that does not answer may hold them: see 'cat /proc/mounts'"
    )

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
