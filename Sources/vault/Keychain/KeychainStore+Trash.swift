internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferPast

// Rows outside of the table: they leave it unopened, and come back.

/// The row of an item outside of its table, opened.
struct OpenedImage: Sendable {
    let image: RowImage
    let metadata: ItemMetadata
    let accessibility: Accessibility
}

extension RowImage {
    /// The row of an item as it is; `nil` if there is none.
    static func ofItem(_ number: Int64, in connection: Connection) throws -> RowImage? {
        try connection.row(
            "SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE id = ?",
            .integer(number)
        ) { row in
            guard let id = ItemID(try row.blob(0)) else {
                throw CofferError.damaged("a keychain item", found: "its row has impossible values")
            }
            return RowImage(
                id: id,
                classKey: UInt8(truncatingIfNeeded: try row.integer(1)),
                tag: try row.blob(2),
                metadata: try row.blob(3),
                wrappedKey: try row.blob(4),
                secret: try row.blob(5)
            )
        }
    }
}

extension KeychainStore {
    /// Moves an item to the trash, within the open transaction.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    ///   - moment: The time.
    /// - Returns: The number of the entry.
    /// - Throws: As ``remove(_:with:)``.
    package func discard(
        _ item: KeychainItem,
        with context: AuthenticationContext? = nil,
        at moment: TrashMoment
    ) throws -> Int64 {
        try authorizeWrite(item, context)
        guard let image = try RowImage.ofItem(item.row, in: connection) else {
            throw CofferError.damaged(item.attributes.quoted, found: "its row is missing")
        }
        let label = TrashLabel(
            group: item.attributes.group,
            name: item.listedName,
            protection: .keychain(item.accessibility),
            itemClass: item.attributes.itemClass,
            kind: item.kind,
            byteCount: Int64(item.secretByteCount),
            removed: moment.wall
        )
        return try connection.transaction {
            let entry = try past.discard(
                image,
                label,
                withRowsOf: item.id,
                wantsPasscode: item.accessibility.wantsPasscode,
                at: moment
            )
            try remove(item, with: context)
            return entry
        }
    }

    /// The attributes of an item in the trash.
    ///
    /// - Throws: `decode` if its row is damaged; `interactionNotAllowed` before the first unlock, if the passcode
    ///   protects its name.
    package func attributes(of image: RowImage, _ subject: String) throws -> ItemAttributes {
        try seals.opened(image, subject).metadata.attributes
    }

    /// Puts an item from the trash back, within the open transaction: with its reference and its dates.
    ///
    /// - Parameters:
    ///   - image: Its row.
    ///   - key: The generic password that it becomes; `nil` for the item that it was.
    ///   - subject: The item, for an error.
    /// - Throws: `duplicateItem` if another item has its primary key; `param` if an item of another class is to become a
    ///   generic password; as ``attributes(of:_:)``; ``DatabaseError``.
    package func putBack(_ image: RowImage, as key: GenericPasswordKey?, _ subject: String) throws -> KeychainItem {
        let former = try seals.opened(image, subject)
        var attributes = former.metadata.attributes
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
        let tag = seals.primaryTag(attributes)
        if try isTaken(tag) { throw CofferError.nameIsTaken(attributes.quoted) }
        if try find(image.id) != nil { throw CofferError.isThere(attributes) }
        try checkPasscode(for: former.accessibility, attributes)
        try connection.faults.refuseNew(attributes.quoted)
        let metadata = former.metadata.with(attributes, former.metadata.secretTag)
        let sealed = SealedSecret(wrappedKey: image.wrappedKey, secret: image.secret)
        return try connection.transaction { try insert(metadata, sealed, tag, former.accessibility, as: image.id) }
    }
}
