import CofferCore
import CofferDatabase
import Foundation
import Testing

@Suite struct `A connection` {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `keeps what was written when it is opened again`() throws {
        try Connection.migrated(directory.path()).add("github.com/token")
        #expect(try Connection.migrated(directory.path()).names == ["github.com/token"])
    }

    @Test func `keeps every kind of value as it is`() throws {
        let connection = try Connection(path: directory.path())
        try connection.execute(
            "CREATE TABLE kept (a INTEGER, b BLOB, c TEXT, d BLOB, e BLOB, f TEXT, g INTEGER) STRICT"
        )
        try connection.execute(
            "INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?, ?)",
            .integer(.min),
            .blob([0, 255, 0]),
            .text("naïve\0🗝"),
            .null,
            .blob([]),
            .text(""),
            .integer(.max)
        )
        let found: Void? = try connection.row("SELECT a, b, c, d, e, f, g FROM kept") { row throws in
            #expect(try row.integer(0) == .min)
            #expect(try row.blob(1) == [0, 255, 0])
            #expect(try row.text(2) == "naïve\0🗝")
            let isNull = row.isNull(3)
            #expect(isNull)
            #expect(try row.blob(4) == [])
            #expect(try row.text(5) == "")
            #expect(try row.integer(6) == .max)
        }
        #expect(found != nil)
    }

    @Test func `answers as it promises about its own settings`() throws {
        let connection = try Connection(path: directory.path())
        #expect(try connection.row("PRAGMA journal_mode") { try $0.text(0) } == "wal")
        #expect(try connection.row("PRAGMA locking_mode") { try $0.text(0) } == "exclusive")
        #expect(try connection.row("PRAGMA synchronous") { try $0.integer(0) } == 2)
        #expect(try connection.row("PRAGMA foreign_keys") { try $0.integer(0) } == 1)
        #expect(try connection.row("PRAGMA trusted_schema") { try $0.integer(0) } == 0)
        #expect(try connection.row("PRAGMA secure_delete") { try $0.integer(0) } == 1)
        #expect(try connection.row("PRAGMA cell_size_check") { try $0.integer(0) } == 1)
        #expect(try connection.row("PRAGMA temp_store") { try $0.integer(0) } == 2)
        #expect(try connection.row("PRAGMA mmap_size") { try $0.integer(0) } == 0)
        #expect(try connection.row("PRAGMA cache_size") { try $0.integer(0) } == -2048)
    }

    @Test func `refuses a second one on the same file, and leaves the first at work`() throws {
        let connection = try Connection.migrated(directory.path())
        let refusal = failure { _ = try Connection(path: directory.path()) }
        #expect(refusal?.kind == .busy)
        #expect(refusal?.cofferError.code == .notAvailable)
        try connection.add("one")
        #expect(try connection.names == ["one"])
    }

    @Test func `refuses a second one from its very first moment on`() throws {
        let connection = try Connection(path: directory.path())
        #expect(failure { _ = try Connection(path: directory.path()) }?.kind == .busy)
        withExtendedLifetime(connection) {}
    }

    @Test func `refuses another process`() throws {
        let connection = try Connection.migrated(directory.path())
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = [
            "python3", "-c",
            """
            import sqlite3, sys
            try: sqlite3.connect(sys.argv[1], timeout=0).execute("SELECT count(*) FROM items").fetchall()
            except sqlite3.OperationalError as error: sys.exit(7 if "locked" in str(error) else 8)
            """,
            directory.path(),
        ]
        try python.run()
        python.waitUntilExit()
        // 127: no Python on this machine, and nothing learnt.
        #expect([7, 127].contains(python.terminationStatus))
        withExtendedLifetime(connection) {}
    }

    @Test func `makes no file of shared memory`() throws {
        let connection = try Connection.migrated(directory.path())
        try connection.add("one")
        #expect(directory.exists("vault.sqlite-wal"))
        #expect(!directory.exists("vault.sqlite-shm"))
    }

    @Test func `leaves one complete file when it is closed`() throws {
        try Connection.migrated(directory.path()).add("one")
        #expect(!directory.exists("vault.sqlite-wal"))
        try directory.copy("vault.sqlite", to: "alone.sqlite")
        #expect(try Connection.migrated(directory.path("alone.sqlite")).names == ["one"])
    }

    @Test func `loses nothing that was committed when it is not closed`() throws {
        let connection = try Connection.migrated(directory.path())
        try connection.add("committed")
        try connection.beginBatch()
        try connection.add("uncommitted")
        try directory.copy("vault.sqlite", to: "crashed.sqlite")
        try directory.copy("vault.sqlite-wal", to: "crashed.sqlite-wal")
        #expect(try Connection.migrated(directory.path("crashed.sqlite")).names == ["committed"])
    }

