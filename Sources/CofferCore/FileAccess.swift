/// The access mode of a file handle.
public enum FileAccess: String, CaseIterable, Sendable {
    /// Reading only.
    case read
    /// Writing only.
    case write
    /// Both.
    case readWrite

    /// Whether the handle reads.
    public var reads: Bool { self != .write }
    /// Whether the handle writes: a file has at most one such handle.
    public var writes: Bool { self != .read }
}
