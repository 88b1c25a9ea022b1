internal import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory
@_spi(_Unicode) private import Swift

/// The tags by which items are found: without the search key they reveal nothing.
struct ItemTags {
    static let attributeTagBytes = 16
    /// The attributes that have tags; a query by others scans the remaining items.
    static let indexed: [KeychainAttribute] = [
        .account, .service, .server, .label, .applicationLabel, .applicationTag, .publicKeyHash,
    ]

    /// The tag of the primary key, which is unique in the store.
    static func primaryTag(_ attributes: ItemAttributes, under search: borrowing SymmetricKey) -> [UInt8] {
        if attributes.itemClass == .genericPassword && !attributes.isSynchronizable {
            return KeyedHash.tag(
                under: search,
                for: "coffer generic password tag v1",
                byteCount: 32,
                canonical(attributes.group),
                canonical(attributes.text(.service)),
                canonical(attributes.text(.account))
            )
        }
        var fields = ByteWriter()
        fields.write(attributes.itemClass.code)
        fields.write(UInt8(attributes.isSynchronizable ? 1 : 0))
        for attribute in KeychainAttribute.primaryKey(of: attributes.itemClass) {
            // A missing attribute counts as "" or 0.
            let value = attributes.values[attribute].map { canonical($0) } ?? emptyValue(of: attribute)
            fields.write(counted: value)
        }
        return KeyedHash.tag(
            under: search,
            for: "coffer primary key tag v1",
            byteCount: 32,
            canonical(attributes.group),
            fields.bytes
        )
    }

    /// The tags by which an item is found.
    static func tags(of attributes: ItemAttributes, under search: borrowing SymmetricKey) -> [[UInt8]] {
        var tags: [[UInt8]] = []
        for attribute in indexed {
            guard let value = attributes.values[attribute] else { continue }
            tags.append(tag(attribute, value, in: attributes.group, under: search))
        }
        // Most items are generic passwords: a tag that nearly all of them have would not narrow a search.
        if attributes.itemClass != .genericPassword {
            tags.append(classTag(attributes.itemClass, in: attributes.group, under: search))
        }
        return tags
    }

    static func tag(
        _ attribute: KeychainAttribute,
        _ value: AttributeValue,
        in group: String,
        under search: borrowing SymmetricKey
    ) -> [UInt8] {
        tag(attribute.code, canonical(value), group, search)
    }

    static func classTag(_ itemClass: ItemClass, in group: String, under search: borrowing SymmetricKey) -> [UInt8] {
        tag(0, [itemClass.code], group, search)
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
            canonical(group),
            [code],
            value
        )
    }

    private static func emptyValue(of attribute: KeychainAttribute) -> [UInt8] {
        switch attribute.form {
        case .text, .bytes: []
        case .integer, .date: AttributeValue.integer(0).encoded
        case .bool: AttributeValue.bool(false).encoded
        }
    }

    // MARK: What is the same

    /// The bytes by which values are compared: texts are equal if their characters are, regardless of their code
    /// points.
    static func canonical(_ value: AttributeValue) -> [UInt8] {
        if case .text(let text) = value { canonical(text) } else { value.encoded }
    }

    /// Whether two texts have the same characters.
    static func isSame(_ one: String, _ other: String) -> Bool { canonical(one) == canonical(other) }

    /// A text in Unicode's normalization form C.
    static func canonical(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
        return text._nfc.flatMap { Array(UTF8.encode($0) ?? UTF8.encodedReplacementCharacter) }
    }
}
