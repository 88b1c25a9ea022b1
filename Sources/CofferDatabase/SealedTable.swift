package import CofferCore

/// What an examination of a sealed row has shown.
package struct Examination<Contents> {
    /// What is wrong with the row; `nil` where all is well.
    package var damage: Damage?
    /// What a repair does about that.
    package var repair = Repair.quarantine
    /// The persistent reference of the item, as far as it can be read.
    package var reference: ItemID?
    /// What the row says of itself, as far as that opens.
    package var contents: Contents?
    /// Whether its secret could not be tried: the key is not there now, or the access control asks for a person.
    package var isSealed = false

    /// Begins with nothing found.
    package init() {}
}

/// The statements by which the rows of a table are read, moved out of the way and put back.
///
/// What reads rows yields their number first, and then the table's columns in one order.
package struct SealedTableSQL: Sendable {
    let numbers: StaticString
    let row: StaticString
    package let quarantine: StaticString
    package let remove: StaticString
    let quarantinedRow: StaticString
    let restore: StaticString

    /// Names the statements.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the rows behind a number, as many as a limit says.
    ///   - row: The row of a number.
    ///   - quarantine: Copies a row into the quarantine: with a damage, a time and its number.
    ///   - remove: Removes the row of a number.
    ///   - quarantinedRow: The columns of the row that has a number in the quarantine.
    ///   - restore: Copies the row with a number in the quarantine back.
    package init(
        numbers: StaticString,
        row: StaticString,
        quarantine: StaticString,
        remove: StaticString,
        quarantinedRow: StaticString,
        restore: StaticString
    ) {
        self.numbers = numbers
        self.row = row
        self.quarantine = quarantine
        self.remove = remove
        self.quarantinedRow = quarantinedRow
        self.restore = restore
    }
}

/// A table of sealed rows, described once for its check, its quarantine and what goes back from there.
package protocol SealedTable {
    /// What a row says of itself.
    associatedtype Contents

    static var sql: SealedTableSQL { get }
    static var stage: CheckStage { get }
    static var store: StoreName { get }
    /// Why a row can't go back whose place is taken.
    static var takenWords: String { get }

    var connection: Connection { get }

    /// Examines a row: whether it is what was sealed.
    func examine(_ row: borrowing Row) throws -> Examination<Contents>

    /// What a row is called, where a client that holds some groups may know.
    func name(of contents: Contents, for groups: [String]) -> String?

    /// Examines what leads to a row that is sound itself.
    func examineReferences(to number: Int64, _ seen: inout Examination<Contents>) throws

    /// Examines a row that is in the quarantine.
    func examineQuarantined(_ row: borrowing Row) throws -> Examination<Contents>

    /// Whether a row is in use, and so is not repaired.
    func isInUse(_ number: Int64) -> Bool

    /// Repairs a row otherwise than by moving it out of the way.
    ///
    /// - Returns: How many other rows were moved out of the way.
    func mend(_ number: Int64, _ seen: Examination<Contents>, _ now: Int64) throws -> Int

    /// Moves a row out of the way, whole and as it is, with what belongs to it.
    ///
    /// - Returns: How many rows that were.
    func quarantine(_ number: Int64, _ seen: Examination<Contents>, _ damage: Damage, _ now: Int64) throws -> Int

    /// Whether the repair of a row was enough for one slice of a check.
    func endsSlice(_ seen: Examination<Contents>) -> Bool

    /// Whether something else is in the place of a row in the quarantine.
    func isTaken(_ number: Int64, _ seen: Examination<Contents>) throws -> Bool

    /// Completes a row that was put back.
    func complete(_ number: Int64, _ contents: Contents) throws

    /// Destroys a row in the quarantine, with what it alone leads to.
    func discard(_ number: Int64) throws
}

extension SealedTable {
    package func examineReferences(to number: Int64, _ seen: inout Examination<Contents>) {}
    package func examineQuarantined(_ row: borrowing Row) throws -> Examination<Contents> { try examine(row) }
    package func isInUse(_ number: Int64) -> Bool { false }
    package func quarantine(
        _ number: Int64,
        _ seen: Examination<Contents>,
        _ damage: Damage,
        _ now: Int64
    ) throws -> Int {
        try connection.transaction { try move(number, damage, now) }
    }
    package func endsSlice(_ seen: Examination<Contents>) -> Bool { false }
    package func isTaken(_ number: Int64, _ seen: Examination<Contents>) throws -> Bool { false }
    package func complete(_ number: Int64, _ contents: Contents) throws {}

    /// Moves a row, and nothing else, within the transaction that is open.
    ///
    /// - Returns: How many rows that were: 1, or 0 where there is none of that number.
    package func move(_ number: Int64, _ damage: Damage, _ now: Int64) throws -> Int {
        try connection.execute(Self.sql.quarantine, .text(damage.rawValue), .integer(now), .integer(number))
        try connection.execute(Self.sql.remove, .integer(number))
        return connection.changes
    }

