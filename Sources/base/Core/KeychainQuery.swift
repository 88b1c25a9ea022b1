extension KeychainQuery {
    /// Creates a query for the items of a class.
    public init(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:],
        prefix: [KeychainAttribute: String] = [:],
        contains: [KeychainAttribute: String] = [:],
        expiringBefore: Int64? = nil
    ) {
        self.init(
            itemClass: itemClass,
            attributes: attributes,
            user: user,
            prefix: prefix,
            contains: contains,
            reference: nil,
            expiringBefore: expiringBefore
        )
    }

    /// Creates a query for one item; of any class, if none is given.
    public init(reference: ItemID, itemClass: ItemClass? = nil) {
        self.init(
            itemClass: itemClass,
            attributes: [:],
            user: [:],
            prefix: [:],
            contains: [:],
            reference: reference,
            expiringBefore: nil
        )
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
