/// A step in the history of the schema, which is never edited, renamed or moved after its release.
package struct Migration: Hashable, Sendable {
    /// Its name in the database.
    package let name: String
    /// Its statements, which run in a transaction and contain none.
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
