internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// Converting items to rows, and rows to items.

extension KeychainStore {
    /// The number of items.
    package func count() throws -> Int {
        try connection.row("SELECT items FROM keychain_count") { max(0, Int(try $0.integer(0))) } ?? 0
    }

    // MARK: Rows

    /// - Parameter tag: The tag of the primary key of its attributes.
    func insert(
        _ attributes: ItemAttributes,
        _ tag: [UInt8],
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ created: Int64,
        _ now: Int64,
        _ context: AuthenticationContext?,
        as id: ItemID = ItemID()
    ) throws -> KeychainItem {
        try checkBounds(attributes, secret.count)
        try checkPasscode(for: accessibility, attributes)
        try checkControl(attributes)
        try checkDeposit(attributes, accessibility)
        try connection.faults.refuseNew(attributes.quoted)
        let sealed = try seal(secret, of: id, as: accessibility, attributes, context?.password)
        let metadata = ItemMetadata(
            attributes: attributes,
            created: created,
            modified: now,
            secretByteCount: secret.count,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: keys.moveCount
        )
        let sealedMetadata = try seal(metadata, of: id, accessibility, tag)
        return try connection.transaction {
            try connection.execute(
                """
                INSERT INTO keychain_items (uuid, class_key, primary_tag, metadata, wrapped_key, secret)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                .blob(id.bytes),
                .integer(Int64(ClassKeyName(accessibility).rawValue)),
                .blob(tag),
                .blob(sealedMetadata),
                .blob(sealed.wrappedKey),
                .blob(sealed.secret)
            )
            let row = connection.lastInsertedRowID
            try addTags(of: attributes, row)
            try noteSealing(of: row, accessibility)
            return item(metadata, row, id, accessibility)
        }
    }

    /// Replaces the secret of an item, under a new key; the old one becomes a former value.
    func replace(
        _ item: KeychainItem,
        _ attributes: ItemAttributes,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ now: Int64,
        _ context: AuthenticationContext?
    ) throws {
        try checkBounds(attributes, secret.count)
        try checkPasscode(for: accessibility, attributes)
        let password = try password(of: item, context)
        let sealed = try seal(secret, of: item.id, as: accessibility, attributes, password)
        let metadata = ItemMetadata(
            attributes: attributes,
            created: item.created,
            modified: now,
            secretByteCount: secret.count,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: keys.moveCount
        )
        try connection.transaction {
            if item.isLeftBehind {
                try removeHistory(of: item.id)
            } else {
                try keepHistory(of: item, limit: attributes.historyLimit, now: now)
            }
            try write(metadata, sealed, item, accessibility)
            if accessibility != item.accessibility { try rewrapHistory(of: item, to: accessibility) }
        }
    }

    /// Changes the metadata of an item, or the wrapping of its key; its secret is not touched.
    func reseal(
        _ item: KeychainItem,
        _ attributes: ItemAttributes,
        _ accessibility: Accessibility,
        _ now: Int64
    ) throws {
        try checkBounds(attributes, item.secretByteCount)
        let sealed = try connection.row(
            "SELECT wrapped_key, secret FROM keychain_items WHERE id = ?",
            .integer(item.row)
        ) { row in SealedSecret(wrappedKey: try row.blob(0), secret: try row.blob(1)) }
        guard var sealed else { return }
        if accessibility != item.accessibility {
            sealed.wrappedKey = try rewrap(sealed.wrappedKey, of: item, to: accessibility)
        }
        let metadata = ItemMetadata(
            attributes: attributes,
            created: item.created,
            modified: now,
            secretByteCount: item.secretByteCount,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: item.isLeftBehind ? item.moveCount : keys.moveCount
        )
        try connection.transaction {
            try trimHistory(of: item.id, to: attributes.historyLimit)
            if accessibility != item.accessibility { try rewrapHistory(of: item, to: accessibility) }
            try write(metadata, sealed, item, accessibility)
        }
    }

    /// The metadata of an item and its newly sealed secret.
    func metadata(of item: KeychainItem, _ sealed: SealedSecret) -> ItemMetadata {
        ItemMetadata(
            attributes: item.attributes,
            created: item.created,
            modified: item.modified,
            secretByteCount: item.secretByteCount,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: keys.moveCount
        )
    }

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

    func write(
        _ metadata: ItemMetadata,
        _ sealed: SealedSecret,
        _ item: KeychainItem,
        _ accessibility: Accessibility
    ) throws {
        let tag = primaryTag(metadata.attributes)
        let classKey = DatabaseValue.integer(Int64(ClassKeyName(accessibility).rawValue))
        let parts = (
            metadata: DatabaseValue.blob(try seal(metadata, of: item.id, accessibility, tag)),
            key: DatabaseValue.blob(sealed.wrappedKey),
            secret: DatabaseValue.blob(sealed.secret)
        )
        // SQLite writes the pages of an index whose columns are set, even to what they are.
        try connection.execute(
            """
            UPDATE keychain_items SET metadata = ?, wrapped_key = ?, secret = ?
            WHERE id = ? AND class_key = ? AND primary_tag = ?
            """,
            parts.metadata,
            parts.key,
            parts.secret,
            .integer(item.row),
            classKey,
            .blob(tag)
        )
        if connection.changes == 0 {
            try connection.execute(
                """
                UPDATE keychain_items SET class_key = ?, primary_tag = ?, metadata = ?, wrapped_key = ?, secret = ?
                WHERE id = ?
                """,
                classKey,
                .blob(tag),
                parts.metadata,
                parts.key,
                parts.secret,
                .integer(item.row)
            )
        }
        try noteSealing(of: item.row, accessibility)
        if item.attributes.hasTags(of: metadata.attributes) { return }
        try replaceTags(
            ItemTags.tags(of: item.attributes, under: keys.catalog.search),
            by: ItemTags.tags(of: metadata.attributes, under: keys.catalog.search),
            item.row
        )
    }

    /// Writes and removes only what differs.
    func replaceTags(_ former: [[UInt8]], by tags: [[UInt8]], _ row: Int64) throws {
        for tag in former where !tags.contains(tag) { try removeTag(tag, row) }
        for tag in tags where !former.contains(tag) { try addTag(tag, row) }
    }

    func addTags(of attributes: ItemAttributes, _ row: Int64) throws {
        for tag in ItemTags.tags(of: attributes, under: keys.catalog.search) { try addTag(tag, row) }
    }

    func addTag(_ tag: [UInt8], _ row: Int64) throws {
        try connection.execute(
            "INSERT OR IGNORE INTO keychain_tags (tag, item) VALUES (?, ?)",
            .blob(tag),
            .integer(row)
        )
    }

    func removeTags(of attributes: ItemAttributes, _ row: Int64) throws {
        for tag in ItemTags.tags(of: attributes, under: keys.catalog.search) { try removeTag(tag, row) }
    }

    func removeTag(_ tag: [UInt8], _ row: Int64) throws {
        try connection.execute("DELETE FROM keychain_tags WHERE tag = ? AND item = ?", .blob(tag), .integer(row))
    }

    /// Reads the row with the same primary key.
    func row<Result: ~Copyable>(
        of attributes: ItemAttributes,
        read: (borrowing Row) throws -> Result
    ) throws -> Result? { try row(tagged: primaryTag(attributes), read: read) }

    private func row<Result: ~Copyable>(
        tagged tag: [UInt8],
        read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let found = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE primary_tag = ?
            """,
            .blob(tag),
            read: read
        )
        if let found { return found }
        guard connection.faults.first != nil else { return nil }
        // The index may be what is damaged.
        return try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items NOT INDEXED
            WHERE primary_tag = ? ORDER BY id DESC LIMIT 1
            """,
            .blob(tag),
            read: read
        )
    }

    /// Whether an item has a primary key.
    ///
    /// - Parameter tag: The tag of the primary key.
    func isTaken(_ tag: [UInt8]) throws -> Bool { try row(tagged: tag) { _ in true } ?? false }

    /// Checks that no item has a primary key, as far as that can be known.
    func checkFree(_ attributes: ItemAttributes) throws {
        if try isTaken(primaryTag(attributes)) { throw CofferError.isThere(attributes) }
        try connection.faults.refuseNew(attributes.quoted)
    }

    func checkSynchronizable(
        _ attributes: ItemAttributes,
        _ accessibility: Accessibility
    ) throws(CofferError) {
        guard attributes.isSynchronizable, accessibility.isThisDeviceOnly else { return }
        throw CofferError(
            .param,
            "\(attributes.quoted) can't be both synchronizable and \(accessibility.rawValue), which never leaves this device",
            hint: "leave 'synchronizable' out, or choose another accessibility"
        )
    }

    /// The item of a row, if there is one.
    ///
    /// - Parameter row: The number of the row.
    /// - Throws: `decode` if it is damaged; ``DatabaseError``.
    package func item(at row: Int64) throws -> KeychainItem? {
        try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE id = ?
            """,
            .integer(row)
        ) { row in try self.item(in: row, expecting: nil) }
    }
}

extension CofferError {
    /// The error if another item has the primary key, locked or not.
    static func isThere(_ attributes: ItemAttributes) -> CofferError {
        CofferError(
            .duplicateItem,
            "a \(attributes.itemClass.rawValue) with the primary key of \(attributes.quoted) exists already",
            hint: "update it, or choose another name",
            operation: .write
        )
    }
}
