extension PasscodeCost {
    /// Passes over the memory.
    public var operations: UInt32 {
        switch self {
        case .interactive: 2
        case .moderate: 3
        case .sensitive: 4
        }
    }

    /// The memory, in KiB.
    public var memoryKiB: UInt32 {
        switch self {
        case .interactive: 64 << 10
        case .moderate: 256 << 10
        case .sensitive: 1 << 20
        }
    }
}
