internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The buffers of all connections together: incomplete frames of clients, and answers that are not sent yet.
///
/// A client could fill the memory with half a frame, or with requests whose answers it never reads. So there is a
/// limit, and stalled connections are closed before it is reached.
final class BufferQuota {
    /// Bytes of ordinary memory, and of locked memory.
    struct Held: Equatable {
        var byteCount = 0
        var secretByteCount = 0
        /// The bytes of events, which are in ``byteCount`` as well.
        var eventByteCount = 0
        /// The number of connections that hold a part of a payload, or a content to send.
        var contentCount = 0

        fileprivate mutating func change(from old: Held, to new: Held) {
            byteCount += new.byteCount - old.byteCount
            secretByteCount += new.secretByteCount - old.secretByteCount
            eventByteCount += new.eventByteCount - old.eventByteCount
            contentCount += new.contentCount - old.contentCount
        }
    }

    /// What one connection of a tenant holds; it is given back at its end.
    final class Share {
        let quota: BufferQuota
        private let tenant: Tenant
        private var held = Held()

        init(of quota: BufferQuota, for tenant: Tenant) {
            self.quota = quota
            self.tenant = tenant
        }

        deinit { quota.change(from: held, to: Held(), of: tenant) }

        /// Records what the connection holds now.
        func note(_ now: Held) {
            if now == held { return }
            quota.change(from: held, to: now, of: tenant)
            held = now
        }
    }

    private(set) var held = Held()
    /// The time of the last scan for stalled connections.
    private var lastScan: UInt64?
    private var hasHeldMuch = false
    private var hasParsedMuch = false

    /// Records a change of the buffers of a tenant's connection.
    private func change(from old: Held, to new: Held, of tenant: Tenant) {
        held.change(from: old, to: new)
        tenant.held.change(from: old, to: new)
        if held.byteCount > Limits.transitBytes / 8 { hasHeldMuch = true }
    }

    /// Records a request: its parsed values take many times the size of its JSON.
    func noteRequest(jsonByteCount: Int) {
        if jsonByteCount > Limits.largeRequestBytes { hasParsedMuch = true }
    }

    /// Whether large buffers were released since the last call.
    func takeEmptied() -> Bool {
        let isEmptied = hasHeldMuch && held.byteCount < Limits.transitBytes / 64
        // Buffers include requests that are being carried out.
        let isCarriedOut = hasParsedMuch && held.secretByteCount < Limits.largeRequestBytes
        if isEmptied { hasHeldMuch = false }
        if isCarriedOut { hasParsedMuch = false }
        return isEmptied || isCarriedOut
    }

    /// The space left for a tenant's incomplete frames.
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

    /// The space left for a tenant's events: beyond it, its clients miss them.
    func eventRoom(for tenant: Tenant) -> Int {
        FairShare.left(
            holding: tenant.held.eventByteCount,
            used: held.eventByteCount,
            of: Limits.transitEventBytes
        )
    }

    /// Whether so little is left that stalled connections have to be closed.
    var isShort: Bool {
        held.byteCount > Limits.transitBytes / 2 || held.secretByteCount > Limits.transitSecretBytes / 2
    }

    /// Whether to scan all connections for stalled ones now: the scans are rate-limited.
    func isScanDue(at now: UInt64) -> Bool {
        guard isShort, lastScan.map({ now >= $0 + Limits.stallScanNanoseconds }) ?? true else { return false }
        lastScan = now
        return true
    }

    /// Whether an answer to a tenant fits.
    ///
    /// Small answers always fit: they confirm changes, or contain a key that is delivered only once.
    func hasRoom(head: Int, payload: Int, to tenant: Tenant) -> Bool {
        if head + payload <= Limits.smallAnswerBytes { return true }
        let room = room(for: tenant)
        return head <= room.json && payload <= room.payload
    }
}
