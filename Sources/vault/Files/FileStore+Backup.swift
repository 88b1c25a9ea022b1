package import CofferCore
package import CofferDatabase

// What a backup reads stays as it is until the backup ends: contents are not removed, and slots are not written again.

/// The contents that a backup reads.
///
/// Nothing of it is on the disk: after a crash there is no backup, and the dead contents are in the catalog's list.
final class ContentPins {
    /// Contents that the backup does not know.
    private var new: Set<ItemID> = []
    /// Contents that no row names any more.
    private(set) var dead: [ItemID] = []

    func noteNew(_ ids: [ItemID]) {
        for id in ids where new.count < Limits.newContentsOfBackup { new.insert(id) }
    }

    /// Keeps dead contents until the backup ends.
    ///
    /// - Returns: Those that it need not keep.
    func keep(_ ids: [ItemID]) -> [ItemID] {
        dead += ids.filter { !new.contains($0) }
        return ids.filter { new.remove($0) != nil }
    }
}

extension FileStore {
    /// The contents that a copy of a catalog names, those in quarantine and in the trash, and of versions, among them.
    ///
    /// - Parameters:
    ///   - copy: The copy.
    ///   - id: The content after which the page begins, in the order of the ids; `nil` for the first.
    /// - Returns: At most ``Limits/backupPage`` of them.
    package static func contents(in copy: Connection, after id: ItemID?) throws -> [ItemID] {
        var found: [ItemID] = []
        try copy.rows(
            """
            SELECT content FROM file_nodes WHERE content > ?1
            UNION SELECT content FROM past WHERE content > ?1
            UNION SELECT content FROM file_quarantine
                WHERE typeof(content) = 'blob' AND length(content) = 16 AND content > ?1
            ORDER BY 1 LIMIT ?2
            """,
            .blob(id?.bytes ?? []),
            .integer(Int64(Limits.backupPage))
        ) { row in
            if let id = ItemID(try row.blob(0)) { found.append(id) }
            return true
        }
        return found
    }

    /// Keeps all contents, and the slots that the catalog names, as they are until ``unpin()``.
    ///
    /// No transaction may be open: what it has freed would count as free.
    package func pin() { pins = ContentPins() }

    /// Ends the backup; ``removeReleased(limit:)`` removes what it has kept.
    package func unpin() {
        guard let ended = pins.take() else { return }
        released += ended.dead
        for file in openFiles.values { file.releaseSlots() }
    }

    /// Removes contents that a backup has kept.
    ///
    /// - Parameter limit: How many, because this blocks on the disk.
    /// - Returns: Whether none is left.
    package func removeReleased(limit: Int) -> Bool {
        if let pins {
            // The next backup has begun; its catalog names none of them.
            pins.noteNew(released)
        }
        remove(Array(released.suffix(limit)))
        released.removeLast(min(limit, released.count))
        return released.isEmpty
    }
}
