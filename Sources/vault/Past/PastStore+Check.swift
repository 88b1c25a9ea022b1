package import CofferCore
internal import CofferDatabase

// Checking the rows of the past, a few at a time.

/// The condition of a row of the past, as a check finds it.
package enum PastCondition {
    case whole
    /// It can be opened after the first unlock only.
    case sealed
    /// Nothing leads to it.
    case lost
    /// It can be removed, and nothing else.
    case damaged(name: String?)
}

extension PastStore {
    /// Checks some rows.
    ///
    /// - Parameters:
    ///   - number: The number after which they begin; `nil` for the first one.
    ///   - limit: The greatest number of them.
    ///   - owned: Checks a row that belongs to an item, as the item's store does.
    /// - Throws: ``DatabaseError``.
    package func check(
        after number: Int64?,
        limit: Int,
        owned: (PastRow, ItemID) throws -> PastCondition
    ) throws -> [(number: Int64, condition: PastCondition)] {
        let numbers = try connection.numbers(
            "SELECT number FROM past WHERE number >= ? ORDER BY number LIMIT ?",
            after: number,
            limit: limit
        )
        return try numbers.map { number in
            do { return (number, try condition(of: number, owned)) } catch let error where error.isDamage {
                return (number, .damaged(name: nil))
            }
        }
    }

    private func condition(
        of number: Int64,
        _ owned: (PastRow, ItemID) throws -> PastCondition
    ) throws -> PastCondition {
        let entry = try connection.row(
            "SELECT number, reason, owner, entry, node, time, bytes, label FROM past WHERE number = ?",
            .integer(number)
        ) { try self.entry(in: $0) }
        return try entry.map { try condition(of: $0, owned) } ?? .whole
    }

    /// - Parameter entry: A row, as if it were an entry of the trash.
    private func condition(
        of entry: TrashEntry,
        _ owned: (PastRow, ItemID) throws -> PastCondition
    ) throws -> PastCondition {
        let row = entry.row
        if let holder = row.entry {
            let isHeld = try connection.row(
                "SELECT 1 FROM past WHERE number = ? AND reason = 2",
                .integer(holder)
            ) { _ in true }
            return isHeld == nil ? .lost : .whole
        }
        guard row.reason == .removed else {
            guard row.reason != nil, let owner = ItemID(row.owner) else { return .damaged(name: nil) }
            return try owned(row, owner)
        }
        let isEmptied = try connection.row(
            "SELECT length(sealed) = 0 FROM trash_keys WHERE trash = ?",
            .blob(row.owner)
        ) { try $0.integer(0) == 1 }
        // It is about to be removed.
        if isEmptied == true { return .whole }
        do {
            _ = try image(of: entry)
            return try entry.label == nil ? .sealed : .whole
        } catch let error as CofferError where error.code == .decode {
            return .damaged(name: "entry \(row.number)")
        }
    }
}
