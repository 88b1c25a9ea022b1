package import CofferCore
internal import CofferDatabase

// An index with a damaged key lets in a second file of a name that it does not find.

extension FileStore {
    /// The table of files and directories.
    package static let table = "file_nodes"

    /// Has the indices of the tree rebuilt, with one file or directory for each name: the one that is found by it stays, and
    /// the other one goes into quarantine.
    ///
    /// - Parameters:
    ///   - order: How.
    ///   - rebuild: Rebuilds the indices, which wants every name once.
    /// - Returns: What was moved out of the way.
    /// - Throws: What `rebuild` throws; ``DatabaseError``.
    package func rebuildIndices(_ order: CheckOrder, _ rebuild: () throws -> Void) throws -> [Finding] {
        let pairs = try duplicates()
        let mark = try connection.row("SELECT max(id) FROM file_quarantine") { try $0.optionalInteger(0) ?? 0 } ?? 0
        // No entry of the index leads to the other one: it can't be removed before the index is rebuilt, nor that be done
        // with both.
        for pair in pairs { _ = try quarantine(pair.found, .duplicate, order.now) }
        let waiting = try quarantineNumbers(after: mark)
        try rebuild()
        let findings = try pairs.compactMap { try move($0.hidden, order) }
        for number in waiting { _ = try putBack(number, order) }
        return findings
    }

    /// Files of one name, by their row numbers: the one that the index leads to, and the one that it hides.
    private func duplicates() throws -> [(found: Int64, hidden: Int64)] {
        var pairs: [(found: Int64, hidden: Int64)] = []
        try connection.rows(
            """
            SELECT min(id), max(id), parent, name_tag FROM file_nodes NOT INDEXED
            GROUP BY parent, name_tag HAVING count(*) = 2
            """
        ) { row in
            let (one, other) = (try row.integer(0), try row.integer(1))
            let found = try connection.row(
                "SELECT id FROM file_nodes WHERE parent = ? AND name_tag = ?",
                .integer(try row.integer(2)),
                .blob(try row.blob(3))
            ) { try $0.integer(0) }
            if found == one { pairs.append((found: one, hidden: other)) }
            if found == other { pairs.append((found: other, hidden: one)) }
            return true
        }
        return pairs
    }

    private func move(_ number: Int64, _ order: CheckOrder) throws -> Finding? {
        guard openFiles[number] == nil, let seen = try examine(number) else { return nil }
        _ = try quarantine(number, .duplicate, order.now)
        return Finding(.database, name: seen.name(for: order.groups), .duplicate, repair: .quarantine, isRepaired: true)
    }

    private func quarantineNumbers(after mark: Int64) throws -> [Int64] {
        var numbers: [Int64] = []
        try connection.rows("SELECT id FROM file_quarantine WHERE id > ? ORDER BY id", .integer(mark)) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return numbers
    }
}
