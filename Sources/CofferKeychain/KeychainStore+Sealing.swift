package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// The two sealed parts of a row, and what binds them together.

extension KeychainStore {
    // MARK: Sealing

    /// A sealed secret, and its key.
    struct SealedSecret {
        var wrappedKey: [UInt8]
        let secret: [UInt8]
    }

    func seal(
        _ secret: borrowing SecretBytes,
        of id: ItemID,
        as accessibility: Accessibility,
        _ attributes: ItemAttributes,
        _ password: StretchedPassword?
    ) throws -> SealedSecret {
        let itemKey = try newItemKey(for: accessibility, of: id, attributes.quoted)
        let padded: SecretBytes
        do { padded = try SecretPadding.pad(secret) } catch { throw CofferError.noSecretMemory }
        let binding = PasswordBinding(attributes.accessControl)
        return try padded.withBytes { bytes in
            try sealBound(bytes, under: itemKey, of: id, binding, password, attributes.quoted)
        }
    }

    func seal(
        _ metadata: ItemMetadata,
        of id: ItemID,
        _ accessibility: Accessibility,
        _ primaryTag: [UInt8]
    ) throws(CofferError) -> [UInt8] {
        let context = Self.metadataContext(id, Int64(ClassKeyName(accessibility).rawValue), primaryTag)
        return try sealNames(metadata.encoded, accessibility, context, metadata.attributes.quoted)
    }

    /// Seals metadata: under the passcode, unless the passcode does not protect the secret either.
    func sealNames(
        _ metadata: [UInt8],
        _ accessibility: Accessibility,
        _ context: [UInt8],
        _ subject: @autoclosure () -> String
    ) throws(CofferError) -> [UInt8] {
        let bytes = unsafe metadata.span.bytes
        if accessibility.isNamedInEveryState {
            return AEAD.seal(bytes, under: keys.catalog.keychainMetadata, context: context)
        }
        do {
            return try keys.sealNames(bytes, of: .keychain, context: context)
        } catch {
            throw error.cofferError(subject(), in: keys.state, for: .write)
        }
    }

    /// Opens metadata that ``sealNames(_:_:_:_:)`` has sealed.
    ///
    /// - Throws: `locked` before the first unlock, if the passcode protects it; `damaged`.
    func openNames(_ sealed: RawSpan, _ context: [UInt8]) throws(KeyError) -> [UInt8] {
        try keys.openNames(sealed, of: .keychain, context: context).exposeBytes()
    }

    func newItemKey(
        for accessibility: Accessibility,
        of id: ItemID,
        _ subject: @autoclosure () -> String
    ) throws(CofferError) -> WrappedItemKey {
        do {
            return try keys.newItemKey(for: accessibility, of: id)
        } catch {
            throw error.cofferError(subject(), in: keys.state, for: .write)
        }
    }

    /// - Parameter attributes: The attributes by which the row was found; `nil` in a scan of all rows.
    func item(in row: borrowing Row, expecting attributes: ItemAttributes?) throws -> KeychainItem {
        let (item, secretTag) = try describedItem(in: row, expecting: attributes)
        try checkSecret(in: row, of: item, against: secretTag)
        return item
    }

