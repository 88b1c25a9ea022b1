internal import CSQLite

/// An open database file, held by this connection alone.
///
/// It is for one thread and has no lock of its own, which is why it is not `Sendable`. What it promises: a transaction
/// that was committed is on the disk; a file that somebody tampered with gives errors, never a trap; SQL is made of
/// literals only, so that nothing a client sends can become SQL.
///
/// Every statement stays compiled for the life of the connection, at about a kilobyte each: there are as many as there
/// are literals in the program.
@safe
package final class Connection {
    let handle: OpaquePointer
    /// By the address of the literal, which is cheaper to hash than its text.
    private var statements: [UInt: Statement] = [:]

    /// How many transactions and savepoints are open; a batch counts as one.
    var level = 0
    /// Whether a batch is open.
    package internal(set) var isInBatch = false
    /// Whether nothing may be changed, as what would be is a copy.
    private var isOfReadOnlyFileSystem = false
    /// What ended the open transaction before its time.
    var loss: DatabaseError?
    /// Up to where the database file has room, as far as that was asked for.
    var roomyBytes: Int64 = 0
    /// What is known of the log.
    let logWatch = LogWatch()
    /// The schema that ``migrate(_:applicationID:)`` has found or made; `nil` before it.
    var rightSchema: Schema?
    /// Whether the schema is being read to explain an error.
    var isReadingSchema = false
    /// The damage that was met since the last check.
    package let faults = FaultLog()

    /// Opens a database file, and makes it where there is none.
    ///
    /// The file gets the mode that the umask leaves: it has to lie in a directory that is closed to others. SQLite keeps
    /// `<path>-wal` beside it.
    ///
    /// - Parameter path: The absolute path of the file, with no symbolic link anywhere in it: resolve the directory first.
    /// - Throws: `busy` at once where another connection, of whatever process, has the file open; `cannotOpen`;
    ///   `damaged` where the file is no database, or is damaged at its beginning.
    package init(path: String) throws(DatabaseError) {
        unsafe handle = try Self.open(path)
        unsafe logWatch.watch(handle)
        try configure()
    }

    private init(scratch handle: OpaquePointer) { unsafe self.handle = handle }

    /// A database in memory, for looking at what statements make.
    static func scratch() throws(DatabaseError) -> Connection {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(":memory:", &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            defer { unsafe sqlite3_close_v2(opened) }
            throw DatabaseError(code: code, unsafe String(cString: sqlite3_errstr(code)))
        }
        return unsafe Connection(scratch: opened)
    }

    /// Undoes what is uncommitted, writes the log back into the database file and closes it.
    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    private static func open(_ path: String) throws(DatabaseError) -> OpaquePointer {
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE
        // SQLite would stop reading at a NUL, and open another file than the one named. Other paths than absolute ones
        // may be a database in memory, or a URI, which undoes the flags.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw DatabaseError(code: SQLITE_CANTOPEN, "the path is not absolute, or has a NUL byte in it")
        }
        var opened: OpaquePointer?
        coffer_forget_errno()
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        let systemCode = coffer_errno()
        guard code == SQLITE_OK, let opened = unsafe opened else {
            defer { unsafe sqlite3_close_v2(opened) }
            throw DatabaseError(code: code, systemCode: systemCode, unsafe String(cString: sqlite3_errstr(code)))
        }
        return unsafe opened
    }

    private func configure() throws(DatabaseError) {
        // The locking mode comes first: where the first access in WAL mode finds it exclusive, the index of the log
        // lives on the heap, with no shared-memory file that another process could write to, and a second daemon on
        // the same vault is refused when it opens. Everything else has to hold before the schema is first read.
        try run(
            script: """
                PRAGMA locking_mode = EXCLUSIVE;
                PRAGMA busy_timeout = 0;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA mmap_size = 0;
                PRAGMA temp_store = MEMORY;
                PRAGMA foreign_keys = ON;
                PRAGMA cache_size = -2048;
                PRAGMA secure_delete = ON;
                PRAGMA synchronous = FULL;
                """
        )
        let mode = try journalMode()
        guard mode == "wal" else {
            throw DatabaseError(.cannotOpen, code: SQLITE_CANTOPEN, "the journal mode is '\(mode ?? "")', not 'wal'")
        }
    }

    /// Refuses every change from here on, as one of a file system that is read-only: the database is a copy of what is there.
    package func forbidChanges() throws(DatabaseError) {
        try run(script: "PRAGMA query_only = ON")
        isOfReadOnlyFileSystem = true
    }

    private func journalMode() throws(DatabaseError) -> String? {
        let statement = try Statement("PRAGMA journal_mode = WAL", on: self)
        return try statement.step(on: self) ? Row(statement).text(0) : nil
    }
}

