package import CofferCore
internal import CofferDatabase
internal import CofferKeys

// Items that leave the keychain and may come back: their rows are not opened for that.

/// An item that was taken out of the keychain.
package struct TakenItem: Sendable {
    /// Its rows, with those of its former values.
    package let image: [UInt8]
    /// Whether a part of it is destroyed with the passcode.
    package let wantsPasscode: Bool
}

extension KeychainStore {
    /// Takes an item and its history out of the keychain, within the open transaction.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: As ``remove(_:with:)``.
    package func takeOut(_ item: KeychainItem, with context: AuthenticationContext? = nil) throws -> TakenItem {
        try authorizeWrite(item, context)
        return try connection.transaction {
            let image = try connection.row(
                "SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE id = ?",
                .integer(item.row)
            ) { row in
                ItemImage(
                    id: item.id,
                    classKey: UInt8(truncatingIfNeeded: try row.integer(1)),
                    primaryTag: try row.blob(2),
                    metadata: try row.blob(3),
                    wrappedKey: try row.blob(4),
                    secret: try row.blob(5),
                    values: try self.values(of: item.id)
                )
            }
            guard let image else { throw CofferError.damaged(item.attributes.quoted, found: "its row is missing") }
            try remove(item, with: context)
            return TakenItem(image: image.encoded, wantsPasscode: image.wantsPasscode)
        }
    }

    /// What is left of the rows of an item when the passcode is removed; `nil` for nothing.
    package static func withoutPasscode(_ image: [UInt8]) -> [UInt8]? {
        (try? ItemImage(decoding: image))?.withoutPasscode?.encoded
    }

    /// The attributes of an item that was taken out.
    ///
    /// - Throws: `decode` if its rows are damaged; `interactionNotAllowed` before the first unlock, if the passcode
    ///   protects its name.
    package func attributes(ofTaken image: [UInt8], _ subject: String) throws -> ItemAttributes {
        try opened(image, subject).metadata.attributes
    }

    /// Puts an item that was taken out back, within the open transaction: with its reference, its dates and its history.
    ///
    /// - Parameters:
    ///   - image: Its rows.
    ///   - key: The generic password that it becomes; `nil` for the item that it was.
    ///   - subject: The item, for an error.
    /// - Throws: `duplicateItem` if another item has its primary key; `param` if an item of another class is to become a
    ///   generic password; as ``attributes(ofTaken:_:)``; ``DatabaseError``.
    package func putBack(_ image: [UInt8], as key: GenericPasswordKey?, _ subject: String) throws -> KeychainItem {
        let taken = try opened(image, subject)
        var attributes = taken.metadata.attributes
        if let key {
            guard attributes.itemClass == .genericPassword else {
                throw CofferError(
                    .param,
                    "\(attributes.quoted) can't get a path: it is a \(attributes.itemClass.word)",
                    hint: "restore it without a new name"
                )
            }
            attributes = ItemAttributes(key, as: attributes)
        }
        let tag = primaryTag(attributes)
        if try isTaken(tag) { throw CofferError.nameIsTaken(attributes.quoted) }
        if try find(taken.image.id) != nil { throw CofferError.isThere(attributes) }
        try checkPasscode(for: taken.accessibility, attributes)
        try connection.faults.refuseNew(attributes.quoted)
        return try connection.transaction { try insert(taken, attributes, tag) }
    }

    private func insert(_ taken: OpenedImage, _ attributes: ItemAttributes, _ tag: [UInt8]) throws -> KeychainItem {
        let (image, former) = (taken.image, taken.metadata)
        let metadata = ItemMetadata(
            attributes: attributes,
            created: former.created,
            modified: former.modified,
            secretByteCount: former.secretByteCount,
            secretTag: former.secretTag,
            moveCount: former.moveCount
        )
        try connection.execute(
            """
            INSERT INTO keychain_items (uuid, class_key, primary_tag, metadata, wrapped_key, secret)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            .blob(image.id.bytes),
            .integer(Int64(image.classKey)),
            .blob(tag),
            .blob(try seal(metadata, of: image.id, taken.accessibility, tag)),
            .blob(image.wrappedKey),
            .blob(image.secret)
        )
        let row = connection.lastInsertedRowID
        try addTags(of: attributes, row)
        try addHistory(image.values, of: image.id)
        return item(metadata, row, image.id, taken.accessibility)
    }

    /// The rows of an item, with what they say.
    private struct OpenedImage {
        let image: ItemImage
        let metadata: ItemMetadata
        let accessibility: Accessibility
    }

    private func opened(_ bytes: [UInt8], _ subject: String) throws -> OpenedImage {
        do {
            let image = try ItemImage(decoding: bytes)
            guard let accessibility = Accessibility(classKey: Int64(image.classKey)) else {
                throw ByteReader.Malformed()
            }
            let context = Self.metadataContext(image.id, Int64(image.classKey), image.primaryTag)
            let metadata = try ItemMetadata(decoding: unsafe try openNames(image.metadata.span.bytes, context))
            guard metadata.secretTag == secretTag(image.wrappedKey, image.secret) else { throw ByteReader.Malformed() }
            return OpenedImage(image: image, metadata: metadata, accessibility: accessibility)
        } catch let error as KeyError {
            throw error.cofferError(metadataOf: subject, in: keys.state)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its rows have an unknown form")
        }
    }
}

extension CofferError {
    /// The error if what is to be restored can't have its name.
    package static func nameIsTaken(_ quoted: String) -> CofferError {
        CofferError(
            .duplicateItem,
            "can't restore \(quoted): there is something of that name now",
            hint: "restore it under another name with '--as NAME', or remove what has its name",
            operation: .create
        )
    }
}
