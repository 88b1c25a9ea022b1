package import CofferFileContent

/// A change of an open file by one request.
package struct FileChange {
    /// The size of the file after it.
    package enum Size {
        case atLeast(Int64)
        /// It is shortened, or extended by zeros; ``FilePlans/cutting(to:of:)`` has cut the chunk at the end.
        case exactly(Int64)
    }

    let written: [WritePlan.Written]
    let holes: [Int64]
    let size: Size
    let time: Int64

    /// - Parameters:
    ///   - written: The result of performing a plan.
    ///   - holes: Chunks that are holes then, which have no base.
    ///   - size: The size of the file.
    ///   - time: When it is made, or what a client states instead, in nanoseconds since 1970.
    package init(
        _ written: [WritePlan.Written] = [],
        holes: [Int64] = [],
        size: Size = .atLeast(0),
        time: Int64
    ) {
        (self.written, self.holes, self.size, self.time) = (written, holes, size, time)
    }
}

/// Changes that the catalog does not have, and the layout of the file that they lead to.
struct UnsyncedState {
    var changes = UnsyncedChanges.Changes()
    var byteCount: Int64
    /// The bytes of the base that were never cut off.
    var visibleBaseBytes: Int64

    /// Makes later changes.
    mutating func add(_ later: UnsyncedState) {
        changes.add(later.changes)
        (byteCount, visibleBaseBytes) = (later.byteCount, later.visibleBaseBytes)
    }
}
