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
    /// The tenant that the connection belongs to.
    let tenant: Tenant
    /// The request of a service manager, which speaks no protocol and only reads; `nil` for a client.
    let credential: CredentialRequest?
    private var socket: WatchedSocket
    private unowned let connections: Connections
    private var arrivals: Arrivals
    private(set) var requests = PendingRequests()
    private let outbox: Outbox
    /// Its buffers, as the quota has recorded them.
    private let share: BufferQuota.Share
    /// The peer has closed the connection, or an error will end it.
    private(set) var isEnding = false
    /// Its place among the connections.
    var place = Place()

    /// The place of a connection in the queues of ``Connections``.
    struct Place {
        /// The events of the socket that were not handled yet.
        var ready: EventLoop.Interest = []
        /// Whether the connection was added and not dropped yet.
        var isOpen = false
        /// Whether it is queued for reading.
        var isWaitingToRead = false
        /// Whether it has an answer that may only be sent at the end of the turn.
        var sendsAtTurnEnd = false
        /// Whether it is queued for sending.
        var isToBeSent = false
    }

    init(
        _ socket: consuming OwnedDescriptor,
        _ caller: Caller,
        _ peer: ProcessCredentials,
        _ tenant: Tenant,
        credential: CredentialRequest? = nil,
        in connections: Connections
    ) {
        number = connections.takeNumber()
        self.socket = WatchedSocket(socket, for: credential == nil ? .readable : [])
        self.caller = caller
        self.tenant = tenant
        self.credential = credential
        self.connections = connections
        outbox = Outbox(connections.clock)
        share = BufferQuota.Share(of: connections.buffers, for: tenant)
        arrivals = Arrivals(from: peer, at: connections.clock.now)
    }

    /// Begins to watch the socket.
    func start(_ note: @escaping (EventLoop.Interest) -> Void) throws(SystemError) {
        try socket.start(on: connections.loop, note)
    }

    private var buffers: BufferQuota { share.quota }

    // MARK: Receiving

    /// Receives once; the caller wipes the memory.
    ///
    /// - Returns: The number of bytes, 0 at the end of the stream; why they must not be used; `nil` if there are none yet.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, CofferError>? {
        let (bytes, fault) = unsafe arrivals.receive(
            from: socket.descriptor,
            into: buffer,
            for: tenant.number,
            at: connections.clock.now
        )
        if let fault { fail(fault) }
        return bytes
    }

    /// Decodes the next frame; `nil` if the bytes are used up.
    ///
    /// - Throws: `FrameError` if the stream is malformed, or a descriptor was not passed with the first byte of its frame.
    func nextFrame(_ bytes: RawSpan, at offset: inout Int) throws(FrameError) -> Frame? {
        try arrivals.nextFrame(bytes, at: &offset, room: buffers.room(for: tenant))
    }

    /// Takes the descriptor of a complete frame.
    ///
    /// - Parameter isLast: Whether the arrival ends with the frame.
    func takeDescriptor(isLast: Bool) -> PeerDescriptor? { arrivals.takeDescriptor(isLast: isLast) }

    /// Ends an arrival whose bytes were all decoded.
    func finishArrival() {
        let fault = arrivals.finish()
        noteHeld()
        if let fault { fail(fault) }
    }

    /// Wipes the received part of an incomplete payload.
    func wipeUnfinishedPayload() {
        arrivals.wipePayload()
        noteHeld()
    }

    /// Whether there are bytes that were not decoded yet.
    var hasBacklog: Bool { arrivals.backlog != nil }

    /// Keeps bytes until the request that is being carried out has ended.
    func postpone(_ bytes: RawSpan) throws(SecretMemoryError) {
        try arrivals.postpone(bytes)
        noteHeld()
    }

    /// Takes out the bytes that were kept.
    func takeBacklog() -> SecretBytes? {
        defer { noteHeld() }
        return arrivals.takeBacklog()
    }

    // MARK: Requests

    /// Whether it has work without an event: a request that another one had blocked, or bytes that were read ahead.
    var hasWork: Bool { hasBacklog || requests.nextToStart != nil }

    /// Whether another request may be decoded: few requests and answers are pending.
    var acceptsRequests: Bool {
        let isShort = buffers.isShort
        return requests.hasRoom(isShort: isShort) && outbox.hasRoom && (!isShort || outbox.isEmpty)
    }

    func add(_ request: Request, _ method: Method, _ attachments: Attachments, byteCount: Int) {
        requests.add(PendingRequest(request, method, attachments, byteCount: byteCount, at: arrivals.last))
        noteHeld()
    }

    /// Removes a request that was answered.
    func remove(_ request: PendingRequest) {
        requests.remove(request)
        noteHeld()
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
        requests.abandon()
        arrivals.dropBacklog()
        noteHeld()
    }

    /// Whether the peer has disconnected, even if no event said so yet.
    var hasHungUp: Bool { socket.descriptor.hasHungUp }

    // MARK: Buffers

    private func noteHeld() {
        let arriving = arrivals.held
        share.note(
            BufferQuota.Held(
                byteCount: arriving.json + outbox.byteCount - outbox.secretByteCount,
                secretByteCount: arriving.payload + requests.byteCount + outbox.secretByteCount + arriving.backlog,
                eventByteCount: outbox.eventByteCount,
                contentCount: arriving.payload > 0 || outbox.contentCount > 0 ? 1 : 0
            )
        )
    }

    /// The time since which the peer blocks progress: by an incomplete frame, an unread answer, or a request that
    /// waits.
    ///
    /// `nil` if it does not.
    var debtStart: UInt64? {
        [arrivals.frameStart, outbox.firstStart, requests.firstWait].compactMap { $0 }.min()
    }

    /// The time since which the connection is idle; `nil` if it is in use.
    var idleStart: UInt64? {
        let isWatching = caller.subscription.selection != nil || credential?.isWaiting == true
        if requests.isBusy || isWatching || !caller.handles.isEmpty || !caller.context.factors.isEmpty { return nil }
        return debtStart ?? arrivals.last
    }

    // MARK: Sending

    /// Queues a frame, which is sent at the end of the turn at the latest.
    func send(_ frame: OutgoingFrame) {
        outbox.append(frame)
        noteHeld()
        connections.wantsToSend(self)
    }

    /// Queues an event; if too much is pending, counts it as missed.
    ///
    /// - Parameter bytes: Its frame.
    func notify(_ event: VaultEvent, _ bytes: [UInt8]) {
        outbox.append(event, bytes, room: buffers.eventRoom(for: tenant))
        noteHeld()
        connections.wantsToSend(self)
    }

    /// Refuses a service manager's request, by sending more than it accepts.
    func refuse() {
        credential?.refuse()
        isEnding = true
        connections.wantsToSend(self)
    }

    /// Refuses at shutdown, when the loop has stopped, as long as the peer reads.
    func refuseAtLast() { CredentialRefusal.send(to: socket.descriptor, patience: 1) }

    /// A duplicate of the socket, for streamed content.
    func duplicateSocket() throws(SystemError) -> PeerDescriptor {
        PeerDescriptor(owning: try socket.descriptor.duplicate().release(), for: tenant.number)
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
            try outbox.send(to: socket.descriptor)
            try credential?.sendRefusal(to: socket.descriptor)
        } catch {
            return false
        }
        if isEnding && !hasMoreToSend && requests.isEmpty && !hasBacklog {
            // Another process may hold a duplicate, so closing is not enough. A connection without a whole answer must
            // not end.
            if credential != nil { socket.descriptor.shutDown() }
            return false
        }
        updateInterest()
        return true
    }

    private var hasMoreToSend: Bool { !outbox.isEmpty || credential?.isToBeRefused == true }

    /// Updates the watched events.
    ///
    /// A peer that does not read its answers, has many requests pending, or is throttled, is not read from: its buffers
    /// are limited.
    func updateInterest() {
        var wanted: EventLoop.Interest = []
        if acceptsRequests && !isEnding && !hasBacklog && credential == nil && !tenant.isThrottled {
            wanted.insert(.readable)
        }
        if hasMoreToSend { wanted.insert(.writable) }
        socket.want(wanted, on: connections.loop)
    }

    /// Stops watching; the socket is closed with the last reference.
    func stop() {
        requests.cancelAll()
        socket.stop(on: connections.loop)
    }
}
