/// The tables, indices and triggers of a database, in the order of their names.
///
/// The text of a table or a trigger is code that runs when rows change: a schema that is not, word for word, what the
/// migrations produce is damaged or foreign.
struct Schema: Equatable, Sendable {
    /// A row of `sqlite_schema`, without the number of its page.
    struct Entry: Hashable, Sendable {
        let type: String
        let name: String
        let table: String
        /// `nil` for an index that belongs to a constraint.
        let sql: String?

        /// The entry, for a sentence.
        var words: String { "\(type) '\(name)'" }
    }

    let entries: [Entry]

    /// Reads the schema of a database, from the table that no other entry can replace.
    init(of connection: Connection) throws {
        var entries: [Entry] = []
        var pages: Set<Int64> = []
        let statement = try Statement(
            "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY name, type",
            on: connection
        )
        while try statement.step(on: connection) {
            let row = Row(statement)
            let (type, name) = (try row.text(0), try row.text(1))
            entries.append(Entry(type: type, name: name, table: try row.text(2), sql: try row.optionalText(3)))
            // Views and triggers have none.
            guard let page = try row.optionalInteger(4), page != 0 else { continue }
            guard pages.insert(page).inserted else { throw DatabaseError.damaged("two of its tables share a page") }
        }
        self.entries = entries
    }

    init(_ entries: [Entry]) { self.entries = entries }

    /// The schema that migrations produce in an empty database.
    init(madeBy migrations: some Sequence<Migration>) throws {
        let scratch = try Connection()
        try scratch.run(script: Connection.migrationsTable)
        for migration in migrations { try scratch.run(script: migration.sql) }
        try self.init(of: scratch)
    }

    /// Checks that this is the expected schema, word for word.
    ///
    /// - Throws: `damaged`, with the first difference.
    func expect(_ expected: Schema) throws(DatabaseError) {
        if self == expected { return }
        let known = Dictionary(expected.entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entry in entries where known[entry.name] == nil { throw .foreign(entry) }
        for entry in expected.entries where !entries.contains(where: { $0.name == entry.name }) {
            throw .damaged("its \(entry.words) is missing")
        }
        for entry in entries where known[entry.name] != entry {
            throw .damaged("its \(entry.words) is not as Coffer makes it")
        }
        throw .damaged("its schema has an entry twice")
    }
}

extension Connection {
    static let migrationsTable =
        "CREATE TABLE schema_migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;"

    /// Checks that the list of migrations is Coffer's own table before it is read: a view may be endless.
    func expectMigrationsTable(in schema: Schema) throws(DatabaseError) {
        let name = "schema_migrations"
        guard let entry = schema.entries.first(where: { $0.name == name }) else {
            throw .damaged("its table '\(name)' is missing")
        }
        guard entry.type == "table", entry.sql.map({ $0 + ";" }) == Self.migrationsTable else {
            throw .damaged("its \(entry.words) is not as Coffer makes it")
        }
    }

    /// Whether the schema is still the one that was verified when the database was opened.
    ///
    /// If SQLite does not understand a statement, it is a bug with the right schema, and damage otherwise.
    func hasRightSchema() -> Bool {
        guard let rightSchema, !isReadingSchema else { return false }
        isReadingSchema = true
        defer { isReadingSchema = false }
        return (try? Schema(of: self)) == rightSchema
    }
}