    @Test func `undoes what is uncommitted when it is closed`() throws {
        do {
            let connection = try Connection.migrated(directory.path())
            try connection.add("committed")
            try connection.beginBatch()
            try connection.add("uncommitted")
        }
        #expect(try Connection.migrated(directory.path()).names == ["committed"])
    }

    @Test func `can't be opened where it can't be made`() throws {
        try FileManager.default.createDirectory(atPath: directory.path("folder"), withIntermediateDirectories: true)
        for path in [directory.path("no/such/folder"), directory.path("folder"), directory.path("nul") + "\0byte"] {
            let refusal = failure { _ = try Connection(path: path) }
            #expect(refusal?.kind == .cannotOpen)
            #expect(refusal?.cofferError.code == .io)
        }
        #expect(!directory.exists("nul"))
    }

    @Test func `follows no symbolic link, at the end of the path or before it`() throws {
        try Connection.migrated(directory.path()).add("one")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: directory.path())
        try files.createSymbolicLink(atPath: directory.path("folder"), withDestinationPath: directory.url.path)
        #expect(failure { _ = try Connection(path: directory.path("link")) }?.kind == .cannotOpen)
        #expect(failure { _ = try Connection(path: directory.path("folder/vault.sqlite")) }?.kind == .cannotOpen)
    }

    @Test(arguments: ["", ":memory:", "vault.sqlite", "file:vault.sqlite?mode=memory", "file:///tmp/vault.sqlite"])
    func `takes an absolute path only`(path: String) {
        #expect(failure { _ = try Connection(path: path) }?.kind == .cannotOpen)
    }
}

@Suite struct `A statement` {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection.migrated(directory.path())
    }

    private func count() throws -> Int64? { try connection.row("SELECT count(*) FROM items") { try $0.integer(0) } }

    @Test func `can be used again and again with other values`() throws {
        for number in 0..<50 { try connection.add("item-\(number)") }
        #expect(try count() == 50)
        #expect(try count() == 50)
    }

    @Test func `forgets its bindings`() throws {
        func echo(_ value: DatabaseValue) throws -> String?? {
            try connection.row("SELECT ?", value) { try $0.optionalText(0) }
        }
        #expect(try echo(.text("one")) == .some("one"))
        #expect(try echo(.null) == .some(nil))
    }

    @Test func `is ready for the next use after an error of its own`() throws {
        try connection.add("one")
        #expect(failure { try connection.add("one") }?.kind == .constraint(unique: true))
        try connection.add("two")
        #expect(try connection.names == ["one", "two"])
    }

    @Test func `is ready for the next use after an error of the reader`() throws {
        try connection.add("one")
        func read(_ body: (borrowing Row) throws -> String) throws -> String? {
            try connection.row("SELECT name FROM items", read: body)
        }
        #expect(throws: Whim.self) { _ = try read { _ in throw Whim() } }
        #expect(try read { try $0.text(0) } == "one")
    }

    @Test func `holds up no commit after its rows were left early`() throws {
        for name in ["a", "b", "c"] { try connection.add(name) }
        var seen: [String] = []
        try connection.rows("SELECT name FROM items ORDER BY name") { row in
            seen.append(try row.text(0))
            return seen.count < 2
        }
        #expect(seen == ["a", "b"])
        try connection.transaction { try connection.add("d") }
        #expect(try count() == 4)
    }

    @Test func `can be used within its own rows`() throws {
        for name in ["a", "b", "c"] { try connection.add(name) }
        var pairs: [String] = []
        func each(_ body: (borrowing Row) throws -> Bool) throws {
            try connection.rows("SELECT name FROM items ORDER BY name", each: body)
        }
        try each { outer in
            let first = try outer.text(0)
            try each { inner in
                pairs.append(first + (try inner.text(0)))
                return true
            }
            return true
        }
        #expect(pairs == ["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"])
    }

    @Test func `gives nil for no row, and an error for a second one`() throws {
        #expect(try connection.row("SELECT 1 WHERE 0") { try $0.integer(0) } == nil)
        #expect(
            failure { _ = try connection.row("SELECT 1 UNION ALL SELECT 2") { try $0.integer(0) } }?.kind == .misuse
        )
    }

    @Test func `that changes rows can give them back`() throws {
        let id = try connection.row("INSERT INTO items (name) VALUES (?) RETURNING id", .text("one")) { row in
            try row.integer(0)
        }
        #expect(id == connection.lastInsertedRowID)
        #expect(connection.changes == 1)
        try connection.add("two")
        try connection.execute("UPDATE items SET sealed = NULL")
        #expect(connection.changes == 2)
    }

    @Test func `is refused with too few or too many values`() {
        #expect(failure { try connection.execute("SELECT ?") }?.kind == .misuse)
        #expect(failure { try connection.execute("SELECT ?", .null, .null) }?.kind == .misuse)
    }

    @Test func `is refused when it is none, two or nonsense`() {
        #expect(failure { try connection.execute("") }?.kind == .misuse)
        #expect(failure { try connection.execute("-- nothing") }?.kind == .misuse)
        #expect(failure { try connection.execute("DELETE FROM tags; DELETE FROM items") }?.kind == .misuse)
        #expect(failure { try connection.execute("SELEKT 1") }?.kind == .other)
    }

    @Test func `says which constraint it would break, and never a value`() throws {
        try connection.add("hunter2")
        let duplicate = try #require(failure { try connection.add("hunter2") })
        #expect(duplicate.kind == .constraint(unique: true))
        #expect(duplicate.cofferError.code == .duplicateItem)
        #expect(duplicate.message.contains("items.name"))
        #expect(!duplicate.message.contains("hunter2"))
        let insert = { (item: Int64, tag: String) throws -> Void in
            try connection.execute("INSERT INTO tags VALUES (?, ?)", .integer(item), .text(tag))
        }
        let orphan = failure { try insert(99, "work") }
        #expect(orphan?.kind == .constraint(unique: false))
        #expect(orphan?.cofferError.code == .internal)
        #expect(failure { try insert(1, "") }?.kind == .constraint(unique: false))
    }

    @Test func `is refused a write where the database can be read only`() throws {
        try connection.execute("PRAGMA query_only = ON")
        let refusal = failure { try connection.add("one") }
        #expect(refusal?.kind == .readOnly)
        #expect(refusal?.cofferError.code == .io)
    }
}

