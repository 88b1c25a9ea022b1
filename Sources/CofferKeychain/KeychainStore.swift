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
    private let connection: Connection
    private let keys: VaultKeys

    /// The tables of the store, in the order of their making.
    ///
    /// Never edited: a change is a new one.
    package static let migrations = [
        Migration(
            name: "keychain: generic passwords",
            sql: """
                CREATE TABLE keychain_items (
                    id INTEGER PRIMARY KEY,
                    uuid BLOB NOT NULL UNIQUE,
                    class_key INTEGER NOT NULL,
                    primary_tag BLOB NOT NULL UNIQUE,
                    metadata BLOB NOT NULL,
                    wrapped_key BLOB NOT NULL,
                    secret BLOB NOT NULL
                ) STRICT;
                """
        ),
        Migration(
            name: "keychain: items that want a passcode",
            generation: 2,
            sql: "CREATE INDEX keychain_items_akpu ON keychain_items (id) WHERE class_key = 22;"
        ),
        Migration(
            name: "keychain: count",
            generation: 2,
            sql: """
                CREATE TABLE keychain_count (items INTEGER NOT NULL) STRICT;
                INSERT INTO keychain_count SELECT count(*) FROM keychain_items;
                CREATE TRIGGER keychain_items_added AFTER INSERT ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items + 1; END;
                CREATE TRIGGER keychain_items_removed AFTER DELETE ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items - 1; END;
                """
        ),
    ]

    /// Opens the store in a catalog that was migrated.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The vault's keys.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    // MARK: Finding

    /// Finds an item, in every state of the vault.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: The item without its secret; `nil` where there is none.
    /// - Throws: `decode` where the row is damaged; ``DatabaseError``.
    package func find(_ key: GenericPasswordKey) throws -> KeychainItem? {
        try connection.row(
            "SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE primary_tag = ?",
            .blob(primaryTag(key))
        ) { row in try self.item(in: row, expecting: key) }
    }

    /// Finds an item and opens its secret.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: The item with its secret; `nil` where there is no such item.
    /// - Throws: `interactionNotAllowed` where its class key is not there; `decode`; ``DatabaseError``.
    package func open(_ key: GenericPasswordKey) throws -> OpenedItem? {
        try connection.row(
            "SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE primary_tag = ?",
            .blob(primaryTag(key))
        ) { row in
            let item = try self.item(in: row, expecting: key)
            return OpenedItem(item: item, secret: try self.openSecret(of: item, in: row))
        }
    }

    /// Finds an item and opens its secret.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: The secret; `nil` where there is no such item.
    /// - Throws: As ``open(_:)``.
    package func secret(of key: GenericPasswordKey) throws -> SecretBytes? { try open(key)?.takeSecret() }

    /// Looks at every item of the store, in no order.
    ///
    /// - Parameter each: Gets an item, or the error where its row is damaged.
    package func forEachItem(_ each: (Result<KeychainItem, CofferError>) throws -> Void) throws {
        try connection.rows(
            "SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items"
        ) { row in
            let outcome: Result<KeychainItem, CofferError>
            do {
                outcome = .success(try self.item(in: row, expecting: nil))
            } catch let error as CofferError {
                outcome = .failure(error)
            }
            try each(outcome)
            return true
        }
    }

    /// How many items there are.
    package func count() throws -> Int {
        try connection.row("SELECT items FROM keychain_count") { Int(try $0.integer(0)) } ?? 0
    }

    // MARK: Changing

    /// Adds an item, or gives the one of that name a new secret.
    ///
    /// - Parameters:
    ///   - key: What identifies it.
    ///   - secret: The secret, of at most ``Limits/secretBytes``.
    ///   - accessibility: In which states it is to be there; its class key has to be there now, and to replace an item
    ///     that item's as well.
    ///   - kind: What the owner says it is.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `interactionNotAllowed`, `authFailed` for an item that wants a passcode in a vault without one,
    ///   `dataTooLarge`, `decode`; ``DatabaseError``. Nothing is changed then.
    package func put(
        _ key: GenericPasswordKey,
        secret: borrowing SecretBytes,
        accessibility: Accessibility,
        kind: ItemKind?,
        created: Int64?,
        now: Int64
    ) throws {
        try checkBounds(key, secret.count)
        try checkPasscode(for: accessibility, key)
        let existing = try find(key)
        if let existing, !existing.accessibility.isAvailable(in: keys.state) {
            throw CofferError.locked(key.quoted, in: keys.state, for: .write)
        }
        let sealed = try seal(key, secret, accessibility, existing, kind, created, now)
        try connection.transaction {
            try connection.execute("DELETE FROM keychain_items WHERE primary_tag = ?", .blob(sealed.primaryTag))
            try connection.execute(
                """
                INSERT INTO keychain_items (uuid, class_key, primary_tag, metadata, wrapped_key, secret)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                .blob(sealed.id.bytes),
                .integer(Int64(ClassKeyName(accessibility).rawValue)),
                .blob(sealed.primaryTag),
                .blob(sealed.metadata),
                .blob(sealed.wrappedKey),
                .blob(sealed.secret)
            )
        }
    }

    /// Gives an item another accessibility: its key is wrapped anew, its secret is not touched.
    ///
    /// An item that has the accessibility already is left as it is, in every state of the vault.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accessibility: In which states its secret is to be there.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `interactionNotAllowed` where the class key of either accessibility is not there, `authFailed` for one
    ///   that wants a passcode in a vault without one, `decode`; ``DatabaseError``. Nothing is changed then.
    package func protect(_ item: KeychainItem, as accessibility: Accessibility, now: Int64) throws {
        try checkPasscode(for: accessibility, item.key)
        if accessibility == item.accessibility { return }
        let tag = primaryTag(item.key)
        let parts = try connection.row(
            "SELECT wrapped_key, secret FROM keychain_items WHERE primary_tag = ?",
            .blob(tag)
        ) { row in (wrappedKey: try row.blob(0), secret: try row.blob(1)) }
        guard let parts else { return }
        let wrappedKey: [UInt8]
        do {
            wrappedKey = unsafe try keys.rewrapItemKey(
                parts.wrappedKey.span.bytes,
                from: item.accessibility,
                to: accessibility,
                of: item.id
            )
        } catch {
            throw error.cofferError(item.key.quoted, in: keys.state, for: .write)
        }
        let metadata = ItemMetadata(
            key: item.key,
            kind: item.kind,
            created: item.created,
            modified: now,
            secretByteCount: item.secretByteCount,
            secretTag: secretTag(wrappedKey, parts.secret)
        )
        try connection.execute(
            "UPDATE keychain_items SET class_key = ?, metadata = ?, wrapped_key = ? WHERE primary_tag = ?",
            .integer(Int64(ClassKeyName(accessibility).rawValue)),
            .blob(seal(metadata, of: item.id, accessibility, tag)),
            .blob(wrappedKey),
            .blob(tag)
        )
    }

    /// Removes an item, in every state of the vault.
    ///
    /// - Parameter key: What identifies it.
    /// - Returns: Whether there was one.
    package func remove(_ key: GenericPasswordKey) throws -> Bool {
        try connection.execute("DELETE FROM keychain_items WHERE primary_tag = ?", .blob(primaryTag(key)))
        return connection.changes > 0
    }

    private func checkPasscode(for accessibility: Accessibility, _ key: GenericPasswordKey) throws(CofferError) {
        guard accessibility == .whenPasscodeSetThisDeviceOnly && keys.state == .noPasscode else { return }
        throw CofferError(
            .authFailed,
            "can't store \(key.quoted) as WhenPasscodeSetThisDeviceOnly: the vault has no passcode",
            hint: "choose another accessibility"
        )
    }

    private func checkBounds(_ key: GenericPasswordKey, _ secretBytes: Int) throws(CofferError) {
        if secretBytes > Limits.secretBytes {
            throw CofferError(
                .dataTooLarge,
                "can't store \(key.quoted): a keychain secret has at most \(Limits.secretBytes) bytes",
                hint: "store it as a document: --kind document",
                operation: .write
            )
        }
        let nameBytes = key.service.utf8.count + key.account.utf8.count
        // What else is in the metadata is far below a kilobyte.
        if nameBytes > Limits.metadataBytes - 1024 {
            throw CofferError(
                .dataTooLarge,
                "can't store \(key.quoted): the name of a keychain item has at most \(Limits.metadataBytes - 1024) bytes",
                hint: "shorten the name",
                operation: .write
            )
        }
    }

    // MARK: Sealing

    private struct SealedItem {
        let id: ItemID
        let primaryTag, metadata, wrappedKey, secret: [UInt8]
    }

    private func seal(
        _ key: GenericPasswordKey,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ existing: KeychainItem?,
        _ kind: ItemKind?,
        _ created: Int64?,
        _ now: Int64
    ) throws -> SealedItem {
        let id = existing?.id ?? ItemID()
        let itemKey = try newItemKey(for: accessibility, of: id, key.quoted)
        let padded: SecretBytes
        do { padded = try SecretPadding.pad(secret) } catch { throw CofferError.noSecretMemory }
        let sealedSecret = padded.withBytes { AEAD.seal($0, under: itemKey.key, context: Self.secretContext(id)) }
        let metadata = ItemMetadata(
            key: key,
            kind: kind ?? existing?.kind,
            created: existing?.created ?? created ?? now,
            modified: now,
            secretByteCount: secret.count,
            secretTag: secretTag(itemKey.wrapped, sealedSecret)
        )
        let tag = primaryTag(key)
        return SealedItem(
            id: id,
            primaryTag: tag,
            metadata: seal(metadata, of: id, accessibility, tag),
            wrappedKey: itemKey.wrapped,
            secret: sealedSecret
        )
    }

    private func seal(
        _ metadata: ItemMetadata,
        of id: ItemID,
        _ accessibility: Accessibility,
        _ primaryTag: [UInt8]
    ) -> [UInt8] {
        let context = Self.metadataContext(id, Int64(ClassKeyName(accessibility).rawValue), primaryTag)
        return unsafe AEAD.seal(
            metadata.encoded.span.bytes,
            under: keys.catalog.keychainMetadata,
            context: context
        )
    }

    private func newItemKey(
        for accessibility: Accessibility,
        of id: ItemID,
        _ subject: String
    ) throws(CofferError) -> WrappedItemKey {
        do {
            return try keys.newItemKey(for: accessibility, of: id)
        } catch {
            throw error.cofferError(subject, in: keys.state, for: .write)
        }
    }

    /// - Parameter key: What the row was found by; `nil` where all are looked at.
    private func item(in row: borrowing Row, expecting key: GenericPasswordKey?) throws -> KeychainItem {
        let subject = key?.quoted ?? "a keychain item"
        let classKey = try row.integer(1)
        guard let id = ItemID(try row.blob(0)),
            let accessibility = Accessibility.allCases.first(where: { ClassKeyName($0).rawValue == classKey })
        else { throw CofferError.damaged(subject, found: "its row has impossible values") }
        let context = Self.metadataContext(id, classKey, try row.blob(2))
        let metadata: ItemMetadata
        do {
            metadata = try row.withBlob(3) { sealed in
                let opened = try AEAD.open(sealed, under: keys.catalog.keychainMetadata, context: context)
                return try ItemMetadata(decoding: opened.exposeBytes())
            }
        } catch is CryptoError {
            throw CofferError.damaged(subject, found: "its metadata is not authentic")
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its metadata has an unknown form")
        }
        let tag = secretTag(try row.blob(4), try row.blob(5))
        guard isEqualInConstantTime(tag, metadata.secretTag) else {
            throw CofferError.damaged(metadata.key.quoted, found: "its secret is not the one that its metadata names")
        }
        return KeychainItem(
            id: id,
            key: metadata.key,
            accessibility: accessibility,
            kind: metadata.kind,
            created: metadata.created,
            modified: metadata.modified,
            secretByteCount: metadata.secretByteCount
        )
    }

    private func openSecret(of item: KeychainItem, in row: borrowing Row) throws -> SecretBytes {
        do {
            let itemKey = try row.withBlob(4) { wrapped in
                try keys.itemKey(unwrapping: wrapped, for: item.accessibility, of: item.id)
            }
            let padded = try row.withBlob(5) { sealed in
                try AEAD.open(sealed, under: itemKey, context: Self.secretContext(item.id))
            }
            if let secret = try SecretPadding.unpad(padded) { return secret }
            throw CofferError.damaged(item.key.quoted, found: "its secret has an unknown form")
        } catch let error as KeyError {
            throw error.cofferError(item.key.quoted, in: keys.state, for: .read)
        } catch CryptoError.unauthentic {
            throw CofferError.damaged(item.key.quoted, found: "its secret is not authentic")
        } catch is SecretMemoryError {
            throw CofferError.noSecretMemory
        }
    }

    // MARK: Items that want a passcode

    /// How many items there are of ``Accessibility/whenPasscodeSetThisDeviceOnly``.
    package func countWantingPasscode() throws -> Int {
        try connection.row("SELECT count(*) FROM keychain_items WHERE class_key = 22") { Int(try $0.integer(0)) } ?? 0
    }

    /// Removes the items of ``Accessibility/whenPasscodeSetThisDeviceOnly``: their key went with the passcode.
    package func removeWantingPasscode() throws {
        try connection.execute("DELETE FROM keychain_items WHERE class_key = 22")
    }

    private func primaryTag(_ key: GenericPasswordKey) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.search,
            for: "coffer generic password tag v1",
            byteCount: 32,
            Array(key.group.utf8),
            Array(key.service.utf8),
            Array(key.account.utf8)
        )
    }

    private func secretTag(_ wrappedKey: [UInt8], _ secret: [UInt8]) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.keychainMetadata,
            for: "coffer secret tag v1",
            byteCount: ItemMetadata.secretTagBytes,
            wrappedKey,
            secret
        )
    }

    private static func metadataContext(_ id: ItemID, _ classKey: Int64, _ primaryTag: [UInt8]) -> [UInt8] {
        Array("coffer keychain metadata v1".utf8) + id.bytes + [UInt8(truncatingIfNeeded: classKey)] + primaryTag
    }

    private static func secretContext(_ id: ItemID) -> [UInt8] {
        Array("coffer keychain secret v1".utf8) + id.bytes
    }
}
