internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// A sealed secret, and its key.
package struct SealedSecret: Sendable {
    var wrappedKey: [UInt8]
    let secret: [UInt8]
}

/// Seals and opens the two parts of an item's row, and binds them together.
struct ItemSeals {
    let keys: VaultKeys

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

    /// The metadata of an item whose secret is sealed now.
    func metadata(
        _ attributes: ItemAttributes,
        _ sealed: SealedSecret,
        of byteCount: Int,
        created: Int64,
        modified: Int64
    ) -> ItemMetadata {
        ItemMetadata(
            attributes: attributes,
            created: created,
            modified: modified,
            secretByteCount: byteCount,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: keys.moveCount
        )
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
        do {
            return unsafe try keys.sealNames(
                metadata.span.bytes,
                of: .keychain,
                context: context,
                inEveryState: accessibility.isNamedInEveryState
            )
        } catch {
            throw error.cofferError(subject(), in: keys.state, for: .write)
        }
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

    /// Wraps the key of an item for another class.
    ///
    /// - Parameter wrappedKey: The wrapped key, and the check value of a password after it, which does not change.
    func rewrap(
        _ wrappedKey: [UInt8],
        of item: KeychainItem,
        to accessibility: Accessibility
    ) throws(CofferError) -> [UInt8] {
        if item.isLeftBehind { throw .leftBehind(item) }
        do {
            let count = item.accessibility.wrappedKeyBytes
            let kept = wrappedKey.dropFirst(count)
            let rewrapped = unsafe try keys.rewrapItemKey(
                wrappedKey.span.bytes.extracting(first: count),
                from: item.accessibility,
                to: accessibility,
                of: item.id
            )
            return rewrapped + kept
        } catch {
            throw error.cofferError(item.attributes.quoted, in: keys.state, for: .write)
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

    func primaryTag(_ key: GenericPasswordKey) -> [UInt8] { ItemTags.primaryTag(key, under: keys.catalog.search) }

    func primaryTag(_ attributes: ItemAttributes) -> [UInt8] {
        ItemTags.primaryTag(attributes, under: keys.catalog.search)
    }

    func secretTag(_ wrappedKey: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        unsafe secretTag(wrappedKey.span.bytes, secret.span.bytes)
    }

    /// The tag of the secret in a row.
    ///
    /// - Parameters:
    ///   - wrappedKey: The column of its key.
    ///   - secret: The column of the secret.
    func secretTag(in row: borrowing Row, wrappedKey: Int, secret: Int) throws -> [UInt8] {
        try row.withBlob(wrappedKey) { key in try row.withBlob(secret) { secretTag(key, $0) } }
    }

    private func secretTag(_ wrappedKey: RawSpan, _ secret: RawSpan) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.keychainMetadata,
            for: "coffer secret tag v1",
            byteCount: ItemMetadata.secretTagBytes
        ) { fields in
            fields.append(wrappedKey)
            fields.append(secret)
        }
    }

    static func metadataContext(_ id: ItemID, _ classKey: Int64, _ primaryTag: [UInt8]) -> [UInt8] {
        unsafe metadataContext(id, classKey, primaryTag.span.bytes)
    }

    static func metadataContext(_ id: ItemID, _ classKey: Int64, _ primaryTag: RawSpan) -> [UInt8] {
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

extension Accessibility {
    /// The accessibility of a class key's code in a row; `nil` if there is none.
    init?(classKey: Int64) {
        guard let accessibility = Self.allCases.first(where: { ClassKeyName($0).rawValue == classKey }) else {
            return nil
        }
        self = accessibility
    }
}
