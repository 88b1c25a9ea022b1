/// What a handle of a file is for.
public enum FileAccess: String, CaseIterable, Sendable {
    /// Reading only.
    case read
    /// Writing only.
    case write
    /// Both.
    case readWrite

    /// Whether the handle reads.
    public var reads: Bool { self != .write }
    /// Whether the handle writes: of a file there is one such handle at a time.
    public var writes: Bool { self != .read }
}
