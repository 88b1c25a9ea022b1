/// A value to bind to a parameter of a statement.
///
/// SQLite copies it and does not wipe the copy: bind what is sealed, never a secret.
package enum DatabaseValue: Hashable, Sendable {
    /// Nothing.
    case null
    /// A signed 64-bit integer.
    case integer(Int64)
    /// Bytes; none of them is still a blob, not null.
    case blob([UInt8])
    /// Text, stored as UTF-8.
    case text(String)
}
