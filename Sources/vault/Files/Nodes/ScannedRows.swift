internal import CofferCore

/// The rows of the chunks of a file, as a scan has found them.
struct ScannedRows {
    /// The tag of them all, which the file's own row seals.
    var tag = ChunksTag.none
    /// The chunk behind the last row.
    var end: Int64 = 0
    var usedSlots: [Int64] = []
    /// The bytes of the largest rewritten chunk.
    var mostBytes = 0
}

/// The rows of the large files that were opened last: who opens one of them again waits for no scan.
///
/// A file's own row seals the tag of its rows, which changes with each of them. The daemon does not look here whether another
/// process has changed the rows meanwhile, just as it does not while a file is open.
final class RecentRows {
    private var scans: [(content: ItemID, rows: ScannedRows)] = []

    /// The rows of a content; `nil` if they are not known, or have changed.
    func rows(of content: ItemID, with tag: ChunksTag) -> ScannedRows? {
        scans.first { $0.content == content && $0.rows.tag == tag }?.rows
    }

    /// Remembers the rows of a content, unless a scan of them takes one step.
    func remember(_ rows: ScannedRows, of content: ItemID) {
        guard rows.usedSlots.count > Limits.openingRows else { return }
        scans.removeAll { $0.content == content }
        scans.append((content, rows))
        while scans.reduce(0, { $0 + $1.rows.usedSlots.count }) > Limits.rememberedRows { scans.removeFirst() }
    }
}
