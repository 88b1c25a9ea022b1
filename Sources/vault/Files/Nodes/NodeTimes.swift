internal import CofferCore

/// The times of a node of the tree, in nanoseconds since 1970.
package struct NodeTimes: Equatable, Sendable {
    /// When the content was last read, as far as a client has stated it: reading changes nothing on the disk.
    package var accessed: Int64
    /// When the content was last changed, or what a client has stated instead.
    package var modified: Int64
    /// When the content or an attribute was last changed.
    package var changed: Int64

    package init(accessed: Int64, modified: Int64, changed: Int64) {
        self.accessed = accessed
        self.modified = modified
        self.changed = changed
    }

    /// Creates the times of a node that was only changed once.
    ///
    /// - Parameter milliseconds: When, in milliseconds since 1970.
    package init(milliseconds: Int64) {
        let time = Self.nanoseconds(milliseconds)
        self.init(accessed: time, modified: time, changed: time)
    }

    /// ``modified`` in whole milliseconds since 1970.
    package var modifiedMilliseconds: Int64 {
        let (milliseconds, rest) = modified.quotientAndRemainder(dividingBy: Self.perMillisecond)
        return rest < 0 ? milliseconds - 1 : milliseconds
    }

    /// Milliseconds in nanoseconds; the nearest that can be represented for what is beyond the year 2262, or before 1677.
    package static func nanoseconds(_ milliseconds: Int64) -> Int64 {
        milliseconds.nearestProduct(perMillisecond)
    }

    private static let perMillisecond: Int64 = 1_000_000
}
