internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// Checks, quarantines and restores the rows of items.
struct ItemRows: SealedTable {
    static let numbersSQL: StaticString = "SELECT id FROM keychain_items WHERE id >= ? ORDER BY id LIMIT ?"
    static let rowSQL: StaticString = """
        SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
        WHERE id = ?
        """
    static let quarantineSQL: StaticString = """
        INSERT INTO keychain_quarantine
            (damage, moved, row, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
        SELECT ?, ?, id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
        FROM keychain_items WHERE id = ?
        """
    static let removeSQL: StaticString = "DELETE FROM keychain_items WHERE id = ?"
    static let quarantinedRowSQL: StaticString = """
        SELECT row, uuid, class_key, primary_tag, metadata, wrapped_key, secret
        FROM keychain_quarantine WHERE id = ?
        """
    static let restoreSQL: StaticString = """
        INSERT INTO keychain_items (id, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
        SELECT iif(EXISTS (SELECT 1 FROM keychain_items WHERE id = row), NULL, row),
            uuid, class_key, primary_tag, metadata, wrapped_key, secret
        FROM keychain_quarantine WHERE id = ?
        """
    static let stage = CheckStage.keychainItems
    static let store = StoreName.keychain
    static let takenWords = "there is another item in its place"

    let store: KeychainStore
    var connection: Connection { store.connection }

    // MARK: Examining

    /// Examines a row: its metadata, its secret if the key is in memory, and its primary key.
    func examine(_ row: borrowing Row) throws -> Examination<ItemAttributes> {
        var seen = Examination<ItemAttributes>()
        do {
            let item = try store.seals.item(in: row)
            seen.reference = item.id
            seen.contents = item.attributes
            guard try row.blob(3) == store.seals.primaryTag(item.attributes) else {
                seen.damage = .name
                return seen
            }
            if item.isLeftBehind { return seen }
            try seen.trySecret {
                try store.seals.openSecret(of: item, in: row, with: nil).count == item.secretByteCount
            }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            seen.reference = try? ItemID(row.blob(1))
            seen.isSealed = true
        } catch let error as CofferError where error.code == .decode {
            explain(row, &seen)
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
            seen.reference = try? ItemID(row.blob(1))
        }
        return seen
    }

    /// Finds out why a row is not a valid item.
    private func explain(_ row: borrowing Row, _ seen: inout Examination<ItemAttributes>) {
        seen.damage = .row
        seen.reference = try? ItemID(row.blob(1))
        guard let id = seen.reference, let classKey = try? row.integer(2), let tag = try? row.blob(3),
            Accessibility(classKey: classKey) != nil
        else { return }
        seen.damage = .metadata
        let context = ItemSeals.metadataContext(id, classKey, tag)
        let opened = try? row.withBlob(4) { sealed in try store.seals.openNames(sealed, context) }
        guard let opened else { return }
        seen.damage = .metadataForm
        guard let metadata = try? ItemMetadata(decoding: opened) else { return }
        seen.contents = metadata.attributes
        seen.damage = .exchangedSecret
    }

    func name(of contents: ItemAttributes, for groups: AccessGroups) -> String? { contents.name(for: groups) }

    func examineReferences(to number: Int64, _ seen: inout Examination<ItemAttributes>) throws {
        guard let attributes = seen.contents, try !hasTags(of: attributes, number) else { return }
        seen.damage = .missingTags
        seen.repair = .rewrite
    }

    private func hasTags(of attributes: ItemAttributes, _ number: Int64) throws -> Bool {
        for tag in ItemTags.tags(of: attributes, under: store.keys.catalog.search) {
            if try !store.index.hasTag(tag, number) { return false }
        }
        return true
    }

    // MARK: Moving

    func mend(_ number: Int64, _ seen: Examination<ItemAttributes>, _ now: Int64) throws -> Int {
        if let attributes = seen.contents { try store.index.addTags(of: attributes, number) }
        return 0
    }

    func quarantine(
        _ number: Int64,
        _ seen: Examination<ItemAttributes>,
        _ damage: Damage,
        _ now: Int64
    ) throws -> Int {
        try connection.transaction {
            if let attributes = seen.contents {
                try store.index.removeTags(of: attributes, number)
            } else {
                try connection.execute("DELETE FROM keychain_tags WHERE item = ?", .integer(number))
            }
            return try move(number, damage, now)
        }
    }

    /// For a row that can't be read, the whole table of tags was searched, so the slice ends.
    func endsSlice(_ seen: Examination<ItemAttributes>) -> Bool { seen.contents == nil }

    func isTaken(_ number: Int64, _ seen: Examination<ItemAttributes>) throws -> Bool {
        guard let attributes = seen.contents, let reference = seen.reference else { return false }
        if try store.isTaken(store.seals.primaryTag(attributes)) { return true }
        return try connection.row(
            "SELECT 1 FROM keychain_items WHERE uuid = ?",
            .blob(reference.bytes)
        ) { _ in true } ?? false
    }

    func complete(_ number: Int64, _ contents: ItemAttributes) throws { try store.index.addTags(of: contents, number) }

    /// Destroys the former values of a row that no other item has.
    func discard(_ number: Int64) throws {
        try connection.execute(
            """
            DELETE FROM past WHERE entry IS NULL AND owner = (
                SELECT uuid FROM keychain_quarantine AS moved WHERE id = ?1 AND typeof(uuid) = 'blob'
                    AND NOT EXISTS (SELECT 1 FROM keychain_items WHERE keychain_items.uuid = moved.uuid)
                    AND NOT EXISTS (SELECT 1 FROM keychain_quarantine AS other WHERE other.uuid = moved.uuid AND id <> ?1))
            """,
            .integer(number)
        )
    }

    /// Items of one name, by their row numbers: the newer one is the one that look-ups find.
    func duplicates() throws -> [(found: Int64, hidden: Int64)] {
        var pairs: [(found: Int64, hidden: Int64)] = []
        try connection.rows(
            """
            SELECT min(id), max(id) FROM keychain_items NOT INDEXED GROUP BY primary_tag HAVING count(*) = 2
            """
        ) { row in
            pairs.append((found: try row.integer(1), hidden: try row.integer(0)))
            return true
        }
        return pairs
    }
}

extension ItemAttributes {
    /// The name of the item, if a client with these groups may know it.
    func name(for groups: AccessGroups) -> String? {
        groups.contains(group) ? quoted : nil
    }
}

extension Examination {
    /// Tries to open a secret: if that fails, it is damaged; if it is locked, it is skipped.
    mutating func trySecret(_ opens: () throws -> Bool) throws {
        do {
            if try !opens() { damage = .secret }
        } catch let error as CofferError {
            switch error.code {
            case .decode: damage = .secret
            case .interactionNotAllowed, .interactionRequired, .authFailed: isSealed = true
            default: throw error
            }
        }
    }
}
