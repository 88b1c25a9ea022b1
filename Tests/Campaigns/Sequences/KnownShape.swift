/// What shows a fault of the daemon that is known and not yet mended.
enum KnownShape {
    /// An opening that is taken back: it has made the file.
    case canceledCreation
    /// An opening to write on a full disk: where the commit of something else fails it, it keeps the writer's place.
    case openingWhenFull
    /// A write on a full disk: where the commit of something else fails it, it is done all the same.
    case writeWhenFull
    /// A connection that waits for a file which it writes itself: it waits for ever.
    case waitForItself
    /// A refusal for a change of the same turn, which is not done in the end because the disk is full.
    case refusalBeforeCommit

    /// What is not played, or not held against the model: where a fault is mended, take it out; where all are, leave the list
    /// empty.
    private static let leftOut: Set<KnownShape> = []

    var isPlayed: Bool { !Self.leftOut.contains(self) }
}
