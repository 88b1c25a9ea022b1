internal import CofferKeys
package import CofferCore
internal import CofferDatabase
internal import CofferMemory

/// A query of items.
package struct ItemQuery: Sendable {
    /// The access groups to search: those that the caller holds.
    package var groups: AccessGroups
    /// The class; `nil` for all.
    package var itemClass: ItemClass?
    /// Attributes with exactly these values.
    package var exact = AttributeValues()
    /// User-defined attributes with exactly these values.
    package var user: [AttributeName: String] = [:]
    /// Texts with which attributes begin.
    package var prefixes: [KeychainAttribute: String] = [:]
    /// Texts that attributes contain.
    package var substrings: [KeychainAttribute: String] = [:]
    /// The item with this persistent reference only.
    package var reference: ItemID?
    /// Items that expire before this time, in milliseconds since 1970.
    package var expiringBefore: Int64?

    /// Creates a query for every item of some groups.
    package init(groups: AccessGroups) { self.groups = groups }

    /// The query of a client, restricted to the groups that it may search: to the one that it names, if it names one.
    package init(_ query: KeychainQuery, groups: AccessGroups) {
        self.init(groups: groups)
        itemClass = query.itemClass
        exact = AttributeValues(query.attributes)
        exact[.accessGroup] = nil
        user = query.user
        prefixes = query.prefix
        substrings = query.contains
        reference = query.reference
        expiringBefore = query.expiringBefore
    }

    /// Removes the attributes of keys from a query for identities, which scans the certificates.
    ///
    /// - Returns: The attributes that the private key must have.
    package mutating func splitIdentity() -> AttributeValues {
        guard itemClass == .identity else { return [:] }
        let own = KeychainAttribute.attributes(of: .certificate)
        let others = exact.filter { !own.contains($0) }
        exact = exact.filter(own.contains)
        return others
    }

    /// Whether the tags of an item alone tell that it matches.
    var isDecidedByTags: Bool {
        groups != .all && itemClass != nil && itemClass != .identity && exact.count > 0 && user.isEmpty
            && prefixes.isEmpty && substrings.isEmpty && reference == nil && expiringBefore == nil
            && exact.entries.allSatisfy { wanted in
                wanted.attribute == .synchronizable
                    || ItemTags.indexed.contains(wanted.attribute) && ItemTags.hasTag(wanted.attribute, wanted.value)
            }
    }

    /// Whether an item matches.
    package func matches(_ item: KeychainItem) -> Bool {
        // An identity is a certificate; the caller looks for its key.
        let wanted = itemClass == .identity ? .certificate : itemClass
        guard wanted == nil || item.attributes.itemClass == wanted,
            groups.contains(item.attributes.group),
            reference == nil || item.id == reference
        else { return false }
        if let expiringBefore {
            guard let expiry = item.expiryDate, expiry < expiringBefore else { return false }
        }
        return exact.entries.allSatisfy { wanted in
            if let own = item.value(of: wanted.attribute) { return own == wanted.value }
            return KeychainAttribute.attributes(of: item.attributes.itemClass).contains(wanted.attribute)
                && wanted.value == .empty(wanted.attribute.form)
        }
            && user.allSatisfy { name, value in
                item.attributes.user[name]?.hasSameBytes(as: value) ?? false
            }
            && prefixes.allSatisfy { attribute, prefix in
                item.attributes.text(attribute).utf8.starts(with: prefix.utf8)
            }
            && substrings.allSatisfy { attribute, part in
                item.attributes.text(attribute).containsBytes(of: part)
            }
    }
}

extension KeychainOrder {
    package var isDescending: Bool { self == .creationDateDescending || self == .modificationDateDescending }

    /// The date of an item by which it is sorted.
    package func date(of item: KeychainItem) -> Int64 {
        switch self {
        case .creationDate, .creationDateDescending: item.created
        case .modificationDate, .modificationDateDescending: item.modified
        }
    }
}

/// A page of the result of a query.
package struct SearchPage {
    /// The items, in the order in which they were added.
    package var items: [KeychainItem] = []
    /// The damage of each damaged row, as far as a search sees it: the secret of an item that does not match is not
    /// checked.
    package var damaged: [CofferError] = []
    /// The sealed secret of the first item, if it was asked for.
    package var firstSecret: SealedSecret?
    /// The numbers of the damaged rows.
    package var damagedRows: [Int64] = []
    /// The numbers of the rows that may match, whose metadata can be opened after the first unlock only.
    package var sealedRows: [Int64] = []
    /// The last row that was scanned; `nil` if none was.
    package var last: Int64?
    /// Where to continue; `nil` if everything was scanned.
    package var next: Int64?
    /// The number of rows scanned.
    package var lookedAt = 0
}

