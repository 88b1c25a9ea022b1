/// The rows of a table that came to be, or were given another name, lately: by their numbers, and only the latest.
///
/// Whoever keeps what it has read of the table asks for what it has to look at again. A row that is noted may be gone, or its
/// change undone.
package final class RowJournal {
    /// Beyond it, looking at the whole table again is not much more work.
    private static let capacity = 512

    private var rows = [Int64](repeating: 0, count: capacity)

    /// How many were noted: a mark for ``rows(since:)``.
    package private(set) var count = 0

    /// Begins with none.
    package init() {}

    /// Notes a row.
    ///
    /// - Parameter row: Its number.
    package func note(_ row: Int64) {
        rows[count % Self.capacity] = row
        count += 1
    }

    /// Notes that rows were changed which nobody has counted.
    package func noteMany() { count += Self.capacity + 1 }

    /// The rows that were noted behind a mark.
    ///
    /// - Parameter mark: A former ``count``.
    /// - Returns: `nil` where they were more than are kept.
    package func rows(since mark: Int) -> [Int64]? {
        guard count - mark <= Self.capacity else { return nil }
        return (mark..<count).map { rows[$0 % Self.capacity] }
    }
}
