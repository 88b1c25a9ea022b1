internal import CSQLite
internal import CofferCore

/// The row that a statement stands on.
///
/// It is there inside the closure that gets it, and can't be kept. Columns are counted from 0. A value of another type than the one asked for throws a `damaged` error: the schema
/// keeps such values out, so somebody has been at the file. SQLite converts nothing on the way.
@safe
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: Statement) { unsafe self.statement = statement.handle }

    /// Whether there is nothing in a column.
    ///
    /// - Returns: `true` for null, and for a column that the statement does not have.
    package func isNull(_ column: Int) -> Bool { type(of: column) == SQLITE_NULL }

    /// An integer.
    ///
    /// - Returns: The integer.
    /// - Throws: `damaged` where there is something else.
    package func integer(_ column: Int) throws(DatabaseError) -> Int64 {
        try expect(SQLITE_INTEGER, in: column)
        return unsafe sqlite3_column_int64(statement, Int32(column))
    }

    /// An integer, or `nil` for null.
    ///
    /// - Returns: The integer, or `nil`.
    /// - Throws: `damaged` where there is something else.
    package func optionalInteger(_ column: Int) throws(DatabaseError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    /// A text.
    ///
    /// - Returns: The text.
    /// - Throws: `damaged` where there is something else, or text that is not Unicode.
    package func text(_ column: Int) throws(DatabaseError) -> String {
        try expect(SQLITE3_TEXT, in: column)
        // In this order: the first call may convert, and the second one counts what it made.
        let start = unsafe sqlite3_column_text(statement, Int32(column))
        let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
        try expectBounded(count, in: column)
        let bytes = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw .damaged("column \(column) is not Unicode text")
        }
        return text
    }

    /// A text, or `nil` for null.
    ///
    /// - Returns: The text, or `nil`.
    /// - Throws: `damaged` where there is something else, or text that is not Unicode.
    package func optionalText(_ column: Int) throws(DatabaseError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// A copy of some bytes.
    ///
    /// - Returns: The bytes.
    /// - Throws: `damaged` where there is something else.
    package func blob(_ column: Int) throws(DatabaseError) -> [UInt8] {
        unsafe Array(try blobMemory(column))
    }

    /// A copy of some bytes, or `nil` for null.
    ///
    /// - Returns: The bytes, or `nil`.
    /// - Throws: `damaged` where there is something else.
    package func optionalBlob(_ column: Int) throws(DatabaseError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// Reads bytes where they lie, in SQLite's memory.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - body: Gets the bytes, for as long as it runs.
    /// - Returns: What `body` returns.
    /// - Throws: `damaged` where there is something else; what `body` throws.
    package func withBlob<Result: ~Copyable>(
        _ column: Int,
        _ body: (RawSpan) throws -> Result
    ) throws -> Result {
        let memory = unsafe try blobMemory(column)
        return try body(unsafe memory.bytes)
    }

    private func blobMemory(_ column: Int) throws(DatabaseError) -> UnsafeRawBufferPointer {
        try expect(SQLITE_BLOB, in: column)
        // An empty blob has no address, and a blob without memory to expand it into has none either.
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

    /// Refuses what is larger than anything that is stored, before it is copied.
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
