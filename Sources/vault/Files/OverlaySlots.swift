internal import CofferFileContent

/// The slots of an open file's overlay, and when those that are freed may be written again.
struct OverlaySlots {
    private var space: SlotSpace
    /// Free once the transaction in flight is committed.
    private var freedByCommit: [Int64] = []
    /// Free once the commits so far are on the disk.
    private var forgotten: [Int64] = []
    /// Free once the backup has ended.
    private var kept: [Int64] = []
    /// Slots of a transaction that was rolled back but may be on the disk: never written again.
    private var pinned: Set<Int64> = []
    /// The reads in progress: a slot that one of them may read is not written again.
    private var readCount = 0

    init(_ space: SlotSpace) { self.space = space }

    /// Whether none was ever taken, or reserved.
    var isUnused: Bool { space.isUnused }

    /// A slot to write a chunk to: never its current slot, which holds the old content if the write fails, and may be
    /// read.
    mutating func take() -> Int64 { space.take() }

    /// The new slots at the end of the overlay that it would take to hold that many more chunks.
    mutating func reserve(_ count: Int) -> Range<Int64> { space.reserve(count) }

    mutating func beginRead() { readCount += 1 }

    mutating func endRead() {
        readCount -= 1
        if readCount == 0 { space.reuseFreed() }
    }

    mutating func free(_ number: Int64) {
        if pinned.contains(number) { return }
        space.free(number)
        if readCount == 0 { space.reuseFreed() }
    }

    /// Frees a slot that is not to be written soon: its space goes back to the disk.
    mutating func empty(_ number: Int64) {
        space.emptied.insert(number)
        free(number)
    }

    /// The slots whose space can be given back to the disk, each once.
    mutating func takeEmptied() -> [Range<Int64>] { space.takeEmptied() }

    // MARK: Commits

    /// A slot that the transaction frees.
    ///
    /// - Parameter isEmptied: Whether no other one takes its place.
    mutating func willForget(_ number: Int64, isEmptied: Bool) {
        freedByCommit.append(number)
        if isEmptied { space.emptied.insert(number) }
    }

    /// The transaction was committed, and may not be on the disk yet.
    mutating func endCommit() {
        forgotten += freedByCommit
        freedByCommit = []
    }

    /// The transaction was rolled back.
    ///
    /// - Parameter written: The slots that it named.
    mutating func undoCommit(of written: some Sequence<ChunkSlot>) {
        freedByCommit = []
        pinned.formUnion(written.lazy.map(\.number))
    }

    /// Whether rows on the disk may name slots that its own rows do not: its slots are known only here then.
    var hasForgotten: Bool { !forgotten.isEmpty }

    /// The commits are on the disk.
    ///
    /// - Parameter keepsSlots: Whether a backup may read the slots that they have freed.
    mutating func freeForgotten(keepingSlots keepsSlots: Bool) {
        if keepsSlots {
            kept += forgotten
        } else {
            for number in forgotten { free(number) }
        }
        forgotten = []
    }

    /// The backup has ended.
    mutating func releaseKept() {
        for number in kept { free(number) }
        kept = []
    }
}
