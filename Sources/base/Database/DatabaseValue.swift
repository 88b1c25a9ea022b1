/// A value for a parameter of a statement.
///
/// SQLite copies it and does not wipe the copy: bind ciphertext, never a secret.
package enum DatabaseValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A signed 64-bit integer.
    case integer(Int64)
    /// Bytes; an empty array is a blob, not NULL.
    case blob([UInt8])
    /// Text, stored as UTF-8.
    case text(String)
}
