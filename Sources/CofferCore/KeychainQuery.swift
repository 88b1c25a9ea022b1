/// A query of the keychain: an item matches if it meets every condition that is set.
public struct KeychainQuery: Hashable, Sendable {
    /// The class; it may be omitted only beside a ``reference``.
    public var itemClass: ItemClass?
    /// Attributes with exactly these values.
    public var attributes: [KeychainAttribute: AttributeValue]
    /// User-defined attributes with exactly these values.
    public var user: [String: String]
    /// Texts with which attributes begin; only for ``KeychainAttribute/searchable``.
    public var prefix: [KeychainAttribute: String]
    /// Texts that attributes contain; only for ``KeychainAttribute/searchable``.
    public var contains: [KeychainAttribute: String]
    /// The persistent reference of one item; only the class may accompany it.
    public var reference: ItemID?
    /// A time in milliseconds since 1970, before which the item expires or has expired.
    public var expiringBefore: Int64?

    /// Creates a query for the items of a class.
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

    /// Creates a query for one item; of any class, if none is given.
    public init(reference: ItemID, itemClass: ItemClass? = nil) {
        self.itemClass = itemClass
        self.reference = reference
        (attributes, user, prefix, contains, expiringBefore) = ([:], [:], [:], [:], nil)
    }
}

extension KeychainAttribute {
    /// The attributes that can be searched by a part of their text.
    public static let searchable: [KeychainAttribute] = [.label, .account, .service, .server]
}

/// The number of items that a query returns.
public enum KeychainLimit: Hashable, Sendable {
    /// At most that many; at least 1.
    case count(Int)
    /// All of them.
    case all
}

/// The order in which a query returns its items.
public enum KeychainOrder: String, CaseIterable, Sendable {
    /// Oldest first.
    case creationDate
    /// Youngest first.
    case creationDateDescending = "-creationDate"
    /// Least recently changed first.
    case modificationDate
    /// Most recently changed first.
    case modificationDateDescending = "-modificationDate"
}

/// What a query returns for each item, with the names of `kSecReturn…`.
///
/// The reference is returned with every item, even if it is not requested.
public enum KeychainReturn: String, CaseIterable, Sendable {
    /// The attributes, including user-defined ones.
    case attributes
    /// The secret.
    case data
    /// A transient reference.
    case reference
    /// A persistent reference: here the same.
    case persistentReference
}