extension Connection {
    /// Runs a statement to its end, and passes over the rows that it gives.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: A value for each of its parameters.
    /// - Throws: What SQLite answered; `batchLost` where the open transaction is gone.
    package func execute(_ sql: StaticString, _ bindings: DatabaseValue...) throws(DatabaseError) {
        let statement = try lend(sql, bindings)
        defer { statement.endUse() }
        while try statement.step(on: self) {}
    }

    /// Runs a statement that gives one row at most.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: A value for each of its parameters.
    ///   - read: Gets the row, for as long as it runs.
    /// - Returns: What `read` returns, or `nil` where there is no row.
    /// - Throws: What SQLite answered; `batchLost` where the open transaction is gone; what `read` throws; `misuse`
    ///   where there is a second row.
    package func row<Result: ~Copyable>(
        _ sql: StaticString,
        _ bindings: DatabaseValue...,
        read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let statement = try lend(sql, bindings)
        defer { statement.endUse() }
        guard try statement.step(on: self) else { return nil }
        let result = try noting { try read(Row(statement)) }
        guard try !statement.step(on: self) else {
            throw DatabaseError.misuse("a second row where there can be one only")
        }
        return result
    }

    /// Runs a statement and looks at its rows, one after the other.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: A value for each of its parameters.
    ///   - each: Gets a row, for as long as it runs, and says whether to go on. It may use the connection.
    /// - Throws: What SQLite answered; `batchLost` where the open transaction is gone; what `each` throws.
    package func rows(
        _ sql: StaticString,
        _ bindings: DatabaseValue...,
        each: (borrowing Row) throws -> Bool
    ) throws {
        let statement = try lend(sql, bindings)
        do {
            while try statement.step(on: self), try noting({ try each(Row(statement)) }) {}
        } catch {
            statement.endUse()
            throw error
        }
        let code = statement.endUse()
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Notes damage that a row turns out to have.
    private func noting<Result: ~Copyable>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch {
            faults.note(ifDamage: error)
            throw error
        }
    }

    /// Refuses to take for a finding what the disk could not read.
    func checkDisk() throws(DatabaseError) {
        let error = DatabaseError(code: SQLITE_CORRUPT, systemCode: coffer_errno(), "")
        if error.kind == .ioError { throw error }
    }

    /// How many rows the last statement that changes any has changed.
    package var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// The row number of the last row that was inserted.
    package var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }
}

extension Connection {
    /// Whether SQLite has no transaction open.
    var isInAutocommit: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }

    /// Runs several statements that take no bindings.
    func run(script: String) throws(DatabaseError) {
        coffer_forget_errno()
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// The error of the call that just failed.
    func failure(_ code: Int32) -> DatabaseError {
        let isForbidden = isOfReadOnlyFileSystem && code & 0xFF == SQLITE_READONLY
        let systemCode = isForbidden ? coffer_read_only : coffer_errno()
        var error = DatabaseError(code: code, systemCode: systemCode, unsafe String(cString: sqlite3_errmsg(handle)))
        // What SQLite does not understand of a literal that it understood with the right schema is the schema's damage.
        if error.isOfStatement && !hasRightSchema() { error = error.asDamage }
        if error.kind == .damaged { faults.note(error.message) }
        if level > 0, loss == nil, isInAutocommit { loss = error }
        return error
    }

    private func lend(_ sql: StaticString, _ bindings: [DatabaseValue]) throws(DatabaseError) -> Statement {
        try checkForLoss()
        let statement = try idleStatement(sql)
        statement.beginUse()
        do {
            try statement.bind(bindings, on: self)
        } catch {
            statement.endUse()
            throw error
        }
        return statement
    }

    private func idleStatement(_ sql: StaticString) throws(DatabaseError) -> Statement {
        let key = unsafe UInt(bitPattern: sql.utf8Start)
        guard let cached = statements[key] else {
            let statement = try Statement(sql, on: self)
            statements[key] = statement
            return statement
        }
        // A statement run from within its own rows gets a double, which goes when that use ends.
        return cached.isInUse ? try Statement(sql, on: self) : cached
    }
}
