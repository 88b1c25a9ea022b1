package import CofferCore

// Whether the file is a database throughout, and each index leads to each row of its table: one table a step, as a step holds
// up everybody else.

/// What was found wrong with a table.
private enum Flaw {
    /// An index has not what the table has.
    case index
    /// The pages themselves.
    case pages

    /// What a line of SQLite's check says; `nil` for the value of a row, which other checks look at.
    init?(_ line: String) {
        switch line {
        case "ok": return nil
        case let line where line.contains(" value in ") || line.contains("CHECK constraint failed in "): return nil
        case let line where line.contains(" index ") || line.contains("not in PRIMARY KEY order"): self = .index
        default: self = .pages
        }
    }
}

extension Connection {
    /// Looks through the whole file for damage to its structure: the time goes with its size.
    ///
    /// - Returns: What is wrong, in SQLite's words; nothing where all is well.
    /// - Throws: What kept it from looking, other than damage.
    package func checkIntegrity() throws -> [String] {
        let lines = try linesOfCheck { each in try rows("PRAGMA quick_check", each: each) }
        return lines == ["ok"] ? [] : lines
    }

    /// Looks at one table with its indices, and behind the last one at the file as a whole.
    ///
    /// - Parameters:
    ///   - place: The number of the table that was looked at last, by their names; 0 from the beginning.
    ///   - order: How.
    ///   - rebuild: Has the indices of a table rebuilt by what it is given, and brings the table into order for that.
    /// - Returns: What was found.
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
            // It counts the pages that nothing leads to, so it comes behind the repairs.
            if try !checkIntegrity().compactMap({ Flaw($0) }).isEmpty {
                slice.findings = [Finding(.database, name: "vault.sqlite", .pages, repair: .backup, isRepaired: false)]
            }
            return slice
        }
        let table = tables[Int(place)]
        slice.next = place + 1
        guard let flaw = try flaws(of: table).first else { return slice }
        var others: [Finding] = []
        if order.repairs { others = try rebuilt(table, rebuild) ?? [] }
        let isMended = try order.repairs && flaws(of: table).isEmpty
        slice.findings.append(finding(flaw, table, isMended))
        slice.findings += others
        slice.quarantinedCount = others.count
        return slice
    }

    private func finding(_ flaw: Flaw, _ table: String, _ isMended: Bool) -> Finding {
        let isOfIndex = flaw == .index || isMended
        return Finding(
            .database,
            name: table,
            isOfIndex ? .index : .pages,
            repair: isOfIndex ? .rewrite : .backup,
            isRepaired: isMended
        )
    }

    /// Rebuilds the indices of a table.
    ///
    /// - Returns: What else was done; `nil` where it can't be rebuilt, and nothing was done.
    private func rebuilt(
        _ table: String,
        _ rebuild: (String, () throws -> Void) throws -> [Finding]
    ) throws -> [Finding]? {
        do {
            return try transaction {
                try rebuild(table) {
                    // The name is one of the schema that was found right: nothing from outside is in it.
                    try run(script: "REINDEX \"\(table)\"")
                }
            }
        } catch let error as DatabaseError where error.kind == .damaged || error.kind == .constraint(unique: true) {
            return nil
        }
    }

    /// The tables that the migrations have made, by their names.
    private var tables: [String] {
        get throws {
            let schema = try rightSchema ?? Schema(of: self)
            return schema.entries.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }.map(\.name)
        }
    }

    private func flaws(of table: String) throws -> [Flaw] {
        let lines = try linesOfCheck { each in
            try rows("SELECT integrity_check FROM pragma_integrity_check(?)", .text(table), each: each)
        }
        let flaws = lines.compactMap { Flaw($0) }
        // The worst first.
        return flaws.contains(.pages) ? [.pages] : flaws
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
            // After the structure the check walks the rows, and stumbles over what it has just reported.
            lines.append(error.message)
        }
        return lines
    }
}
