internal import CSQLite

/// A copy of an open database, which is made step by step: in the end, it is the database as of the last step.
///
/// The connection may be used between the steps. SQLite applies its commits to the pages that were copied already, and
/// begins again after a rollback.
@safe
package final class DatabaseCopy {
    private let source: Connection
    private let target: OpaquePointer
    private var copying: OpaquePointer?

    /// Begins a copy.
    ///
    /// - Parameters:
    ///   - source: The open database.
    ///   - path: The absolute path of the copy, which does not exist, in a private directory. It is not synced.
    /// - Throws: SQLite's error.
    package init(of source: Connection, at path: String) throws(DatabaseError) {
        self.source = source
        var opened: OpaquePointer?
        coffer_forget_errno()
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
            | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened = unsafe opened else {
            defer { unsafe sqlite3_close_v2(opened) }
            throw DatabaseError(code: code, systemCode: coffer_errno(), unsafe String(cString: sqlite3_errstr(code)))
        }
        unsafe target = opened
        // What a crash leaves of the copy is worthless anyhow.
        let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -512;"
        let set = unsafe sqlite3_exec(target, settings, nil, nil, nil)
        guard set == SQLITE_OK else { throw failure(set) }
        unsafe copying = sqlite3_backup_init(target, "main", source.handle, "main")
        guard unsafe copying != nil else { throw failure(unsafe sqlite3_extended_errcode(target)) }
    }

    deinit {
        _ = unsafe sqlite3_backup_finish(copying)
        unsafe sqlite3_close_v2(target)
    }

    /// Copies some pages.
    ///
    /// - Parameter pages: How many.
    /// - Returns: Whether the copy is complete, as of now.
    /// - Throws: `misuse` if a transaction is open; SQLite's error.
    package func step(_ pages: Int) throws(DatabaseError) -> Bool {
        guard source.level == 0 else { throw .misuse("a step of a copy inside a transaction") }
        coffer_forget_errno()
        let code = unsafe sqlite3_backup_step(copying, Int32(pages))
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE: return true
        default: throw failure(code)
        }
    }

    /// The pages that were copied, of those that the database had at the last step.
    package var copiedPages: Int {
        unsafe Int(sqlite3_backup_pagecount(copying) - sqlite3_backup_remaining(copying))
    }

    private func failure(_ code: Int32) -> DatabaseError {
        let systemCode = coffer_errno()
        return DatabaseError(code: code, systemCode: systemCode, unsafe String(cString: sqlite3_errstr(code)))
    }
}
