/// What an update changes of the items that it finds, besides their secret.
public struct KeychainChange: Hashable, Sendable {
    /// Attributes and their new values.
    public var attributes: [KeychainAttribute: AttributeValue]
    /// Attributes that are taken away.
    public var removedAttributes: Set<KeychainAttribute>
    /// Attributes of the user's own and their new values.
    public var user: [String: String]
    /// Attributes of the user's own that are taken away.
    public var removedUser: Set<String>
    /// The new accessibility.
    public var accessibility: Accessibility?
    /// How many former values of the secret are kept from here on.
    public var historyCount: Int?
    /// The new access control.
    public var accessControl: AccessControl?
    /// Whether the access control is taken away.
    public var removesAccessControl: Bool

    /// Describes a change.
    public init(
        attributes: [KeychainAttribute: AttributeValue] = [:],
        removedAttributes: Set<KeychainAttribute> = [],
        user: [String: String] = [:],
        removedUser: Set<String> = [],
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

    /// Whether it changes nothing.
    public var isEmpty: Bool { self == KeychainChange() }
}

/// A public key of the keychain.
public struct KeychainPublicKey: Hashable, Sendable {
    /// The key; 32 bytes of an `ed25519` or `x25519` one.
    public let bytes: [UInt8]
    /// What kind of key it is: a name of ``KeyType``, or what a certificate says.
    public let keyType: String

    /// Describes a key.
    public init(bytes: [UInt8], keyType: String) {
        self.bytes = bytes
        self.keyType = keyType
    }
}
