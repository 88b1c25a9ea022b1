package import CofferCore

/// Where damaged rows go, whole and as they are: their names are free again, and nothing is lost.
///
/// A row that was damaged by what was done to another one may be good again later, and goes back then.
package struct QuarantineTable {
    /// The statements of the table.
    package struct SQL: Sendable {
        let numbers: StaticString
        let head: StaticString
        let last: StaticString
        let remove: StaticString

        /// Names the statements.
        ///
        /// - Parameters:
        ///   - numbers: The numbers of the rows behind a number, as many as a limit says.
        ///   - head: Of which stage the row of a number is, what was wrong with it, and when it was moved.
        ///   - last: The highest number.
        ///   - remove: Removes the row of a number.
        package init(numbers: StaticString, head: StaticString, last: StaticString, remove: StaticString) {
            self.numbers = numbers
            self.head = head
            self.last = last
            self.remove = remove
        }
    }

    private let connection: Connection
    private let sql: SQL
    private let tables: [any SealedTable]

    /// Describes a quarantine.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - sql: The statements.
    ///   - tables: The tables whose rows it holds; those of an unknown stage are held for rows of the first one.
    package init(_ connection: Connection, _ sql: SQL, _ tables: [any SealedTable]) {
        self.connection = connection
        self.sql = sql
        self.tables = tables
    }

    /// The rows behind a number, and whether each could go back now.
    ///
    /// - Parameters:
    ///   - place: The number that an earlier page has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: The entries, by ascending number.
    /// - Throws: ``DatabaseError``.
    package func entries(after place: Int64, _ order: CheckOrder) throws -> [QuarantineEntry] {
        try numbers(after: place, limit: order.limit).compactMap { try entry($0, order) }
    }

    /// The row of a number; `nil` where there is none.
    package func entry(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        try head(number).flatMap { head in try head.table.quarantined(head, order).entry }
    }

    /// Puts a row back where it was, if it is authentic now and its place is free.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - order: How.
    /// - Returns: The row, with what stands in the way where it stayed; `nil` where there is none of that number.
    /// - Throws: ``DatabaseError``.
    package func putBack(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        guard let head = try head(number) else { return nil }
        return try head.table.putBack(head, order) { try connection.execute(sql.remove, .integer(number)) }
    }

    /// Destroys a row.
    ///
    /// - Parameter number: Its number.
    /// - Throws: ``DatabaseError``.
    package func discard(_ number: Int64) throws {
        guard let head = try head(number) else { return }
        try connection.transaction {
            try head.table.discard(number)
            try connection.execute(sql.remove, .integer(number))
        }
    }

    func numbers(after place: Int64, limit: Int) throws -> [Int64] {
        try connection.numbers(sql.numbers, after: place, limit: limit)
    }

    func last() throws -> Int64 { try connection.row(sql.last) { try $0.optionalInteger(0) ?? 0 } ?? 0 }

    private func head(_ number: Int64) throws -> QuarantineHead? {
        try connection.row(sql.head, .integer(number)) { row in
            let stage = try row.text(0)
            guard let table = tables.first(where: { type(of: $0).stage.rawValue == stage }) ?? tables.first else {
                return nil
            }
            return QuarantineHead(
                number: number,
                table: table,
                damage: Damage(rawValue: try row.text(1)) ?? .row,
                moved: try row.integer(2)
            )
        } ?? nil
    }
}

/// What is kept of a row besides the row itself.
private struct QuarantineHead {
    let number: Int64
    let table: any SealedTable
    /// What was wrong with it.
    let damage: Damage
    let moved: Int64
}

extension SealedTable {
    fileprivate func quarantined(
        _ head: QuarantineHead,
        _ order: CheckOrder
    ) throws -> (entry: QuarantineEntry, contents: Contents?) {
        let seen =
            try connection.row(Self.sql.quarantinedRow, .integer(head.number)) { row in
                try self.examineQuarantined(row)
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
        if try isTaken(head.number, seen) { return Self.takenWords }
        // What did not open then is not taken for whole unseen.
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
            try connection.execute(Self.sql.restore, .integer(head.number))
            try complete(connection.lastInsertedRowID, contents)
            try remove()
        }
        return entry
    }
}
