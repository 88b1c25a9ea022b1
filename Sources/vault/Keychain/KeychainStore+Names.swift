package import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferMemory
internal import CofferPast

// Names are under the passcode. Before the first unlock a deposit is replaced all the same, and what it had before is
// set aside; after it, that is given back.

extension KeychainStore {
    /// The number of items whose names can be read after the first unlock only.
    package func sealedCount() throws -> Int {
        if keys.opensNames { return 0 }
        let namedCount = try connection.row("SELECT count(*) FROM keychain_items WHERE class_key IN (18, 21)") {
            Int(try $0.integer(0))
        }
        return try max(0, count() - (namedCount ?? 0))
    }

    /// Seals the metadata of an item anew, with its secret untouched.
    private func rewrite(_ item: KeychainItem, _ attributes: ItemAttributes, created: Int64) throws {
        let tag = try connection.row(
            "SELECT wrapped_key, secret FROM keychain_items WHERE id = ?",
            .integer(item.row)
        ) { row in try seals.secretTag(in: row, wrappedKey: 0, secret: 1) }
        guard let tag else { return }
        let metadata = ItemMetadata(
            attributes: attributes,
            created: created,
            modified: item.modified,
            secretByteCount: item.secretByteCount,
            secretTag: tag,
            moveCount: item.moveCount
        )
        noteExpiry(of: attributes)
        try connection.execute(
            "UPDATE keychain_items SET metadata = ? WHERE id = ?",
            .blob(try seals.seal(metadata, of: item.id, item.accessibility, seals.primaryTag(attributes))),
            .integer(item.row)
        )
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

    /// The rows of the deposits that a query means, if all that it means are deposits whose metadata can be opened after
    /// the first unlock only; otherwise none.
    ///
    /// - Parameter query: A query, of which all is known if its attributes have tags.
    /// - Throws: ``DatabaseError``.
    package func sealedDeposits(_ query: ItemQuery) throws -> [Int64] {
        guard !keys.opensNames, query.isDecidedByTags else { return [] }
        let page = try index.search(query)
        guard page.items.isEmpty, page.damagedRows.isEmpty, page.next == nil else { return [] }
        let areDeposits = try page.sealedRows.allSatisfy { number in
            try sealedRow(number)?.accessibility == .whenUnlockedDeposit
        }
        return areDeposits ? page.sealedRows : []
    }

    /// Replaces the secret of such a deposit, and nothing else of it.
    ///
    /// - Parameters:
    ///   - row: The number of its row.
    ///   - query: The query that means it.
    ///   - secret: The new secret.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The persistent reference, and what is known of its attributes.
    /// - Throws: `dataTooLarge`; ``DatabaseError``.
    package func replace(
        sealedDeposit row: Int64,
        of query: ItemQuery,
        by secret: borrowing SecretBytes,
        now: Int64
    ) throws -> (id: ItemID, attributes: ItemAttributes)? {
        guard let found = try sealedRow(row), let itemClass = query.itemClass,
            let group = try index.group(of: row, query)
        else { return nil }
        // The others come back from what is set aside.
        var attributes = ItemAttributes(itemClass, in: group, query.exact)
        attributes.values[.synchronizable] = nil
        return (try replaceSealed(found, attributes, secret, now), attributes)
    }

    /// Replaces a deposit whose metadata can be opened after the first unlock only.
    ///
    /// - Returns: The persistent reference.
    /// - Throws: `interactionNotAllowed` if it is no deposit, or does not stay one.
    func replaceSealed(
        _ attributes: ItemAttributes,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ now: Int64
    ) throws -> ItemID {
        let found = try sealedRow(
            "SELECT id, uuid, class_key, primary_tag FROM keychain_items WHERE primary_tag = ?",
            .blob(seals.primaryTag(attributes))
        )
        guard let found, accessibility == .whenUnlockedDeposit, found.accessibility == accessibility else {
            throw CofferError.locked(attributes.quoted, in: keys.state, for: .write)
        }
        try seals.checkDeposit(attributes, accessibility)
        return try replaceSealed(found, attributes, secret, now)
    }

    /// What a row tells before the first unlock as well.
    private struct SealedRow {
        let number: Int64
        let id: ItemID
        let accessibility: Accessibility
        let primaryTag: [UInt8]
    }

    private func sealedRow(_ number: Int64) throws -> SealedRow? {
        try sealedRow("SELECT id, uuid, class_key, primary_tag FROM keychain_items WHERE id = ?", .integer(number))
    }

    private func sealedRow(_ sql: StaticString, _ binding: DatabaseValue) throws -> SealedRow? {
        try connection.row(sql, binding) { row -> SealedRow? in
            guard let id = ItemID(try row.blob(1)), let accessibility = Accessibility(classKey: try row.integer(2))
            else {
                return nil
            }
            return SealedRow(
                number: try row.integer(0),
                id: id,
                accessibility: accessibility,
                primaryTag: try row.blob(3)
            )
        } ?? nil
    }

    /// The row as it was is set aside for ``restoreReplaced()``: its attributes, its date and its secret.
    private func replaceSealed(
        _ row: SealedRow,
        _ attributes: ItemAttributes,
        _ secret: borrowing SecretBytes,
        _ now: Int64
    ) throws -> ItemID {
        try checkBounds(attributes, secret.count)
        let sealed = try seals.seal(secret, of: row.id, as: row.accessibility, attributes, nil)
        let metadata = seals.metadata(attributes, sealed, of: secret.count, created: now, modified: now)
        try connection.transaction {
            // The first one has the attributes; of the others as many are kept as a history has at most.
            if let image = try RowImage.ofItem(row.number, in: connection) {
                try past.setAside(image, of: row.id, keeping: Limits.historyValues)
            }
            try connection.execute(
                "UPDATE keychain_items SET metadata = ?, wrapped_key = ?, secret = ? WHERE id = ?",
                .blob(try seals.seal(metadata, of: row.id, row.accessibility, row.primaryTag)),
                .blob(sealed.wrappedKey),
                .blob(sealed.secret),
                .integer(row.number)
            )
        }
        return row.id
    }

    /// Gives deposits that were replaced before the first unlock their attributes and their former values back, within
    /// the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func restoreReplaced() throws {
        // What belongs to a damaged one stays, for when doctor has put the item back.
        for owner in try past.ownersOfAside() {
            try connection.unlessDamaged { if let item = try find(owner) { try restoreReplaced(of: item) } }
        }
    }

    private func restoreReplaced(of item: KeychainItem) throws {
        guard let tag = try RowImage.ofItem(item.row, in: connection)?.tag else { return }
        // One that was exchanged is no former value of this item.
        let replaced = try past.aside(of: item.id).compactMap { image in
            image.id == item.id ? try? seals.opened(image, item.attributes.quoted) : nil
        }
        // Interim attributes may be no more than what a query named.
        guard let first = replaced.first(where: { seals.primaryTag($0.metadata.attributes) == tag }) else { return }
        var attributes = first.metadata.attributes
        // What each replacement has said counts, as it would have after the unlock.
        for later in replaced.dropFirst().map(\.metadata.attributes) + [item.attributes] {
            attributes.kind = later.kind ?? attributes.kind
            if !later.decision.isEmpty { attributes.decision = later.decision }
        }
        let dates = replaced.dropFirst().map(\.metadata.modified) + [item.modified]
        for (former, date) in zip(replaced, dates) where attributes.historyLimit > 0 {
            try histories.add(former.image, of: item, replaced: date)
        }
        try past.trim(item.id, to: attributes.historyLimit)
        try rewrite(item, attributes, created: first.metadata.created)
        try past.removeAside(of: item.id)
    }
}
