package import CofferCore

/// A table of damaged rows, stored whole and unchanged: their names are free again, and nothing is lost.
///
/// A row that was damaged by the damage of another one may become valid again, and can then be restored.
package struct QuarantineTable {
    /// The statements of the table.
    package typealias SQL = (
        /// The numbers after a number, up to a limit.
        numbers: StaticString,
        /// The damage and the time of the row with a number.
        head: StaticString,
        /// The highest number.
        last: StaticString,
        /// Removes the row with a number.
        remove: StaticString
    )

    private let connection: Connection
    private let sql: SQL
    /// The table whose rows it holds.
    private let table: any SealedTable

    package init(_ connection: Connection, _ sql: SQL, _ table: any SealedTable) {
        self.connection = connection
        self.sql = sql
        self.table = table
    }

    /// The rows after a number, and whether each could be restored now.
    ///
    /// - Parameters:
    ///   - place: The last number of the previous page; `nil` at the beginning.
    ///   - order: The parameters of the check.
    /// - Returns: The entries, in ascending order of their numbers.
    /// - Throws: ``DatabaseError``.
    package func entries(after place: Int64?, _ order: CheckOrder) throws -> [QuarantineEntry] {
        try numbers(after: place, limit: order.limit).compactMap { try entry($0, order) }
    }

    /// The entry with a number; `nil` if there is none.
    package func entry(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        try head(number).map { try table.quarantined($0, order).entry }
    }

    /// Restores a row if it is authentic now and its place is free.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - order: The parameters of the check.
    /// - Returns: The entry, with the obstacle if it was not restored; `nil` if there is none of that number.
    /// - Throws: ``DatabaseError``.
    package func putBack(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        guard let head = try head(number) else { return nil }
        return try table.putBack(head, order) { try connection.execute(sql.remove, .integer(number)) }
    }

    /// Destroys a row.
    ///
    /// - Throws: ``DatabaseError``.
    package func discard(_ number: Int64) throws {
        guard try head(number) != nil else { return }
        try connection.transaction {
            try table.discard(number)
            try connection.execute(sql.remove, .integer(number))
        }
    }

    func numbers(after place: Int64?, limit: Int) throws -> [Int64] {
        try connection.numbers(sql.numbers, after: place, limit: limit)
    }

    /// The highest number; `nil` if there is no row.
    func last() throws -> Int64? { try connection.row(sql.last) { try $0.optionalInteger(0) } ?? nil }

    private func head(_ number: Int64) throws -> QuarantineHead? {
        try connection.row(sql.head, .integer(number)) { row in
            QuarantineHead(number: number, damage: Damage(rawValue: try row.text(0)) ?? .row, moved: try row.integer(1))
        }
    }
}

/// What is stored of a row besides the row itself.
private struct QuarantineHead {
    let number: Int64
    /// The damage.
    let damage: Damage
    let moved: Int64
}

extension SealedTable {
    fileprivate func quarantined(
        _ head: QuarantineHead,
        _ order: CheckOrder
    ) throws -> (entry: QuarantineEntry, contents: Contents?) {
        let seen =
            try connection.row(Self.quarantinedRowSQL, .integer(head.number)) { row in
                try self.examine(row)
            } ?? Examination()
        let entry = QuarantineEntry(
            store: Self.store,
            number: head.number,
            stage: Self.stage,
            reference: seen.reference,
            name: seen.contents.flatMap { name(of: $0, for: order.groups) },
            damage: head.damage,
            moved: head.moved,
            obstacle: try obstacle(head, seen)
        )
        return (entry, seen.contents)
    }

    private func obstacle(_ head: QuarantineHead, _ seen: Examination<Contents>) throws -> String? {
        if let found = seen.damage { return found.words }
        if seen.isSealed && seen.contents == nil { return "its name can be read after the first unlock only" }
        if try isTaken(head.number, seen) { return Self.takenWords }
        // A secret that did not open is not assumed to be intact while it can't be checked.
        let isUntried = head.damage == .secret && seen.isSealed
        return isUntried ? "whether its secret opens shows when the vault is unlocked" : nil
    }

    fileprivate func putBack(
        _ head: QuarantineHead,
        _ order: CheckOrder,
        remove: () throws -> Void
    ) throws -> QuarantineEntry {
        let (entry, contents) = try quarantined(head, order)
        guard entry.obstacle == nil, let contents else { return entry }
        try connection.transaction {
            try connection.execute(Self.restoreSQL, .integer(head.number))
            try complete(connection.lastInsertedRowID, contents)
            try remove()
        }
        return entry
    }
}
