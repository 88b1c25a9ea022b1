internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// The frames to send to a client, with their sizes.
///
/// A class, so that asking for its sizes is no access to the whole of it.
final class Outbox {
    private let clock: BootClock
    private var frames: [OutgoingFrame] = []
    private(set) var byteCount = 0
    private(set) var secretByteCount = 0
    /// The bytes of the events, with those that the memory for each takes besides.
    private(set) var eventByteCount = 0
    /// The number of frames with the content of an item.
    private(set) var contentCount = 0
    /// The number of events that were dropped because the client does not read.
    private var missedCount = 0

    init(_ clock: BootClock) { self.clock = clock }

    var isEmpty: Bool { frames.isEmpty }

    /// Whether answers of another request fit.
    var hasRoom: Bool { byteCount < Limits.outboxBytes && secretByteCount < Limits.outboxSecretBytes }

    /// The time when the first frame was queued.
    var firstStart: UInt64? { frames.first?.start }

    /// Queues a frame.
    func append(_ frame: OutgoingFrame) {
        frame.start = clock.now
        frames.append(frame)
        count(frame)
    }

    /// Queues an event; if too much is pending, counts it as missed.
    ///
    /// - Parameters:
    ///   - bytes: Its frame.
    ///   - room: The space that the events of the client's identity have left.
    func append(_ event: VaultEvent, _ bytes: [UInt8], room: Int) {
        let frame = OutgoingFrame(bytes)
        frame.isEvent = true
        let hasRoom = byteCount + frame.byteCount <= Limits.eventBytes && Self.size(of: frame) <= room
        // A client that has read everything is not cut off by others that have not.
        let isFirst = frames.isEmpty && frame.byteCount <= Limits.smallAnswerBytes
        if missedCount == 0 && (hasRoom || isFirst) { return append(frame) }
        missedCount += event.count
        if frames.isEmpty { appendMissed() }
    }

    private func appendMissed() {
        append(OutgoingFrame(VaultEvent.eventsMissed(missedCount).frame))
        missedCount = 0
    }

    private static func size(of event: OutgoingFrame) -> Int { event.byteCount + Limits.eventOverheadBytes }

    private func count(_ frame: OutgoingFrame, sign: Int = 1) {
        byteCount += sign * frame.byteCount
        secretByteCount += sign * frame.payload.byteCount
        if frame.isEvent { eventByteCount += sign * Self.size(of: frame) }
        if frame.protection != nil { contentCount += sign }
    }

    // MARK: Sending

    /// Sends as much as the socket accepts.
    func send(to socket: borrowing OwnedDescriptor) throws(SystemError) {
        while let frame = frames.first {
            guard try send(frame, to: socket) else { return }
            count(frames.removeFirst(), sign: -1)
            if frames.isEmpty && missedCount > 0 { appendMissed() }
        }
    }

    /// - Returns: Whether the whole frame is sent; if not, the socket's buffer is full.
    private func send(_ frame: OutgoingFrame, to socket: borrowing OwnedDescriptor) throws(SystemError) -> Bool {
        while frame.sentCount < frame.byteCount {
            guard let count = try sendOnce(frame, to: socket) else { return false }
            frame.sentCount += count
        }
        return true
    }

    private func sendOnce(_ frame: OutgoingFrame, to socket: borrowing OwnedDescriptor) throws(SystemError) -> Int? {
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

    // MARK: Withholding

    /// Whether a payload is pending whose key is gone.
    func hasPayloadToWithhold(in state: VaultState) -> Bool { frames.contains { !$0.mayBeSent(in: state) } }

    /// Replaces the answers whose keys are gone with an error.
    ///
    /// - Returns: Whether all of them were replaced; if one is partly sent, the connection must be closed.
    func withholdPayloads(in state: VaultState, with error: CofferError) -> Bool {
        for index in frames.indices where !frames[index].mayBeSent(in: state) {
            guard frames[index].sentCount == 0 else { return false }
            guard let id = frames[index].id else { continue }
            let frame = OutgoingFrame(error, to: id)
            frame.start = frames[index].start
            count(frames[index], sign: -1)
            frames[index] = frame
            count(frame)
        }
        return true
    }

    func removeLast() { count(frames.removeLast(), sign: -1) }
}
