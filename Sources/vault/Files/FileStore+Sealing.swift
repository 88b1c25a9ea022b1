internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferPast

// The names of files are under the passcode. A change before the first unlock that needs a sealed row is completed after
// it, a few rows at a time.

extension FileStore {
    // MARK: Replacing what is sealed

    /// Sets the row of a file aside that is being replaced before the first unlock, for ``restoreReplaced()``.
    ///
    /// - Parameters:
    ///   - place: The row, which is still there.
    ///   - node: The row of the new file.
    func setAside(_ place: FileTree.Place, for node: Int64) throws {
        // What replaced another file before the first unlock as well has no date of its own.
        if let former = try histories.id(of: place.id), try !past.aside(of: former).isEmpty { return }
        guard let image = try image(of: place.id, "a file") else { return }
        try past.setAside(image, of: try histories.set(node, keepCount: nil).id, keeping: 0)
    }

    /// Restores the creation date, the kind and the attributes of files that were replaced before the first unlock, within
    /// the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func restoreReplaced() throws {
        for history in try past.ownersOfAside() {
            guard let node = try histories.node(of: history) else { continue }
            // A damaged one stays, for when doctor has put the file back.
            try connection.unlessDamaged { try restoreReplaced(of: history, by: node) }
        }
    }

    /// Restores the metadata of one of them.
    func restoreReplaced(of history: ItemID, by number: Int64) throws {
        guard var node = try tree.node(numbered: number, "a file"), let image = try past.aside(of: history).first else {
            return
        }
        let former = try opened(image, "a file").metadata
        node.metadata.created = former.created
        node.metadata.kind = node.metadata.kind ?? former.kind
        if node.metadata.extended.all.isEmpty { node.metadata.extended = former.extended }
        if node.metadata.ownership == Ownership() { node.metadata.ownership = former.ownership }
        try tree.update(node)
        try past.removeAside(of: history)
        if let history = try histories.history(of: number) { try forgetUnused(history, of: number) }
    }

    // MARK: Open files

    /// Keeps the metadata of the open files, because it is about to be sealed until the next unlock: what was written to
    /// them is still synced.
    package func keepMetadataOfOpenFiles() {
        for file in openFiles.all { try? tree.keepMetadata(of: file.node) }
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
