extension Sequence<String> {
    /// The texts in the order of their bytes: listings have no order of their own.
    package func sortedByBytes() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
