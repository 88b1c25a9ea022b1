package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// What an item that is added has to be, and what it gets by itself.
package enum NewItem {
    /// Attributes that are fields of the item, and not values among the others.
    package static let fields: Set<KeychainAttribute> = [
        .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate,
    ]
    /// Attributes that come from the item's content.
    private static let fromCertificate: Set<KeychainAttribute> = [
        .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
    ]
    private static let fromKey: Set<KeychainAttribute> = [.keySizeInBits, .effectiveKeySize]
    /// What a key of a pair has besides.
    private static let fromPair: Set<KeychainAttribute> = [
        .keyType, .applicationLabel, .canSign, .canVerify, .canDerive,
    ]

    /// Refuses attributes that nobody may set.
    ///
    /// - Parameters:
    ///   - attributes: What is to be set.
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
                    "an item of class '\(itemClass.rawValue)' has no attribute '\(attribute.rawValue)'"
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

    /// Refuses a change after which an item would say of itself what is not true, or let out what stays inside.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - attributes: What it is to say.
    ///   - removed: What it is to say no more.
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
            throw CofferError(.param, "attribute '\(attribute.rawValue)' can't be taken away: every such item has it")
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
                "\(item.attributes.quoted) is a key that stays inside: 'isExtractable' can't be changed any more",
                hint: "make another key"
            )
        }
    }

    /// A certificate and a key are what their attributes say: another content is another item.
    ///
    /// - Parameter item: The item that is to get another secret.
    /// - Throws: `param`.
    package static func checkReplaceable(_ item: KeychainItem) throws(CofferError) {
        guard item.attributes.itemClass != .certificate, item.attributes.itemClass != .key else {
            throw CofferError(
                .param,
                "the content of a \(item.attributes.itemClass.rawValue) can't be replaced",
                hint: "delete the item and add another one"
            )
        }
    }

    /// The secret of a new item: what came, or what is made; what it says of itself goes to the attributes.
    ///
    /// - Parameters:
    ///   - payload: What came.
    ///   - generates: The type of the key that is to be made instead.
    ///   - attributes: What the owner says of the item.
    /// - Throws: `param` where the content is not one of the class.
    package static func secret(
        _ payload: consuming SecretBytes?,
        _ generates: KeyType?,
        for attributes: inout ItemAttributes
    ) throws(CofferError) -> SecretBytes {
        if let generates { return try generated(generates, replacing: payload, for: &attributes) }
        guard let secret = payload else {
            guard attributes.itemClass == .genericPassword || attributes.itemClass == .internetPassword else {
                throw CofferError(.param, "a \(attributes.itemClass.rawValue) comes as the payload, and none came")
            }
            do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
        switch attributes.itemClass {
        case .certificate:
            let found = try secret.withBytes { (bytes) throws(CofferError) in try Certificate(der: bytes).attributes }
            attributes.values.merge(found) { _, new in new }
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
            throw CofferError(.param, "a key is to be generated, and one came as well")
        }
        let secret: SecretBytes
        do { secret = try SecretBytes(random: KeyType.keyBytes) } catch { throw .noSecretMemory }
        attributes.values[.keyType] = .text(type.rawValue)
        attributes.values[.keyClass] = .text("private")
        // It has never been outside, and stays inside unless somebody says otherwise.
        attributes.values[.isExtractable] = attributes.values[.isExtractable] ?? .bool(false)
        try describeKey(secret, &attributes)
        return secret
    }

    /// Fills in what follows from a key.
    private static func describeKey(
        _ secret: borrowing SecretBytes,
        _ attributes: inout ItemAttributes
    ) throws(CofferError) {
        let bits = Int64(secret.count) * 8
        attributes.values[.keySizeInBits] = .integer(bits)
        attributes.values[.effectiveKeySize] = .integer(bits)
        guard case .text(let keyClass) = attributes.values[.keyClass],
            ["public", "private", "symmetric"].contains(keyClass)
        else {
            throw CofferError(.param, "attribute 'keyClass' is missing: expected 'public', 'private' or 'symmetric'")
        }
        if keyClass == "symmetric" { return }
        guard case .text(let name) = attributes.values[.keyType], let type = KeyType(rawValue: name) else {
            throw CofferError(
                .param,
                "attribute 'keyType' is missing: expected 'ed25519' or 'x25519'",
                hint: "a key of another kind can be kept as 'symmetric', or as a document"
            )
        }
        guard secret.count == KeyType.keyBytes else {
            throw CofferError(.param, "a key of type '\(name)' has \(KeyType.keyBytes) bytes, and \(secret.count) came")
        }
        let publicKey = keyClass == "public" ? secret.exposeBytes() : try publicKey(of: secret, type)
        // A certificate is joined with its key by it.
        let hash = AttributeValue.bytes(publicKeyHash(of: publicKey))
        guard attributes.values[.applicationLabel].map({ $0 == hash }) ?? true else {
            throw CofferError(
                .param,
                "attribute 'applicationLabel' is the hash of the public key, and another one came",
                hint: "leave it out; 'applicationTag' is free"
            )
        }
        attributes.values[.applicationLabel] = hash
        let isPrivate = keyClass == "private"
        attributes.values[.canSign] = .bool(isPrivate && type == .ed25519)
        attributes.values[.canVerify] = .bool(!isPrivate && type == .ed25519)
        attributes.values[.canDerive] = .bool(type == .x25519)
    }

    /// The public half of a private key.
    static func publicKey(of secret: borrowing SecretBytes, _ type: KeyType) throws(CofferError) -> [UInt8] {
        do {
            guard let key = SymmetricKey(try secret.duplicate()) else {
                throw CofferError(.param, "a private key has \(KeyType.keyBytes) bytes")
            }
            return try type.publicKey(of: key)
        } catch let error as CofferError {
            throw error
        } catch CryptoError.unusableKey {
            throw CofferError(.param, "the private key can't be used: its public half is of low order")
        } catch {
            throw .noSecretMemory
        }
    }
}

extension KeychainItem {
    /// Whether its secret may be given out: a private key can be kept inside.
    package var isExtractable: Bool { attributes.values[.isExtractable] != .bool(false) }

    /// Every attribute with a value.
    package var allValues: [KeychainAttribute: AttributeValue] {
        var values = attributes.values
        for field in NewItem.fields { values[field] = value(of: field) }
        return values
    }
}
