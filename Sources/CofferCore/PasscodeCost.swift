/// The cost of one guess at a passcode.
public enum PasscodeCost: String, CaseIterable, Sendable {
    /// 64 MiB, about 50 ms.
    case interactive
    /// 256 MiB, about 400 ms: the default.
    case moderate
    /// 1 GiB, some seconds.
    case sensitive

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
