internal import CSQLite

/// The rows that a transaction has added, changed or removed, as reported by SQLite's update hook.
///
/// A row that is not among them is on the disk as it was read. Tables without row numbers are not reported. Changes
/// that were rolled back within the transaction stay among them.
@safe
final class TouchedRows {
    private struct Row: Hashable {
        let table: String
        let number: Int64
    }

    /// Beyond that number, all rows count as touched.
    private static let capacity = 4096

    private var rows: Set<Row> = []

    /// Registers with a connection, which must retain this object while it is open.
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

    /// Starts again, with a new transaction.
    func forget() { rows.removeAll(keepingCapacity: true) }
}

extension Connection {
    /// Whether the open transaction or batch has added, changed or removed a row; `false` if none is open.
    ///
    /// - Parameters:
    ///   - row: The number of the row.
    ///   - table: Its table, which must have row numbers.
    package func hasTouched(_ row: Int64, of table: String) -> Bool {
        level > 0 && touchedRows.contains(row, of: table)
    }
}
