/// What a caller says about an item, for the decision matrix.
public struct ItemWishes: Hashable, Sendable {
    /// What the item is.
    public var kind: ItemKind?
    /// What it is used for.
    public var scenario: Scenario?
    /// The class it is to have as a file.
    public var protectionClass: ProtectionClass?
    /// The accessibility it is to have in the keychain.
    public var accessibility: Accessibility?
    /// The store it is to be in.
    public var store: StoreName?
    /// Whether it consists of fields with names.
    public var isStructured = false
    /// Whether the caller has it as a file.
    public var isPresentedAsFile = false
    /// The access group; the caller's first if nothing is said.
    public var group: String?

    /// Says nothing: the matrix decides by the content.
    public init() {}
}
