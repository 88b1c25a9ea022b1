extension Connection {
    /// Brings the schema up to date: runs the migrations that the database does not have yet, in one transaction.
    ///
    /// What is there has to be what those that have run make, word for word: nothing is read through a view, or changed
    /// under a trigger, that is not ours.
    ///
    /// - Parameters:
    ///   - migrations: The whole history, the oldest first.
    ///   - applicationID: The number, other than 0, that marks a file as ours. A new database gets it.
    /// - Throws: `newer` where the database has migrations beyond these; `damaged` where it is somebody else's, has a
    ///   history that is not the beginning of this one, or a schema that this history does not make; what a migration throws, and then none of them has run.
    package func migrate(_ migrations: [Migration], applicationID: Int32) throws {
        let schema = try Schema(of: self)
        let applied = try appliedMigrations(applicationID: applicationID, schema)
        for (known, found) in zip(migrations, applied ?? []) where known.name != found {
            throw DatabaseError.damaged("it has the migration '\(found)' in place of '\(known.name)'")
        }
        let count = applied?.count ?? 0
        guard count <= migrations.count else {
            throw DatabaseError(.newer, code: 0, "made by a newer version of Coffer")
        }
        if applied != nil { try schema.expect(try Schema(madeBy: migrations.prefix(count))) }
        rightSchema = schema
        guard applied == nil || count < migrations.count else { return }
        try transaction {
            if applied == nil { try markAsOurs(applicationID) }
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

    /// The names of the migrations that have run, or `nil` for a database in which there is nothing at all.
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

    private func markAsOurs(_ applicationID: Int32) throws(DatabaseError) {
        // A pragma takes no bindings.
        try run(script: "PRAGMA application_id = \(applicationID); \(Self.migrationsTable)")
    }
}
