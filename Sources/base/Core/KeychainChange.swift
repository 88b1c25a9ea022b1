/// The changes that an update makes to the items that it finds, besides their secret.
public struct KeychainChange: Hashable, Sendable {
    /// Attributes and their new values.
    public var attributes: [KeychainAttribute: AttributeValue]
    /// Attributes that are removed.
    public var removedAttributes: Set<KeychainAttribute>
    /// User-defined attributes and their new values.
    public var user: [AttributeName: String]
    /// User-defined attributes that are removed.
    public var removedUser: Set<AttributeName>
    /// The new accessibility.
    public var accessibility: Accessibility?
    /// The number of former values of the secret that are kept from now on.
    public var historyCount: Int?
    /// The new access control.
    public var accessControl: AccessControl?
    /// Whether the access control is removed.
    public var removesAccessControl: Bool

    /// Creates a change.
    public init(
        attributes: [KeychainAttribute: AttributeValue] = [:],
        removedAttributes: Set<KeychainAttribute> = [],
        user: [AttributeName: String] = [:],
        removedUser: Set<AttributeName> = [],
        accessibility: Accessibility? = nil,
        historyCount: Int? = nil,
        accessControl: AccessControl? = nil,
        removesAccessControl: Bool = false
    ) {
        self.attributes = attributes
        self.removedAttributes = removedAttributes
        self.user = user
        self.removedUser = removedUser
        self.accessibility = accessibility
        self.historyCount = historyCount
        self.accessControl = accessControl
        self.removesAccessControl = removesAccessControl
    }

    /// This change, with the attributes and the history of another one where it says nothing of them.
    package func completed(by other: KeychainChange) -> KeychainChange {
        var both = self
        both.attributes.merge(other.attributes) { own, _ in own }
        both.user.merge(other.user) { own, _ in own }
        both.historyCount = historyCount ?? other.historyCount
        return both
    }

    /// Whether it changes nothing.
    public var isEmpty: Bool { self == KeychainChange() }
}
