internal import CofferFileContent

/// The changes of an open file that the catalog does not have yet.
struct UnsyncedChanges {
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

        /// The place of a chunk, if one of the changes decides it.
        ///
        /// - Parameter unwritten: Its place if it was cut off, and not written since.
        fileprivate func source(of index: Int64, _ unwritten: () -> ChunkSource) -> ChunkSource? {
            if let slot = chunks[index] { return .slot(slot) }
            if holes.contains(index) { return .hole }
            return cutFrom.map { index >= $0 } ?? false ? unwritten() : nil
        }

        /// Makes later changes.
        mutating func add(_ later: Changes) {
            if let cut = later.cutFrom {
                chunks = chunks.filter { $0.key < cut }
                holes = holes.filter { $0 < cut }
                cutFrom = min(cutFrom ?? .max, cut)
            }
            for hole in later.holes { chunks[hole] = nil }
            for (chunk, slot) in later.chunks {
                holes.remove(chunk)
                chunks[chunk] = slot
            }
            holes.formUnion(later.holes)
            changesSize = changesSize || later.changesSize
            time = later.time ?? time
        }
    }

    /// Those that were made since the last sync.
    var pending = Changes()
    /// Those whose transaction is in flight.
    private(set) var committing: Changes?

    /// When the last of them was made, in nanoseconds since 1970; `nil` if that is not known.
    var time: Int64? { pending.time ?? committing?.time }

    /// The place of a chunk, if one of the changes decides it.
    ///
    /// - Parameter unwritten: Its place if it was cut off, and not written since.
    func source(of index: Int64, unwritten: () -> ChunkSource) -> ChunkSource? {
        pending.source(of: index, unwritten) ?? committing?.source(of: index, unwritten)
    }

    /// Those of both.
    var all: Changes {
        var all = committing ?? Changes()
        all.add(pending)
        return all
    }

    /// Begins a transaction; later changes belong to the next one.
    ///
    /// - Returns: The changes to be made in the catalog.
    mutating func beginCommit() -> Changes {
        // If a transaction is still in flight, the catalog has its changes already, because it is the same transaction.
        committing = all
        defer { pending = Changes() }
        return pending
    }

    /// The transaction was committed.
    mutating func endCommit() { committing = nil }

    /// The transaction was rolled back: its changes wait for the next one.
    mutating func undoCommit() {
        pending = all
        committing = nil
    }
}
