import CofferCore
import CofferDatabase
import Foundation
import Testing

@Suite struct `A transaction` {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection.migrated(directory.path())
    }

    @Test func `returns what its body returns, and keeps all of it`() throws {
        let count = try connection.transaction {
            try connection.add("one")
            try connection.add("two")
            return connection.changes
        }
        #expect(count == 1)
        #expect(try connection.names == ["one", "two"])
    }

    @Test func `keeps nothing where its body throws`() throws {
        try connection.add("before")
        #expect(throws: Whim.self) {
            try connection.transaction {
                try connection.add("within")
                throw Whim()
            }
        }
        try connection.add("after")
        #expect(try connection.names == ["after", "before"])
    }

    @Test func `gives the data another version with its commit, and nothing else does`() throws {
        try connection.add("one")
        let version = connection.dataVersion
        #expect(try connection.names == ["one"])
        try connection.checkpoint(truncates: true)
        #expect(connection.dataVersion == version)
        try connection.beginBatch()
        try connection.add("two")
        #expect(connection.dataVersion == version)
        try connection.commitBatch()
        let next = connection.dataVersion
        #expect(next != version)
        try connection.transaction { try connection.add("three") }
        #expect(connection.dataVersion != next)
    }

    @Test func `inside another one is undone alone`() throws {
        try connection.transaction {
            try connection.add("outer")
            #expect(throws: Whim.self) {
                try connection.transaction {
                    try connection.add("inner")
                    try connection.transaction { try connection.add("innermost") }
                    throw Whim()
                }
            }
            try connection.transaction { try connection.add("second inner") }
        }
        #expect(try connection.names == ["outer", "second inner"])
    }

    @Test func `goes with the one around it`() throws {
        #expect(throws: Whim.self) {
            try connection.transaction {
                try connection.transaction { try connection.add("inner") }
                throw Whim()
            }
        }
        #expect(try connection.names == [])
    }

    @Test func `keeps nothing where the commit fails`() throws {
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        let refusal = failure {
            try connection.transaction {
                try connection.execute("PRAGMA defer_foreign_keys = ON")
                try connection.add("one")
                try connection.execute("INSERT INTO tags VALUES (99, 'work')")
            }
        }
        #expect(refusal?.kind == .constraint(unique: false))
        #expect(try connection.names == [])
        try connection.transaction { try connection.add("two") }
        #expect(try connection.names == ["two"])
    }

    @Test func `that was ended from within does not run on in pieces`() throws {
        let refusal = failure {
            try connection.transaction {
                try connection.add("one")
                try connection.execute("ROLLBACK")
                try connection.add("two")
            }
        }
        #expect(refusal?.kind == .batchLost)
        #expect(refusal?.cofferError.code == .internal)
        #expect(try connection.names == [])
    }

    @Test func `may be made while rows are being read`() throws {
        for name in ["a", "b"] { try connection.add(name) }
        var seen = 0
        try connection.rows("SELECT name FROM items WHERE name < 'c'") { row in
            seen += 1
            let name = try row.text(0)
            try connection.transaction { try connection.add("z" + name) }
            return true
        }
        #expect(seen == 2)
        #expect(try connection.names == ["a", "b", "za", "zb"])
    }
}

