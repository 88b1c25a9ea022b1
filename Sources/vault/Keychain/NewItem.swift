package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// The rules for new items, and the attributes that the daemon derives.
package enum NewItem {
    /// Attributes that are fields of the item, and not stored as values.
    package static let fields: Set<KeychainAttribute> = [
        .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate,
    ]
    /// Attributes that are derived from a certificate.
    private static let fromCertificate: Set<KeychainAttribute> = [
        .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
    ]
    private static let fromKey: Set<KeychainAttribute> = [.keySizeInBits, .effectiveKeySize]
    /// Attributes that are derived from a key of a pair.
    private static let fromPair: Set<KeychainAttribute> = [
        .keyType, .applicationLabel, .canSign, .canVerify, .canDerive,
    ]

    /// Refuses attributes that clients can't set.
    ///
    /// - Parameters:
    ///   - attributes: The attributes to be set.
    ///   - itemClass: The class of the item.
    /// - Throws: `param`.
    package static func check(
        _ attributes: [KeychainAttribute: AttributeValue],
        of itemClass: ItemClass
    ) throws(CofferError) {
        guard itemClass != .identity else {
            throw CofferError(
                .param,
                "an identity is not stored: it is a certificate and the private key of the same public key",
                hint: "add the certificate and the key"
            )
        }
        let known = KeychainAttribute.attributes(of: itemClass)
        let given = fromCertificate.union(fromKey).union([.creationDate, .modificationDate])
        for attribute in attributes.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard known.contains(attribute) else {
                throw CofferError(
                    .param,
                    "a \(itemClass.word) has no attribute '\(attribute.rawValue)'"
                )
            }
            guard !given.contains(attribute) else {
                throw CofferError(
                    .param,
                    "attribute '\(attribute.rawValue)' can't be set: it comes from the item itself",
                    hint: "leave it out"
                )
            }
        }
    }

    /// Refuses a change that would make derived attributes wrong, or make a private key extractable.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - attributes: The new attributes.
    ///   - removed: The attributes to be removed.
    /// - Throws: `param`.
    package static func check(
        _ attributes: [KeychainAttribute: AttributeValue],
        removing removed: Set<KeychainAttribute>,
        of item: KeychainItem
    ) throws(CofferError) {
        let itemClass = item.attributes.itemClass
        try check(attributes, of: itemClass)
        var fixed = fields.union(fromCertificate).union(fromKey)
        var isInside = false
        if itemClass == .key {
            fixed.formUnion([.keyClass])
            if item.attributes.text(.keyClass) != "symmetric" { fixed.formUnion(fromPair) }
            isInside = !item.isExtractable
        }
        for attribute in removed.sorted(by: { $0.rawValue < $1.rawValue }) where fixed.contains(attribute) {
            throw CofferError(.param, "attribute '\(attribute.rawValue)' can't be removed: every such item has it")
        }
        for attribute in fixed.subtracting(fields).sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let value = attributes[attribute], value != item.attributes.values[attribute] else { continue }
            throw CofferError(
                .param,
                "attribute '\(attribute.rawValue)' can't be changed: it comes from the item itself",
                hint: "leave it out"
            )
        }
        if isInside && (removed.contains(.isExtractable) || attributes[.isExtractable] == .bool(true)) {
            throw CofferError(
                .param,
                "\(item.attributes.quoted) is not extractable: 'isExtractable' can't be set to true",
                hint: "make another key"
            )
        }
    }

    /// Refuses to replace a certificate or a key, whose attributes are derived from the content.
    ///
    /// - Parameter item: The item whose secret is to be replaced.
    /// - Throws: `param`.
    package static func checkReplaceable(_ item: KeychainItem) throws(CofferError) {
        guard item.attributes.itemClass != .certificate, item.attributes.itemClass != .key else {
            throw CofferError(
                .param,
                "the content of a \(item.attributes.itemClass.word) can't be replaced",
                hint: "delete the item and add another one"
            )
        }
    }

    /// The secret of a new item: the payload, or a generated key.
    ///
    /// Derived attributes are added.
    ///
    /// - Parameters:
    ///   - payload: The payload of the request.
    ///   - generates: The type of the key to generate instead.
    ///   - attributes: The attributes of the item.
    /// - Throws: `param` if the content is not valid for the class.
    package static func secret(
        _ payload: consuming SecretBytes?,
        _ generates: KeyType?,
        for attributes: inout ItemAttributes
    ) throws(CofferError) -> SecretBytes {
        if let generates { return try generated(generates, replacing: payload, for: &attributes) }
        guard let secret = payload else {
            guard attributes.itemClass == .genericPassword || attributes.itemClass == .internetPassword else {
                throw CofferError(.param, "the payload is missing: a \(attributes.itemClass.word) is expected")
            }
            do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
        switch attributes.itemClass {
        case .certificate:
            let found = try secret.withBytes { (bytes) throws(CofferError) in try Certificate(der: bytes).attributes }
            attributes.values.merge(AttributeValues(found))
        case .key: try describeKey(secret, &attributes)
        case .genericPassword, .internetPassword, .identity: break
        }
        return secret
    }

    private static func generated(
        _ type: KeyType,
        replacing payload: consuming SecretBytes?,
        for attributes: inout ItemAttributes
    ) throws(CofferError) -> SecretBytes {
        guard attributes.itemClass == .key else {
            throw CofferError(.param, "parameter 'generate' is for items of class 'key'")
        }
        guard payload.byteCount == 0 else {
            throw CofferError(.param, "'generate' excludes a payload")
        }
        let secret: SecretBytes
        do { secret = try SecretBytes(random: KeyType.keyBytes) } catch { throw .noSecretMemory }
        attributes.values[.keyType] = .text(type.rawValue)
        attributes.values[.keyClass] = .text("private")
        // A generated key has never left the daemon, and does not unless the caller says otherwise.
        attributes.values[.isExtractable] = attributes.values[.isExtractable] ?? .bool(false)
        try describeKey(secret, &attributes)
        return secret
    }

    /// Adds the attributes that are derived from a key.
    private static func describeKey(
        _ secret: borrowing SecretBytes,
        _ attributes: inout ItemAttributes
    ) throws(CofferError) {
        guard case .text(let keyClass) = attributes.values[.keyClass],
            ["public", "private", "symmetric"].contains(keyClass)
        else {
            throw CofferError(.param, "attribute 'keyClass' is missing: expected 'public', 'private' or 'symmetric'")
        }
        guard keyClass != "symmetric" else { return describe(bits: secret.count * 8, &attributes) }
        guard case .text(let name) = attributes.values[.keyType], let type = StoredKeyType(rawValue: name) else {
            throw CofferError(
                .param,
                "attribute 'keyType' is missing: expected 'ed25519', 'x25519', 'rsa' or 'ecdsa'",
                hint: "a key of another kind can be kept as 'symmetric', or as a document"
            )
        }
        let isPrivate = keyClass == "private"
        let half = try StoredKey(secret, type, isPrivate: isPrivate)
        describe(bits: half.bits, &attributes)
        // A certificate and its key share this hash.
        let hash = AttributeValue.bytes(publicKeyHash(of: half.publicKey))
        guard attributes.values[.applicationLabel].map({ $0 == hash }) ?? true else {
            throw CofferError(
                .param,
                "attribute 'applicationLabel' must be the hash of the public key",
                hint: "leave it out; 'applicationTag' is free"
            )
        }
        attributes.values[.applicationLabel] = hash
        attributes.values[.canSign] = .bool(isPrivate && type != .x25519)
        attributes.values[.canVerify] = .bool(!isPrivate && type != .x25519)
        attributes.values[.canDerive] = .bool(type == .x25519)
    }

    private static func describe(bits: Int, _ attributes: inout ItemAttributes) {
        attributes.values[.keySizeInBits] = .integer(Int64(bits))
        attributes.values[.effectiveKeySize] = .integer(Int64(bits))
    }
}

