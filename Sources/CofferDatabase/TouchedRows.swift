internal import CSQLite

/// The rows of tables that a transaction has added, changed or removed, as SQLite tells of them.
///
/// What was read of a row that is not among them is no different from what is on the disk. Tables without row numbers are not
/// told of. What was undone within the transaction stays among them.
@safe
final class TouchedRows {
    private struct Row: Hashable {
        let table: String
        let number: Int64
    }

    /// Beyond it, all rows count as touched.
    private static let capacity = 4096

    private var rows: Set<Row> = []

    /// Begins to listen to a connection, which has to hold this for as long as it is open.
    func watch(_ handle: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_update_hook(
            handle,
            { context, _, _, table, number in
                guard let context = unsafe context, let table = unsafe table else { return }
                let rows = unsafe Unmanaged<TouchedRows>.fromOpaque(context).takeUnretainedValue()
                rows.add(Row(table: unsafe String(cString: table), number: number))
            },
            context
        )
    }

    private func add(_ row: Row) {
        if rows.count < Self.capacity { rows.insert(row) }
    }

    /// Whether a row is among them.
    func contains(_ number: Int64, of table: String) -> Bool {
        rows.count == Self.capacity || rows.contains(Row(table: table, number: number))
    }

    /// Begins anew, with a transaction.
    func forget() { rows.removeAll(keepingCapacity: true) }
}

extension Connection {
    /// Whether the open transaction or batch has added, changed or removed a row; no, where none is open.
    ///
    /// - Parameters:
    ///   - row: The number of the row.
    ///   - table: Its table, which has to be one with row numbers.
    package func hasTouched(_ row: Int64, of table: String) -> Bool {
        level > 0 && touchedRows.contains(row, of: table)
    }
}