@Suite struct `A batch` {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection.migrated(directory.path())
    }

    /// What would be there if the process died now.
    private func namesOnDisk() throws -> [String] {
        let copy = "copy-\(UUID().uuidString)"
        try directory.copy("vault.sqlite", to: copy)
        try directory.copy("vault.sqlite-wal", to: copy + "-wal")
        return try Connection(path: directory.path(copy)).names
    }

    @Test func `is on the disk once it is committed, and not before`() throws {
        #expect(!connection.isInBatch)
        try connection.beginBatch()
        #expect(connection.isInBatch)
        for name in ["a", "b"] { try connection.transaction { try connection.add(name) } }
        #expect(try connection.names == ["a", "b"])
        #expect(try namesOnDisk() == [])
        try connection.commitBatch()
        #expect(!connection.isInBatch)
        #expect(try namesOnDisk() == ["a", "b"])
    }

    @Test func `goes on without the request that failed`() throws {
        try connection.beginBatch()
        try connection.transaction { try connection.add("first") }
        #expect(throws: Whim.self) {
            try connection.transaction {
                try connection.add("second")
                throw Whim()
            }
        }
        let duplicate = failure {
            try connection.transaction {
                try connection.add("third")
                try connection.add("first")
            }
        }
        #expect(duplicate?.kind == .constraint(unique: true))
        try connection.transaction { try connection.add("fourth") }
        try connection.commitBatch()
        #expect(try connection.names == ["first", "fourth"])
    }

    @Test func `can be given up`() throws {
        try connection.add("before")
        try connection.beginBatch()
        try connection.transaction { try connection.add("within") }
        try connection.rollbackBatch()
        #expect(!connection.isInBatch)
        #expect(try connection.names == ["before"])
        try connection.transaction { try connection.add("after") }
        #expect(try connection.names == ["after", "before"])
    }

    @Test func `begins and ends in its place only`() throws {
        #expect(failure { try connection.commitBatch() }?.kind == .misuse)
        #expect(failure { try connection.rollbackBatch() }?.kind == .misuse)
        #expect(failure { try connection.transaction { try connection.beginBatch() } }?.kind == .misuse)
        try connection.beginBatch()
        #expect(failure { try connection.beginBatch() }?.kind == .misuse)
        #expect(failure { try connection.transaction { try connection.commitBatch() } }?.kind == .misuse)
        #expect(failure { try connection.transaction { try connection.rollbackBatch() } }?.kind == .misuse)
        try connection.add("one")
        try connection.commitBatch()
        #expect(try connection.names == ["one"])
    }
}

@Suite struct `A full disk` {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection.migrated(directory.path())
        try connection.add("before", bytes: 5000)
        try connection.execute("PRAGMA max_page_count = 20")
    }

    private func expectOldContentAndWork() throws {
        #expect(try connection.names == ["before"])
        #expect(try connection.checkIntegrity() == [])
        try connection.transaction { try connection.add("small") }
        #expect(try connection.names == ["before", "small"])
    }

    @Test func `leaves the old content as it was`() throws {
        let refusal = failure { try connection.add("large", bytes: 1 << 20) }
        #expect(refusal?.kind == .full)
        #expect(refusal?.cofferError.code == .diskFull)
        #expect(refusal?.cofferError.cocoaCode == 640)
        try expectOldContentAndWork()
    }

    @Test func `undoes the transaction that met it`() throws {
        let refusal = failure {
            try connection.transaction {
                try connection.add("within")
                try connection.add("large", bytes: 1 << 20)
            }
        }
        #expect(refusal?.kind == .full)
        try expectOldContentAndWork()
    }

    @Test func `takes the whole batch, and says so to everyone`() throws {
        try connection.beginBatch()
        try connection.transaction { try connection.add("first") }
        let refusal = failure { try connection.transaction { try connection.add("large", bytes: 1 << 20) } }
        #expect(refusal?.kind == .batchLost)
        #expect(refusal?.cofferError.code == .diskFull)
        let next = failure { try connection.transaction { try connection.add("third") } }
        #expect(next?.kind == .batchLost)
        #expect(failure { _ = try connection.names }?.kind == .batchLost)
        #expect(connection.isInBatch)
        let end = failure { try connection.commitBatch() }
        #expect(end?.kind == .batchLost)
        #expect(end?.cofferError.code == .diskFull)
        #expect(!connection.isInBatch)
        try expectOldContentAndWork()
    }

    @Test func `lets a lost batch be given up without an error`() throws {
        try connection.beginBatch()
        #expect(failure { try connection.transaction { try connection.add("large", bytes: 1 << 20) } } != nil)
        try connection.rollbackBatch()
        #expect(!connection.isInBatch)
        try expectOldContentAndWork()
    }

    @Test func `is not overlooked where its error is`() throws {
        let refusal = failure {
            try connection.transaction {
                try? connection.add("large", bytes: 1 << 20)
                try connection.add("small")
            }
        }
        #expect(refusal?.kind == .batchLost)
        try expectOldContentAndWork()
    }

    @Test func `takes nothing but its statement, where SQLite could save the rest`() throws {
        try connection.beginBatch()
        try connection.transaction { try connection.add("first") }
        let refusal = failure {
            try connection.transaction {
                // Several rows and a constraint: SQLite keeps a journal for the statement.
                try connection.execute(
                    """
                    INSERT INTO items (name, sealed)
                    SELECT 'a', zeroblob(1000000) UNION ALL SELECT 'b', zeroblob(1000000)
                    """
                )
            }
        }
        #expect(refusal?.kind == .full)
        try connection.transaction { try connection.add("third") }
        try connection.commitBatch()
        #expect(try connection.names == ["before", "first", "third"])
    }
}
