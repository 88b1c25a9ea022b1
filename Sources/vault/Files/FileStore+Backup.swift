package import CofferCore
package import CofferDatabase

// What a backup reads stays as it is until the backup ends: contents are not removed, and slots are not written again.

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
    package func pin() { dead.keep() }

    /// Ends the backup; ``removeReleased(limit:)`` removes what it has kept.
    package func unpin() {
        guard dead.release() else { return }
        for file in openFiles.all { file.slots.releaseKept() }
    }

    /// Removes contents that a backup has kept.
    ///
    /// - Parameter limit: How many, because this blocks on the disk.
    /// - Returns: Whether none is left.
    package func removeReleased(limit: Int) -> Bool { dead.removeReleased(limit: limit) }
}
