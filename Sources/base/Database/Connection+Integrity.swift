package import CofferCore

// Whether the file is a valid database, and each index leads to each row of its table. Each step checks one table,
// because other requests wait for a step.

extension Damage {
    /// Parses a line of SQLite's check; `nil` for the value of a row, which other checks cover.
    fileprivate init?(inCheck line: String) {
        switch line {
        case "ok": return nil
        case let line where line.contains(" value in ") || line.contains("CHECK constraint failed in "): return nil
        case let line where line.contains(" index ") || line.contains("not in PRIMARY KEY order"): self = .index
        default: self = .pages
        }
    }
}

extension Connection {
    /// Checks the structure of the whole file: the time is proportional to its size.
    ///
    /// - Returns: The damage in SQLite's words; empty if there is none.
    /// - Throws: An error that prevented the check, other than damage.
    package func checkIntegrity() throws -> [String] {
        let lines = try linesOfCheck { each in try rows("PRAGMA quick_check", each: each) }
        return lines == ["ok"] ? [] : lines
    }

    /// Checks one table with its indices, and after the last table the file as a whole.
    ///
    /// - Parameters:
    ///   - place: The number of the table that was checked last, in the order of names; 0 at the beginning.
    ///   - order: The parameters of the check.
    ///   - rebuild: Prepares a table for the rebuild of its indices, and calls the given closure for it.
    /// - Throws: ``DatabaseError``.
    package func checkStructure(
        after place: Int64,
        _ order: CheckOrder,
        rebuilding rebuild: (String, () throws -> Void) throws -> [Finding]
    ) throws -> CheckSlice<Int64> {
        let tables = try tables
        var slice = CheckSlice<Int64>()
        slice.checkedCount = 1
        guard tables.indices.contains(Int(clamping: place)) else {
            // It counts pages to which nothing leads, so it comes after the repairs.
            let isDamaged = try checkIntegrity().contains { Damage(inCheck: $0) != nil }
            slice.findings = isDamaged ? [finding(.pages, "vault.sqlite")] : []
            return slice
        }
        let table = tables[Int(place)]
        slice.next = place + 1
        guard let damage = try damage(of: table) else { return slice }
        guard order.repairs else {
            slice.findings = [finding(damage, table)]
            return slice
        }
        let others = try rebuilt(table, rebuild) ?? []
        let isMended = try self.damage(of: table) == nil
        slice.findings = [finding(isMended ? .index : damage, table, isMended)] + others
        slice.quarantinedCount = others.count
        return slice
    }

    private func finding(_ damage: Damage, _ name: String, _ isRepaired: Bool = false) -> Finding {
        let repair: Repair = damage == .index ? .rewrite : .copy
        return Finding(.database, name: name, damage, repair: repair, isRepaired: isRepaired)
    }

    /// Rebuilds the indices of a table.
    ///
    /// - Returns: The further repairs; `nil` if the indices can't be rebuilt, and nothing was changed.
    private func rebuilt(
        _ table: String,
        _ rebuild: (String, () throws -> Void) throws -> [Finding]
    ) throws -> [Finding]? {
        do {
            return try transaction {
                try rebuild(table) {
                    // The name comes from the verified schema, not from outside.
                    try run(script: "REINDEX \"\(table)\"")
                }
            }
        } catch let error as DatabaseError where error.kind == .damaged || error.kind == .constraint(unique: true) {
            return nil
        }
    }

    /// The tables of the migrations, in the order of their names.
    private var tables: [String] {
        get throws {
            let schema = try rightSchema ?? Schema(of: self)
            return schema.entries.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }.map(\.name)
        }
    }

    /// The worst damage of a table.
    private func damage(of table: String) throws -> Damage? {
        let lines = try linesOfCheck { each in
            try rows("SELECT integrity_check FROM pragma_integrity_check(?)", .text(table), each: each)
        }
        let found = lines.compactMap { Damage(inCheck: $0) }
        return found.contains(.pages) ? .pages : found.first
    }

    private func linesOfCheck(_ run: ((borrowing Row) throws -> Bool) throws -> Void) throws -> [String] {
        var lines: [String] = []
        do {
            try run { row in
                lines.append(try row.text(0))
                try checkDisk()
                return true
            }
        } catch let error as DatabaseError where error.kind == .damaged {
            // After the structure, the check scans the rows and fails on what it has just reported.
            lines.append(error.message)
        }
        return lines
    }
}
