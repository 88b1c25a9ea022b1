internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// What all connections hold together of frames on their way: of unfinished ones that come, and of answers that go.
///
/// A peer can make the daemon hold so much that nothing is left for anybody: half a frame and silence, or requests whose
/// answers it never reads. So there is an end to it, and those who have stalled give way before it is reached.
final class TransitRoom {
    /// Bytes of ordinary memory, and of locked memory.
    struct Held {
        var byteCount = 0
        var secretByteCount = 0
    }

    private(set) var held = Held()
    /// When stalled connections were looked for last.
    private var lastLook: UInt64?
    private var hasHeldMuch = false

    /// Takes note of what a connection holds now.
    func change(from old: Held, to new: Held) {
        held.byteCount += new.byteCount - old.byteCount
        held.secretByteCount += new.secretByteCount - old.secretByteCount
        if held.byteCount > Limits.transitBytes / 8 { hasHeldMuch = true }
    }

    /// Whether much was held, and is not any more, since this was asked last.
    func takeEmptied() -> Bool {
        guard hasHeldMuch, held.byteCount < Limits.transitBytes / 64 else { return false }
        hasHeldMuch = false
        return true
    }

    /// What may still come of frames that are not complete.
    var room: FrameDecoder.Room {
        FrameDecoder.Room(
            json: max(0, Limits.transitBytes - held.byteCount),
            payload: max(0, Limits.transitSecretBytes - held.secretByteCount)
        )
    }

    /// Whether so little is left that stalled connections are to give way.
    var isShort: Bool {
        held.byteCount > Limits.transitBytes / 2 || held.secretByteCount > Limits.transitSecretBytes / 2
    }

    /// Whether stalled connections are to be looked for now: to look at all of them takes time, too.
    func isLookDue(at now: UInt64) -> Bool {
        guard isShort, lastLook.map({ now >= $0 + Self.lookNanoseconds }) ?? true else { return false }
        lastLook = now
        return true
    }

    /// Whether an answer finds room.
    func hasRoom(for frame: OutgoingFrame) -> Bool {
        // Small ones are of changes that have happened, and of keys that are shown once: those are told in any case.
        let isSmall = frame.byteCount <= Self.smallByteCount
        return isSmall || frame.head.count <= room.json && frame.payload.byteCount <= room.payload
    }

    private static let smallByteCount = 4 << 10
    private static let lookNanoseconds: UInt64 = 100_000_000
    static let stallNanoseconds = UInt64(Limits.stallSeconds) * 1_000_000_000
}
