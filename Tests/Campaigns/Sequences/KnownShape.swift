/// Patterns that trigger a known fault of the daemon.
enum KnownShape {
    /// A cancelled open has created the file.
    case canceledCreation
    /// An open for writing on a full disk: if the commit of another change makes it fail, it stays the
    /// writer.
    case openingWhenFull
    /// A write on a full disk: if the commit of another change makes it fail, it takes effect nevertheless.
    case writeWhenFull
    /// A connection that waits for a file that it writes itself waits for ever.
    case waitForItself
    /// A refusal because of a change in the same turn, which is rolled back because the disk is full.
    case refusalBeforeCommit

    /// Patterns that are not played or not checked.
    ///
    /// Remove an entry when its fault is fixed; keep the empty
    /// list.
    private static let leftOut: Set<KnownShape> = []

    var isPlayed: Bool { !Self.leftOut.contains(self) }
}
