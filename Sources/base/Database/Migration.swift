/// A step in the history of the schema, which is never edited, renamed or moved after its release.
package struct Migration: Hashable, Sendable {
    /// Its name in the database.
    package let name: String
    /// The generation of the schema: several rooms share a history, in the order of generations.
    package let generation: Int
    /// Its statements, which run in a transaction and contain none.
    package let sql: String

    package init(name: String, generation: Int = 1, sql: String) {
        self.name = name
        self.generation = generation
        self.sql = sql
    }
}
