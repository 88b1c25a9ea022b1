internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// The names of files are under the passcode. A change before the first unlock that needs a sealed row is completed after
// it, a few rows at a time.

extension FileStore {
    // MARK: Replacing what is sealed

    /// Sets the metadata of a file aside that is being replaced before the first unlock, for ``restoreReplaced()``.
    ///
    /// - Parameters:
    ///   - place: The row, which is still there.
    ///   - node: The row of the new file.
    func setAside(_ place: FileTree.Place, for node: Int64) throws {
        // What replaced another file before the first unlock as well has no date of its own.
        try connection.execute(
            "UPDATE OR IGNORE file_replaced SET node = ? WHERE node = ?",
            .integer(node),
            .integer(place.id)
        )
        if connection.changes > 0 { return }
        let sealed = try tree.row(numbered: place.id) { row in
            (context: FileTree.context(try tree.columns(of: row, "a file"), try row.blob(2)), metadata: try row.blob(7))
        }
        guard let sealed else { return }
        try connection.execute(
            "INSERT INTO file_replaced (node, context, metadata) VALUES (?, ?, ?)",
            .integer(node),
            .blob(sealed.context),
            .blob(sealed.metadata)
        )
    }

    /// Whether there is something for ``restoreReplaced()``.
    package func hasReplaced() throws -> Bool {
        try connection.row("SELECT 1 FROM file_replaced LIMIT 1") { _ in true } ?? false
    }

    /// Gives files that were replaced before the first unlock their creation date, their kind and what they keep of a
    /// keychain item back, within the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func restoreReplaced() throws {
        let numbers = try connection.numbers(
            "SELECT node FROM file_replaced WHERE node > ? ORDER BY node LIMIT ?",
            after: .min,
            limit: .max
        )
        // A damaged one stays, for when doctor has put the file back.
        for number in numbers { try connection.unlessDamaged { try restoreReplaced(by: number) } }
    }

    /// Gives one of them back what it had; that of a file in the trash waits until the file is back.
    func restoreReplaced(by number: Int64) throws {
        guard var node = try tree.node(numbered: number, "a file") else {
            // It is gone, unless it is in quarantine or in the trash.
            return try connection.execute(
                """
                DELETE FROM file_replaced WHERE node = ?1
                    AND NOT EXISTS (SELECT 1 FROM file_quarantine WHERE row = ?1)
                    AND NOT EXISTS (SELECT 1 FROM file_kept WHERE node = ?1)
                """,
                .integer(number)
            )
        }
        let former = try connection.row(
            "SELECT context, metadata FROM file_replaced WHERE node = ?",
            .integer(number)
        ) { row in
            let context = try row.blob(0)
            return try row.withBlob(1) { sealed in
                try NodeMetadata(decoding: try keys.openNames(sealed, of: .files, context: context).exposeBytes())
            }
        }
        guard let former else { return }
        node.metadata.created = former.created
        node.metadata.kind = node.metadata.kind ?? former.kind
        if node.metadata.extended.all.isEmpty { node.metadata.extended = former.extended }
        if node.metadata.ownership == Ownership() { node.metadata.ownership = former.ownership }
        try tree.update(node)
        try connection.execute("DELETE FROM file_replaced WHERE node = ?", .integer(number))
    }

    // MARK: Open files

    /// Keeps the metadata of the open files, because it is about to be sealed until the next unlock: what was written to
    /// them is still synced.
    package func keepMetadataOfOpenFiles() {
        for number in openFiles.keys { try? tree.keepMetadata(of: number) }
    }

    /// Forgets what could not be opened again before the first unlock: now it can.
    package func forgetRecentMetadata() { tree.recent.forget() }

    // MARK: Deferred rows

    /// Whether there is something for ``settleDeferred(until:)``.
    package func hasDeferredRows() throws -> Bool {
        try connection.row("SELECT 1 FROM file_deferred LIMIT 1") { _ in true } ?? false
    }

    /// The number of files whose names can be read after the first unlock only.
    package func sealedCount() throws -> Int {
        if keys.opensNames { return 0 }
        let namedCount = try connection.row("SELECT count(*) FROM file_nodes WHERE kind = 2 AND class_key = 5") {
            Int(try $0.integer(0))
        }
        return try max(0, count() - (namedCount ?? 0))
    }

    /// Completes changes from before the first unlock: prunes directories that are empty, and seals the directories of a file
    /// of class `none` so that they are named in every state.
    ///
    /// - Parameter isEnough: Called after each row; whether to stop for now.
    /// - Returns: Whether nothing is left.
    /// - Throws: ``DatabaseError``.
    package func settleDeferred(until isEnough: () -> Bool) throws -> Bool {
        guard keys.opensNames else { return true }
        return try connection.workOff(
            first: "SELECT node FROM file_deferred LIMIT 1",
            remove: "DELETE FROM file_deferred WHERE node = ?",
            until: isEnough
        ) { number in try connection.transaction { try settleDeferred(number) } }
    }

    private func settleDeferred(_ number: Int64) throws {
        guard let node = try tree.node(numbered: number, "an entry") else { return }
        try tree.update(node)
        // It may have been emptied before the first unlock.
        if node.kind == .directory { try tree.prune(number) }
    }
}
