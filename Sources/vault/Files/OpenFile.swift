package import CofferFileContent
package import CofferCore
package import CofferSystem

/// An open file: what all its handles share.
///
/// It lives on the daemon's thread. Only this object knows what was written since the last sync; the chunks are in
/// their slots already.
package final class OpenFile {
    let node: Int64
    /// Whether the file as a whole is as it was written: otherwise each of its chunks is authentic or not.
    package let isIntact: Bool
    /// Whether its rows are authentic: otherwise a chunk that opens may be an earlier version of itself.
    package let hasItsRows: Bool
    /// The class that the file had when it was opened.
    package let protectionClass: ProtectionClass
    private(set) var content: OpenedContent
    private(set) var isOverlayStaged: Bool
    /// The size of the file, including what is not synced yet.
    package private(set) var byteCount: Int64
    /// The bytes of the base that were never cut off: what was cut off must not reappear after them.
    private(set) var visibleBaseBytes: Int64

    /// The chunks that were written since the last sync.
    private(set) var pending = Changes()
    /// The chunks whose transaction is in flight.
    private var committing: Changes?
    private var slots: SlotSpace
    /// The slots that are free once that transaction is committed.
    private var freedByCommit: [Int64] = []
    /// The slots that are free once the backup has ended.
    private var kept: [Int64] = []
    /// The slots that are free once the commits so far are on the disk.
    private var forgotten: [Int64] = []
    /// Slots of a transaction that was rolled back but may be on the disk: never written again.
    private var pinned: Set<Int64> = []
    /// The reads in progress: a slot that one of them may read is not written again.
    private var readCount = 0

    /// The bytes of its chunks that the catalog has logged, and that may not be on the disk in their slots.
    package internal(set) var loggedByteCount = 0
    /// The chunk from which on the catalog has no rows of it: those need not be looked up.
    private(set) var rowsEnd: Int64
    /// Whether the header of its overlay is on the disk: a chunk that is logged is found by it.
    var isHeaderSynced: Bool

    /// Whether the commit that was to make it has failed: no row of it is left.
    package private(set) var isUndone = false
    /// The number of its handles.
    package var handleCount = 0
    /// Whether a request changes or syncs it; one at a time does, so that exactly what was synced is committed.
    package var isBeingChanged = false
    /// How many handles have it open for writing.
    package private(set) var writerCount = 0
    /// Whether these handles share it with others; if not, it is one.
    package private(set) var isShared = false
    /// Whether a handle has it open for writing.
    package var hasWriter: Bool { writerCount > 0 }

    /// Counts a handle that writes.
    ///
    /// - Parameter isShared: Whether it shares the file with others.
    package func addWriter(isShared: Bool) {
        writerCount += 1
        self.isShared = isShared
    }

    package func removeWriter() { writerCount -= 1 }
    /// The chunks of a file whose row was removed: it has no name, and exists for its handles.
    private(set) var orphans: [Int64: ChunkSlot]?
    /// Its row as it was when that was removed, without this file: that would be a cycle, and keep it open forever.
    private var lastRow: FileEntry?
    /// Its row as it was when that was removed; `nil` if it could not be read.
    var last: FileEntry? {
        var entry = lastRow
        entry?.orphan = self
        return entry
    }

    /// Changes to be made in the catalog.
    struct Changes {
        /// Chunks and their new slots.
        var chunks: [Int64: ChunkSlot] = [:]
        /// Chunks that are holes again.
        var holes: Set<Int64> = []
        /// The chunk from which on the catalog's chunks were cut off.
        var cutFrom: Int64?
        /// Whether the size or the visible part of the base has changed.
        var changesSize = false
        /// When the last of them was made, in nanoseconds since 1970; `nil` if that is not known.
        var time: Int64?

        var isEmpty: Bool { chunks.isEmpty && holes.isEmpty && cutFrom == nil && !changesSize }
    }

    init(
        node: Int64,
        protectionClass: ProtectionClass,
        content: OpenedContent,
        isOverlayStaged: Bool,
        byteCount: Int64,
        visibleBaseBytes: Int64,
        usedSlots: [Int64],
        keptSlotCount: Int64 = 0,
        rowsEnd: Int64 = 0,
        isIntact: Bool = true,
        hasItsRows: Bool = true
    ) {
        self.node = node
        self.isIntact = isIntact
        self.hasItsRows = hasItsRows
        self.protectionClass = protectionClass
        self.content = content
        self.isOverlayStaged = isOverlayStaged
        self.byteCount = byteCount
        self.visibleBaseBytes = visibleBaseBytes
        slots = SlotSpace(used: usedSlots, keeping: keptSlotCount)
        isHeaderSynced = !usedSlots.isEmpty
        self.rowsEnd = rowsEnd
    }

    /// The number of the file, which its names share.
    package var inode: Int64 { node }

    /// The name in quotes, for errors.
    package var subject: String { content.subject }

    /// Whether the key was wiped by a lock.
    package var isRevoked: Bool { content.key.isRevoked }

    /// Sets what cancels the wait for a client when a lock wipes the key.
    ///
    /// - Parameter cancellation: The cancellation.
    /// - Returns: A number for ``forgetEnding(_:)``.
    package func endOnLock(_ cancellation: Cancellation) -> Int { content.key.onRevoke { cancellation.cancel() } }

    /// Undoes ``endOnLock(_:)``.
    package func forgetEnding(_ number: Int) { content.key.forgetOnRevoke(number) }

    /// Whether data was written since the last sync.
    package var hasChanges: Bool { !pending.isEmpty }

    /// Whether its overlay has chunks that were written and may not be on the disk.
    package var hasUnsyncedChunks: Bool { hasChanges || loggedByteCount > 0 }

    /// Whether what was written may be logged instead of synced: its overlay has its place and its header.
    var mayLog: Bool { isHeaderSynced && !isOverlayStaged && !isUnlinked }

    /// The slots that were written since the last sync.
    var pendingSlots: some Sequence<ChunkSlot> { pending.chunks.values }

    /// Whether the transaction of a sync is in flight.
    package var isBeingCommitted: Bool { committing != nil }

    /// The number of chunks that are not synced.
    package var pendingCount: Int { pending.chunks.count + pending.holes.count }

    var id: ItemID { content.id }

    /// Gives the file an overlay, for writing.
    func addOverlay(_ overlay: Overlay) {
        useOverlay(overlay)
        isOverlayStaged = true
    }

    /// Whether no chunk is in the overlay, nor can be: none is named by the catalog, and no slot was taken.
    var hasNoSlots: Bool { hasItsRows && slots.isUnused }

    /// Replaces an overlay without slots by one with another chunk size.
    func resizeChunks(_ overlay: Overlay) {
        useOverlay(overlay)
        // It counts chunks of the former size, and there are none to be cut.
        pending.cutFrom = nil
    }

    private func useOverlay(_ overlay: Overlay) {
        isHeaderSynced = false
        content = OpenedContent(
            id: content.id,
            subject: content.subject,
            key: content.key,
            base: content.base,
            overlay: overlay,
            directory: content.directory
        )
    }

    func overlayIsPlaced() { isOverlayStaged = false }

    // MARK: Without a row

    /// Whether the row was removed.
    package var isUnlinked: Bool { orphans != nil }

    func unlink(keeping rows: [(chunk: Int64, slot: ChunkSlot)], as entry: FileEntry?) {
        orphans = Dictionary(rows.map { ($0.chunk, $0.slot) }) { $1 }
        setLast(entry)
    }

    /// Changes the attributes of a file without a row.
    func setLast(_ entry: FileEntry?) {
        lastRow = entry
        lastRow?.orphan = nil
    }

    /// The transaction that removed the row was rolled back.
    func undoUnlinking() { (orphans, lastRow) = (nil, nil) }

    /// The transaction that made it was rolled back.
    func undoCreation() { isUndone = true }

    // MARK: Where chunks are

    /// The plaintext bytes of a full chunk.
    var chunkBytes: Int64 { Int64(content.chunkBytes) }

    /// The place of a chunk, as far as it is known here; `nil` if the catalog must be asked.
    func known(_ index: Int64) -> ChunkSource? {
        for changes in [pending, committing].compactMap({ $0 }) {
            if let slot = changes.chunks[index] { return .slot(slot) }
            if changes.holes.contains(index) { return .hole }
            if let cut = changes.cutFrom, index >= cut { return unwritten(index) }
        }
        if let orphans { return orphans[index].map { .slot($0) } ?? unwritten(index) }
        return nil
    }

    /// The first chunk behind another one that may be in the overlay, as far as it is known here.
    func nextKnown(behind index: Int64) -> Int64? {
        [pending.chunks, committing?.chunks, orphans].compactMap { chunks in
            chunks?.keys.lazy.filter { $0 > index }.min()
        }.min()
    }

    /// The place of a chunk that was not rewritten.
    func unwritten(_ index: Int64) -> ChunkSource {
        let visible = min(visibleBaseBytes - index * chunkBytes, chunkBytes)
        return visible > 0 ? .base(byteCount: Int(visible)) : .hole
    }

    // MARK: Slots

    /// A slot to write a chunk to: never its current slot, which holds the old content if the write fails, and may be
    /// read.
    func takeSlot() -> Int64 { slots.take() }

    /// Returns slots that were taken and not written.
    package func giveBack(_ plan: WritePlan) { for piece in plan.pieces { freeSlot(piece.slot) } }

    /// The new slots at the end of the overlay that it would take to hold that many more chunks.
    func reserve(_ count: Int) -> Range<Int64> { slots.reserve(count) }

    func beginRead() { readCount += 1 }

    /// Ends the read of a plan.
    package func endRead() {
        readCount -= 1
        if readCount == 0 { slots.reuseFreed() }
    }

    // MARK: Changing

    /// Records the result of a plan.
    ///
    /// - Parameters:
    ///   - written: The result of performing the plan.
    ///   - end: The offset at which the write ended.
    package func apply(_ written: [WritePlan.Written], upTo end: Int64) {
        for piece in written {
            pending.holes.remove(piece.index)
            if let before = pending.chunks.updateValue(piece.slot, forKey: piece.index) { freeSlot(before.number) }
        }
        extend(to: end)
    }

    /// Records that chunks are holes, which have no base.
    package func punch(_ chunks: [Int64]) {
        for index in chunks {
            if let before = pending.chunks.removeValue(forKey: index) { empty(before.number) }
            pending.holes.insert(index)
        }
    }

    /// Frees a slot that is not to be written soon: its space goes back to the disk.
    private func empty(_ number: Int64) {
        slots.emptied.insert(number)
        freeSlot(number)
    }

    /// Shortens the file, or extends it by zeros that take no space.
    ///
    /// - Parameter count: The new size; ``FilePlans/cutting(to:of:)`` has cut the chunk at the end.
    package func truncate(to count: Int64) {
        if count < byteCount {
            let firstCut = (count + chunkBytes - 1) / chunkBytes
            pending.cutFrom = min(pending.cutFrom ?? .max, firstCut)
            for (index, slot) in pending.chunks where index >= firstCut {
                pending.chunks[index] = nil
                empty(slot.number)
            }
            visibleBaseBytes = min(visibleBaseBytes, count)
        }
        setByteCount(count)
    }

    /// Extends the file to at least that size.
    package func extend(to end: Int64) {
        if end > byteCount { setByteCount(end) }
    }

    private func setByteCount(_ count: Int64) {
        byteCount = count
        pending.changesSize = true
    }

    /// When it was last changed, if that is not in the catalog yet, in nanoseconds since 1970.
    var unsyncedTime: Int64? { pending.time ?? committing?.time }

    /// Notes when it was changed, or what a client states instead, for the next sync.
    ///
    /// - Parameter time: Nanoseconds since 1970.
    package func noteChange(at time: Int64) {
        if !pending.isEmpty { pending.time = time }
    }

    private func freeSlot(_ number: Int64) {
        if pinned.contains(number) { return }
        slots.free(number)
        if readCount == 0 { slots.reuseFreed() }
    }

    // MARK: Syncing

    /// Begins a transaction; later changes belong to the next one.
    ///
    /// - Returns: The changes to be made in the catalog.
    func beginCommit() -> Changes {
        // If a transaction is still in flight, the catalog has its changes already, because it is the same transaction.
        committing = pending.merged(over: committing)
        for chunk in pending.chunks.keys { rowsEnd = max(rowsEnd, chunk + 1) }
        defer { pending = Changes() }
        return pending
    }

    /// A slot that the transaction frees.
    ///
    /// - Parameter isEmptied: Whether no other one takes its place.
    func willForget(_ number: Int64, isEmptied: Bool) {
        freedByCommit.append(number)
        if isEmptied { slots.emptied.insert(number) }
    }

    /// The slots whose space can be given back to the disk, each once.
    func takeEmptied() -> [Range<Int64>] { slots.takeEmptied() }

    /// The transaction was committed, and may not be on the disk yet.
    ///
    /// - Returns: Whether it is to be followed by ``freeForgotten(keepingSlots:)``.
    func endCommit() -> Bool {
        committing = nil
        forgotten += freedByCommit
        freedByCommit = []
        return hasForgotten
    }

    /// Whether rows on the disk may name slots that its own rows do not: its slots are known only here then.
    var hasForgotten: Bool { !forgotten.isEmpty }

    /// The commits are on the disk.
    ///
    /// - Parameter keepsSlots: Whether a backup may read the slots that they have freed.
    func freeForgotten(keepingSlots keepsSlots: Bool) {
        if keepsSlots {
            kept += forgotten
        } else {
            for number in forgotten { freeSlot(number) }
        }
        forgotten = []
    }

    /// The backup has ended.
    func releaseSlots() {
        for number in kept { freeSlot(number) }
        kept = []
    }

    /// The transaction was rolled back: its changes wait for the next one.
    func undoCommit() {
        freedByCommit = []
        guard let changes = committing else { return }
        pinned.formUnion(changes.chunks.values.map(\.number))
        pending = pending.merged(over: changes)
        committing = nil
    }
}

extension OpenFile.Changes {
    /// These changes, applied after others.
    fileprivate func merged(over earlier: OpenFile.Changes?) -> OpenFile.Changes {
        guard let earlier else { return self }
        var all = earlier
        if let cutFrom {
            all.chunks = all.chunks.filter { $0.key < cutFrom }
            all.holes = all.holes.filter { $0 < cutFrom }
            all.cutFrom = min(all.cutFrom ?? .max, cutFrom)
        }
        all.chunks = all.chunks.filter { !holes.contains($0.key) }
        all.holes.subtract(chunks.keys)
        all.holes.formUnion(holes)
        all.chunks.merge(chunks) { $1 }
        all.changesSize = all.changesSize || changesSize
        all.time = time ?? all.time
        return all
    }
}
