internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// The bytes and descriptors that a client sends, up to complete frames.
struct Arrivals: ~Copyable {
    /// The credentials of the process that connected: data that another process sends is refused.
    private let peer: ProcessCredentials
    private var decoder = FrameDecoder()
    /// A descriptor that was received, and not taken yet.
    private var passed: PeerDescriptor?
    /// It belongs to a frame that began in an earlier arrival, and will be the next complete frame.
    private var isPassedWithEarlierFrame = false
    /// Whether it came when a part of a frame had been received, and no later frame has begun in the arrival yet.
    private var isPassedAmidFrame = false
    /// Bytes after a request that is being carried out; they may contain secrets.
    private(set) var backlog: SecretBytes?
    /// The time when an incomplete frame began.
    private(set) var frameStart: UInt64?
    /// The time of the last arrival.
    private(set) var last: UInt64

    init(from peer: ProcessCredentials, at now: UInt64) {
        self.peer = peer
        last = now
    }

    /// The sizes of what is buffered.
    var held: (json: Int, payload: Int, backlog: Int) {
        (decoder.heldJSONCount, decoder.heldPayloadCount, backlog.byteCount)
    }

    /// Receives once; the caller wipes the memory.
    ///
    /// - Parameter tenant: The tenant to which a descriptor is charged.
    /// - Returns: The number of bytes, 0 at the end of the stream; why they must not be used; `nil` if there are none
    ///   yet. Besides, why no more may be received.
    mutating func receive(
        from socket: borrowing OwnedDescriptor,
        into buffer: UnsafeMutableRawBufferPointer,
        for tenant: Int,
        at now: UInt64
    ) -> (bytes: Result<Int, CofferError>?, fault: CofferError?) {
        last = now
        do {
            let mayPass = PeerFiles.hasRoom(for: tenant)
            guard var received = unsafe try socket.receive(into: buffer, for: tenant, acceptingDescriptor: mayPass)
            else { return (nil, nil) }
            let descriptor = received.descriptor.take()
            // The end of the stream has no sender.
            if received.count > 0, let sender = received.sender, sender != peer {
                return (.failure(.sentByAnother(sender, than: peer)), nil)
            }
            if received.hasTooManyDescriptors && !mayPass { return (.success(received.count), .tooManyDescriptors) }
            if received.hasTooManyDescriptors || (descriptor != nil && passed != nil) {
                let fault = CofferError(.param, "more descriptors came than one frame may carry")
                return (.success(received.count), fault)
            }
            if descriptor != nil {
                passed = descriptor
                isPassedWithEarlierFrame = false
                isPassedAmidFrame = !decoder.isBetweenFrames
            }
            return (.success(received.count), nil)
        } catch {
            return (.success(0), nil)
        }
    }

    /// Decodes the next frame; `nil` if the bytes are used up.
    ///
    /// - Throws: `FrameError` if the stream is malformed, or a descriptor was not passed with the first byte of its frame.
    mutating func nextFrame(
        _ bytes: RawSpan,
        at offset: inout Int,
        room: FrameDecoder.Room
    ) throws(FrameError) -> Frame? {
        let frame = try decoder.decode(bytes, at: &offset, room: room)
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
    mutating func takeDescriptor(isLast: Bool) -> PeerDescriptor? {
        guard isLast || isPassedWithEarlierFrame else { return nil }
        isPassedWithEarlierFrame = false
        return passed.take()
    }

    /// Ends an arrival whose bytes were all decoded.
    ///
    /// - Returns: Why no more may be received, if so.
    mutating func finish() -> CofferError? {
        frameStart = decoder.isBetweenFrames ? nil : frameStart ?? last
        if passed == nil { return nil }
        if decoder.isBetweenFrames { return CofferError(.param, "a descriptor came without a frame") }
        isPassedWithEarlierFrame = true
        return nil
    }

    /// Wipes the received part of an incomplete payload.
    mutating func wipePayload() { decoder.wipePayload() }

    // MARK: Pending bytes

    /// Keeps bytes until the request that is being carried out has ended.
    mutating func postpone(_ bytes: RawSpan) throws(SecretMemoryError) { backlog = try SecretBytes(copying: bytes) }

    /// Takes out the bytes that were kept.
    mutating func takeBacklog() -> SecretBytes? { backlog.take() }

    /// Wipes the bytes that were kept.
    mutating func dropBacklog() { backlog = nil }
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
