internal import CSQLite

/// A compiled statement, which belongs to the connection and serves one use at a time.
@safe
final class Statement {
    let handle: OpaquePointer
    private let parameterCount: Int
    /// Whether it is in use: a statement can't be run from within its own rows.
    private(set) var isInUse = false

    // SQLITE_TRANSIENT, which is a cast in the header: SQLite copies before the call returns.
    private static let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// - Throws: The error of the compiler; `misuse` unless `sql` is exactly one statement.
    init(_ sql: StaticString, on connection: Connection) throws(DatabaseError) {
        var compiled: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        coffer_forget_errno()
        let code = unsafe sql.utf8Start.withMemoryRebound(to: CChar.self, capacity: sql.utf8CodeUnitCount + 1) {
            // The count includes the terminator, so that SQLite need not copy the text.
            unsafe sqlite3_prepare_v3(
                connection.handle,
                $0,
                Int32(sql.utf8CodeUnitCount + 1),
                UInt32(SQLITE_PREPARE_PERSISTENT),
                &compiled,
                &tail
            )
        }
        guard code == SQLITE_OK else { throw connection.failure(code) }
        guard let compiled = unsafe compiled else { throw .misuse("there is no statement in the SQL") }
        unsafe handle = compiled
        parameterCount = unsafe Int(sqlite3_bind_parameter_count(compiled))
        // SQLite compiles the first statement only, and would ignore what follows it.
        guard unsafe tail?.pointee == 0 else { throw .misuse("there is more than one statement in the SQL") }
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Begins a use, which ``endUse()`` must end, even after an error.
    func beginUse() { isInUse = true }

    /// Ends a use: drops the rows and the bindings.
    ///
    /// - Returns: The code of the last step, or of the commit that happens here for a statement that was not run to its
    ///   end.
    @discardableResult
    func endUse() -> Int32 {
        let code = unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        isInUse = false
        return code
    }

    func bind(_ values: [DatabaseValue], on connection: Connection) throws(DatabaseError) {
        guard values.count == parameterCount else {
            throw .misuse("\(values.count) bindings for \(parameterCount) parameters")
        }
        var position: Int32 = 0
        for value in values {
            position += 1
            let code = bind(value, at: position)
            guard code == SQLITE_OK else { throw connection.failure(code) }
        }
    }

    private func bind(_ value: DatabaseValue, at position: Int32) -> Int32 {
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(handle, position)
        case .integer(let integer):
            return unsafe sqlite3_bind_int64(handle, position, integer)
        case .blob(let bytes) where bytes.isEmpty:
            // An empty array may have no address, and a blob without an address would be bound as NULL.
            return unsafe sqlite3_bind_zeroblob(handle, position, 0)
        case .blob(let bytes):
            return unsafe sqlite3_bind_blob64(handle, position, bytes, UInt64(bytes.count), Self.transient)
        case .text(let text):
            let count = UInt64(text.utf8.count)
            return unsafe sqlite3_bind_text64(handle, position, text, count, Self.transient, UInt8(SQLITE_UTF8))
        }
    }

    /// Steps to the next row.
    ///
    /// - Returns: Whether there is one.
    func step(on connection: Connection) throws(DatabaseError) -> Bool {
        coffer_forget_errno()
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.failure(code)
        }
    }
}
