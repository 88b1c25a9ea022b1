package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
package import CofferMemory

/// The keychain: small secrets, each encrypted under its own key, and looked up by keyed hashes, which are opaque
/// without the vault key.
///
/// A row has two sealed parts. The metadata can be opened from the first unlock on, that of `Always` in every state; the
/// secret can be opened when its class key is in memory. Both are bound to the row, and the metadata to that very secret.
/// The tags need neither, so that a locked item is distinguished from a missing one in every state.
package final class KeychainStore {
    let connection: Connection
    let keys: VaultKeys
    /// Whether the passcode is being removed: no item that requires one can be added meanwhile.
    package var isLosingPasscode = false

    /// Opens the store in a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
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
        try find(ItemAttributes(key))
    }

    /// Whether there is a generic password, in every state of the vault.
    ///
    /// - Parameter key: The key of the password.
    /// - Throws: ``DatabaseError``.
    package func contains(_ key: GenericPasswordKey) throws -> Bool { try isTaken(primaryTag(ItemAttributes(key))) }

    /// The accessibility of a generic password, in every state of the vault; `nil` if there is none.
    ///
    /// - Parameter key: The key of the password.
    /// - Throws: ``DatabaseError``.
    package func accessibility(of key: GenericPasswordKey) throws -> Accessibility? {
        try row(of: ItemAttributes(key)) { row in Accessibility(classKey: try row.integer(2)) } ?? nil
    }

    /// Finds the item with the same primary key.
    func find(_ attributes: ItemAttributes) throws -> KeychainItem? {
        try row(of: attributes) { row in try self.item(in: row, expecting: attributes) }
    }

    /// Finds a generic password and opens its secret.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - context: The authentication of the client.
    /// - Returns: The item with its secret; `nil` if there is none.
    /// - Throws: As ``secret(of:with:)``.
    package func open(
        _ key: GenericPasswordKey,
        with context: AuthenticationContext? = nil
    ) throws -> OpenedItem? {
        let attributes = ItemAttributes(key)
        return try row(of: attributes) { row in
            let item = try self.item(in: row, expecting: attributes)
            return OpenedItem(item: item, secret: try self.openSecret(of: item, in: row, with: context))
        }
    }

    /// Opens the secret of an item that was found.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `interactionNotAllowed` if its class key is not in memory; `interactionRequired` if its access control
    ///   is not met, `authFailed` if an application password is wrong, or a passcode is required in a vault without
    ///   one; `itemNotFound` if it was removed; `decode`; ``DatabaseError``.
    package func secret(of item: KeychainItem, with context: AuthenticationContext? = nil) throws -> SecretBytes {
        let secret = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE id = ?
            """,
            .integer(item.row)
        ) { row in try self.openSecret(of: item, in: row, with: context) }
        guard let secret else { throw CofferError(.itemNotFound, "\(item.attributes.quoted) was removed") }
        return secret
    }

    /// Opens the secrets of items, one after the other in one buffer; `nil` for no items.
    package func secrets(of items: [KeychainItem], with context: AuthenticationContext?) throws -> SecretBytes? {
        if items.isEmpty { return nil }
        if items.count == 1 { return try secret(of: items[0], with: context) }
        var all = try SecretBytes(zeros: items.reduce(0) { $0 + $1.secretByteCount })
        var offset = 0
        for item in items {
            let secret = try secret(of: item, with: context)
            guard secret.count == item.secretByteCount else {
                throw CofferError.damaged(item.attributes.quoted, found: "its secret has another length than it says")
            }
            secret.withBytes { all.copy($0, to: offset) }
            offset += secret.count
        }
        return all
    }

    /// Finds a generic password and opens its secret.
    ///
    /// - Parameter key: The key of the password.
    /// - Returns: The secret; `nil` if there is no such item.
    /// - Throws: As ``open(_:with:)``.
    package func secret(of key: GenericPasswordKey) throws -> SecretBytes? { try open(key)?.takeSecret() }

    /// Calls a closure for every item of the store, in no particular order.
    ///
    /// - Parameter each: Called with an item, or with the error if its row is damaged.
    package func forEachItem(_ each: (Result<KeychainItem, CofferError>) throws -> Void) throws {
        try connection.rows(
            "SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items"
        ) { row in
            let outcome: Result<KeychainItem, CofferError>
            do {
                outcome = .success(try self.item(in: row, expecting: nil))
            } catch let error as CofferError {
                connection.faults.note(ifDamage: error)
                outcome = .failure(error)
            } catch let error as DatabaseError where error.kind == .damaged {
                // A value of a type that the schema does not allow: damage of this row only.
                connection.faults.note(ifDamage: error)
                outcome = .failure(error.cofferError)
            }
            try each(outcome)
            return true
        }
    }

    // MARK: Changing

    /// Adds a generic password, or replaces the secret of the existing one.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - known: The existing one, if nothing was changed since it was found.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: Its accessibility. The class key must be in memory, and so must that of an item that is
    ///     replaced; a deposit is replaced by a deposit in every state.
    ///   - kind: The kind that its owner states.
    ///   - created: The creation date of an item that comes from elsewhere; by default now.
    ///   - decision: The rule by which the put was decided, and what overrode it.
    ///   - change: The attributes that its owner gives it besides.
    ///   - keptBytes: What a file that becomes the item kept of it.
    ///   - now: Milliseconds since 1970.
    ///   - context: The authentication of the client.
    /// - Returns: The persistent reference.
    /// - Throws: As ``add(_:secret:accessibility:now:with:)`` and ``update(_:to:secret:accessibility:now:with:)``.
    @discardableResult
    package func put(
        _ key: GenericPasswordKey,
        over known: KeychainItem? = nil,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        kind: ItemKind?,
        created: Int64?,
        decision: String = "",
        change: KeychainChange = KeychainChange(),
        kept keptBytes: [UInt8] = [],
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws -> ItemID {
        if try isSealed(ItemAttributes(key)) {
            var attributes = ItemAttributes(key).changed(by: change, group: nil)
            attributes.kind = kind
            attributes.decision = decision
            return try replaceSealed(attributes, secret, accessibility, now)
        } else if let existing = try known ?? find(key) {
            var attributes = existing.attributes.changed(by: change, group: nil)
            attributes.kind = kind ?? attributes.kind
            attributes.decision = decision
            let item = try prepared(existing, for: attributes, accessibility, context)
            try replace(item, attributes, secret, accessibility, now, context)
            return item.id
        } else {
            let kept = try kept(keptBytes, key.quoted)
            var attributes = ItemAttributes(key, as: kept?.metadata.attributes).changed(by: change, group: nil)
            attributes.kind = kind
            attributes.decision = decision
            return try connection.transaction {
                let id = kept?.id ?? ItemID()
                _ = try insert(
                    attributes,
                    primaryTag(attributes),
                    secret,
                    accessibility,
                    created ?? now,
                    now,
                    context,
                    as: id
                )
                if let kept { try restoreHistory(kept) }
                return id
            }
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
        let tag = primaryTag(attributes)
        if try isTaken(tag) { throw CofferError.isThere(attributes) }
        return try insert(attributes, tag, secret, accessibility, now, now, context)
    }

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
        if primaryTag(attributes) != primaryTag(item.attributes) { try checkFree(attributes) }
        let item = try prepared(item, for: attributes, accessibility, context)
        switch secret {
        case .some(let secret): try replace(item, attributes, secret, accessibility, now, context)
        case .none:
            try checkPasscode(for: accessibility, attributes)
            try reseal(item, attributes, accessibility, now)
        }
    }

    /// Checks whether an item may be changed in this way, and changes its access control.
    private func prepared(
        _ item: KeychainItem,
        for attributes: ItemAttributes,
        _ accessibility: Accessibility,
        _ context: AuthenticationContext?
    ) throws -> KeychainItem {
        try checkDeposit(attributes, accessibility)
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
        try checkDeposit(item.attributes, accessibility)
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
        if primaryTag(attributes) != primaryTag(item.attributes) { try checkFree(attributes) }
        try reseal(item, attributes, item.accessibility, item.modified)
    }

    /// Removes a generic password.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - context: The authentication of the client.
    /// - Returns: Whether it existed.
    /// - Throws: As ``remove(_:with:)``.
    package func remove(_ key: GenericPasswordKey, with context: AuthenticationContext? = nil) throws -> Bool {
        do {
            guard let item = try find(key) else { return false }
            try remove(item, with: context)
            return true
        } catch let error as CofferError where error.code == .decode {
            try removeDamaged(ItemAttributes(key))
            return true
        }
    }

    /// Removes a row that can't be opened, and its history by the reference in the row.
    private func removeDamaged(_ attributes: ItemAttributes) throws {
        let tag = primaryTag(attributes)
        try connection.transaction {
            try connection.execute(
                """
                DELETE FROM keychain_history
                WHERE uuid = (SELECT uuid FROM keychain_items WHERE primary_tag = ?)
                """,
                .blob(tag)
            )
            try connection.execute(
                "DELETE FROM keychain_tags WHERE item = (SELECT id FROM keychain_items WHERE primary_tag = ?)",
                .blob(tag)
            )
            try connection.execute("DELETE FROM keychain_items WHERE primary_tag = ?", .blob(tag))
        }
    }

    /// Removes an item and its history.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `interactionRequired` if its access control protects it against this; ``DatabaseError``.
    package func remove(_ item: KeychainItem, with context: AuthenticationContext? = nil) throws {
        try authorizeWrite(item, context)
        try connection.transaction {
            try removeTags(of: item.attributes, item.row)
            try removeHistory(of: item.id)
            try connection.execute("DELETE FROM keychain_items WHERE id = ?", .integer(item.row))
        }
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

    func checkPasscode(for accessibility: Accessibility, _ attributes: ItemAttributes) throws(CofferError) {
        guard accessibility == .whenPasscodeSetThisDeviceOnly else { return }
        if isLosingPasscode {
            throw CofferError(
                .authFailed,
                "can't store \(attributes.quoted) as WhenPasscodeSetThisDeviceOnly: the passcode is being removed",
                hint: "choose another accessibility"
            )
        }
        guard keys.state == .noPasscode else { return }
        throw CofferError(
            .authFailed,
            "can't store \(attributes.quoted) as WhenPasscodeSetThisDeviceOnly: the vault has no passcode",
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
