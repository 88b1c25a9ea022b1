package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
internal import CofferPast

// Opening the two sealed parts of a row.

extension ItemSeals {
    // MARK: Metadata

    /// Opens metadata that ``sealNames(_:_:_:_:)`` has sealed.
    ///
    /// - Throws: `locked` before the first unlock, if the passcode protects it; `damaged`.
    func openNames(_ sealed: RawSpan, _ context: [UInt8]) throws(KeyError) -> [UInt8] {
        try keys.openNames(sealed, of: .keychain, context: context).exposeBytes()
    }

    /// What a row is expected to be in a scan, in an error.
    static let anyItem = "a keychain item"

    /// - Parameter subject: The item that the row is expected to be, in an error.
    func item(
        in row: borrowing Row,
        _ subject: @autoclosure () -> String = anyItem
    ) throws -> KeychainItem {
        let opened = try openedMetadata(in: row, subject())
        let (item, secretTag) = try describedItem(of: opened, in: row, subject())
        try checkSecret(in: row, of: item, against: secretTag)
        return item
    }

    /// The opened metadata of a row, which is not decoded yet.
    func openedMetadata(
        in row: borrowing Row,
        _ subject: @autoclosure () -> String = anyItem
    ) throws -> OpenedMetadata {
        let classKey = try row.integer(2)
        guard let id = try row.withBlob(1, { unsafe $0.withUnsafeBytes { unsafe ItemID($0) } }),
            let accessibility = Accessibility(classKey: classKey)
        else { throw CofferError.damaged(subject(), found: "its row has impossible values") }
        let context = try row.withBlob(3) { tag in Self.metadataContext(id, classKey, tag) }
        do {
            return try row.withBlob(4) { sealed in
                let bytes = try keys.openNames(sealed, of: .keychain, context: context)
                return OpenedMetadata(id: id, accessibility: accessibility, bytes: bytes)
            }
        } catch let error as KeyError {
            throw error.cofferError(metadataOf: subject(), in: keys.state)
        }
    }

    /// The item that opened metadata describes, and the tag of the secret that it names, which is still to be checked.
    func describedItem(
        of opened: borrowing OpenedMetadata,
        in row: borrowing Row,
        _ subject: @autoclosure () -> String = anyItem
    ) throws -> (item: KeychainItem, secretTag: [UInt8]) {
        let metadata: ItemMetadata
        do throws(ByteReader.Malformed) {
            metadata = try ItemMetadata(decoding: opened.bytes.exposeBytes())
        } catch {
            throw CofferError.damaged(subject(), found: "its metadata has an unknown form")
        }
        return (item(metadata, try row.integer(0), opened.id, opened.accessibility), metadata.secretTag)
    }

    func checkSecret(in row: borrowing Row, of item: KeychainItem, against expected: [UInt8]) throws {
        let tag = try secretTag(in: row, wrappedKey: 5, secret: 6)
        guard isEqualInConstantTime(tag, expected) else {
            throw CofferError.damaged(
                item.attributes.quoted,
                found: "its secret is not the one that its metadata names"
            )
        }
    }

    /// Opens the row of an item outside of its table.
    ///
    /// - Throws: `decode` if it is damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its
    ///   name.
    func opened(_ image: RowImage, _ subject: String) throws -> OpenedImage {
        do {
            guard let accessibility = Accessibility(classKey: Int64(image.classKey)) else {
                throw CofferError.damaged(subject, found: "its row has impossible values")
            }
            let context = Self.metadataContext(image.id, Int64(image.classKey), image.tag)
            let metadata = try ItemMetadata(decoding: unsafe try openNames(image.metadata.span.bytes, context))
            guard isEqualInConstantTime(metadata.secretTag, secretTag(image.wrappedKey, image.secret)) else {
                throw CofferError.damaged(subject, found: "its secret is not the one that its metadata names")
            }
            return OpenedImage(image: image, metadata: metadata, accessibility: accessibility)
        } catch let error as KeyError {
            throw error.cofferError(metadataOf: subject, in: keys.state)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its metadata has an unknown form")
        }
    }

    // MARK: Secrets

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
}

/// The opened metadata of a row.
struct OpenedMetadata: ~Copyable {
    let id: ItemID
    let accessibility: Accessibility
    let bytes: SecretBytes
}

extension CofferError {
    /// The error for a secret whose key needs a device key that the vault has lost.
    package static func leftBehind(_ item: KeychainItem) -> CofferError {
        CofferError(
            .notAvailable,
            """
            \(item.attributes.quoted) was left behind: it belongs to the device that it was stored on, and the vault was moved \
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