/// The tags of items, and searches by them.
package struct ItemIndex {
    let connection: Connection
    let seals: ItemSeals
    private var keys: VaultKeys { seals.keys }

    // MARK: Searching

    /// Searches items.
    ///
    /// A query with an attribute that has a tag scans only items with that tag; any other query scans all items of the
    /// class, or all items.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - place: Where the previous page ended; `nil` at the beginning.
    ///   - limit: The maximum number of items.
    ///   - looks: The maximum number of rows to scan.
    ///   - keepsFirst: Whether the first item's secret is wanted, so that its row is not read again.
    /// - Returns: The items, and where to continue.
    /// - Throws: ``DatabaseError``.
    package func search(
        _ query: ItemQuery,
        after place: Int64? = nil,
        limit: Int = .max,
        lookingAt looks: Int = Limits.queryItems,
        keepingFirst keepsFirst: Bool = false
    ) throws -> SearchPage {
        var page = SearchPage()
        let glance = MetadataGlance(query)
        try forEachCandidate(of: query, after: place) { row in
            if page.lookedAt == looks || page.items.count == limit { return false }
            page.lookedAt += 1
            let number = try row.integer(0)
            page.last = number
            do {
                let opened = try seals.openedMetadata(in: row)
                if let glance, opened.bytes.withBytes({ glance.rulesOut($0) }) { return true }
                let (item, secretTag) = try seals.describedItem(of: opened, in: row)
                // Hashing the secrets of items that do not match would take a third of a scan.
                if query.matches(item) {
                    try seals.checkSecret(in: row, of: item, against: secretTag)
                    if keepsFirst && page.items.isEmpty {
                        page.firstSecret = SealedSecret(wrappedKey: try row.blob(5), secret: try row.blob(6))
                    }
                    page.items.append(item)
                }
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                if try mayMatch(number, query) { page.sealedRows.append(number) }
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
        // It may have stopped exactly at the end: the next page shows that.
        if page.lookedAt == looks || page.items.count == limit { page.next = page.last }
        return page
    }

    /// The private key that forms an identity with a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - groups: The access groups to search.
    ///   - attributes: Further attributes that the key must have.
    /// - Returns: A key with the same public key; `nil` if there is none.
    /// - Throws: `interactionNotAllowed` if it may be one that can be read after the first unlock only;
    ///   ``DatabaseError``.
    package func privateKey(
        of certificate: KeychainItem,
        in groups: AccessGroups,
        with attributes: AttributeValues = [:]
    ) throws -> KeychainItem? {
        guard let hash = certificate.attributes.values[.publicKeyHash] else { return nil }
        var query = ItemQuery(groups: groups)
        query.itemClass = .key
        query.exact = [.applicationLabel: hash, .keyClass: .text("private")]
        for wanted in attributes.entries {
            // If the query demands another value than the one that the key must have, no key matches.
            guard query.exact[wanted.attribute].map({ $0 == wanted.value }) ?? true else { return nil }
            query.exact[wanted.attribute] = wanted.value
        }
        let page = try search(query, limit: 1, lookingAt: .max)
        if page.items.isEmpty && !page.sealedRows.isEmpty {
            throw CofferError.locked("the key of \(certificate.attributes.quoted)", in: keys.state, for: .read)
        }
        return page.items.first
    }

    /// Whether a row whose metadata can't be opened has the tags that a match would have.
    private func mayMatch(_ number: Int64, _ query: ItemQuery) throws -> Bool {
        guard case .only(let groups) = query.groups else { return true }
        return try groups.contains { try mayMatch(number, query, in: $0) }
    }

    /// The first group of a query in which a row has the tags that a match would have.
    func group(of number: Int64, _ query: ItemQuery) throws -> String? {
        guard case .only(let groups) = query.groups else { return nil }
        return try groups.first { try mayMatch(number, query, in: $0) }
    }

    private func mayMatch(_ number: Int64, _ query: ItemQuery, in group: String) throws -> Bool {
        for wanted in query.exact.entries where ItemTags.indexed.contains(wanted.attribute) {
            guard ItemTags.hasTag(wanted.attribute, wanted.value) else { continue }
            let tag = ItemTags.tag(wanted.attribute, wanted.value, in: group, under: keys.catalog.search)
            if try !hasTag(tag, number) { return false }
        }
        if case .bool(let isWanted) = query.exact[.synchronizable] {
            let tag = ItemTags.synchronizableTag(in: group, under: keys.catalog.search)
            if try hasTag(tag, number) != isWanted { return false }
        }
        guard let itemClass = query.itemClass == .identity ? .certificate : query.itemClass else { return true }
        // A generic password has no tag of its class: it is what has none of another one.
        for other in ItemClass.allCases where other != .genericPassword && other != .identity {
            let tag = ItemTags.classTag(other, in: group, under: keys.catalog.search)
            if try hasTag(tag, number) != (other == itemClass) { return false }
        }
        return true
    }

    func hasTag(_ tag: [UInt8], _ number: Int64) throws -> Bool {
        try connection.row(
            "SELECT 1 FROM keychain_tags WHERE tag = ? AND item = ?",
            .blob(tag),
            .integer(number)
        ) { _ in true } ?? false
    }

    /// Reads the rows that may match, in ascending order of their numbers.
    private func forEachCandidate(
        of query: ItemQuery,
        after place: Int64?,
        _ each: (borrowing Row) throws -> Bool
    ) throws {
        guard let first = Connection.firstNumber(after: place) else { return }
        if let reference = query.reference {
            return try connection.rows(
                """
                SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
                WHERE uuid = ? AND id >= ?
                """,
                .blob(reference.bytes),
                .integer(first),
                each: each
            )
        }
        guard let group = query.groups.single, let tag = selectiveTag(of: query, in: group) else {
            return try connection.rows(
                """
                SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
                WHERE id >= ? ORDER BY id
                """,
                .integer(first),
                each: each
            )
        }
        try connection.rows(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
            FROM keychain_tags JOIN keychain_items ON id = item
            WHERE tag = ? AND item >= ? ORDER BY item
            """,
            .blob(tag),
            .integer(first),
            each: each
        )
    }

    /// The attributes with tags, the most selective first: an account or a label is rarer than a service, and each of them
    /// rarer than a class.
    private static let selective: [KeychainAttribute] = [
        .applicationLabel, .publicKeyHash, .applicationTag, .account, .label, .service, .server,
    ]

    /// The tag that the fewest items have, among those of the query.
    private func selectiveTag(of query: ItemQuery, in group: String) -> [UInt8]? {
        for attribute in Self.selective {
            guard let value = query.exact[attribute], ItemTags.hasTag(attribute, value) else { continue }
            return ItemTags.tag(attribute, value, in: group, under: keys.catalog.search)
        }
        guard let itemClass = query.itemClass, itemClass != .genericPassword else { return nil }
        return ItemTags.classTag(
            itemClass == .identity ? .certificate : itemClass,
            in: group,
            under: keys.catalog.search
        )
    }

    // MARK: Tags

    func addTags(of attributes: ItemAttributes, _ row: Int64) throws {
        for tag in ItemTags.tags(of: attributes, under: keys.catalog.search) { try addTag(tag, row) }
    }

    func addTag(_ tag: [UInt8], _ row: Int64) throws {
        try connection.execute(
            "INSERT OR IGNORE INTO keychain_tags (tag, item) VALUES (?, ?)",
            .blob(tag),
            .integer(row)
        )
    }

    /// Writes and removes only what differs.
    func replaceTags(_ former: [[UInt8]], by tags: [[UInt8]], _ row: Int64) throws {
        for tag in former where !tags.contains(tag) { try removeTag(tag, row) }
        for tag in tags where !former.contains(tag) { try addTag(tag, row) }
    }

    func removeTags(of attributes: ItemAttributes, _ row: Int64) throws {
        for tag in ItemTags.tags(of: attributes, under: keys.catalog.search) { try removeTag(tag, row) }
    }

    func removeTag(_ tag: [UInt8], _ row: Int64) throws {
        try connection.execute("DELETE FROM keychain_tags WHERE tag = ? AND item = ?", .blob(tag), .integer(row))
    }
}
