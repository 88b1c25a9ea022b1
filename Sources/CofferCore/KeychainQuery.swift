/// What a query of the keychain asks for: items that have everything that is named here.
public struct KeychainQuery: Hashable, Sendable {
    /// The class; only beside a ``reference`` may it be left out.
    public var itemClass: ItemClass?
    /// Attributes with exactly that value.
    public var attributes: [KeychainAttribute: AttributeValue]
    /// Attributes of the user's own, by their names, with exactly that value.
    public var user: [String: String]
    /// Attributes that begin with a text: of ``KeychainAttribute/searchable`` only.
    public var prefix: [KeychainAttribute: String]
    /// Attributes that a text is somewhere in: of ``KeychainAttribute/searchable`` only.
    public var contains: [KeychainAttribute: String]
    /// The persistent reference of one item; nothing but the class stands beside it.
    public var reference: ItemID?
    /// An expiry date before that time, in milliseconds since 1970; one that is past counts as well.
    public var expiringBefore: Int64?

    /// Asks for the items of a class.
    ///
    /// - Parameters:
    ///   - itemClass: The class.
    ///   - attributes: Attributes with exactly that value.
    ///   - user: Attributes of the user's own with exactly that value.
    ///   - prefix: Attributes that begin with a text.
    ///   - contains: Attributes that a text is somewhere in.
    ///   - expiringBefore: An expiry date before that time, in milliseconds since 1970.
    public init(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [String: String] = [:],
        prefix: [KeychainAttribute: String] = [:],
        contains: [KeychainAttribute: String] = [:],
        expiringBefore: Int64? = nil
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.user = user
        self.prefix = prefix
        self.contains = contains
        self.expiringBefore = expiringBefore
        reference = nil
    }

    /// Asks for one item.
    ///
    /// - Parameters:
    ///   - reference: Its persistent reference.
    ///   - itemClass: The class that it is to have; any if nothing is said.
    public init(reference: ItemID, itemClass: ItemClass? = nil) {
        self.itemClass = itemClass
        self.reference = reference
        (attributes, user, prefix, contains, expiringBefore) = ([:], [:], [:], [:], nil)
    }
}

extension KeychainAttribute {
    /// The attributes that are searched by a part of their text.
    public static let searchable: [KeychainAttribute] = [.label, .account, .service, .server]
}

/// How many items a query gives.
public enum KeychainLimit: Hashable, Sendable {
    /// That many at most; at least 1.
    case count(Int)
    /// All of them.
    case all
}

/// The order in which a query gives its items.
public enum KeychainOrder: String, CaseIterable, Sendable {
    /// Oldest first.
    case creationDate
    /// Youngest first.
    case creationDateDescending = "-creationDate"
    /// The one that was changed longest ago first.
    case modificationDate
    /// The one that was changed last first.
    case modificationDateDescending = "-modificationDate"
}

/// What a query gives of each item, by the names of `kSecReturn…`.
///
/// The reference comes with every item, asked for or not.
public enum KeychainReturn: String, CaseIterable, Sendable {
    /// The attributes, those of the user's own among them.
    case attributes
    /// The secret.
    case data
    /// What names the item now.
    case reference
    /// What names the item for as long as it is there: here the same.
    case persistentReference
}