@Suite struct `A row` {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection(path: directory.path())
    }

    /// One column each: an integer, a text, a blob, null and a number.
    private func read(_ body: (borrowing Row) throws -> Void) throws {
        let found: Void? = try connection.row("SELECT 7, 'seven', x'0707', NULL, 7.5", read: body)
        #expect(found != nil)
    }

    @Test func `gives each type to whom asks for that type`() throws {
        try read { row throws in
            #expect(try row.integer(0) == 7)
            #expect(try row.optionalInteger(0) == 7)
            #expect(try row.text(1) == "seven")
            #expect(try row.optionalText(1) == "seven")
            #expect(try row.blob(2) == [7, 7])
            #expect(try row.optionalBlob(2) == [7, 7])
            #expect(try row.withBlob(2) { $0.byteCount } == 2)
            #expect(try row.optionalInteger(3) == nil)
            #expect(try row.optionalText(3) == nil)
            #expect(try row.optionalBlob(3) == nil)
            #expect([0, 1, 2, 3, 4].map { row.isNull($0) } == [false, false, false, true, false])
        }
    }

    @Test(arguments: 0..<5)
    func `says damaged to whom asks for another type`(column: Int) throws {
        let reads: [(rightColumn: Int, read: (borrowing Row) throws -> Void)] = [
            (0, { _ = try $0.integer(column) }),
            (1, { _ = try $0.text(column) }),
            (2, { _ = try $0.blob(column) }),
            (2, { try $0.withBlob(column) { _ in } }),
        ]
        for (rightColumn, readColumn) in reads where rightColumn != column {
            let refusal = failure { try read(readColumn) }
            #expect(refusal?.kind == .damaged)
            #expect(refusal?.cofferError.code == .decode)
            #expect(refusal?.message.contains("seven") == false)
        }
    }

    @Test func `does not take nothing for something else`() throws {
        #expect(failure { try read { _ = try $0.optionalInteger(1) } }?.kind == .damaged)
        #expect(failure { try read { _ = try $0.optionalText(2) } }?.kind == .damaged)
        #expect(failure { try read { _ = try $0.optionalBlob(0) } }?.kind == .damaged)
    }

    @Test func `has no column that was not asked for`() {
        for column in [-1, 5, .max, .min] {
            #expect(failure { try read { _ = try $0.integer(column) } }?.kind == .misuse)
        }
    }

    @Test func `says damaged to text that is not Unicode`() {
        #expect(
            failure { _ = try connection.row("SELECT CAST(x'61FF62' AS TEXT)") { try $0.text(0) } }?.kind == .damaged
        )
    }

    @Test func `lends the bytes of a blob, also when there are none`() throws {
        // Counted outside of #expect: Swift 6.3.1 takes a closure in it for another one of its type beside it.
        let sum = try connection.row("SELECT x'010203', x''") { row in
            let count = try row.withBlob(1) { $0.byteCount }
            #expect(count == 0)
            return try row.withBlob(0) { bytes in
                bytes.byteOffsets.reduce(0) { $0 + Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
            }
        }
        #expect(sum == 6)
    }

    @Test func `passes on what its reader throws`() {
        #expect(throws: Whim.self) { try read { try $0.withBlob(2) { _ in throw Whim() } } }
    }
}
