import CSQLite
import CofferTestSupport
import Foundation

/// Impossible values in every column of every table.
///
/// The daemon answers or reports the damage. It continues to run, and other items are unchanged.
enum RowsCampaign {
    static func run(_ report: Report) throws {
        var random = report.generator(of: .max)
        let vault = try SampleVault(.stopped, &random)
        try vault.expectWhole()
        var places = try RawDatabase(vault.statePath + "/vault.sqlite").columns()
            .flatMap { column in Value.all.filter { $0.fits(column) }.map { (column, $0) } }
        places.shuffle(using: &random)
        report.tally("values in all", places.count)
        for number in report.cases {
            let (column, value) = places[number % places.count]
            report.attempt(number) {
                var random = report.generator(of: number)
                do {
                    try attack(vault, column, value, &random, report)
                } catch {
                    throw Fault("\(column.table).\(column.name) \(value): \(inWords(error))")
                }
            }
        }
    }

    private static func attack(
        _ vault: SampleVault,
        _ column: Column,
        _ value: Value,
        _ random: inout Generator,
        _ report: Report
    ) throws {
        let directory = try copyState(vault.statePath)
        do {
            let database = try RawDatabase(directory.appending("state/vault.sqlite"))
            guard try database.put(value, into: column, &random) else { return report.tally("not taken by SQLite") }
        }
        let daemon = try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs)
        let found = try vault.inspect(daemon)
        report.tally(found.hasNothing ? "harmless" : "named")
        let concerned = Set((found.refused.keys + found.missing).map { $0.components(separatedBy: ",")[0] })
        let isWhole = found.named.contains { $0.hasPrefix("status") || $0.hasPrefix("unlock") }
        if !isWhole {
            let most = column.mostItems(of: vault.contents.count)
            try expect(concerned.count <= most, "\(concerned.sorted()) suffer from one row; named: \(found.named)")
        }
        try repair(vault, daemon, found)
    }

    /// Repairs the vault, which must succeed and must not change intact rows.
    private static func repair(
        _ vault: SampleVault,
        _ daemon: DaemonProcess,
        _ before: SampleVault.Inspection
    ) throws {
        let client = try daemon.connect()
        do { _ = try client.checkAll(repairs: true) } catch { try daemon.expectAlive() }
        let after = try vault.inspect(daemon, wasRepaired: true)
        let suffering = Set(after.refused.keys).subtracting(before.refused.keys).subtracting(before.missing)
        try expect(suffering.isEmpty, "\(suffering.sorted()) suffer from a repair")
    }

    /// A column of a table.
    struct Column {
        let table: String
        let name: String
        let type: String
        let isRequired: Bool
        /// The primary key of its table, because some tables have no row number.
        let key: String

        /// The maximum number of items that a damaged row affects.
        func mostItems(of count: Int) -> Int {
            switch table {
            case "catalog_settings", "schema_migrations": count
            // A directory has at most five entries.
            case "file_nodes": 5
            // A former value is missed where it was, and stands where it does not belong.
            case "past" where name == "owner": 2
            case "keychain_items", "file_chunks", "file_logged_chunks", "keychain_tags", "past": 1
            default: 0
            }
        }
    }

    /// A value as an SQL expression.
    struct Value: CustomStringConvertible {
        let description: String
        /// Its type; empty if it is that of the column.
        let type: String

        /// A statement that writes it into a row.
        ///
        /// - Parameter offset: The place of the row, in the order of the primary key; `nil` for all rows that take it.
        func statement(in column: Column, offset: Int?) -> String {
            let (table, name, key) = (column.table, column.name, column.key)
            let sql = description.replacing("$", with: name).replacing("!", with: name).replacing("@", with: table)
            guard let offset else { return "UPDATE OR IGNORE \(table) SET \(name) = \(sql)" }
            let row = "(SELECT \(key) FROM \(table) ORDER BY \(key) LIMIT 1 OFFSET \(offset))"
            return "UPDATE \(table) SET \(name) = \(sql) WHERE (\(key)) = \(row)"
        }

        /// Whether a strict table accepts it.
        func fits(_ column: Column) -> Bool {
            if type == "NULL" { return !column.isRequired }
            return type.isEmpty || column.type == type || column.type == "ANY"
        }

        static let all: [Value] = {
            let integers = [-1, 0, 1, 2, 3, 255, 65_536, 1 << 31, 1 << 32, Int64.max - 1, .max, .min]
            let blobs = [0, 1, 15, 16, 17, 31, 33, 40, 72, 104, 65_535, 65_536, 1 << 20]
            let texts = ["''", "'x'", "CAST(x'FF00FE' AS TEXT)", "printf('%.70000c', 'x')"]
            let changedIntegers = ["$ + 1", "$ - 1", "-$", "$ + (1 << 32)"]
            let changedBlobs = [
                "CAST($ || x'00' AS BLOB)", "substr($, 1, length($) - 1)", "CAST($ || $ AS BLOB)", "substr($, 2)",
            ]
            let other = "(SELECT ! FROM @ ORDER BY random() LIMIT 1)"
            return (integers.map { "\($0)" } + changedIntegers).map { Value(description: $0, type: "INTEGER") }
                + (blobs.map { "zeroblob(\($0))" } + changedBlobs).map { Value(description: $0, type: "BLOB") }
                + texts.map { Value(description: $0, type: "TEXT") }
                + [Value(description: "NULL", type: "NULL"), Value(description: other, type: "")]
        }()
    }
}

/// A plain connection to the database.
final class RawDatabase {
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil)
        try expect(code == SQLITE_OK, "can't open '\(path)': \(code)")
    }

    deinit { sqlite3_close_v2(handle) }

    /// The columns of all tables with rows.
    func columns() throws -> [RowsCampaign.Column] {
        try rows(
            """
            SELECT t.name, c.name, c.type, c."notnull" OR c.pk > 0,
                (SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk))
            FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY 1, c.cid
            """
        ).filter { try rows("SELECT EXISTS (SELECT 1 FROM \($0[0]))")[0][0] == "1" }.map {
            RowsCampaign.Column(
                table: $0[0],
                name: $0[1],
                type: $0[2],
                isRequired: $0[3] == "1",
                key: $0[4].isEmpty ? "rowid" : $0[4]
            )
        }
    }

    /// Writes a value into a row.
    ///
    /// - Returns: Whether the table accepts it.
    func put(_ value: RowsCampaign.Value, into column: RowsCampaign.Column, _ random: inout Generator) throws -> Bool {
        let count = Int(try rows("SELECT count(*) FROM \(column.table)")[0][0]) ?? 0
        return run(value.statement(in: column, offset: random.below(count)))
    }

    /// Carries out statements; the damage of a vault may refuse them.
    @discardableResult func run(_ sql: String) -> Bool { sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK }

    /// Whether the tables and columns of a statement exist.
    func understands(_ sql: String) -> Bool {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        return sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    }

    /// The numbers of the rows of a table.
    func numbers(of table: String) throws -> [String] { try rows("SELECT rowid FROM \(table)").map { $0[0] } }

    private func rows(_ sql: String) throws -> [[String]] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        try expect(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var all: [[String]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            all.append(
                (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
                }
            )
        }
        return all
    }
}
