internal import CofferKeys
package import CofferCore
internal import CofferDatabase
internal import CofferMemory

/// Which items are meant.
package struct ItemQuery: Sendable {
    /// The access groups that are looked in: those that the caller holds.
    package var groups: [String]
    /// The class; `nil` for all.
    package var itemClass: ItemClass?
    /// Attributes with exactly these values.
    package var exact: [KeychainAttribute: AttributeValue] = [:]
    /// Attributes that the owner has named, with exactly these values.
    package var user: [String: String] = [:]
    /// Texts that begin so.
    package var prefixes: [KeychainAttribute: String] = [:]
    /// Texts that have this in them.
    package var substrings: [KeychainAttribute: String] = [:]
    /// The item with this persistent reference only.
    package var reference: ItemID?
    /// Items whose expiry date is before this one, in milliseconds since 1970.
    package var expiringBefore: Int64?

    /// Means every item of some groups.
    package init(groups: [String]) { self.groups = groups }

    /// Whether an item is meant.
    ///
    /// - Parameter item: The item.
    package func matches(_ item: KeychainItem) -> Bool {
        // An identity is a certificate; whether there is a key to it is looked for behind this.
        let wanted = itemClass == .identity ? .certificate : itemClass
        guard wanted == nil || item.attributes.itemClass == wanted,
            groups.contains(where: { ItemTags.isSame($0, item.attributes.group) }),
            reference == nil || item.id == reference
        else { return false }
        if let expiringBefore {
            guard case .date(let expiry) = item.attributes.values[.expiryDate], expiry < expiringBefore else {
                return false
            }
        }
        return exact.allSatisfy { attribute, value in
            item.value(of: attribute).map { ItemTags.canonical($0) == ItemTags.canonical(value) } ?? false
        }
            && user.allSatisfy { name, value in
                item.attributes.user[name].map { ItemTags.isSame($0, value) } ?? false
            }
            && prefixes.allSatisfy { attribute, prefix in
                ItemTags.canonical(item.attributes.text(attribute)).starts(with: ItemTags.canonical(prefix))
            }
            && substrings.allSatisfy { attribute, part in
                let part = ItemTags.canonical(part)
                return part.isEmpty || ItemTags.canonical(item.attributes.text(attribute)).contains(part)
            }
    }
}

/// A part of what a query found.
package struct SearchPage {
    /// The items, in the order of their adding.
    package var items: [KeychainItem] = []
    /// Rows that are damaged: what was found, for each.
    package var damaged: [CofferError] = []
    /// The numbers of these rows.
    package var damagedRows: [Int64] = []
    /// The last row that was looked at; `nil` where none was.
    package var last: Int64?
    /// Where to go on; `nil` where everything was looked at.
    package var next: Int64?
    /// How many rows were looked at.
    package var lookedAt = 0
}

extension KeychainStore {
    /// Looks for items, in every state of the vault.
    ///
    /// A query with an attribute that has a tag looks at what has it only; any other one looks at all items of the class, or at
    /// all there are.
    ///
    /// - Parameters:
    ///   - query: Which are meant.
    ///   - place: Where an earlier page has ended; `nil` from the beginning.
    ///   - limit: The most items to find.
    ///   - looks: The most rows to look at.
    /// - Returns: What was found, and where to go on.
    /// - Throws: ``DatabaseError``.
    package func search(
        _ query: ItemQuery,
        after place: Int64? = nil,
        limit: Int = .max,
        lookingAt looks: Int = Limits.queryItems
    ) throws -> SearchPage {
        var page = SearchPage()
        try forEachCandidate(of: query, after: place ?? 0) { row in
            if page.lookedAt == looks || page.items.count == limit { return false }
            page.lookedAt += 1
            let number = try row.integer(0)
            page.last = number
            do {
                let item = try self.item(in: row, expecting: nil)
                if query.matches(item) { page.items.append(item) }
            } catch let error as CofferError where error.code == .decode {
                connection.faults.note(ifDamage: error)
                page.damaged.append(error)
                page.damagedRows.append(number)
            } catch let error as DatabaseError where error.kind == .damaged {
                connection.faults.note(ifDamage: error)
                page.damaged.append(error.cofferError)
                page.damagedRows.append(number)
            }
            return true
        }
        // Stopped short of the end, or exactly there: the next page says which.
        if page.lookedAt == looks || page.items.count == limit { page.next = page.last }
        return page
    }

    /// The item with a persistent reference.
    ///
    /// - Parameter reference: The reference.
    /// - Returns: The item; `nil` where there is none.
    /// - Throws: `decode` where its row is damaged; ``DatabaseError``.
    package func find(_ reference: ItemID) throws -> KeychainItem? {
        let found = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE uuid = ?
            """,
            .blob(reference.bytes)
        ) { row in try self.item(in: row, expecting: nil) }
        if found != nil || connection.faults.first == nil { return found }
        // The index may be what is damaged.
        return try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items NOT INDEXED
            WHERE uuid = ? LIMIT 1
            """,
            .blob(reference.bytes)
        ) { row in try self.item(in: row, expecting: nil) }
    }

    /// The private key that makes an identity of a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - groups: The access groups that are looked in.
    ///   - attributes: What the key has to have besides.
    /// - Returns: A key of the same public key; `nil` where there is none.
    /// - Throws: ``DatabaseError``.
    package func privateKey(
        of certificate: KeychainItem,
        in groups: [String],
        with attributes: [KeychainAttribute: AttributeValue] = [:]
    ) throws -> KeychainItem? {
        guard let hash = certificate.attributes.values[.publicKeyHash] else { return nil }
        var query = ItemQuery(groups: groups)
        query.itemClass = .key
        query.exact = [.applicationLabel: hash, .keyClass: .text("private")]
        for (attribute, value) in attributes {
            // Another value than the one that it has to have anyway is that of no key.
            guard query.exact.updateValue(value, forKey: attribute).map({ $0 == value }) ?? true else { return nil }
        }
        return try search(query, limit: 1, lookingAt: .max).items.first
    }

    /// Looks at the rows that may be meant, by ascending number.
    private func forEachCandidate(
        of query: ItemQuery,
        after place: Int64,
        _ each: (borrowing Row) throws -> Bool
    ) throws {
        if let reference = query.reference {
            return try connection.rows(
                """
                SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
                WHERE uuid = ? AND id > ?
                """,
                .blob(reference.bytes),
                .integer(place),
                each: each
            )
        }
        guard query.groups.count == 1, let tag = selectiveTag(of: query, in: query.groups[0]) else {
            return try connection.rows(
                """
                SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
                WHERE id > ? ORDER BY id
                """,
                .integer(place),
                each: each
            )
        }
        try connection.rows(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
            FROM keychain_tags JOIN keychain_items ON id = item
            WHERE tag = ? AND item > ? ORDER BY item
            """,
            .blob(tag),
            .integer(place),
            each: each
        )
    }

    /// The tag that the fewest items have, among those that the query asks for.
    private func selectiveTag(of query: ItemQuery, in group: String) -> [UInt8]? {
        // An account or a label is rarer than a service, and any of them than a class.
        let order: [KeychainAttribute] = [
            .applicationLabel, .publicKeyHash, .applicationTag, .account, .label, .service, .server,
        ]
        for attribute in order {
            guard let value = query.exact[attribute] else { continue }
            return ItemTags.tag(attribute, value, in: group, under: keys.catalog.search)
        }
        guard let itemClass = query.itemClass, itemClass != .genericPassword else { return nil }
        return ItemTags.classTag(
            itemClass == .identity ? .certificate : itemClass,
            in: group,
            under: keys.catalog.search
        )
    }
}
