extension Connection {
    /// Runs the migrations that the database does not have yet, in one transaction.
    ///
    /// The existing schema must be, word for word, what the previous migrations produce: nothing is read through a
    /// foreign view, or changed by a foreign trigger.
    ///
    /// - Parameters:
    ///   - migrations: All migrations, the oldest first.
    ///   - applicationID: The number, other than 0, that marks a file as Coffer's. A new database gets it.
    ///   - known: What all of them produce, if the caller knows it: running them takes a millisecond of each start.
    /// - Throws: `newer` if the database has migrations beyond these; `damaged` if it belongs to another program, or
    ///   has other migrations or another schema; the error of a migration. No migration has run then.
    package func migrate(_ migrations: [Migration], applicationID: Int32, to known: KnownSchema? = nil) throws {
        let schema = try Schema(of: self)
        let applied = try appliedMigrations(applicationID: applicationID, schema)
        for (known, found) in zip(migrations, applied ?? []) where known.name != found {
            throw DatabaseError.damaged("it has the migration '\(found)' in place of '\(known.name)'")
        }
        let count = applied?.count ?? 0
        guard count <= migrations.count else {
            throw DatabaseError(.newer, code: 0, "made by a newer version of Coffer")
        }
        if applied != nil, count < migrations.count || schema != known?.schema {
            try schema.expect(try Schema(madeBy: migrations.prefix(count)))
        }
        rightSchema = schema
        guard applied == nil || count < migrations.count else { return }
        try transaction {
            if applied == nil {
                // A pragma takes no bindings.
                try run(script: "PRAGMA application_id = \(applicationID); \(Self.migrationsTable)")
            }
            for (offset, migration) in migrations.enumerated().dropFirst(count) {
                try run(script: migration.sql)
                try execute(
                    "INSERT INTO schema_migrations (position, name) VALUES (?, ?)",
                    .integer(Int64(offset + 1)),
                    .text(migration.name)
                )
            }
        }
        rightSchema = try Schema(of: self)
    }

    /// The names of the migrations that have run, or `nil` for an empty database.
    private func appliedMigrations(applicationID: Int32, _ schema: Schema) throws -> [String]? {
        let found = try row("PRAGMA application_id") { try $0.integer(0) } ?? 0
        guard found != 0 else {
            guard schema.entries.isEmpty else {
                throw DatabaseError.damaged("it is a database, but not one of Coffer")
            }
            return nil
        }
        guard found == Int64(applicationID) else {
            throw DatabaseError.damaged("it is a database of another program, with the number \(found)")
        }
        try expectMigrationsTable(in: schema)
        var names: [String] = []
        try rows("SELECT position, name FROM schema_migrations ORDER BY position") { row in
            names.append(try row.text(1))
            guard try row.integer(0) == Int64(names.count) else {
                throw DatabaseError.damaged("the list of its migrations has a gap")
            }
            return true
        }
        return names
    }
}
