import CofferCore
import CofferDatabase
import Foundation
import Testing

@Suite struct `A migration` {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private let first = Migration(name: "first", sql: "CREATE TABLE one (a INTEGER) STRICT;")
    private let second = Migration(
        name: "second",
        sql: "ALTER TABLE one ADD COLUMN b INTEGER; CREATE INDEX one_b ON one (b);"
    )
    private let broken = Migration(name: "broken", sql: "CREATE TABLE two (a INTEGER); CREATE TABLE two (a INTEGER);")

    private func open(
        _ migrations: [Migration],
        applicationID id: Int32 = applicationID,
        in name: String = "vault.sqlite"
    ) throws -> Connection {
        let connection = try Connection(path: directory.path(name))
        try connection.migrate(migrations, applicationID: id)
        return connection
    }

    private func applied(_ connection: Connection) throws -> [String] {
        var names: [String] = []
        try connection.rows("SELECT name FROM schema_migrations ORDER BY position") { row in
            names.append(try row.text(0))
            return true
        }
        return names
    }

    @Test func `runs after those before it, and is remembered`() throws {
        let connection = try open([first, second])
        try connection.execute("INSERT INTO one (a, b) VALUES (1, 2)")
        #expect(try applied(connection) == ["first", "second"])
        #expect(try connection.row("PRAGMA application_id") { try $0.integer(0) } == Int64(applicationID))
    }

    @Test func `runs once only, on an open database and on one opened again`() throws {
        do {
            let connection = try open([first])
            try connection.migrate([first], applicationID: applicationID)
        }
        #expect(try applied(open([first])) == ["first"])
    }

    @Test func `is added to a database that has those before it, and keeps its content`() throws {
        try open([first]).execute("INSERT INTO one (a) VALUES (7)")
        let connection = try open([first, second])
        #expect(try applied(connection) == ["first", "second"])
        #expect(try connection.row("SELECT a, b FROM one") { try $0.integer(0) } == 7)
    }

    @Test func `leaves nothing where it fails, of itself or of those before it`() throws {
        do {
            let connection = try Connection(path: directory.path())
            #expect(throws: DatabaseError.self) {
                try connection.migrate([first, broken], applicationID: applicationID)
            }
            #expect(try connection.row("SELECT count(*) FROM sqlite_schema") { try $0.integer(0) } == 0)
            #expect(try connection.row("PRAGMA application_id") { try $0.integer(0) } == 0)
        }
        #expect(try applied(open([first])) == ["first"])
        #expect(throws: DatabaseError.self) { try open([first, second, broken]) }
        let connection = try open([first, second])
        #expect(try connection.row("SELECT count(*) FROM sqlite_schema WHERE name = 'two'") { try $0.integer(0) } == 0)
    }

    @Test func `that this build does not know is refused as newer`() throws {
        _ = try open([first, second])
        let refusal = failure { _ = try open([first]) }
        #expect(refusal?.kind == .newer)
        #expect(refusal?.cofferError.code == .notAvailable)
        #expect(refusal?.cofferError.message.contains("newer version of Coffer") == true)
        #expect(try applied(open([first, second])) == ["first", "second"])
    }

    @Test func `of another history is refused as damaged`() throws {
        _ = try open([first, second])
        #expect(failure { _ = try open([second, first]) }?.kind == .damaged)
    }

    @Test func `has no gap before it`() throws {
        try open([first, second]).execute("DELETE FROM schema_migrations WHERE position = 1")
        #expect(failure { _ = try open([first, second]) }?.kind == .damaged)
    }

    @Test func `is not done to a database of another program`() throws {
        _ = try open([first], applicationID: 77)
        #expect(failure { _ = try open([first]) }?.kind == .damaged)
    }

    @Test func `is refused for a database without the application id`() throws {
        try Connection(path: directory.path()).execute("CREATE TABLE stranger (a INTEGER)")
        #expect(failure { _ = try open([first]) }?.kind == .damaged)
    }

    @Test func `may have a negative application number`() throws {
        _ = try open([first], applicationID: -5)
        #expect(try applied(open([first], applicationID: -5)) == ["first"])
    }

    @Test func `need not run again where its schema is known, and a foreign schema is refused all the same`() throws {
        let connection = try open([first, second])
        let known = try KnownSchema(of: connection)
        try connection.migrate([first, second], applicationID: applicationID, to: known)
        try connection.execute("CREATE TABLE stranger (a INTEGER)")
        for schema in [known, try KnownSchema(of: open([first], in: "other"))] {
            #expect(
                failure { try connection.migrate([first, second], applicationID: applicationID, to: schema) }?.kind
                    == .foreign
            )
        }
    }

    @Test func `is what counts where the known schema is another one`() throws {
        let known = try KnownSchema(of: open([first], in: "other"))
        let connection = try open([first, second])
        try connection.migrate([first, second], applicationID: applicationID, to: known)
        #expect(try applied(connection) == ["first", "second"])
    }

    @Test func `changes nothing in a file that is up to date`() throws {
        _ = try open([first, second])
        let before = try directory.contents()
        _ = try open([first, second])
        #expect(try directory.contents() == before)
    }
}
