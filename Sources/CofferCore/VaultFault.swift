/// A fault of a vault as a whole, beyond single rows.
public struct VaultFault: Hashable, Sendable {
    /// What is wrong, in words; without a secret or the name of an item.
    public let what: String
    /// What the owner can do about it.
    public let hint: String

    /// Creates a fault.
    public init(what: String, hint: String) {
        self.what = what
        self.hint = hint
    }
}
