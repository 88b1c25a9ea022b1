package import CofferCore
package import CofferDatabase
internal import CofferKeys
internal import CofferMemory
package import CofferPast

// Checking every row, a few at a time: whether it is authentic, and whether look-ups find it.

/// Where a check of the tags continues.
package struct TagPlace: Sendable {
    /// The last tag that was checked.
    package let tag: [UInt8]
    /// The row to which it leads.
    package let item: Int64

    package init(tag: [UInt8], item: Int64) {
        self.tag = tag
        self.item = item
    }
}

extension KeychainStore {
    private var items: ItemRows { ItemRows(store: self) }

    /// The quarantine of items.
    package var quarantineTable: QuarantineTable {
        QuarantineTable(
            connection,
            (
                numbers: "SELECT id FROM keychain_quarantine WHERE id >= ? ORDER BY id LIMIT ?",
                head: "SELECT damage, moved FROM keychain_quarantine WHERE id = ?",
                last: "SELECT max(id) FROM keychain_quarantine",
                remove: "DELETE FROM keychain_quarantine WHERE id = ?"
            ),
            items
        )
    }

    /// Checks some items, as ``SealedTable/check(after:_:)``.
    package func checkItems(after place: Int64?, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        try items.check(after: place, order)
    }

    /// Compares the number of items with the stored count.
    ///
    /// - Throws: ``DatabaseError``.
    package func checkCount(_ order: CheckOrder) throws -> CheckSlice<Int64> {
        try connection.checkCount(
            of: "the keychain",
            order,
            comparison: """
                SELECT (SELECT group_concat(items) FROM keychain_count) = CAST(count(*) AS TEXT) FROM keychain_items
                """,
            removal: "DELETE FROM keychain_count",
            recount: "INSERT INTO keychain_count SELECT count(*) FROM keychain_items"
        )
    }

    /// The table of the items.
    package static let table = "keychain_items"

    /// Has the indices of the items rebuilt, as ``SealedTable/rebuildIndices(without:_:_:_:)``.
    package func rebuildIndices(_ order: CheckOrder, _ rebuild: () throws -> Void) throws -> [Finding] {
        try items.rebuildIndices(without: try items.duplicates(), quarantineTable, order, rebuild)
    }

    // MARK: Former values

    /// Checks a row of the past.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - reference: The reference of its item.
    ///   - groups: The groups whose names the client may know.
    /// - Returns: `nil` if there is no such item, and none in quarantine can be it.
    package func check(_ row: PastRow, of reference: ItemID, for groups: AccessGroups) throws -> PastCondition? {
        let item: KeychainItem
        do {
            guard let found = try find(reference) else { return try mayBeOwned(row, by: reference) ? .whole : nil }
            item = found
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return .sealed
        } catch let error where error.isDamage {
            // The former values of a damaged item wait for it.
            return .whole
        }
        guard row.isFormer else { return .whole }
        var seen = Examination<ItemAttributes>()
        do {
            let value = try histories.formerValue(row, of: item)
            if item.isLeftBehind { return .whole }
            try seen.trySecret { try histories.openSecret(of: value, item, with: nil).count == value.byteCount }
        } catch let error where error.isDamage {
            seen.damage = .metadata
        }
        if seen.damage != nil { return .damaged(name: item.attributes.name(for: groups)) }
        return seen.isSealed ? .sealed : .whole
    }

    /// Whether an item that was not found by its reference may be there: the index may be damaged, or in a row in quarantine
    /// the reference.
    private func mayBeOwned(_ row: PastRow, by reference: ItemID) throws -> Bool {
        if row.node != nil { return false }
        return try connection.row(
            """
            SELECT 1 FROM keychain_quarantine
            UNION ALL SELECT 1 FROM keychain_items NOT INDEXED WHERE uuid = ? LIMIT 1
            """,
            .blob(reference.bytes)
        ) { _ in true } ?? false
    }

    // MARK: Tags

    /// Checks some tags: whether they lead to items that have the attribute.
    ///
    /// Tags of a damaged row are not findings of their own.
    ///
    /// - Parameters:
    ///   - place: Where the previous slice ended; `nil` at the beginning.
    ///   - order: The parameters of the check.
    /// - Throws: ``DatabaseError``.
    package func checkTags(after place: TagPlace?, _ order: CheckOrder) throws -> CheckSlice<TagPlace> {
        var places: [TagPlace] = []
        try connection.rows(
            """
            SELECT tag, item FROM keychain_tags WHERE (tag, item) > (?, ?) AND length(tag) = ?
            ORDER BY tag, item LIMIT ?
            """,
            .blob(place?.tag ?? []),
            .integer(place?.item ?? Int64.min),
            .integer(Int64(ItemTags.attributeTagBytes)),
            .integer(Int64(order.limit))
        ) { row in
            places.append(TagPlace(tag: try row.blob(0), item: try row.integer(1)))
            return true
        }
        var slice = CheckSlice<TagPlace>()
        if place == nil { try checkMalformedTags(&slice, order) }
        for place in places {
            slice.checkedCount += 1
            slice.next = place
            var seen = Examination<ItemAttributes>()
            seen.repair = .rewrite
            do {
                if let item = try item(at: place.item) {
                    if ItemTags.tags(of: item.attributes, under: keys.catalog.search).contains(place.tag) { continue }
                    seen.reference = item.id
                    seen.contents = item.attributes
                }
            } catch let error as CofferError where error.code == .decode || error.code == .interactionNotAllowed {
                continue
            } catch let error as DatabaseError where error.kind == .damaged {
                continue
            }
            if order.repairs {
                try connection.execute(
                    "DELETE FROM keychain_tags WHERE tag = ? AND item = ?",
                    .blob(place.tag),
                    .integer(place.item)
                )
            }
            slice.findings.append(
                items.finding(.keychainTags, seen, .strayTags, isRepaired: order.repairs, order)
            )
        }
        if places.count < order.limit { slice.next = nil }
        return slice
    }

    /// Checks tags of an invalid size: they lead nowhere, and can't mark the end of a slice.
    private func checkMalformedTags(_ slice: inout CheckSlice<TagPlace>, _ order: CheckOrder) throws {
        let size = DatabaseValue.integer(Int64(ItemTags.attributeTagBytes))
        let count = try connection.row("SELECT count(*) FROM keychain_tags WHERE length(tag) <> ?", size) {
            try $0.integer(0)
        }
        guard let count, count > 0 else { return }
        slice.checkedCount += Int(clamping: count)
        if order.repairs { try connection.execute("DELETE FROM keychain_tags WHERE length(tag) <> ?", size) }
        slice.findings.append(
            Finding(.keychainTags, .strayTags, repair: .rewrite, isRepaired: order.repairs)
        )
    }
}
