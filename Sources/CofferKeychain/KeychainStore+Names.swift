package import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferMemory

// Names are under the passcode. Before the first unlock a deposit is replaced all the same, and what it had before is
// set aside; after it, that is given back, and what an older version has sealed under the device key is sealed anew.

extension KeychainStore {
    /// Whether there is something for ``sealNames(until:)``.
    package func hasNamesToSeal() throws -> Bool {
        try connection.row(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM keychain_unsealed) OR EXISTS (SELECT 1 FROM keychain_replaced)"
        ) { _ in true } ?? false
    }

    /// The number of items whose names can be read after the first unlock only.
    package func sealedCount() throws -> Int {
        if keys.opensNames { return 0 }
        let namedCount = try connection.row(
            """
            SELECT (SELECT count(*) FROM keychain_items WHERE class_key IN (18, 21))
                + (SELECT count(*) FROM keychain_unsealed JOIN keychain_items ON id = item
                    WHERE class_key NOT IN (18, 21))
            """
        ) { Int(try $0.integer(0)) }
        return try max(0, count() - (namedCount ?? 0))
    }

    /// Completes, after the first unlock, what could not be done before it: deposits get back what they had when they
    /// were replaced, and the names that an older version has sealed under the device key are sealed under the passcode,
    /// those of some items.
    ///
    /// - Parameter isEnough: Called after each item; whether to stop for now.
    /// - Returns: Whether nothing is left to seal.
    /// - Throws: ``DatabaseError``.
    package func sealNames(until isEnough: () -> Bool) throws -> Bool {
        guard keys.opensNames else { return true }
        // Before anybody can change them.
        try restoreReplaced()
        while let number = try connection.row("SELECT item FROM keychain_unsealed LIMIT 1", read: { try $0.integer(0) }) {
            try connection.transaction {
                do {
                    if let item = try item(at: number) { try sealNames(of: item) }
                } catch let error as CofferError where error.code == .decode {
                    // Doctor finds it.
                }
                try connection.execute("DELETE FROM keychain_unsealed WHERE item = ?", .integer(number))
            }
            if isEnough() { return try !hasNamesToSeal() }
        }
        return true
    }

    private func sealNames(of item: KeychainItem) throws {
        try rewrite(item, item.attributes, created: item.created)
        for value in try history(of: item) { try resealHistory(value, of: item) }
    }

    /// Seals the metadata of an item anew, with its secret untouched.
    private func rewrite(_ item: KeychainItem, _ attributes: ItemAttributes, created: Int64) throws {
        let tag = try connection.row(
            "SELECT wrapped_key, secret FROM keychain_items WHERE id = ?",
            .integer(item.row)
        ) { row in secretTag(try row.blob(0), try row.blob(1)) }
        guard let tag else { return }
        let metadata = ItemMetadata(
            attributes: attributes,
            created: created,
            modified: item.modified,
            secretByteCount: item.secretByteCount,
            secretTag: tag,
            moveCount: item.moveCount
        )
        try connection.execute(
            "UPDATE keychain_items SET metadata = ? WHERE id = ?",
            .blob(try seal(metadata, of: item.id, item.accessibility, primaryTag(attributes))),
            .integer(item.row)
        )
    }

    /// Records that an item is sealed under the device key for now.
    func noteSealing(of row: Int64, _ accessibility: Accessibility) throws {
        guard keys.sealsNamesForNow, !accessibility.isNamedInEveryState else { return }
        try connection.execute("INSERT OR IGNORE INTO keychain_unsealed (item) VALUES (?)", .integer(row))
    }

    // MARK: Replacing what is sealed

    /// Whether there is an item whose metadata can be opened after the first unlock only.
    func isSealed(_ attributes: ItemAttributes) throws -> Bool {
        if keys.opensNames { return false }
        do {
            _ = try find(attributes)
            return false
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return true
        }
    }

    /// Whether there is a deposit whose metadata can be opened after the first unlock only.
    ///
    /// - Parameter attributes: Its primary key.
    package func isSealedDeposit(_ attributes: ItemAttributes) throws -> Bool {
        guard try isSealed(attributes) else { return false }
        return try row(of: attributes) { row in
            Accessibility(classKey: try row.integer(2)) == .whenUnlockedDeposit
        } ?? false
    }

    /// Replaces the secret of such a deposit, and nothing else of it.
    ///
    /// - Parameters:
    ///   - attributes: Its primary key.
    ///   - secret: The new secret.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The persistent reference.
    /// - Throws: `dataTooLarge`; ``DatabaseError``.
    package func replace(
        sealedDeposit attributes: ItemAttributes,
        by secret: borrowing SecretBytes,
        now: Int64
    ) throws -> ItemID {
        try replaceSealed(attributes, secret, .whenUnlockedDeposit, now)
    }

    /// Replaces the secret of a deposit whose metadata can be opened after the first unlock only.
    ///
    /// The row as it was is set aside for ``sealNames(until:)``: its attributes, its date and its secret.
    ///
    /// - Returns: The persistent reference.
    /// - Throws: `interactionNotAllowed` if it is no deposit, or does not stay one.
    func replaceSealed(
        _ attributes: ItemAttributes,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ now: Int64
    ) throws -> ItemID {
        let found = try row(of: attributes) { row in
            (row: try row.integer(0), id: ItemID(try row.blob(1)), key: try row.integer(2))
        }
        guard let found, let id = found.id, accessibility == .whenUnlockedDeposit,
            Accessibility(classKey: found.key) == accessibility
        else { throw CofferError.locked(attributes.quoted, in: keys.state, for: .write) }
        try checkBounds(attributes, secret.count)
        let sealed = try seal(secret, of: id, as: accessibility, attributes, nil)
        let metadata = ItemMetadata(
            attributes: attributes,
            created: now,
            modified: now,
            secretByteCount: secret.count,
            secretTag: secretTag(sealed.wrappedKey, sealed.secret),
            moveCount: keys.moveCount
        )
        try connection.transaction {
            try connection.execute(
                """
                INSERT INTO keychain_replaced (item, metadata, wrapped_key, secret)
                SELECT id, metadata, wrapped_key, secret FROM keychain_items WHERE id = ?
                """,
                .integer(found.row)
            )
            // The first one has the attributes; of the others as many are kept as a history has at most.
            try connection.execute(
                """
                DELETE FROM keychain_replaced WHERE item = ?1
                    AND id > (SELECT min(id) FROM keychain_replaced WHERE item = ?1)
                    AND id NOT IN (SELECT id FROM keychain_replaced WHERE item = ?1 ORDER BY id DESC LIMIT ?2)
                """,
                .integer(found.row),
                .integer(Int64(Limits.historyValues))
            )
            try connection.execute(
                "UPDATE keychain_items SET metadata = ?, wrapped_key = ?, secret = ? WHERE id = ?",
                .blob(try seal(metadata, of: id, accessibility, primaryTag(attributes))),
                .blob(sealed.wrappedKey),
                .blob(sealed.secret),
                .integer(found.row)
            )
        }
        return id
    }

    /// What was set aside of a deposit.
    private struct Replaced {
        let metadata: ItemMetadata
        let sealed: SealedSecret
    }

    /// Gives deposits that were replaced before the first unlock their attributes and their former values back.
    private func restoreReplaced() throws {
        while let number = try connection.row(
            "SELECT item FROM keychain_replaced ORDER BY item LIMIT 1",
            read: { try $0.integer(0) }
        ) {
            try connection.transaction {
                do {
                    if let item = try item(at: number) { try restoreReplaced(of: item) }
                } catch let error as CofferError where error.code == .decode {
                    // Doctor finds it.
                }
                try connection.execute("DELETE FROM keychain_replaced WHERE item = ?", .integer(number))
            }
        }
    }

    private func restoreReplaced(of item: KeychainItem) throws {
        let context = Self.metadataContext(
            item.id,
            Int64(ClassKeyName(item.accessibility).rawValue),
            primaryTag(item.attributes)
        )
        var replaced: [Replaced] = []
        try connection.rows(
            "SELECT metadata, wrapped_key, secret FROM keychain_replaced WHERE item = ? ORDER BY id",
            .integer(item.row)
        ) { row in
            let sealed = SealedSecret(wrappedKey: try row.blob(1), secret: try row.blob(2))
            let metadata = try? row.withBlob(0) { try ItemMetadata(decoding: try openNames($0, context)) }
            // One that was exchanged is no former value of this item.
            if let metadata, metadata.secretTag == secretTag(sealed.wrappedKey, sealed.secret) {
                replaced.append(Replaced(metadata: metadata, sealed: sealed))
            }
            return true
        }
        guard let first = replaced.first else { return }
        var attributes = first.metadata.attributes
        attributes.kind = item.attributes.kind ?? attributes.kind
        if !item.attributes.decision.isEmpty { attributes.decision = item.attributes.decision }
        let dates = replaced.dropFirst().map(\.metadata.modified) + [item.modified]
        for (value, date) in zip(replaced, dates) where attributes.historyLimit > 0 {
            try addHistory(of: item, value.sealed, replaced: date, byteCount: value.metadata.secretByteCount)
        }
        try trimHistory(of: item.id, to: attributes.historyLimit)
        try rewrite(item, attributes, created: first.metadata.created)
    }
}
