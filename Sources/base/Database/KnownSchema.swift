/// The schema that migrations produce, written down, so that they need not run in an empty database at each start.
///
/// A database with another schema is compared with what the migrations do produce: a mistake here costs time only.
package struct KnownSchema: Sendable {
    /// The columns `type`, `name`, `tbl_name` and `sql` of `sqlite_schema`.
    package typealias Row = (type: String, name: String, table: String, sql: String?)

    let schema: Schema

    /// - Parameter rows: The rows, in the order of their names.
    package init(_ rows: [Row]) {
        schema = Schema(rows.map { Schema.Entry(type: $0.type, name: $0.name, table: $0.table, sql: $0.sql) })
    }

    /// Reads the schema of a database.
    package init(of connection: Connection) throws { schema = try Schema(of: connection) }

    /// The rows, in the order of their names.
    package var rows: [Row] { schema.entries.map { ($0.type, $0.name, $0.table, $0.sql) } }
}
