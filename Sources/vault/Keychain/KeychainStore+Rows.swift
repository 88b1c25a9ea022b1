internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// Converting items to rows, and rows to items.

extension KeychainStore {
    /// The number of items.
    package func count() throws -> Int {
        try connection.row("SELECT items FROM keychain_count") { row in
            min(max(0, Int(try row.integer(0))), Limits.countedRows)
        } ?? 0
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
        try seals.checkControl(attributes)
        try seals.checkDeposit(attributes, accessibility)
        try connection.faults.refuseNew(attributes.quoted)
        let sealed = try seals.seal(secret, of: id, as: accessibility, attributes, context?.password)
        let metadata = seals.metadata(attributes, sealed, of: secret.count, created: created, modified: now)
        return try connection.transaction { try insert(metadata, sealed, tag, accessibility, as: id) }
    }

    /// Inserts a row, within the open transaction.
    func insert(
        _ metadata: ItemMetadata,
        _ sealed: SealedSecret,
        _ tag: [UInt8],
        _ accessibility: Accessibility,
        as id: ItemID
    ) throws -> KeychainItem {
        noteExpiry(of: metadata.attributes)
        try connection.execute(
            """
            INSERT INTO keychain_items (uuid, class_key, primary_tag, metadata, wrapped_key, secret)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            .blob(id.bytes),
            .integer(Int64(ClassKeyName(accessibility).rawValue)),
            .blob(tag),
            .blob(try seals.seal(metadata, of: id, accessibility, tag)),
            .blob(sealed.wrappedKey),
            .blob(sealed.secret)
        )
        let row = connection.lastInsertedRowID
        try index.addTags(of: metadata.attributes, row)
        return seals.item(metadata, row, id, accessibility)
    }

    func noteExpiry(of attributes: ItemAttributes) {
        if let date = attributes.expiryDate { noteExpiry(date) }
    }

    /// Reads the row with the same primary key.
    func row<Result: ~Copyable>(
        of attributes: ItemAttributes,
        read: (borrowing Row) throws -> Result
    ) throws -> Result? { try row(tagged: seals.primaryTag(attributes), read: read) }

    /// Reads the row with a primary tag.
    func row<Result: ~Copyable>(
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
        ) { row in try seals.item(in: row) }
    }
}

extension CofferError {
    /// The error if another item has the primary key, locked or not.
    static func isThere(_ attributes: ItemAttributes) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is another \(attributes.itemClass.word) with the attributes that identify \(attributes.quoted)",
            hint: "update it, or choose another name",
            operation: .write
        )
    }
}
