package import CofferCore
internal import CofferDatabase

// An index with a damaged key lets in a second item of a name that it does not find.

extension KeychainStore {
    /// The table of the items.
    package static let table = "keychain_items"

    /// Has the indices of the items rebuilt, with one item for each name: the newer one, which has been found by it, stays,
    /// and the older one goes into quarantine.
    ///
    /// - Parameters:
    ///   - order: How.
    ///   - rebuild: Rebuilds the indices, which wants every name once.
    /// - Returns: What was moved out of the way.
    /// - Throws: What `rebuild` throws; ``DatabaseError``.
    package func rebuildIndices(_ order: CheckOrder, _ rebuild: () throws -> Void) throws -> [Finding] {
        let pairs = try duplicates()
        let mark = try lastQuarantined()
        // No entry of the index leads to the older one: it can't be removed before the index is rebuilt, nor that be done
        // with both.
        for pair in pairs { _ = try move(pair.newer, order) }
        let waiting = try quarantineNumbers(after: mark)
        try rebuild()
        let findings = try pairs.compactMap { try move($0.older, order) }
        for number in waiting { _ = try putBack(number, order) }
        return findings
    }

    /// Items of one name, by their row numbers.
    private func duplicates() throws -> [(older: Int64, newer: Int64)] {
        var pairs: [(older: Int64, newer: Int64)] = []
        try connection.rows(
            """
            SELECT min(id), max(id) FROM keychain_items NOT INDEXED GROUP BY primary_tag HAVING count(*) = 2
            """
        ) { row in
            pairs.append((older: try row.integer(0), newer: try row.integer(1)))
            return true
        }
        return pairs
    }

    private func move(_ number: Int64, _ order: CheckOrder) throws -> Finding? {
        guard let seen = try examineItem(number) else { return nil }
        _ = try quarantineItem(number, seen, .duplicate, order.now)
        return Finding(
            .database,
            reference: seen.reference,
            name: seen.name(for: order.groups),
            .duplicate,
            repair: .quarantine,
            isRepaired: true
        )
    }

    private func lastQuarantined() throws -> Int64 {
        try connection.row("SELECT max(id) FROM keychain_quarantine") { try $0.optionalInteger(0) ?? 0 } ?? 0
    }

    private func quarantineNumbers(after mark: Int64) throws -> [Int64] {
        var numbers: [Int64] = []
        try connection.rows("SELECT id FROM keychain_quarantine WHERE id > ? ORDER BY id", .integer(mark)) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return numbers
    }
}
