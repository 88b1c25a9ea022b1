/// What a database says of its tables, indices and triggers, in the order of their names.
///
/// The text of a table or a trigger is the program that runs when rows change: a schema that is not word for word what the
/// migrations make is damaged, or somebody else's.
struct Schema: Equatable {
    /// A row of `sqlite_schema`, but for where its content lies.
    struct Entry: Hashable {
        let type: String
        let name: String
        let table: String
        /// `nil` for an index that belongs to a constraint.
        let sql: String?

        /// What it is, for a sentence.
        var words: String { "\(type) '\(name)'" }
    }

    let entries: [Entry]

    /// Reads the schema of a database, from the table that no other entry can stand in for.
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

    /// What migrations make of an empty database.
    init(madeBy migrations: some Sequence<Migration>) throws {
        let scratch = try Connection.scratch()
        try scratch.run(script: Connection.migrationsTable)
        for migration in migrations { try scratch.run(script: migration.sql) }
        try self.init(of: scratch)
    }

    /// Sees that this is another schema, word for word.
    ///
    /// - Throws: `damaged`, with the first entry that is not.
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

    /// Sees that the list of migrations is a table, and ours, before anything is read of it: a view may have no end.
    func expectMigrationsTable(in schema: Schema) throws(DatabaseError) {
        let name = "schema_migrations"
        guard let entry = schema.entries.first(where: { $0.name == name }) else {
            throw .damaged("its table '\(name)' is missing")
        }
        guard entry.type == "table", entry.sql.map({ $0 + ";" }) == Self.migrationsTable else {
            throw .damaged("its \(entry.words) is not as Coffer makes it")
        }
    }

    /// Whether the schema is still the one that was found right when the database was opened.
    ///
    /// A statement of ours that SQLite does not understand is our fault then, and damage otherwise.
    func hasRightSchema() -> Bool {
        guard let rightSchema, !isReadingSchema else { return false }
        isReadingSchema = true
        defer { isReadingSchema = false }
        return (try? Schema(of: self)) == rightSchema
    }
}
