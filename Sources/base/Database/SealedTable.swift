package import CofferCore

/// The result of examining a sealed row.
package struct Examination<Contents> {
    /// The damage of the row; `nil` if there is none.
    package var damage: Damage?
    /// The repair for that damage.
    package var repair = Repair.quarantine
    /// The persistent reference of the item, if it can be read.
    package var reference: ItemID?
    /// The metadata of the row, if it can be opened.
    package var contents: Contents?
    /// Whether its secret could not be checked, because the key is not in memory or the access control requires
    /// authentication.
    package var isSealed = false

    package init() {}
}

/// A table of sealed rows, described once for its check, its quarantine and the restoration of rows.
package protocol SealedTable {
    /// The metadata of a row.
    associatedtype Contents

    // The statements that read rows return their number first, and then the table's columns in one order.

    /// The numbers after a number, up to a limit.
    static var numbersSQL: StaticString { get }
    /// The row with a number.
    static var rowSQL: StaticString { get }
    /// Copies a row to quarantine; binds the damage, the time and the number.
    static var quarantineSQL: StaticString { get }
    /// Removes the row with a number.
    static var removeSQL: StaticString { get }
    /// The columns of the row with a number in quarantine.
    static var quarantinedRowSQL: StaticString { get }
    /// Copies the row with a number back from quarantine.
    static var restoreSQL: StaticString { get }

    static var stage: CheckStage { get }
    static var store: StoreName { get }
    /// Why a row can't be restored if its place is taken.
    static var takenWords: String { get }

    var connection: Connection { get }

    /// Examines whether a row is authentic.
    func examine(_ row: borrowing Row) throws -> Examination<Contents>

    /// The name of a row, if a client with these groups may know it.
    func name(of contents: Contents, for groups: AccessGroups) -> String?

    /// The size of a row's content, if it has one whose key is available.
    func byteCount(of contents: Contents) -> Int64

    /// Examines what leads to a row that is itself intact.
    func examineReferences(to number: Int64, _ seen: inout Examination<Contents>) throws

    /// Whether a row is in use, and therefore not repaired.
    func isInUse(_ number: Int64) -> Bool

    /// Repairs a row without moving it to quarantine.
    ///
    /// - Returns: The number of other rows that were moved to quarantine.
    func mend(_ number: Int64, _ seen: Examination<Contents>, _ now: Int64) throws -> Int

    /// Moves a row to quarantine, whole and unchanged, with what belongs to it.
    ///
    /// - Returns: The number of rows moved.
    func quarantine(_ number: Int64, _ seen: Examination<Contents>, _ damage: Damage, _ now: Int64) throws -> Int

    /// Whether a slice of a check ends after the repair of a row.
    func endsSlice(_ seen: Examination<Contents>) -> Bool

    /// Whether the place of a row in quarantine is taken.
    func isTaken(_ number: Int64, _ seen: Examination<Contents>) throws -> Bool

    /// Completes a restored row.
    func complete(_ number: Int64, _ contents: Contents) throws

    /// Destroys a row in quarantine, with what no other row refers to.
    func discard(_ number: Int64) throws
}

extension SealedTable {
    package func byteCount(of contents: Contents) -> Int64 { 0 }
    package func examineReferences(to number: Int64, _ seen: inout Examination<Contents>) {}
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

    /// Moves a single row, within the open transaction.
    ///
    /// - Returns: The number of rows moved: 1, or 0 if there is none of that number.
    package func move(_ number: Int64, _ damage: Damage, _ now: Int64) throws -> Int {
        try connection.execute(Self.quarantineSQL, .text(damage.rawValue), .integer(now), .integer(number))
        try connection.execute(Self.removeSQL, .integer(number))
        return connection.changes
    }

    // MARK: Checking

    /// Examines the row with a number; `nil` if there is none.
    package func examine(_ number: Int64) throws -> Examination<Contents>? {
        try connection.row(Self.rowSQL, .integer(number)) { row in try self.examine(row) }
    }

    /// Examines some rows, and repairs them if requested.
    ///
    /// - Parameters:
    ///   - place: The row number at which the previous slice ended; `nil` at the beginning.
    ///   - order: The parameters of the check.
    /// - Throws: ``DatabaseError``.
    package func check(after place: Int64?, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        let numbers = try connection.numbers(Self.numbersSQL, after: place, limit: order.limit)
        var slice = CheckSlice<Int64>()
        for number in numbers {
            slice.checkedCount += 1
            slice.next = number
            guard var seen = try examine(number) else { continue }
            if seen.damage == nil { try examineReferences(to: number, &seen) }
            if seen.isSealed { slice.sealedCount += 1 }
            if let contents = seen.contents { slice.byteCount += byteCount(of: contents) }
            guard let damage = seen.damage else { continue }
            let repairs = order.repairs && !isInUse(number)
            if repairs {
                slice.quarantinedCount +=
                    try seen.repair == .quarantine
                    ? quarantine(number, seen, damage, order.now) : mend(number, seen, order.now)
            }
            slice.findings.append(finding(Self.stage, seen, damage, isRepaired: repairs, order))
            if repairs && endsSlice(seen) { return slice }
        }
        if numbers.count < order.limit { slice.next = nil }
        return slice
    }

    /// Creates a finding for a row.
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

    /// Rebuilds the indices with one row for each name: the row that look-ups found stays, and the one that a damaged
    /// index has hidden is moved to quarantine.
    ///
    /// - Parameters:
    ///   - pairs: The rows with the same name.
    ///   - quarantine: The quarantine.
    ///   - order: The parameters of the check.
    ///   - rebuild: Rebuilds the indices, which requires unique names.
    /// - Returns: The findings for the rows that were moved.
    /// - Throws: The error of `rebuild`; ``DatabaseError``.
    package func rebuildIndices(
        without pairs: [(found: Int64, hidden: Int64)],
        _ quarantine: QuarantineTable,
        _ order: CheckOrder,
        _ rebuild: () throws -> Void
    ) throws -> [Finding] {
        let mark = try quarantine.last()
        // No entry of the index leads to the hidden row: it can't be removed before the index is rebuilt, and the index
        // can't be rebuilt with both rows.
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
    /// The numbers that a statement returns, from a number on and up to a limit, which are its two bindings.
    ///
    /// - Parameter place: The number before them; `nil` for none.
    package func numbers(_ sql: StaticString, after place: Int64?, limit: Int) throws -> [Int64] {
        guard let first = Self.firstNumber(after: place) else { return [] }
        var numbers: [Int64] = []
        try rows(sql, .integer(first), .integer(Int64(limit))) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return numbers
    }

    /// The least number of a row behind a place: that of a damaged one may be below zero.
    ///
    /// - Parameter place: The number before it; `nil` for none.
    /// - Returns: `nil` if there can be none.
    package static func firstNumber(after place: Int64?) -> Int64? {
        guard let place else { return .min }
        return place == .max ? nil : place + 1
    }

    /// Compares a stored count with the actual one, and corrects it if requested.
    ///
    /// - Parameters:
    ///   - name: The name of the count.
    ///   - order: The parameters of the check.
    ///   - comparison: Returns 1 if the count is right.
    ///   - removal: Removes the count.
    ///   - recount: Counts again.
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
