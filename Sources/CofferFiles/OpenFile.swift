package import CofferCore
package import CofferSystem

/// A file that is open: what all its handles share.
///
/// Lives on the store's actor. What was written since the last sync is known here only; the chunks lie in their slots already.
package final class OpenFile {
    let node: Int64
    /// Whether its rows are those that it had: otherwise a chunk that opens may be an earlier version of itself.
    package let hasItsRows: Bool
    /// The class that the file had when it was opened.
    package let protectionClass: ProtectionClass
    private(set) var content: OpenedContent
    private(set) var isOverlayStaged: Bool
    /// The bytes of the file, those that are not synced yet included.
    package private(set) var byteCount: Int64
    /// The bytes of the base that were never cut off: behind them, what was cut off must not come back.
    private(set) var visibleBaseBytes: Int64

    /// The chunks that were written since the last sync.
    private(set) var pending = Changes()
    /// The chunks whose transaction is under way.
    private var committing: Changes?
    private var slots: SlotSpace
    /// The slots that the catalog forgets with it.
    private var freedByCommit: [Int64] = []
    /// Slots of a transaction that was undone, and may be on the disk all the same: never written again.
    private var pinned: Set<Int64> = []
    /// Reads that are under way: a slot that one of them may look at is not written again.
    private var readCount = 0

    /// The handles of it.
    package var handleCount = 0
    /// Whether a request changes or syncs it: one at a time does.
    package var isBeingChanged = false
    /// One writer at a time.
    package var hasWriter = false
    /// The chunks of a file whose row is gone: nobody finds it any more, and its handles use it to their end.
    private(set) var orphans: [Int64: ChunkSlot]?

    /// What is to become different in the catalog.
    struct Changes {
        /// Chunks and their new places.
        var chunks: [Int64: ChunkSlot] = [:]
        /// From that chunk on, what the catalog has was cut off.
        var cutFrom: Int64?
        /// The size or the visible part of the base is another one.
        var changesSize = false

        var isEmpty: Bool { chunks.isEmpty && cutFrom == nil && !changesSize }
    }

    init(
        node: Int64,
        protectionClass: ProtectionClass,
        content: OpenedContent,
        isOverlayStaged: Bool,
        byteCount: Int64,
        visibleBaseBytes: Int64,
        usedSlots: [Int64],
        hasItsRows: Bool = true
    ) {
        self.node = node
        self.hasItsRows = hasItsRows
        self.protectionClass = protectionClass
        self.content = content
        self.isOverlayStaged = isOverlayStaged
        self.byteCount = byteCount
        self.visibleBaseBytes = visibleBaseBytes
        slots = SlotSpace(used: usedSlots)
    }

    /// The name in quotes.
    package var subject: String { content.subject }

    /// Whether the key was wiped by a lock.
    package var isRevoked: Bool { content.key.isRevoked }

    /// Ends the waiting for a client when the key is wiped by a lock.
    ///
    /// - Parameter cancellation: Ends it.
    /// - Returns: A number for ``forgetEnding(_:)``.
    package func endOnLock(_ cancellation: Cancellation) -> Int { content.key.onRevoke { cancellation.cancel() } }

    /// Takes back what ``endOnLock(_:)`` has set.
    package func forgetEnding(_ number: Int) { content.key.forgetOnRevoke(number) }

    /// Whether something was written since the last sync.
    package var hasChanges: Bool { !pending.isEmpty }

    /// Whether the transaction of a sync is under way.
    package var isBeingCommitted: Bool { committing != nil }

    /// How many chunks wait for a sync.
    package var pendingCount: Int { pending.chunks.count }

    var id: ItemID { content.id }

    /// Gives the file an overlay, so that it can be written.
    func addOverlay(_ overlay: Overlay) {
        content = OpenedContent(
            id: content.id,
            subject: content.subject,
            key: content.key,
            base: content.base,
            overlay: overlay,
            directory: content.directory
        )
        isOverlayStaged = true
    }

    func overlayIsPlaced() { isOverlayStaged = false }

    // MARK: Without a row

    /// Whether the row is gone.
    var isUnlinked: Bool { orphans != nil }

    func unlink(keeping rows: [(chunk: Int64, slot: ChunkSlot)]) {
        orphans = Dictionary(rows.map { ($0.chunk, $0.slot) }) { $1 }
    }

    /// The transaction that took the row away was undone.
    func undoUnlinking() { orphans = nil }

    // MARK: Where chunks are

    /// What is known here of a chunk: `nil` where the catalog has to be asked.
    func known(_ index: Int64) -> ChunkSource? {
        for changes in [pending, committing].compactMap({ $0 }) {
            if let slot = changes.chunks[index] { return .slot(slot) }
            if let cut = changes.cutFrom, index >= cut { return unwritten(index) }
        }
        if let orphans { return orphans[index].map { .slot($0) } ?? unwritten(index) }
        return nil
    }

    /// Where a chunk is that was not rewritten.
    func unwritten(_ index: Int64) -> ChunkSource {
        let start = index * Int64(Limits.chunkBytes)
        let visible = min(visibleBaseBytes - start, Int64(Limits.chunkBytes))
        return visible > 0 ? .base(byteCount: Int(visible)) : .hole
    }

    // MARK: Slots

    /// A slot to write a chunk to: never that in which it is, which has what is there if the writing fails, or is read.
    func takeSlot() -> Int64 { slots.take() }

    /// Gives slots back that were taken, and not written after all.
    func giveBack(_ plan: WritePlan) { for piece in plan.pieces { freeSlot(piece.slot) } }

    /// The bytes of the overlay in which there is room for so many chunks more.
    func reserve(_ count: Int) -> Range<Int64> { slots.reserve(count) }

    func beginRead() { readCount += 1 }

    func endRead() {
        readCount -= 1
        if readCount == 0 { slots.reuseFreed() }
    }

    // MARK: Changing

    /// Takes over what was written.
    func apply(_ written: [WritePlan.Written], upTo end: Int64) {
        for piece in written {
            if let before = pending.chunks.updateValue(piece.slot, forKey: piece.index) { freeSlot(before.number) }
        }
        if end > byteCount { setByteCount(end) }
    }

    /// Makes the file shorter or longer; the chunk at the end was cut already.
    func truncate(to count: Int64) {
        if count < byteCount {
            let firstCut = (count + Int64(Limits.chunkBytes) - 1) / Int64(Limits.chunkBytes)
            pending.cutFrom = min(pending.cutFrom ?? .max, firstCut)
            for (index, slot) in pending.chunks where index >= firstCut {
                pending.chunks[index] = nil
                freeSlot(slot.number)
            }
            visibleBaseBytes = min(visibleBaseBytes, count)
        }
        setByteCount(count)
    }

    func setByteCount(_ count: Int64) {
        byteCount = count
        pending.changesSize = true
    }

    private func freeSlot(_ number: Int64) {
        if pinned.contains(number) { return }
        slots.free(number)
        if readCount == 0 { slots.reuseFreed() }
    }

    // MARK: Syncing

    /// Begins a transaction: what comes from now on belongs to the next one.
    ///
    /// - Returns: What is to become different.
    func beginCommit() -> Changes {
        // One that is under way still is known to the catalog already, as the same transaction goes on.
        committing = pending.merged(over: committing)
        defer { pending = Changes() }
        return pending
    }

    /// A slot that the catalog forgets with the transaction.
    func willForget(_ number: Int64) { freedByCommit.append(number) }

    /// The transaction is on the disk.
    func endCommit() {
        committing = nil
        for number in freedByCommit { freeSlot(number) }
        freedByCommit = []
    }

    /// The transaction was undone: what it was about waits for the next one.
    func undoCommit() {
        freedByCommit = []
        guard let changes = committing else { return }
        pinned.formUnion(changes.chunks.values.map(\.number))
        pending = pending.merged(over: changes)
        committing = nil
    }
}

