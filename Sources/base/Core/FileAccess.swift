extension FileAccess {
    /// Whether the handle reads.
    public var reads: Bool { self != .write }
    /// Whether the handle writes: a file has at most one such handle.
    public var writes: Bool { self != .read }
}
