internal import CSQLite
internal import CofferCore

/// The current row of a statement.
///
/// It is valid only in the closure that gets it. Columns are counted from 0. A value of another type than the requested
/// one is a `damaged` error: the schema does not allow such values, so the file was tampered with. SQLite does not
/// convert values.
@safe
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: Statement) { unsafe self.statement = statement.handle }

    /// Whether a column is NULL.
    ///
    /// - Returns: `true` for NULL, and for a column that the statement does not have.
    package func isNull(_ column: Int) -> Bool { type(of: column) == SQLITE_NULL }

    /// An integer.
    ///
    /// - Throws: `damaged` if it has another type.
    package func integer(_ column: Int) throws(DatabaseError) -> Int64 {
        try expect(SQLITE_INTEGER, in: column)
        return unsafe sqlite3_column_int64(statement, Int32(column))
    }

    /// An integer, or `nil` for NULL.
    ///
    /// - Throws: `damaged` if it has another type.
    package func optionalInteger(_ column: Int) throws(DatabaseError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    /// A text.
    ///
    /// - Throws: `damaged` if it has another type, or is not Unicode.
    package func text(_ column: Int) throws(DatabaseError) -> String {
        try expect(SQLITE3_TEXT, in: column)
        // In this order: the first call may convert the value, and the second one returns the size of the result.
        let start = unsafe sqlite3_column_text(statement, Int32(column))
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        try expectBounded(count, in: column)
        let bytes = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
        guard let text = unsafe String(checking: bytes.span) else {
            throw .damaged("column \(column) is not Unicode text")
        }
        return text
    }

    /// A text, or `nil` for NULL.
    ///
    /// - Throws: `damaged` if it has another type, or is not Unicode.
    package func optionalText(_ column: Int) throws(DatabaseError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// A copy of a blob.
    ///
    /// - Throws: `damaged` if it has another type.
    package func blob(_ column: Int) throws(DatabaseError) -> [UInt8] {
        unsafe Array(try blobMemory(column))
    }

    /// A copy of a blob, or `nil` for NULL.
    ///
    /// - Throws: `damaged` if it has another type.
    package func optionalBlob(_ column: Int) throws(DatabaseError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// Calls a closure with the bytes in SQLite's memory.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - body: Called with the bytes, which are valid only during the call.
    /// - Returns: The result of `body`.
    /// - Throws: `damaged` if it has another type; the error of `body`.
    package func withBlob<Result: ~Copyable>(
        _ column: Int,
        _ body: (RawSpan) throws -> Result
    ) throws -> Result {
        let memory = unsafe try blobMemory(column)
        return try body(unsafe memory.bytes)
    }

    private func blobMemory(_ column: Int) throws(DatabaseError) -> UnsafeRawBufferPointer {
        try expect(SQLITE_BLOB, in: column)
        // An empty blob has no address, and neither has a blob for which SQLite has no memory.
        let start = unsafe sqlite3_column_blob(statement, Int32(column))
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        try expectBounded(count, in: column)
        return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    private func type(of column: Int) -> Int32 {
        unsafe sqlite3_column_type(statement, Int32(clamping: column))
    }

    private func expect(_ expected: Int32, in column: Int) throws(DatabaseError) {
        let found = type(of: column)
        if found == expected { return }
        guard unsafe 0..<Int(sqlite3_column_count(statement)) ~= column else {
            throw .misuse("the statement has no column \(column)")
        }
        throw .damaged("column \(column) holds \(Self.name(of: found)) in place of \(Self.name(of: expected))")
    }

    /// Refuses a value that is larger than any stored one, before it is copied.
    private func expectBounded(_ byteCount: Int, in column: Int) throws(DatabaseError) {
        guard byteCount <= Limits.columnBytes else { throw .damaged("column \(column) holds \(byteCount) bytes") }
    }

    private static func name(of type: Int32) -> String {
        switch type {
        case SQLITE_INTEGER: "an integer"
        case SQLITE_FLOAT: "a number"
        case SQLITE3_TEXT: "text"
        case SQLITE_BLOB: "a blob"
        default: "null"
        }
    }
}
