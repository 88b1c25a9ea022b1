import CofferDatabase
import Foundation
import Testing

@Suite struct `The rows that a batch has touched` {
    private let directory: TemporaryDirectory
    private let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection.migrated(directory.path())
        for name in ["kept", "changed", "removed", "replaced"] { try connection.add(name) }
    }

    private var touched: [Int64] { (1...6).filter { connection.hasTouched($0, of: "items") } }

    @Test func `are those that it has added, changed, removed or replaced, until it ends`() throws {
        try connection.beginBatch()
        #expect(touched == [])
        try connection.execute("UPDATE items SET sealed = x'01' WHERE name = 'changed'")
        try connection.execute("DELETE FROM items WHERE name = 'removed'")
        try connection.execute("INSERT OR REPLACE INTO items (id, name) VALUES (4, 'replaced')")
        try connection.add("added")
        #expect(touched == [2, 3, 4, 5])
        #expect(!connection.hasTouched(2, of: "tags"))
        try connection.commitBatch()
        #expect(touched == [])
        try connection.beginBatch()
        try connection.add("again")
        try connection.rollbackBatch()
        #expect(touched == [])
    }

    @Test func `are also those whose change was undone within it`() throws {
        try connection.beginBatch()
        #expect(throws: Whim.self) {
            try connection.transaction {
                try connection.add("undone")
                throw Whim()
            }
        }
        #expect(touched == [5])
    }

    @Test func `are none outside of one`() throws {
        try connection.transaction { try connection.add("alone") }
        #expect(touched == [])
    }

    @Test func `are all, where they are too many to be kept apart`() throws {
        try connection.beginBatch()
        for number in 0..<4095 { try connection.add("many/\(number)") }
        #expect(!connection.hasTouched(1, of: "items"))
        try connection.add("one more")
        #expect(touched == [1, 2, 3, 4, 5, 6])
        try connection.commitBatch()
        #expect(touched == [])
    }
}
