package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferPast
package import CofferMemory

// Changing items that are there: their attributes, their accessibility, their secrets.

extension KeychainStore {
    /// Changes the attributes, the accessibility or the secret of an item, or several of them.
    ///
    /// The old secret becomes a former value.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - attributes: The new attributes.
    ///   - secret: The new secret; `nil` to keep the old one.
    ///   - accessibility: The new accessibility.
    ///   - now: Milliseconds since 1970.
    ///   - context: The authentication of the client. Changing the access control, or the accessibility of an item that
    ///     has one, requires the same authentication as reading.
    /// - Throws: `duplicateItem` if the new primary key is that of another item; `interactionNotAllowed` if a class key
    ///   is not in memory; `interactionRequired`, `authFailed`, `dataTooLarge`, `decode`; ``DatabaseError``. The caller
    ///   must roll back its transaction then.
    package func update(
        _ item: KeychainItem,
        to attributes: ItemAttributes,
        secret: borrowing SecretBytes?,
        accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws {
        if attributes.isSynchronizable != item.attributes.isSynchronizable || accessibility != item.accessibility {
            try checkSynchronizable(attributes, accessibility)
        }
        if seals.primaryTag(attributes) != seals.primaryTag(item.attributes) { try checkFree(attributes) }
        let item = try prepared(item, for: attributes, accessibility, context)
        switch secret {
        case .some(let secret): try replace(item, attributes, secret, accessibility, now, context)
        case .none:
            try checkPasscode(for: accessibility, attributes)
            try reseal(item, attributes, accessibility, now)
        }
    }

    /// Checks whether an item may be changed in this way, and changes its access control.
    func prepared(
        _ item: KeychainItem,
        for attributes: ItemAttributes,
        _ accessibility: Accessibility,
        _ context: AuthenticationContext?
    ) throws -> KeychainItem {
        try seals.checkDeposit(attributes, accessibility)
        try checkWritable(item, as: accessibility)
        try authorizeWrite(item, context)
        if attributes.accessControl != item.attributes.accessControl {
            return try rebind(item, to: attributes.accessControl, context)
        }
        if item.attributes.accessControl != nil && accessibility != item.accessibility {
            try authorizeFully(item, context, for: .write)
        }
        return item
    }

    /// Checks whether an item may be changed in the state of the vault.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accessibility: Its accessibility from now on. To give it another one requires that it can be read.
    func checkWritable(_ item: KeychainItem, as accessibility: Accessibility) throws(CofferError) {
        let operation: ItemOperation = accessibility == item.accessibility ? .create : .read
        if item.accessibility.permits(operation, in: keys.state) { return }
        throw .locked(item.attributes.quoted, in: keys.state, for: .write)
    }

    /// Changes the accessibility of an item: its key is rewrapped, its secret is not touched.
    ///
    /// If the item has the accessibility already, nothing changes.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accessibility: The new accessibility.
    ///   - now: Milliseconds since 1970.
    ///   - context: The authentication of the client.
    /// - Throws: `interactionNotAllowed` if the class key of either accessibility is not in memory, `authFailed` for
    ///   one that requires a passcode in a vault without one, `interactionRequired` if its access control is not met,
    ///   `decode`; ``DatabaseError``. Nothing is changed then.
    package func protect(
        _ item: KeychainItem,
        as accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws {
        try checkPasscode(for: accessibility, item.attributes)
        try seals.checkDeposit(item.attributes, accessibility)
        if accessibility == item.accessibility { return }
        if item.attributes.accessControl != nil { try authorizeFully(item, context, for: .write) }
        try reseal(item, item.attributes, accessibility, now)
    }

    /// Renames a generic password: its secret and its history are not touched.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - key: The new key.
    ///   - context: The authentication of the client.
    /// - Throws: `duplicateItem` if another item has that key; `interactionRequired` if its access control protects it
    ///   against this; `dataTooLarge` if the name is too long; ``DatabaseError``. Nothing is changed then.
    package func rename(
        _ item: KeychainItem,
        to key: GenericPasswordKey,
        with context: AuthenticationContext? = nil
    ) throws {
        try authorizeWrite(item, context)
        var attributes = item.attributes
        attributes.values[.service] = .text(key.service)
        attributes.values[.account] = .text(key.account)
        if seals.primaryTag(attributes) != seals.primaryTag(item.attributes) { try checkFree(attributes) }
        try reseal(item, attributes, item.accessibility, item.modified)
    }

    /// Checks that no item has a primary key, as far as that can be known.
    func checkFree(_ attributes: ItemAttributes) throws {
        if try isTaken(seals.primaryTag(attributes)) { throw CofferError.isThere(attributes) }
        try connection.faults.refuseNew(attributes.quoted)
    }

    // MARK: Rows

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
        let sealed = try seals.seal(secret, of: item.id, as: accessibility, attributes, password)
        let metadata = seals.metadata(attributes, sealed, of: secret.count, created: item.created, modified: now)
        try connection.transaction {
            if item.isLeftBehind {
                try past.removeAll(of: item.id)
            } else {
                try histories.keepSecret(of: item, limit: attributes.historyLimit, now: now)
            }
            try write(metadata, sealed, item, accessibility)
            if accessibility != item.accessibility { try histories.rewrap(of: item, to: accessibility) }
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
            sealed.wrappedKey = try seals.rewrap(sealed.wrappedKey, of: item, to: accessibility)
        }
        let metadata = ItemMetadata(
            attributes: attributes,
            created: item.created,
            modified: now,
            secretByteCount: item.secretByteCount,
            secretTag: seals.secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: item.isLeftBehind ? item.moveCount : keys.moveCount
        )
        try connection.transaction {
            try past.trim(item.id, to: attributes.historyLimit)
            if accessibility != item.accessibility { try histories.rewrap(of: item, to: accessibility) }
            try write(metadata, sealed, item, accessibility)
        }
    }

    func write(
        _ metadata: ItemMetadata,
        _ sealed: SealedSecret,
        _ item: KeychainItem,
        _ accessibility: Accessibility
    ) throws {
        let tag = seals.primaryTag(metadata.attributes)
        let classKey = DatabaseValue.integer(Int64(ClassKeyName(accessibility).rawValue))
        noteExpiry(of: metadata.attributes)
        let parts = (
            metadata: DatabaseValue.blob(try seals.seal(metadata, of: item.id, accessibility, tag)),
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
        if item.attributes.hasTags(of: metadata.attributes) { return }
        try index.replaceTags(
            ItemTags.tags(of: item.attributes, under: keys.catalog.search),
            by: ItemTags.tags(of: metadata.attributes, under: keys.catalog.search),
            item.row
        )
    }
}
