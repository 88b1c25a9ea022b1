/// The options of a caller for the decision matrix.
public struct PlacementOptions: Hashable, Sendable {
    /// The kind of the item.
    public var kind: ItemKind?
    /// The use of the item.
    public var scenario: Scenario?
    /// The class that it gets as a file.
    public var protectionClass: ProtectionClass?
    /// The accessibility that it gets in the keychain.
    public var accessibility: Accessibility?
    /// The store that it goes to.
    public var store: StoreName?
    /// Whether it consists of named fields.
    public var isStructured = false
    /// Whether the caller presents it as a file.
    public var isPresentedAsFile = false
    /// The access group; by default the caller's first.
    public var group: String?

    /// Sets no options: the matrix decides by the content.
    public init() {}
}