    /// The item that a row's metadata describes, and the tag of the secret that it names, which is still to be checked.
    func describedItem(
        in row: borrowing Row,
        expecting attributes: ItemAttributes?
    ) throws -> (item: KeychainItem, secretTag: [UInt8]) {
        func subject() -> String { attributes?.quoted ?? "a keychain item" }
        let classKey = try row.integer(2)
        guard let id = try row.withBlob(1, { unsafe $0.withUnsafeBytes { unsafe ItemID($0) } }),
            let accessibility = Accessibility(classKey: classKey)
        else { throw CofferError.damaged(subject(), found: "its row has impossible values") }
        let context = Self.metadataContext(id, classKey, try row.blob(3))
        let metadata: ItemMetadata
        do {
            metadata = try row.withBlob(4) { sealed in
                try ItemMetadata(decoding: try openNames(sealed, context))
            }
        } catch let error as KeyError {
            throw error.cofferError(metadataOf: subject(), in: keys.state)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject(), found: "its metadata has an unknown form")
        }
        return (item(metadata, try row.integer(0), id, accessibility), metadata.secretTag)
    }

    func checkSecret(in row: borrowing Row, of item: KeychainItem, against expected: [UInt8]) throws {
        let tag = secretTag(try row.blob(5), try row.blob(6))
        guard isEqualInConstantTime(tag, expected) else {
            throw CofferError.damaged(
                item.attributes.quoted,
                found: "its secret is not the one that its metadata names"
            )
        }
    }

    func item(_ metadata: ItemMetadata, _ row: Int64, _ id: ItemID, _ accessibility: Accessibility) -> KeychainItem {
        KeychainItem(
            row: row,
            id: id,
            attributes: metadata.attributes,
            accessibility: accessibility,
            created: metadata.created,
            modified: metadata.modified,
            secretByteCount: metadata.secretByteCount,
            isLeftBehind: accessibility.isThisDeviceOnly && metadata.moveCount < keys.moveCount,
            moveCount: metadata.moveCount
        )
    }

    func openSecret(
        of item: KeychainItem,
        in row: borrowing Row,
        with context: AuthenticationContext?
    ) throws -> SecretBytes {
        try row.withBlob(5) { stored in
            try row.withBlob(6) { sealed in try openSecret(of: item, stored, sealed, with: context) }
        }
    }

    /// Every secret is opened here, so that none is opened that its access control does not allow.
    func openSecret(
        of item: KeychainItem,
        _ stored: RawSpan,
        _ sealed: RawSpan,
        with context: AuthenticationContext?
    ) throws -> SecretBytes {
        func damaged(_ what: String) -> CofferError { .damaged(item.attributes.quoted, found: what) }
        do {
            let itemKey = try itemKey(in: stored, of: item, for: .read)
            try authorize(item, context, for: .read)
            let kept = stored.extracting(droppingFirst: item.accessibility.wrappedKeyBytes)
            let padded = try unbind(itemKey, kept, of: item, context) { key in
                try AEAD.open(sealed, under: key, context: Self.secretContext(item.id))
            }
            if let secret = try SecretPadding.unpad(padded) { return secret }
            throw damaged("its secret has an unknown form")
        } catch CryptoError.unauthentic {
            throw damaged("its secret is not authentic")
        } catch is SecretMemoryError {
            throw CofferError.noSecretMemory
        }
    }

    /// Unwraps the key of an item.
    ///
    /// - Parameter stored: The wrapped key, and the check value of a password after it.
    func itemKey(
        in stored: RawSpan,
        of item: KeychainItem,
        for operation: ItemOperation
    ) throws(CofferError) -> SymmetricKey {
        if item.isLeftBehind { throw .leftBehind(item) }
        do {
            return try keys.itemKey(
                unwrapping: stored.extracting(first: item.accessibility.wrappedKeyBytes),
                for: item.accessibility,
                of: item.id
            )
        } catch {
            throw error.cofferError(item.attributes.quoted, in: keys.state, for: operation)
        }
    }

    func primaryTag(_ attributes: ItemAttributes) -> [UInt8] {
        ItemTags.primaryTag(attributes, under: keys.catalog.search)
    }

    func secretTag(_ wrappedKey: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.keychainMetadata,
            for: "coffer secret tag v1",
            byteCount: ItemMetadata.secretTagBytes,
            wrappedKey,
            secret
        )
    }

    static func metadataContext(_ id: ItemID, _ classKey: Int64, _ primaryTag: [UInt8]) -> [UInt8] {
        var context = ByteWriter(capacity: 96)
        context.write(raw: "coffer keychain metadata v1")
        context.write(id)
        context.write(UInt8(truncatingIfNeeded: classKey))
        context.write(raw: primaryTag)
        return context.bytes
    }

    static func secretContext(_ id: ItemID) -> [UInt8] {
        var context = ByteWriter(capacity: 64)
        context.write(raw: "coffer keychain secret v1")
        context.write(id)
        return context.bytes
    }
}

extension CofferError {
    /// The error for a secret whose key needs a device key that the vault has lost.
    package static func leftBehind(_ item: KeychainItem) -> CofferError {
        CofferError(
            .notAvailable,
            """
            \(item.attributes.quoted) was left behind: it is \(item.accessibility.rawValue), and the vault was moved \
            without the device key that opens it
            """,
            hint: "it can never be opened again: remove it, or store a new secret in its place"
        )
    }
}

extension KeyError {
    /// The error if metadata can't be opened, as a client sees it.
    func cofferError(metadataOf subject: String, in state: VaultState) -> CofferError {
        self == .damaged
            ? .damaged(subject, found: "its metadata is not authentic")
            : cofferError(subject, in: state, for: .read)
    }
}

extension Accessibility {
    /// The accessibility of a class key's code in a row; `nil` if there is none.
    init?(classKey: Int64) {
        guard let accessibility = Self.allCases.first(where: { ClassKeyName($0).rawValue == classKey }) else {
            return nil
        }
        self = accessibility
    }
}
