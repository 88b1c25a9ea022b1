/// An item of the keychain as a query shows it: never its secret.
public struct KeychainItemInfo: Hashable, Sendable {
    /// The class.
    public let itemClass: ItemClass
    /// The persistent reference.
    public let reference: ItemID
    /// The attributes; `nil` where they were not asked for.
    public let attributes: [KeychainAttribute: AttributeValue]?
    /// The attributes of the user's own; `nil` where they were not asked for.
    public let user: [String: String]?
    /// The bytes of the secret among those that came along; `nil` where it did not come.
    public let byteCount: Int?
    /// What has to be shown before the secret is given; `nil` where nothing, or where attributes were not asked for.
    public let accessControl: AccessControl?
    /// Whether the secret can't be read now.
    public let isLocked: Bool
    /// Whether the expiry date is past: the item is readable all the same.
    public let isExpired: Bool

    /// Describes an item.
    public init(
        itemClass: ItemClass,
        reference: ItemID,
        attributes: [KeychainAttribute: AttributeValue]? = nil,
        user: [String: String]? = nil,
        byteCount: Int? = nil,
        accessControl: AccessControl? = nil,
        isLocked: Bool = false,
        isExpired: Bool = false
    ) {
        self.itemClass = itemClass
        self.reference = reference
        self.attributes = attributes
        self.user = user
        self.byteCount = byteCount
        self.accessControl = accessControl
        self.isLocked = isLocked
        self.isExpired = isExpired
    }
}

/// A part of what a query finds.
public struct KeychainPage: Hashable, Sendable {
    /// The items.
    public let items: [KeychainItemInfo]
    /// The items that were found and whose secret can't be read now.
    public let lockedCount: Int
    /// The items that were found and whose access control is not met.
    public let unauthenticatedCount: Int
    /// The rows that were passed over because they are damaged: what they are can't be told from the query.
    public let damagedCount: Int
    /// What to go on with; `nil` where the answer is complete.
    public let cursor: String?

    /// Makes a page.
    public init(
        items: [KeychainItemInfo],
        lockedCount: Int,
        unauthenticatedCount: Int = 0,
        damagedCount: Int = 0,
        cursor: String?
    ) {
        self.items = items
        self.lockedCount = lockedCount
        self.unauthenticatedCount = unauthenticatedCount
        self.damagedCount = damagedCount
        self.cursor = cursor
    }
}

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

/// A former value of a secret, without the value.
public struct KeychainFormerValue: Hashable, Sendable {
    /// What names it; a later value has a higher number.
    public let number: Int
    /// When another value took its place, in milliseconds since 1970.
    public let replaced: Int64
    /// The bytes of the value.
    public let byteCount: Int

    /// Describes a value.
    public init(number: Int, replaced: Int64, byteCount: Int) {
        self.number = number
        self.replaced = replaced
        self.byteCount = byteCount
    }
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
