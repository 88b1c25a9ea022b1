/// A step in the history of the schema, which is never edited, renamed or moved once it has shipped.
package struct Migration: Hashable, Sendable {
    /// What it is called in the database.
    package let name: String
    /// Its statements, which run in a transaction and take part in none of their own.
    package let sql: String

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - name: What it is called in the database.
    ///   - sql: Its statements.
    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