extension KeychainItem {
    /// Whether its secret may be returned: a private key can be kept in the daemon.
    package var isExtractable: Bool { attributes.values[.isExtractable] != .bool(false) }

    /// Every attribute with a value.
    package var allValues: [KeychainAttribute: AttributeValue] {
        var values = attributes.values.dictionary
        for field in NewItem.fields { values[field] = value(of: field) }
        return values
    }
}

extension ItemAttributes {
    /// The attributes after a change.
    ///
    /// - Parameters:
    ///   - change: The change, after ``NewItem/check(_:removing:of:)``.
    ///   - group: The access group that it names, if it names one; by default the present one.
    package func changed(by change: KeychainChange, group: String?) -> ItemAttributes {
        var changed = self
        for attribute in change.removedAttributes { changed.values[attribute] = nil }
        for (attribute, value) in change.attributes where !NewItem.fields.contains(attribute) {
            changed.values[attribute] = value
        }
        changed.group = group ?? self.group
        if case .bool(let flag) = change.attributes[.synchronizable] { changed.isSynchronizable = flag }
        for name in change.removedUser { changed.user[name] = nil }
        changed.user.merge(change.user) { _, new in new }
        changed.historyLimit = change.historyCount ?? historyLimit
        if change.removesAccessControl { changed.accessControl = nil }
        changed.accessControl = change.accessControl ?? changed.accessControl
        return changed
    }
}
