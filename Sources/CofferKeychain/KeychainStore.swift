package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
package import CofferMemory

/// The keychain: small secrets, each under a key of its own, found by tags that say nothing to whoever has only the disk.
///
/// A row has two sealed parts. The metadata opens in every state, so that a locked item can be told from a missing one; the
/// secret opens when its class key is there. Both are bound to the row, and the metadata to the very secret.
package final class KeychainStore {
    let connection: Connection
    let keys: VaultKeys
    /// Whether the passcode is being removed: no item that wants one can be added.
    package var isLosingPasscode = false

    /// Opens the store in a catalog that was migrated.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The vault's keys.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// The state of the vault.
    package var state: VaultState { keys.state }

    /// Whether an item is on the disk as it was read: nothing that waits to be committed has to do with it.
    ///
    /// - Parameter item: The item.
    package func isCommitted(_ item: KeychainItem) -> Bool { !connection.hasTouched(item.row, of: "keychain_items") }

    // MARK: Finding

    /// Finds a generic password, in every state of the vault.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: The item without its secret; `nil` where there is none.
    /// - Throws: `decode` where the row is damaged; ``DatabaseError``.
    package func find(_ key: GenericPasswordKey) throws -> KeychainItem? {
        try find(ItemAttributes(key))
    }

    /// Finds the item of the same primary key, in every state of the vault.
    func find(_ attributes: ItemAttributes) throws -> KeychainItem? {
        try row(of: attributes) { row in try self.item(in: row, expecting: attributes) }
    }

    /// Finds a generic password and opens its secret.
    ///
    /// - Parameters:
    ///   - key: What identifies it.
    ///   - context: What the client has shown.
    /// - Returns: The item with its secret; `nil` where there is no such item.
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
    ///   - context: What the client has shown.
    /// - Throws: `interactionNotAllowed` where its class key is not there; `interactionRequired` where its access control is
    ///   not met, `authFailed` where an application password is wrong, or a passcode is wanted in a vault without one;
    ///   `itemNotFound` where it is gone; `decode`; ``DatabaseError``.
    package func secret(of item: KeychainItem, with context: AuthenticationContext? = nil) throws -> SecretBytes {
        let secret = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE id = ?
            """,
            .integer(item.row)
        ) { row in try self.openSecret(of: item, in: row, with: context) }
        guard let secret else { throw CofferError(.itemNotFound, "\(item.attributes.quoted) is gone") }
        return secret
    }

    /// Finds a generic password and opens its secret.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: The secret; `nil` where there is no such item.
    /// - Throws: As ``open(_:with:)``.
    package func secret(of key: GenericPasswordKey) throws -> SecretBytes? { try open(key)?.takeSecret() }

    /// Looks at every item of the store, in no order.
    ///
    /// - Parameter each: Gets an item, or the error where its row is damaged.
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
                // A value of another type than the schema lets in: it is this row's damage, and no other's.
                connection.faults.note(ifDamage: error)
                outcome = .failure(error.cofferError)
            }
            try each(outcome)
            return true
        }
    }

    /// How many items there are.
    package func count() throws -> Int {
        try connection.row("SELECT items FROM keychain_count") { max(0, Int(try $0.integer(0))) } ?? 0
    }

    // MARK: Changing

    /// Adds a generic password, or gives the one of that name a new secret.
    ///
    /// - Parameters:
    ///   - key: What identifies it.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: In which states it is to be there; its class key has to be there now, and to replace an item
    ///     that item's as well.
    ///   - kind: What the owner says it is.
    ///   - created: When it was made, where it comes from elsewhere; now if nothing is said.
    ///   - now: Milliseconds since 1970.
    ///   - context: What the client has shown.
    /// - Throws: As ``add(_:secret:accessibility:now:with:)`` and ``update(_:to:secret:accessibility:now:with:)``.
    package func put(
        _ key: GenericPasswordKey,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        kind: ItemKind?,
        created: Int64?,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws {
        if let existing = try find(key) {
            var attributes = existing.attributes
            attributes.kind = kind ?? attributes.kind
            let item = try prepared(existing, for: attributes, accessibility, context)
            try replace(item, attributes, secret, accessibility, now, context)
        } else {
            var attributes = ItemAttributes(key)
            attributes.kind = kind
            _ = try insert(attributes, secret, accessibility, created ?? now, now, context)
        }
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - attributes: What it says of itself.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: In which states it is to be there; its class key has to be there now.
    ///   - now: Milliseconds since 1970.
    ///   - context: What the client has shown: the new application password, if there is to be one.
    /// - Returns: The persistent reference.
    /// - Throws: `duplicateItem` where one of the same primary key is there, be it locked or damaged;
    ///   `interactionNotAllowed`, `authFailed` for an item that wants a passcode in a vault without one, `dataTooLarge`,
    ///   `interactionRequired` where an application password is missing, `param` for an access control that makes no sense;
    ///   ``DatabaseError``. Nothing is changed then.
    package func add(
        _ attributes: ItemAttributes,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws -> ItemID {
        if try isTaken(attributes) { throw CofferError.isThere(attributes) }
        return try insert(attributes, secret, accessibility, now, now, context)
    }

    /// Gives an item other attributes, another accessibility or another secret, or several of them.
    ///
    /// The secret that it had goes to its history.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - attributes: What it says of itself from now on.
    ///   - secret: The new secret; the old one stays if there is none.
    ///   - accessibility: In which states it is to be there.
    ///   - now: Milliseconds since 1970.
    ///   - context: What the client has shown. Another access control, or another accessibility of an item that has one,
    ///     wants all that reading wants.
    /// - Throws: `duplicateItem` where the new primary key is that of another item; `interactionNotAllowed` where a class
    ///   key is not there; `interactionRequired`, `authFailed`, `dataTooLarge`, `decode`; ``DatabaseError``. What was
    ///   changed of the item until then is undone by the caller's transaction.
    package func update(
        _ item: KeychainItem,
        to attributes: ItemAttributes,
        secret: borrowing SecretBytes?,
        accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws {
        if primaryTag(attributes) != primaryTag(item.attributes) { try checkFree(attributes) }
        let item = try prepared(item, for: attributes, accessibility, context)
        switch secret {
        case .some(let secret): try replace(item, attributes, secret, accessibility, now, context)
        case .none:
            try checkPasscode(for: accessibility, attributes)
            try reseal(item, attributes, accessibility, now)
        }
    }

    /// Sees whether an item may be changed so, and gives it its new access control.
    private func prepared(
        _ item: KeychainItem,
        for attributes: ItemAttributes,
        _ accessibility: Accessibility,
        _ context: AuthenticationContext?
    ) throws -> KeychainItem {
        try checkWritable(item)
        try authorizeWrite(item, context)
        if attributes.accessControl != item.attributes.accessControl {
            return try rebind(item, to: attributes.accessControl, context)
        }
        if item.attributes.accessControl != nil && accessibility != item.accessibility {
            try authorizeFully(item, context, for: .write)
        }
        return item
    }

    /// Gives an item another accessibility: its key is wrapped anew, its secret is not touched.
    ///
    /// An item that has the accessibility already is left as it is, in every state of the vault.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accessibility: In which states its secret is to be there.
    ///   - now: Milliseconds since 1970.
    ///   - context: What the client has shown.
    /// - Throws: `interactionNotAllowed` where the class key of either accessibility is not there, `authFailed` for one
    ///   that wants a passcode in a vault without one, `interactionRequired` where its access control is not met, `decode`;
    ///   ``DatabaseError``. Nothing is changed then.
    package func protect(
        _ item: KeychainItem,
        as accessibility: Accessibility,
        now: Int64,
        with context: AuthenticationContext? = nil
    ) throws {
        try checkPasscode(for: accessibility, item.attributes)
        if accessibility == item.accessibility { return }
        if item.attributes.accessControl != nil { try authorizeFully(item, context, for: .write) }
        try reseal(item, item.attributes, accessibility, now)
    }

    /// Gives a generic password another name, in every state of the vault: its secret and its history are not touched.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - key: What is to identify it.
    ///   - context: What the client has shown.
    /// - Throws: `duplicateItem` where that is another item's; `interactionRequired` where its access control is to be met
    ///   for this, too; `dataTooLarge` where the name is too long for it; ``DatabaseError``. Nothing is changed then.
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

    /// Removes a generic password, in every state of the vault.
    ///
    /// - Parameters:
    ///   - key: What identifies it.
    ///   - context: What the client has shown.
    /// - Returns: Whether there was one.
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

    /// Removes a row that can't be opened; its history goes by the reference that stands in it.
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

    /// Removes an item and its history, in every state of the vault.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: What the client has shown.
    /// - Throws: `interactionRequired` where its access control is to be met for this, too; ``DatabaseError``.
    package func remove(_ item: KeychainItem, with context: AuthenticationContext? = nil) throws {
        try authorizeWrite(item, context)
        try connection.transaction {
            try removeTags(of: item.attributes, item.row)
            try removeHistory(of: item.id)
            try connection.execute("DELETE FROM keychain_items WHERE id = ?", .integer(item.row))
        }
    }

    func checkWritable(_ item: KeychainItem) throws(CofferError) {
        if item.accessibility.isAvailable(in: keys.state) { return }
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

    // MARK: Items that want a passcode

    /// How many items there are of ``Accessibility/whenPasscodeSetThisDeviceOnly``.
    package func countWantingPasscode() throws -> Int {
        try connection.row("SELECT count(*) FROM keychain_items WHERE class_key = 22") { Int(try $0.integer(0)) } ?? 0
    }

    /// Removes the items of ``Accessibility/whenPasscodeSetThisDeviceOnly``: their key went with the passcode.
    package func removeWantingPasscode() throws {
        try connection.transaction {
            // All tags are looked at for that.
            if try countWantingPasscode() > 0 {
                try connection.execute(
                    """
                    DELETE FROM keychain_tags WHERE item IN (SELECT id FROM keychain_items WHERE class_key = 22)
                    """
                )
            }
            // A former value of another class has no item any more.
            try connection.execute(
                """
                DELETE FROM keychain_history WHERE uuid IN (SELECT uuid FROM keychain_items WHERE class_key = 22)
                """
            )
            try connection.execute("DELETE FROM keychain_items WHERE class_key = 22")
            try connection.execute("DELETE FROM keychain_history WHERE class_key = 22")
            try connection.execute("DELETE FROM keychain_quarantine WHERE class_key = 22")
        }
    }
}

extension CofferError {
    /// The answer where the primary key is that of another item, be it locked or not.
    static func isThere(_ attributes: ItemAttributes) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a \(attributes.itemClass.rawValue) already with the primary key of \(attributes.quoted)",
            hint: "update it, or choose another name",
            operation: .write
        )
    }
}
