internal import CSQLite

/// An open database file, locked by this connection.
///
/// It must be used on one thread and has no lock of its own, so it is not `Sendable`. It guarantees: a committed
/// transaction is on the disk; a file that was tampered with causes errors, never a trap; SQL consists of literals
/// only, so that nothing from a client can become SQL.
///
/// Every statement stays compiled while the connection is open, at about a kilobyte each: there are as many as literals
/// in the program.
@safe
package final class Connection {
    let handle: OpaquePointer
    /// By the address of the literal, which is cheaper to hash than its text.
    private var statements: [UInt: Statement] = [:]

    /// The number of open transactions and savepoints; a batch counts as one.
    var level = 0
    /// Whether a batch is open.
    package internal(set) var isInBatch = false
    /// Whether changes are refused, because they would only reach a copy.
    private var isOfReadOnlyFileSystem = false
    /// The error that ended the open transaction prematurely.
    var loss: DatabaseError?
    /// The error of a disk that could not be read in the open transaction: until it is over, SQLite repeats it as damage,
    /// and there is no `errno` any more.
    var unreadable: DatabaseError?
    /// The size up to which the database file has been allocated.
    var roomyBytes: Int64 = 0
    /// Tracks the log.
    let logWatch = LogWatch()
    /// The schema that ``migrate(_:applicationID:)`` has verified; `nil` before.
    var rightSchema: Schema?
    /// Whether the schema is being read to explain an error.
    var isReadingSchema = false
    /// The damage that was met since the last check.
    package let faults = FaultLog()

    /// Opens a database file, and creates it if it does not exist.
    ///
    /// The umask decides the mode of the file, so it must be in a private directory. SQLite keeps `<path>-wal` beside
    /// it.
    ///
    /// - Parameter path: The absolute path of the file, without any symbolic link: resolve the directory first.
    /// - Throws: `busy` if another connection, of any process, has the file open; `cannotOpen`; `damaged` if the file
    ///   is not a database, or is damaged at its beginning.
    package init(path: String) throws(DatabaseError) {
        // SQLite would stop reading at a NUL, and open another file. A path that is not absolute may be a database in
        // memory, or a URI that overrides the flags.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw DatabaseError(code: SQLITE_CANTOPEN, "the path is not absolute, or has a NUL byte in it")
        }
        unsafe handle = try Self.open(path)
        unsafe logWatch.watch(handle)
        try configure()
    }

    /// Opens a database in memory, to see what migrations produce.
    init() throws(DatabaseError) { unsafe handle = try Self.open(":memory:") }

    /// Rolls back what is uncommitted, checkpoints the log and closes the file.
    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    private static let forgoStatistics: Void = coffer_forgo_memory_statistics()

    private static func open(_ path: String) throws(DatabaseError) -> OpaquePointer {
        forgoStatistics
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE
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
        // The locking mode comes first. If the first access in WAL mode finds it exclusive, the index of the log is on
        // the heap, without a shared-memory file that another process could write to, and a second daemon on the same
        // vault is refused when it opens. All other settings must precede the first read of the schema.
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

    /// Refuses every change from now on, as on a read-only file system: the database is a copy.
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
    /// Runs a statement to its end, and ignores its rows.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: The values of its parameters.
    /// - Throws: SQLite's error; `batchLost` if the open transaction was lost.
    package func execute(_ sql: StaticString, _ bindings: DatabaseValue...) throws(DatabaseError) {
        let statement = try lend(sql, bindings)
        defer { statement.endUse() }
        while try statement.step(on: self) {}
    }

    /// Runs a statement that returns at most one row.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: The values of its parameters.
    ///   - read: Called with the row, which is valid only during the call.
    /// - Returns: The result of `read`, or `nil` if there is no row.
    /// - Throws: SQLite's error; `batchLost` if the open transaction was lost; the error of `read`; `misuse` if there
    ///   is a second row.
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

    /// Runs a statement and calls a closure for each row.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - bindings: The values of its parameters.
    ///   - each: Called with a row, which is valid only during the call; returns whether to continue. It may use the
    ///     connection.
    /// - Throws: SQLite's error; `batchLost` if the open transaction was lost; the error of `each`.
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

    /// Records damage of a row that is found while it is read.
    private func noting<Result: ~Copyable>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch {
            faults.note(ifDamage: error)
            throw error
        }
    }

    /// Fails if a finding is the result of a disk that can't be read.
    func checkDisk() throws(DatabaseError) {
        let error = DatabaseError(code: SQLITE_CORRUPT, systemCode: coffer_errno(), "")
        if error.kind == .ioError { throw error }
    }

    /// The number of rows that the last changing statement has changed.
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
        // If SQLite does not understand a literal that is valid with the right schema, the schema is damaged.
        if error.isOfStatement && !hasRightSchema() { error = error.asDamage }
        if level > 0, error.isOfUnreadableDisk { unreadable = error }
        if error.kind == .damaged, level > 0, let unreadable { error = unreadable }
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
        // A statement that is run from within its own rows gets a second copy, which is released after that use.
        return cached.isInUse ? try Statement(sql, on: self) : cached
    }
}
