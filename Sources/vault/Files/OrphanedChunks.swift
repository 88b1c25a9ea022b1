internal import CofferCore
internal import CofferDatabase

/// The rows of chunks whose files were removed: a file may have millions of them, so many are removed in slices after it.
///
/// The catalog's list of the dead has the number of each such file, which no other file gets: so its rows go after a crash
/// as well. Rows are never looked for whose file is not found: the damage of its row may hide it.
package final class OrphanedChunks {
    private let connection: Connection
    /// Whether the list may have numbers that were not read.
    private var hasUnread = false
    /// The numbers that were read from the list.
    private var numbers: [Int64] = []
    /// Whether the transaction has changed the list.
    private var hasChanged = false
    /// Whether removing rows has failed since ``takeFailure()``.
    private var hasFailed = false
    /// The removed files whose handles find their chunks in these rows.
    private var users: [ObjectIdentifier: Int64] = [:]
    /// Whether rows are being removed.
    private var isUnderWay = false

    init(_ connection: Connection) { self.connection = connection }

    // MARK: Listing

    /// Lists a file that is removed, within the open transaction, if its rows are not to be removed with it: if they are
    /// many, or handles need them.
    ///
    /// - Returns: Whether it was listed.
    func list(_ node: Int64) throws -> Bool {
        guard try users.values.contains(node) || hasMany(node) else { return false }
        (hasUnread, hasChanged) = (true, true)
        try connection.execute(
            "INSERT OR IGNORE INTO file_dead_contents (content) VALUES (?)",
            .blob(Self.entry(of: node))
        )
        return true
    }

    /// Removes the rows of a file that is gone, within the open transaction, or lists it.
    func remove(of node: Int64) throws {
        if try list(node) { return }
        try connection.execute("DELETE FROM file_chunks WHERE node = ?", .integer(node))
    }

    private func hasMany(_ node: Int64) throws -> Bool {
        try connection.row(
            "SELECT 1 FROM file_chunks WHERE node = ? LIMIT 1 OFFSET ?",
            .integer(node),
            .integer(Int64(Limits.chunkRowsAtOnce))
        ) { _ in true } ?? false
    }

    /// The entry of the list for a file: its length tells it from a content.
    private static func entry(of node: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(node)
        return writer.bytes
    }

    /// The files in the list.
    private func listed() throws -> [Int64] {
        var found: [Int64] = []
        try connection.rows(
            "SELECT content FROM file_dead_contents WHERE typeof(content) = 'blob' AND length(content) = 8"
        ) { row in
            var reader = ByteReader(try row.blob(0))
            found.append(try reader.read())
            return true
        }
        return found
    }

    /// Finds those that an earlier process has left.
    func recover() throws { hasUnread = try !listed().isEmpty }

    // MARK: Handles

    /// Keeps the rows of a file that is removed until its handles are closed.
    func keep(for file: OpenFile) { users[ObjectIdentifier(file)] = file.node }

    /// Ends ``keep(for:)``.
    func release(_ file: OpenFile) {
        if users.removeValue(forKey: ObjectIdentifier(file)) != nil { hasUnread = true }
    }

    // MARK: Removing

    /// Begins to remove rows.
    ///
    /// - Returns: Whether there may be some, and they are not being removed already.
    package func beginRemoval() -> Bool {
        guard hasUnread, !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// Removes some rows, within the open transaction.
    ///
    /// - Returns: Whether none are left that can be removed now.
    package func removeSome() throws -> Bool {
        if numbers.isEmpty, hasUnread {
            numbers = try listed()
            hasUnread = false
        }
        guard let node = numbers.last else { return true }
        hasChanged = true
        if users.values.contains(node) {
            numbers.removeLast()
        } else if try isNamed(node) || removeSome(of: node) {
            try connection.execute("DELETE FROM file_dead_contents WHERE content = ?", .blob(Self.entry(of: node)))
            numbers.removeLast()
        }
        return numbers.isEmpty && !hasUnread
    }

    /// Whether something has the number, whatever the list says.
    private func isNamed(_ node: Int64) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM file_nodes WHERE id = ?1
            UNION ALL SELECT 1 FROM past WHERE node = ?1
            UNION ALL SELECT 1 FROM file_quarantine WHERE row = ?1 LIMIT 1
            """,
            .integer(node)
        ) { _ in true } ?? false
    }

    /// - Returns: Whether these were its last ones.
    private func removeSome(of node: Int64) throws -> Bool {
        try connection.execute(
            """
            DELETE FROM file_chunks WHERE node = ?1 AND chunk <= (
                SELECT max(chunk) FROM (SELECT chunk FROM file_chunks WHERE node = ?1 ORDER BY chunk LIMIT ?2)
            )
            """,
            .integer(node),
            .integer(Int64(Limits.chunkRowsAtOnce))
        )
        return connection.changes < Limits.chunkRowsAtOnce
    }

    /// Ends removing rows.
    ///
    /// - Parameter isComplete: Whether none were left; otherwise it has failed.
    package func endRemoval(isComplete: Bool) {
        isUnderWay = false
        if !isComplete { startAgain() }
    }

    private func startAgain() {
        numbers = []
        (hasUnread, hasFailed) = (true, true)
    }

    /// Whether removing rows has failed since the last call: it is to be tried again later.
    package func takeFailure() -> Bool {
        defer { hasFailed = false }
        return hasFailed
    }

    // MARK: After the transaction

    /// The transaction was committed.
    func settle() { hasChanged = false }

    /// The transaction was rolled back.
    func abandon() {
        if hasChanged { startAgain() }
        hasChanged = false
    }
}
