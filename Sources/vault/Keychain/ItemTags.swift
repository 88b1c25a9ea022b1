internal import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory

/// The tags by which items are found: without the search key they reveal nothing.
struct ItemTags {
    static let attributeTagBytes = 16
    /// The attributes that have tags; a query by others scans the remaining items.
    static let indexed: [KeychainAttribute] = [
        .account, .service, .server, .label, .applicationLabel, .applicationTag, .publicKeyHash,
    ]

    /// The tag of the primary key of a generic password that is not synchronizable.
    static func primaryTag(_ key: GenericPasswordKey, under search: borrowing SymmetricKey) -> [UInt8] {
        KeyedHash.tag(under: search, for: "coffer generic password tag v1", byteCount: 32) { fields in
            fields.append(key.group)
            fields.append(key.service)
            fields.append(key.account)
        }
    }

    /// The tag of the primary key, which is unique in the store.
    static func primaryTag(_ attributes: ItemAttributes, under search: borrowing SymmetricKey) -> [UInt8] {
        if attributes.itemClass == .genericPassword && !attributes.isSynchronizable {
            return primaryTag(GenericPasswordKey(attributes), under: search)
        }
        var fields = ByteWriter()
        fields.write(attributes.itemClass.code)
        fields.write(UInt8(attributes.isSynchronizable ? 1 : 0))
        for attribute in KeychainAttribute.primaryKey(of: attributes.itemClass) {
            // A value of a request may be longer than an item can have: no item has the tag of its beginning.
            let value = (attributes.values[attribute] ?? .empty(attribute.form)).encoded
            fields.write(counted: value.prefix(Int(UInt16.max)))
        }
        return KeyedHash.tag(
            under: search,
            for: "coffer primary key tag v1",
            byteCount: 32,
            Array(attributes.group.utf8),
            fields.bytes
        )
    }

    /// The tags by which an item is found.
    static func tags(of attributes: ItemAttributes, under search: borrowing SymmetricKey) -> [[UInt8]] {
        var tags: [[UInt8]] = []
        for attribute in indexed {
            guard let value = attributes.values[attribute], hasTag(attribute, value) else { continue }
            tags.append(tag(attribute, value, in: attributes.group, under: search))
        }
        // Most items are generic passwords: a tag that nearly all of them have would not narrow a search.
        if attributes.itemClass != .genericPassword {
            tags.append(classTag(attributes.itemClass, in: attributes.group, under: search))
        }
        if attributes.isSynchronizable { tags.append(synchronizableTag(in: attributes.group, under: search)) }
        return tags
    }

    /// Whether items with a value have a tag of it: an empty value is that of the items without one as well.
    static func hasTag(_ attribute: KeychainAttribute, _ value: AttributeValue) -> Bool {
        value != .empty(attribute.form)
    }

    static func tag(
        _ attribute: KeychainAttribute,
        _ value: AttributeValue,
        in group: String,
        under search: borrowing SymmetricKey
    ) -> [UInt8] {
        tag(attribute.code, value.encoded, group, search)
    }

    static func classTag(_ itemClass: ItemClass, in group: String, under search: borrowing SymmetricKey) -> [UInt8] {
        tag(0, [itemClass.code], group, search)
    }

    static func synchronizableTag(in group: String, under search: borrowing SymmetricKey) -> [UInt8] {
        // No class has this code.
        tag(0, [255], group, search)
    }

    private static func tag(
        _ code: UInt8,
        _ value: [UInt8],
        _ group: String,
        _ search: borrowing SymmetricKey
    ) -> [UInt8] {
        KeyedHash.tag(
            under: search,
            for: "coffer attribute tag v1",
            byteCount: attributeTagBytes,
            Array(group.utf8),
            [code],
            value
        )
    }
}

extension ItemAttributes {
    /// Whether an item is found by the same tags as one with other attributes, as after most changes.
    func hasTags(of other: ItemAttributes) -> Bool {
        values == other.values && group == other.group && itemClass == other.itemClass
            && isSynchronizable == other.isSynchronizable
    }
}
