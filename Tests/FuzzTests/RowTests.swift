import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import FuzzTargets
import Testing

/// A daemon whose catalog has values that no row of its own has.
@Suite struct RowTests {
    private static let items = (0..<10).map { "item/\($0)" }
    private static let files = (0..<10).map { "file\($0)" }

    /// A state directory with rows in most tables, made once.
    private static let template = Result { () throws -> TemporaryDirectory in
        let directory = try TemporaryDirectory()
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        for name in items {
            try client.put(name, [1])
            try client.put(name, Array(name.utf8))
        }
        for name in files { try client.put(name, Array(name.utf8)) { $0.kind = .database } }
        return directory
    }

    private static let columns = RowTable.all.flatMap { table in
        table.columns.indices.map { (table: table, column: $0, name: "\(table.name).\(table.columns[$0])") }
    }

    /// What arithmetic, sizes and codes have to bear; each in a row of its own.
    private static let values: [DatabaseValue] = [
        .integer(.max), .integer(.min), .integer(-1), .integer(65536), .blob([]),
        .blob([UInt8](repeating: 0, count: 65536)),
        .blob([UInt8](repeating: 0, count: Limits.columnBytes + 1)), .text("text"), .null,
    ]

    private func copy() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try FileManager.default.copyItem(
            atPath: try Self.template.get().appending("state"),
            toPath: directory.appending("state")
        )
        return directory
    }

    /// Writes the values into the rows of a column, from a row on.
    ///
    /// - Returns: How many rows were changed: the schema, or another row, may refuse a value.
    private func replace(_ table: RowTable, _ column: Int, in directory: TemporaryDirectory) throws -> Int {
        let connection = try Connection(path: directory.appending("state/vault.sqlite"))
        var count = 0
        for (row, value) in Self.values.enumerated() {
            let place = (column: DatabaseValue.integer(Int64(column)), row: DatabaseValue.integer(Int64(row)))
            if (try? connection.execute(table.update, value, .integer(0), place.column, place.row)) != nil {
                count += connection.changes
            }
        }
        return count
    }

    @Test(arguments: columns.map(\.name))
    func `impossible values cost their rows alone, and the daemon goes on`(name: String) throws {
        let (table, column, _) = try #require(Self.columns.first { $0.name == name })
        let directory = try copy()
        let changedCount = try replace(table, column, in: directory)
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try wait(for: client)
        func readable() throws -> Int {
            try (Self.items + Self.files).count { name in
                do { return try client.get(name) == Array(name.utf8) } catch is CofferError { return false }
            }
        }
        #expect(try readable() >= 20 - changedCount)
        for attempt: () throws -> Void in [
            { _ = try client.list() }, { _ = try client.list(store: .file) }, { _ = try client.status() },
            { _ = try client.keychainItems(KeychainQuery(.genericPassword)) },
            { for name in Self.items + Self.files { _ = try client.show(try ItemName(name)) } },
            { _ = try client.auditRecords(AuditQuery()) }, { _ = try client.verifyAudit() },
            { _ = try client.rules() },
            { _ = try client.quarantine() },
        ] {
            do { try attempt() } catch is CofferError {}
        }
        for repairs in [false, true] {
            var cursor: String?
            repeat {
                cursor = try client.checkVault(repairs: repairs, cursor: cursor).cursor
            } while cursor != nil
        }
        #expect(try client.status().state == .noPasscode)
        #expect(try readable() >= 20 - changedCount)
    }

    /// A process that another test starts holds a copy of the lock for an instant.
    private func wait(for client: BlockingClient) throws {
        _ = try settles { try Outcome({ _ = try client.status() }) != .refused(.notAvailable) }
    }
}
