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
