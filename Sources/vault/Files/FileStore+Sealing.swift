internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferPast

// The names of files are under the passcode. A change before the first unlock that needs a sealed row is completed after
// it, a few rows at a time.

extension FileStore {
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
