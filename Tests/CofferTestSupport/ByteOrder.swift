extension Sequence<String> {
    /// Sorts texts by their bytes; listings have no defined order.
    package func sortedByBytes() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
