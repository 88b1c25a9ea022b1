/// A step in the history of the schema, which is never edited, renamed or moved once it has shipped.
package struct Migration: Hashable, Sendable {
    /// What it is called in the database.
    package let name: String
    /// The generation of the schema that it made: several rooms share a history, in the order of these.
    package let generation: Int
    /// Its statements, which run in a transaction and take part in none of their own.
    package let sql: String

    /// Makes a step.
    package init(name: String, generation: Int = 1, sql: String) {
        self.name = name
        self.generation = generation
        self.sql = sql
    }
}
