/// Something that is wrong with a vault as a whole, beyond single rows.
public struct VaultFault: Hashable, Sendable {
    /// What is wrong, in words: no secret, and no name of an item.
    public let what: String
    /// What the owner can do about it.
    public let hint: String

    /// Describes a fault.
    public init(what: String, hint: String) {
        self.what = what
        self.hint = hint
    }
}