    // MARK: Checking

    /// Examines the row of a number; `nil` where there is none.
    package func examine(_ number: Int64) throws -> Examination<Contents>? {
        try connection.row(Self.sql.row, .integer(number)) { row in try self.examine(row) }
    }

    /// Examines some rows, and repairs what is wrong with them if that is asked for.
    ///
    /// - Parameters:
    ///   - place: The row number that an earlier slice has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func check(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        let numbers = try connection.numbers(Self.sql.numbers, after: place, limit: order.limit)
        var slice = CheckSlice<Int64>()
        for number in numbers {
            slice.checkedCount += 1
            slice.next = number
            guard var seen = try examine(number) else { continue }
            if seen.damage == nil { try examineReferences(to: number, &seen) }
            if seen.isSealed { slice.sealedCount += 1 }
            guard let damage = seen.damage else { continue }
            let repairs = order.repairs && !isInUse(number)
            if repairs { slice.quarantinedCount += try repair(number, seen, damage, order.now) }
            slice.findings.append(finding(Self.stage, seen, damage, isRepaired: repairs, order))
            if repairs && endsSlice(seen) { return slice }
        }
        if numbers.count < order.limit { slice.next = nil }
        return slice
    }

    private func repair(
        _ number: Int64,
        _ seen: Examination<Contents>,
        _ damage: Damage,
        _ now: Int64
    ) throws -> Int {
        try seen.repair == .quarantine ? quarantine(number, seen, damage, now) : mend(number, seen, now)
    }

    /// Describes what is wrong with a row.
    package func finding(
        _ stage: CheckStage,
        _ seen: Examination<Contents>,
        _ damage: Damage,
        isRepaired: Bool,
        _ order: CheckOrder
    ) -> Finding {
        Finding(
            stage,
            reference: seen.reference,
            name: seen.contents.flatMap { name(of: $0, for: order.groups) },
            damage,
            repair: seen.repair,
            isRepaired: isRepaired
        )
    }

    // MARK: Duplicates

    /// Has the indices rebuilt, with one row for each name: the one that is found by it stays, and the one that a damaged
    /// index has hidden goes into quarantine.
    ///
    /// - Parameters:
    ///   - pairs: The rows of one name.
    ///   - quarantine: Where they go.
    ///   - order: How.
    ///   - rebuild: Rebuilds the indices, which wants every name once.
    /// - Returns: What was moved out of the way.
    /// - Throws: What `rebuild` throws; ``DatabaseError``.
    package func rebuildIndices(
        without pairs: [(found: Int64, hidden: Int64)],
        _ quarantine: QuarantineTable,
        _ order: CheckOrder,
        _ rebuild: () throws -> Void
    ) throws -> [Finding] {
        let mark = try quarantine.last()
        // No entry of the index leads to the hidden one: it can't be removed before the index is rebuilt, nor that be done
        // with both.
        for pair in pairs { _ = try moveDuplicate(pair.found, order) }
        let waiting = try quarantine.numbers(after: mark, limit: .max)
        try rebuild()
        let findings = try pairs.compactMap { try isInUse($0.hidden) ? nil : moveDuplicate($0.hidden, order) }
        for number in waiting { _ = try quarantine.putBack(number, order) }
        return findings
    }

    private func moveDuplicate(_ number: Int64, _ order: CheckOrder) throws -> Finding? {
        guard let seen = try examine(number) else { return nil }
        _ = try quarantine(number, seen, .duplicate, order.now)
        return finding(.database, seen, .duplicate, isRepaired: true, order)
    }
}

extension Connection {
    func numbers(_ sql: StaticString, after place: Int64, limit: Int) throws -> [Int64] {
        var numbers: [Int64] = []
        try rows(sql, .integer(place), .integer(Int64(limit))) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return numbers
    }

    /// Compares a count that is kept with what is there, and corrects it if that is asked for.
    ///
    /// - Parameters:
    ///   - name: What is counted.
    ///   - order: How.
    ///   - comparison: Yields 1 where the count is right.
    ///   - removal: Removes the count.
    ///   - recount: Counts anew.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func checkCount(
        of name: String,
        _ order: CheckOrder,
        comparison: StaticString,
        removal: StaticString,
        recount: StaticString
    ) throws -> CheckSlice<Int64> {
        var slice = CheckSlice<Int64>()
        slice.checkedCount = 1
        if try row(comparison, read: { try $0.optionalInteger(0) == 1 }) == true { return slice }
        if order.repairs {
            try transaction {
                try execute(removal)
                try execute(recount)
            }
        }
        slice.findings = [Finding(.counts, name: name, .count, repair: .rewrite, isRepaired: order.repairs)]
        return slice
    }
}
