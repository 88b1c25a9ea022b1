package import CofferFileContent
package import CofferCore
package import CofferSystem

/// An open file: what all its handles share.
///
/// It lives on the daemon's thread. Only this object knows what was written since the last sync; the chunks are in
/// their slots already.
package final class OpenFile {
    /// The parts of a file that are authentic.
    package struct Integrity {
        /// Whether the file as a whole is as it was written: otherwise each of its chunks is authentic or not.
        package var isIntact = true
        /// Whether its rows are authentic: otherwise a chunk that opens may be an earlier version of itself.
        package var hasItsRows = true
    }

    /// The parts of the overlay that may not be on the disk yet.
    struct OverlayState {
        /// Whether it has no final path yet.
        var isStaged: Bool
        /// Whether its header is on the disk: a chunk that is logged is found by it.
        var isHeaderSynced: Bool
        /// The bytes of its chunks that the catalog has logged, and that may not be on the disk in their slots.
        var loggedByteCount = 0
    }

    /// The handles and requests that use the file.
    package struct Use {
        /// The number of its handles.
        package var handleCount = 0
        /// Whether a request changes or syncs it; one at a time does, so that exactly what was synced is committed.
        package var isBeingChanged = false
        /// How many handles have it open for writing.
        private var writerCount = 0
        /// Whether these handles share it with others; if not, it is one.
        package private(set) var isShared = false
        /// Whether a handle has it open for writing.
        package var hasWriter: Bool { writerCount > 0 }

        /// Counts a handle that writes.
        ///
        /// - Parameter isShared: Whether it shares the file with others.
        package mutating func addWriter(isShared: Bool) {
            writerCount += 1
            self.isShared = isShared
        }

        package mutating func removeWriter() { writerCount -= 1 }
    }

    /// Whether the catalog has its row.
    private enum RowState {
        case stored
        /// The commit that was to make it has failed: no row of it is left.
        case undone
        /// It was removed: the file has no name, and exists for its handles.
        ///
        /// Its chunks and the row are as they were; the row is without this file, which would be a cycle, and keep it open
        /// forever. If the chunks are many, the catalog still has them: they are `nil` then.
        case removed(chunks: [Int64: ChunkSlot]?, last: FileEntry?)
    }

    let node: Int64
    package let integrity: Integrity
    /// The class that the file had when it was opened.
    package let protectionClass: ProtectionClass
    private(set) var content: OpenedContent
    var overlayState: OverlayState
    /// The size of the file, including what is not synced yet.
    package private(set) var byteCount: Int64
    /// The bytes of the base that were never cut off: what was cut off must not reappear after them.
    private(set) var visibleBaseBytes: Int64
    /// The chunk from which on the catalog has no rows of it: those need not be looked up.
    private(set) var rowsEnd: Int64
    private var changes = UnsyncedChanges()
    var slots: OverlaySlots
    package var use = Use()
    private var row = RowState.stored

    init(
        node: Int64,
        protectionClass: ProtectionClass,
        content: OpenedContent,
        isOverlayStaged: Bool,
        byteCount: Int64 = 0,
        visibleBaseBytes: Int64 = 0,
        usedSlots: [Int64] = [],
        keptSlotCount: Int64 = 0,
        rowsEnd: Int64 = 0,
        integrity: Integrity = Integrity()
    ) {
        self.node = node
        self.integrity = integrity
        self.protectionClass = protectionClass
        self.content = content
        overlayState = OverlayState(isStaged: isOverlayStaged, isHeaderSynced: !usedSlots.isEmpty)
        (self.byteCount, self.visibleBaseBytes, self.rowsEnd) = (byteCount, visibleBaseBytes, rowsEnd)
        slots = OverlaySlots(SlotSpace(used: usedSlots, keeping: keptSlotCount))
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
    package var hasChanges: Bool { !changes.pending.isEmpty }

    /// Whether its overlay has chunks that were written and may not be on the disk.
    package var hasUnsyncedChunks: Bool { hasChanges || overlayState.loggedByteCount > 0 }

    /// Whether what was written may be logged instead of synced: its overlay has its place and its header.
    var mayLog: Bool { overlayState.isHeaderSynced && !overlayState.isStaged && !isUnlinked }

    /// The slots that were written since the last sync.
    var pendingSlots: some Sequence<ChunkSlot> { changes.pending.chunks.values }

    /// Whether the transaction of a sync is in flight.
    package var isBeingCommitted: Bool { changes.committing != nil }

    /// The number of chunks that are not synced.
    package var pendingCount: Int { changes.pending.chunks.count + changes.pending.holes.count }

    var id: ItemID { content.id }

    /// Gives the file an overlay, for writing.
    func addOverlay(_ overlay: Overlay) {
        useOverlay(overlay)
        overlayState.isStaged = true
    }

    /// Whether no chunk is in the overlay, nor can be: none is named by the catalog, and no slot was taken.
    var hasNoSlots: Bool { integrity.hasItsRows && slots.isUnused }

    /// Replaces an overlay without slots by one with another chunk size.
    func resizeChunks(_ overlay: Overlay) {
        useOverlay(overlay)
        // It counts chunks of the former size, and there are none to be cut.
        changes.pending.cutFrom = nil
    }

    private func useOverlay(_ overlay: Overlay) {
        overlayState.isHeaderSynced = false
        content = OpenedContent(
            id: content.id,
            subject: content.subject,
            key: content.key,
            base: content.base,
            overlay: overlay,
            directory: content.directory
        )
    }

    // MARK: Without a row

    /// Whether the commit that was to make it has failed.
    package var isUndone: Bool { if case .undone = row { true } else { false } }

    /// Whether the row was removed.
    package var isUnlinked: Bool { if case .removed = row { true } else { false } }

    /// The chunks of a file whose row was removed, unless they are many.
    private var orphans: [Int64: ChunkSlot]? { if case .removed(let chunks, _) = row { chunks } else { nil } }

    /// Its row as it was when that was removed; `nil` if it could not be read.
    var last: FileEntry? {
        guard case .removed(_, var entry) = row else { return nil }
        entry?.orphan = self
        return entry
    }

    func unlink(keeping rows: [(chunk: Int64, slot: ChunkSlot)]?, as entry: FileEntry?) {
        row = .removed(chunks: rows.map { Dictionary($0.map { ($0.chunk, $0.slot) }) { $1 } }, last: nil)
        setLast(entry)
    }

    /// Changes the attributes of a file without a row.
    func setLast(_ entry: FileEntry?) {
        guard case .removed(let chunks, _) = row else { return }
        var last = entry
        last?.orphan = nil
        row = .removed(chunks: chunks, last: last)
    }

    /// The transaction that removed the row was rolled back.
    func undoUnlinking() { if isUnlinked { row = .stored } }

    /// The transaction that made it was rolled back.
    func undoCreation() { row = .undone }

    // MARK: Where chunks are

    /// The plaintext bytes of a full chunk.
    var chunkBytes: Int64 { Int64(content.chunkBytes) }

    /// The place of a chunk, as far as it is known here; `nil` if the catalog must be asked.
    func known(_ index: Int64) -> ChunkSource? {
        if let source = changes.source(of: index, unwritten: { unwritten(index) }) { return source }
        if let orphans { return orphans[index].map { .slot($0) } ?? unwritten(index) }
        return nil
    }

    /// The first chunk behind another one that may be in the overlay, as far as it is known here.
    func nextKnown(behind index: Int64) -> Int64? {
        [changes.pending.chunks, changes.committing?.chunks, orphans].compactMap { chunks in
            chunks?.keys.lazy.filter { $0 > index }.min()
        }.min()
    }

    /// The place of a chunk that was not rewritten.
    func unwritten(_ index: Int64) -> ChunkSource {
        let visible = min(visibleBaseBytes - index * chunkBytes, chunkBytes)
        return visible > 0 ? .base(byteCount: Int(visible)) : .hole
    }

    // MARK: Slots

    /// Returns slots that were taken and not written.
    package func giveBack(_ plan: WritePlan) { for piece in plan.pieces { slots.free(piece.slot) } }

    /// Ends the read of a plan.
    package func endRead() { slots.endRead() }

    // MARK: Changing

    /// What a change makes of the file.
    func effect(of change: FileChange) -> UnsyncedState {
        var effect = UnsyncedState(byteCount: byteCount, visibleBaseBytes: visibleBaseBytes)
        for piece in change.written { effect.changes.chunks[piece.index] = piece.slot }
        effect.changes.holes = Set(change.holes)
        effect.changes.time = change.time
        switch change.size {
        case .atLeast(let end):
            if end <= byteCount { break }
            effect.changes.changesSize = true
            effect.byteCount = end
        case .exactly(let count):
            effect.changes.changesSize = true
            effect.byteCount = count
            if count >= byteCount { break }
            effect.changes.cutFrom = (count + chunkBytes - 1) / chunkBytes
            effect.visibleBaseBytes = min(visibleBaseBytes, count)
        }
        return effect
    }

    /// Makes a change, which may have to be in the log: ``OpenFileTable/make(_:in:isLogged:)``.
    func apply(_ effect: UnsyncedState) {
        for index in effect.changes.chunks.keys {
            if let before = changes.pending.chunks[index] { slots.free(before.number) }
        }
        for index in effect.changes.holes {
            if let before = changes.pending.chunks[index] { slots.empty(before.number) }
        }
        if let cut = effect.changes.cutFrom {
            for (index, slot) in changes.pending.chunks where index >= cut { slots.empty(slot.number) }
        }
        changes.pending.add(effect.changes)
        (byteCount, visibleBaseBytes) = (effect.byteCount, effect.visibleBaseBytes)
    }

    /// The changes that the catalog does not have.
    var unsynced: UnsyncedState {
        UnsyncedState(changes: changes.all, byteCount: byteCount, visibleBaseBytes: visibleBaseBytes)
    }

    /// When it was last changed, if that is not in the catalog yet, in nanoseconds since 1970.
    var unsyncedTime: Int64? { changes.time }

    // MARK: Syncing

    /// Begins a transaction; later changes belong to the next one.
    ///
    /// - Returns: The changes to be made in the catalog.
    func beginCommit() -> UnsyncedChanges.Changes {
        for chunk in changes.pending.chunks.keys { rowsEnd = max(rowsEnd, chunk + 1) }
        return changes.beginCommit()
    }

    /// The transaction was committed, and may not be on the disk yet.
    ///
    /// - Returns: Whether it is to be followed by ``OverlaySlots/freeForgotten(keepingSlots:)``.
    func endCommit() -> Bool {
        changes.endCommit()
        slots.endCommit()
        return slots.hasForgotten
    }

    /// The transaction was rolled back: its changes wait for the next one.
    func undoCommit() {
        slots.undoCommit(of: changes.committing?.chunks.values ?? [:].values)
        changes.undoCommit()
    }
}
