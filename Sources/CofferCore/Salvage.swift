/// A part of a file that could not be read.
public struct DamagedRange: Equatable, Sendable {
    /// Where it begins, in bytes.
    public let offset: Int64
    /// How many bytes it has.
    public let byteCount: Int64

    /// Makes the description of a part.
    ///
    /// - Parameters:
    ///   - offset: Where it begins, in bytes.
    ///   - byteCount: How many bytes it has.
    public init(offset: Int64, byteCount: Int64) {
        self.offset = offset
        self.byteCount = byteCount
    }
}

/// What could be saved of a damaged file.
public struct Salvage: Equatable, Sendable {
    /// The bytes that were delivered: as many as the file has, with zeros where it could not be read.
    public let byteCount: Int64
    /// How many of them are zeros for that reason.
    public let damagedByteCount: Int64
    /// Where they are, in their order; the first ``Limits/pageItems`` parts, where there are more.
    public let damaged: [DamagedRange]
    /// Whether parts that were delivered may be earlier versions of themselves: which of them count is what is damaged.
    public let mayBeOlder: Bool

    /// Makes the description of what was saved.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes that were delivered.
    ///   - damagedByteCount: How many of them could not be read.
    ///   - damaged: Where they are.
    ///   - mayBeOlder: Whether parts that were delivered may be earlier versions of themselves.
    public init(byteCount: Int64, damagedByteCount: Int64, damaged: [DamagedRange], mayBeOlder: Bool = false) {
        self.byteCount = byteCount
        self.damagedByteCount = damagedByteCount
        self.damaged = damaged
        self.mayBeOlder = mayBeOlder
    }
}