extension OpenFile.Changes {
    /// These changes, made after others.
    fileprivate func merged(over earlier: OpenFile.Changes?) -> OpenFile.Changes {
        guard let earlier else { return self }
        var all = earlier
        if let cutFrom {
            all.chunks = all.chunks.filter { $0.key < cutFrom }
            all.cutFrom = min(all.cutFrom ?? .max, cutFrom)
        }
        all.chunks.merge(chunks) { $1 }
        all.changesSize = all.changesSize || changesSize
        return all
    }
}

/// The slots of an overlay: which are free.
struct SlotSpace {
    private var free: [Int64] = []
    /// Free as well, the first ones last: as ranges, since a row may name a slot far behind all others.
    private var gaps: [Range<Int64>] = []
    /// Free, but somebody may be reading them.
    private var freed: [Int64] = []
    private var end: Int64

    /// The space in which the slots that are named are taken.
    init(used: [Int64]) {
        end = (used.max() ?? -1) + 1
        guard used.count < end else { return }
        var next: Int64 = 0
        for number in used.sorted() {
            if number > next { gaps.append(next..<number) }
            next = max(next, number + 1)
        }
        gaps.reverse()
    }

    mutating func take() -> Int64 {
        if let number = free.popLast() { return number }
        if let gap = gaps.popLast() {
            if gap.count > 1 { gaps.append(gap.lowerBound + 1..<gap.upperBound) }
            return gap.lowerBound
        }
        defer { end += 1 }
        return end
    }

    mutating func free(_ number: Int64) { freed.append(number) }

    /// Nobody reads any more: what was freed can be taken.
    mutating func reuseFreed() {
        free += freed
        freed = []
    }

    /// Makes so many slots at the end free, and says where they are on the disk.
    mutating func reserve(_ count: Int) -> Range<Int64> {
        let missing = max(0, count - gaps.reduce(free.count) { $0 + $1.count })
        let first = end
        if missing > 0 { gaps.insert(first..<first + Int64(missing), at: 0) }
        end += Int64(missing)
        return Overlay.offset(ofSlot: first)..<Overlay.offset(ofSlot: end)
    }
}
