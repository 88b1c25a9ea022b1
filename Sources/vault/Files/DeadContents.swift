internal import CofferCore
internal import CofferDatabase
internal import CofferFileContent

/// The contents that no row names any more.
///
/// They are removed after the commit is on the disk: a power cut before that restores the rows. During a backup all contents
/// that it may read stay. This state is in memory only: after a crash there is no backup, and the dead contents are in the
/// catalog's list.
final class DeadContents {
    private let connection: Connection
    let contents: ContentDirectory
    private let tree: FileTree
    /// Those that the transaction has added.
    private var added: [ItemID] = []
    /// Those of committed transactions, which may not be on the disk yet.
    private var committed: [ItemID] = []
    /// Those that are removed, and still in the catalog's list.
    private var removed: [ItemID] = []
    /// The contents that a backup reads; `nil` without one.
    private var backup: BackedUpContents?
    /// Those that a backup has kept, to be removed.
    private var released: [ItemID] = []

    init(_ connection: Connection, _ contents: ContentDirectory, _ tree: FileTree) {
        self.connection = connection
        self.contents = contents
        self.tree = tree
    }

    /// Adds a content that the catalog's list has, within the open transaction.
    ///
    /// If that is rolled back, a row names it, and it stays.
    func add(_ content: ItemID) { added.append(content) }

    /// Adds a content unless a row names it, within the open transaction.
    func addUnlessNamed(_ content: ItemID) throws {
        if try tree.contains(content) { return }
        try tree.listDead(content)
        added.append(content)
    }

    /// Removes the entries of contents that were removed from the catalog's list.
    ///
    /// It is part of the next change: a commit of its own would cost every replacement a second sync.
    func forgetRemoved() throws {
        for id in removed {
            try connection.execute("DELETE FROM file_dead_contents WHERE content = ?", .blob(id.bytes))
        }
        removed = []
    }

    /// The transaction was committed.
    ///
    /// - Parameter new: The contents that it has made.
    func settle(making new: [ItemID]) {
        backup?.noteNew(new)
        committed += added
        added = []
    }

    /// The transaction was rolled back.
    func abandon() { added = [] }

    /// Removes the contents of commits that are on the disk now.
    func settleSynced() {
        if let kept = backup?.keep(committed) { committed = kept }
        if committed.isEmpty { return }
        remove(committed)
        committed = []
    }

    /// If the look-up fails, the content stays until the next start.
    private func remove(_ dead: [ItemID]) {
        removed += dead.filter { id in (try? tree.contains(id)) == false && (try? contents.remove(id)) != nil }
    }

    /// Removes those that a crash has left.
    func recover() throws {
        var dead: [ItemID] = []
        try connection.rows("SELECT content FROM file_dead_contents") { row in
            if let id = ItemID(try row.blob(0)) { dead.append(id) }
            return true
        }
        if dead.isEmpty { return }
        // A content that a row names is not dead, whatever this table says.
        for id in dead where try !tree.contains(id) { try contents.remove(id) }
        // The others are those of orphaned chunks.
        try connection.execute("DELETE FROM file_dead_contents WHERE length(content) <> 8")
    }

    // MARK: Backups

    /// Whether a backup is under way.
    var areKept: Bool { backup != nil }

    /// Keeps all contents that there are, until ``release()``.
    func keep() { backup = BackedUpContents() }

    /// Ends a backup; ``removeReleased(limit:)`` removes what it has kept.
    ///
    /// - Returns: Whether one was under way.
    func release() -> Bool {
        guard let ended = backup.take() else { return false }
        released += ended.dead
        return true
    }

    /// Removes contents that a backup has kept.
    ///
    /// - Parameter limit: How many, because this blocks on the disk.
    /// - Returns: Whether none is left.
    func removeReleased(limit: Int) -> Bool {
        // If the next backup has begun, its catalog names none of them.
        backup?.noteNew(released)
        remove(Array(released.suffix(limit)))
        released.removeLast(min(limit, released.count))
        return released.isEmpty
    }
}

/// The contents that a backup reads: all but those that were made since it began.
private struct BackedUpContents {
    private var new: Set<ItemID> = []
    /// Contents that no row names any more.
    private(set) var dead: [ItemID] = []

    mutating func noteNew(_ ids: [ItemID]) {
        for id in ids where new.count < Limits.newContentsOfBackup { new.insert(id) }
    }

    /// Keeps dead contents until the backup ends.
    ///
    /// - Returns: Those that it need not keep.
    mutating func keep(_ ids: [ItemID]) -> [ItemID] {
        dead += ids.filter { !new.contains($0) }
        return ids.filter { new.remove($0) != nil }
    }
}
