package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
package import CofferMemory
internal import CofferPast

/// The keychain: small secrets, each encrypted under its own key, and looked up by keyed hashes, which are opaque
/// without the vault key.
///
/// A row has two sealed parts. The metadata can be opened from the first unlock on, that of `Always` in every state; the
/// secret can be opened when its class key is in memory. Both are bound to the row, and the metadata to that very secret.
/// The tags need neither, so that a locked item is distinguished from a missing one in every state.
package final class KeychainStore {
    let connection: Connection
    let keys: VaultKeys
    let past: PastStore
    let seals: ItemSeals
    package let index: ItemIndex
    package let histories: ItemHistories
    /// Whether the passcode is being removed: no item that requires one can be added meanwhile.
    package var isLosingPasscode = false
    /// Called with the expiry date of each item that is stored, in milliseconds since 1970, whether or not that is rolled
    /// back.
    package var noteExpiry: (Int64) -> Void = { _ in }

    /// Opens the store in a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
        past = PastStore(connection: connection, keys: keys)
        seals = ItemSeals(keys: keys)
        index = ItemIndex(connection: connection, seals: seals)
        histories = ItemHistories(connection: connection, past: past, seals: seals)
    }

    /// The state of the vault.
    package var state: VaultState { keys.state }

    // MARK: Finding

    /// Finds a generic password.
    ///
    /// - Parameter key: The key of the password.
    /// - Returns: The item without its secret; `nil` if there is none.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects its name; `decode` if the row
    ///   is damaged; ``DatabaseError``.
    package func find(_ key: GenericPasswordKey) throws -> KeychainItem? {
        try row(tagged: seals.primaryTag(key)) { row in try seals.item(in: row, key.quoted) }
    }

    /// Whether there is a generic password, in every state of the vault.
    ///
    /// - Parameter key: The key of the password.
    /// - Throws: ``DatabaseError``.
    package func contains(_ key: GenericPasswordKey) throws -> Bool {
        try isTaken(seals.primaryTag(key))
    }

    /// The accessibility of a generic password, in every state of the vault; `nil` if there is none.
    ///
    /// - Parameter key: The key of the password.
    /// - Throws: ``DatabaseError``.
    package func accessibility(of key: GenericPasswordKey) throws -> Accessibility? {
        try row(tagged: seals.primaryTag(key)) { row in Accessibility(classKey: try row.integer(2)) } ?? nil
    }

    /// Finds the item with the same primary key.
    func find(_ attributes: ItemAttributes) throws -> KeychainItem? {
        try row(of: attributes) { row in try seals.item(in: row, attributes.quoted) }
    }

    /// The item with a persistent reference.
    ///
    /// - Returns: The item; `nil` if there is none.
    /// - Throws: `decode` if its row is damaged; ``DatabaseError``.
    package func find(_ reference: ItemID) throws -> KeychainItem? {
        let found = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE uuid = ?
            """,
            .blob(reference.bytes)
        ) { row in try seals.item(in: row) }
        if found != nil || connection.faults.first == nil { return found }
        // The index may be what is damaged.
        return try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items NOT INDEXED
            WHERE uuid = ? LIMIT 1
            """,
            .blob(reference.bytes)
        ) { row in try seals.item(in: row) }
    }

    // MARK: Changing

    /// Adds a generic password, or replaces the secret of the existing one.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - known: What was found under the key, if nothing was changed since.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: Its accessibility. The class key must be in memory, and so must that of an item that is
    ///     replaced; a deposit is replaced by a deposit in every state.
    ///   - kind: The kind that its owner states.
    ///   - created: The creation date of an item that comes from elsewhere; by default now.
    ///   - decision: The rule by which the put was decided, and what overrode it.
    ///   - change: The attributes that its owner gives it besides.
    ///   - now: Milliseconds since 1970.
    ///   - context: The authentication of the client.
    /// - Returns: The persistent reference.
    /// - Throws: As ``add(_:secret:accessibility:now:with:)`` and ``update(_:to:secret:accessibility:now:with:)``.
    @discardableResult
    package func put(
        _ key: GenericPasswordKey,
        over known: Known = .unknown,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        kind: ItemKind?,
        created: Int64?,
        decision: String = "",
        change: KeychainChange = KeychainChange(),
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws -> ItemID {
        if try isSealed(ItemAttributes(key)) {
            var attributes = ItemAttributes(key).changed(by: change, group: nil)
            attributes.kind = kind
            attributes.decision = decision
            return try replaceSealed(attributes, secret, accessibility, now)
        } else if let existing = try existing(key, known) {
            var attributes = existing.attributes.changed(by: change, group: nil)
            attributes.kind = kind ?? attributes.kind
            attributes.decision = decision
            let item = try prepared(existing, for: attributes, accessibility, context)
            try replace(item, attributes, secret, accessibility, now, context)
            return item.id
        } else {
            var attributes = ItemAttributes(key).changed(by: change, group: nil)
            attributes.kind = kind
            attributes.decision = decision
            let tag = seals.primaryTag(attributes)
            return try insert(attributes, tag, secret, accessibility, created ?? now, now, context).id
        }
    }

    /// What the caller has found under the key of a generic password.
    package enum Known {
        /// It has not looked.
        case unknown
        case nothing
        case item(KeychainItem)
    }

    private func existing(_ key: GenericPasswordKey, _ known: Known) throws -> KeychainItem? {
        switch known {
        case .unknown: try find(key)
        case .nothing: nil
        case .item(let item): item
        }
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - attributes: Its attributes.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: Its accessibility, whose class key must be in memory.
    ///   - now: Milliseconds since 1970.
    ///   - context: The authentication of the client, with the application password of the new item, if it gets one.
    /// - Returns: The item, which can't be found again before the first unlock.
    /// - Throws: `duplicateItem` if an item with the same primary key exists, even a locked or damaged one;
    ///   `interactionNotAllowed`, `authFailed` for an item that requires a passcode in a vault without one,
    ///   `dataTooLarge`, `interactionRequired` if an application password is missing, `param` for an invalid access
    ///   control; ``DatabaseError``. Nothing is changed then.
    package func add(
        _ attributes: ItemAttributes,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws -> KeychainItem {
        try checkSynchronizable(attributes, accessibility)
        let tag = seals.primaryTag(attributes)
        if try isTaken(tag) { throw CofferError.isThere(attributes) }
        return try insert(attributes, tag, secret, accessibility, now, now, context)
    }

    func checkSynchronizable(
        _ attributes: ItemAttributes,
        _ accessibility: Accessibility
    ) throws(CofferError) {
        guard attributes.isSynchronizable, accessibility.isThisDeviceOnly else { return }
        throw CofferError(
            .param,
            "\(attributes.quoted) can't be synchronizable: its protection, '\(accessibility.words)', keeps it on this device",
            hint: "leave 'synchronizable' out, or choose another protection"
        )
    }

    func checkPasscode(for accessibility: Accessibility, _ attributes: ItemAttributes) throws(CofferError) {
        guard accessibility == .whenPasscodeSetThisDeviceOnly else { return }
        if isLosingPasscode {
            throw CofferError(
                .authFailed,
                "can't store \(attributes.quoted): it requires a passcode, which is being removed",
                hint: "choose another accessibility"
            )
        }
        guard keys.state == .noPasscode else { return }
        throw CofferError(
            .authFailed,
            "can't store \(attributes.quoted): it requires a passcode, and the vault has none",
            hint: "choose another accessibility"
        )
    }

    func checkBounds(_ attributes: ItemAttributes, _ secretBytes: Int) throws(CofferError) {
        if secretBytes > Limits.secretBytes {
            throw CofferError(
                .dataTooLarge,
                "can't store \(attributes.quoted): a keychain secret has at most \(Limits.secretBytes) bytes",
                hint: "store it as a document: --kind document",
                operation: .write
            )
        }
        let byteCount = ItemMetadata.byteCount(of: attributes)
        if byteCount > Limits.metadataBytes {
            throw CofferError(
                .dataTooLarge,
                """
                can't store \(attributes.quoted): its attributes have \(byteCount) bytes, and at most \
                \(Limits.metadataBytes) are kept
                """,
                hint: "shorten its name or its attributes, or keep them in the secret",
                operation: .write
            )
        }
        if attributes.user.count > Limits.userAttributes {
            throw CofferError(
                .dataTooLarge,
                "can't store \(attributes.quoted): an item has at most \(Limits.userAttributes) attributes of its owner's",
                hint: "keep some of them in the secret",
                operation: .write
            )
        }
    }
}
