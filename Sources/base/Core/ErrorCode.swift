/// The stable name of an error.
///
/// Which codes there are is generated. A code that this build does not know is kept unchanged, and never fatal.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The name on the wire.
    public let rawValue: String

    /// Creates a code from its name on the wire.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The `OSStatus` of the code; for an unknown code, that of ``internal``.
    public var osStatus: Int { Self.table.first { $0.code == self }?.osStatus ?? -2070 }
}
