internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// What all connections hold together of frames on their way: of unfinished ones that come, and of answers that go.
///
/// A peer can make the daemon hold so much that nothing is left for anybody: half a frame and silence, or requests whose
/// answers it never reads. So there is an end to it, and those who have stalled give way before it is reached.
final class BufferQuota {
    /// Bytes of ordinary memory, and of locked memory.
    struct Held {
        var byteCount = 0
        var secretByteCount = 0

        fileprivate mutating func change(from old: Held, to new: Held) {
            byteCount += new.byteCount - old.byteCount
            secretByteCount += new.secretByteCount - old.secretByteCount
        }
    }

    private(set) var held = Held()
    /// When stalled connections were looked for last.
    private var lastLook: UInt64?
    private var hasHeldMuch = false
    private var hasParsedMuch = false

    /// Takes note of what a connection of a tenant holds now.
    func change(from old: Held, to new: Held, of tenant: Tenant) {
        held.change(from: old, to: new)
        tenant.held.change(from: old, to: new)
        if held.byteCount > Limits.transitBytes / 8 { hasHeldMuch = true }
    }

    /// Takes note of a request: its values take many times the bytes of its JSON.
    func noteRequest(jsonByteCount: Int) {
        if jsonByteCount > Limits.largeRequestBytes { hasParsedMuch = true }
    }

    /// Whether much was held, and is not any more, since this was asked last.
    func takeEmptied() -> Bool {
        let isEmptied = hasHeldMuch && held.byteCount < Limits.transitBytes / 64
        // Requests that are being carried out are among what is held.
        let isCarriedOut = hasParsedMuch && held.secretByteCount < Limits.largeRequestBytes
        if isEmptied { hasHeldMuch = false }
        if isCarriedOut { hasParsedMuch = false }
        return isEmptied || isCarriedOut
    }

    /// What may still come of a tenant's frames that are not complete.
    func room(for tenant: Tenant) -> FrameDecoder.Room {
        FrameDecoder.Room(
            json: FairShare.left(holding: tenant.held.byteCount, used: held.byteCount, of: Limits.transitBytes),
            payload: FairShare.left(
                holding: tenant.held.secretByteCount,
                used: held.secretByteCount,
                of: Limits.transitSecretBytes
            )
        )
    }

    /// Whether so little is left that stalled connections are to give way.
    var isShort: Bool {
        held.byteCount > Limits.transitBytes / 2 || held.secretByteCount > Limits.transitSecretBytes / 2
    }

    /// Whether stalled connections are to be looked for now: to look at all of them takes time, too.
    func isLookDue(at now: UInt64) -> Bool {
        guard isShort, lastLook.map({ now >= $0 + Limits.stallScanNanoseconds }) ?? true else { return false }
        lastLook = now
        return true
    }

    /// Whether an answer to a tenant finds room.
    func hasRoom(for frame: OutgoingFrame, to tenant: Tenant) -> Bool {
        // Small ones are of changes that have happened, and of keys that are shown once: those are told in any case.
        let isSmall = frame.byteCount <= Limits.smallAnswerBytes
        let room = room(for: tenant)
        return isSmall || frame.head.count <= room.json && frame.payload.byteCount <= room.payload
    }

    /// Whether a tenant may be sent a payload.
    func hasRoom(forPayload byteCount: Int, to tenant: Tenant) -> Bool {
        byteCount <= Limits.smallAnswerBytes || byteCount <= room(for: tenant).payload
    }

    static let stallNanoseconds = UInt64(Limits.stallSeconds) * 1_000_000_000
}
