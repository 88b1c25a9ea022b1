package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// Looking at every row, a few at a time: whether it is what was stored, and whether it is found by what it is.

/// Where a check of the tags goes on.
package struct TagPlace: Sendable {
    /// The last tag that was looked at.
    package let tag: [UInt8]
    /// The row that it leads to.
    package let item: Int64

    /// Names a place.
    package init(tag: [UInt8], item: Int64) {
        self.tag = tag
        self.item = item
    }
}

/// What a look at a row has shown.
struct Examination {
    /// What is wrong with it; `nil` where all is well.
    var damage: Damage?
    /// Its persistent reference, as far as it can be read.
    var reference: ItemID?
    /// What it says of itself, as far as that opens.
    var attributes: ItemAttributes?
    /// Whether its secret could not be tried: the key is not there now, or the access control asks for a person.
    var isSealed = false

    /// What it is called, where the caller may know.
    func name(for groups: [String]) -> String? {
        guard let attributes, groups.contains(where: { ItemTags.isSame($0, attributes.group) }) else { return nil }
        return attributes.quoted
    }
}

extension KeychainStore {
    // MARK: Items

    /// Looks at some items: at their rows, at their secrets as far as the keys are there, and at what they are found by.
    ///
    /// - Parameters:
    ///   - place: The row number that an earlier slice has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func checkItems(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        var numbers: [Int64] = []
        try connection.rows(
            "SELECT id FROM keychain_items WHERE id > ? ORDER BY id LIMIT ?",
            .integer(place),
            .integer(Int64(order.limit))
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        var slice = CheckSlice<Int64>()
        for number in numbers {
            slice.checkedCount += 1
            slice.next = number
            guard let seen = try examineItem(number) else { continue }
            if seen.isSealed { slice.sealedCount += 1 }
            if let damage = seen.damage {
                if order.repairs { slice.quarantinedCount += try quarantineItem(number, seen, damage, order.now) }
                slice.findings.append(
                    Finding(.keychainItems, seen, damage, .quarantine, order)
                )
                // Its tags were looked for among all there are: enough for one slice.
                if order.repairs && seen.attributes == nil { return slice }
            } else if let attributes = seen.attributes, try !hasTags(of: attributes, number) {
                if order.repairs { try addTags(of: attributes, number) }
                slice.findings.append(Finding(.keychainItems, seen, .missingTags, .rewrite, order))
            }
        }
        if numbers.count < order.limit { slice.next = nil }
        return slice
    }

    func examineItem(_ number: Int64) throws -> Examination? {
        try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE id = ?
            """,
            .integer(number)
        ) { row in try self.examination(of: row) }
    }

    /// Looks at a row that has the columns of an item.
    func examination(of row: borrowing Row) throws -> Examination {
        var seen = Examination()
        do {
            let item = try item(in: row, expecting: nil)
            seen.reference = item.id
            seen.attributes = item.attributes
            guard try row.blob(3) == primaryTag(item.attributes) else {
                seen.damage = .name
                return seen
            }
            try seen.look { try openSecret(of: item, in: row, with: nil).count == item.secretByteCount }
        } catch let error as CofferError where error.code == .decode {
            explain(row, &seen)
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
            seen.reference = try? ItemID(row.blob(1))
        }
        return seen
    }

    /// Finds out why a row is no item.
    private func explain(_ row: borrowing Row, _ seen: inout Examination) {
        seen.damage = .row
        seen.reference = try? ItemID(row.blob(1))
        guard let id = seen.reference, let classKey = try? row.integer(2), let tag = try? row.blob(3),
            Accessibility(classKey: classKey) != nil
        else { return }
        seen.damage = .metadata
        let context = Self.metadataContext(id, classKey, tag)
        let opened = try? row.withBlob(4) { sealed in
            try AEAD.open(sealed, under: keys.catalog.keychainMetadata, context: context).exposeBytes()
        }
        guard let opened else { return }
        seen.damage = .metadataForm
        guard let metadata = try? ItemMetadata(decoding: opened) else { return }
        seen.attributes = metadata.attributes
        seen.damage = .exchangedSecret
    }

    // MARK: Tags

    private func hasTags(of attributes: ItemAttributes, _ number: Int64) throws -> Bool {
        for tag in ItemTags.tags(of: attributes, under: keys.catalog.search) {
            let isThere = try connection.row(
                "SELECT 1 FROM keychain_tags WHERE tag = ? AND item = ?",
                .blob(tag),
                .integer(number)
            ) { _ in true }
            if isThere == nil { return false }
        }
        return true
    }

    /// Looks at some tags: whether they lead to items that have what they stand for.
    ///
    /// Tags of a damaged row are no finding of their own.
    ///
    /// - Parameters:
    ///   - place: Where an earlier slice has ended; `nil` from the beginning.
    ///   - order: How.
    /// - Returns: What was found.
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
            var seen = Examination()
            do {
                if let item = try item(at: place.item) {
                    if ItemTags.tags(of: item.attributes, under: keys.catalog.search).contains(place.tag) { continue }
                    seen.reference = item.id
                    seen.attributes = item.attributes
                }
            } catch let error as CofferError where error.code == .decode {
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
            slice.findings.append(Finding(.keychainTags, seen, .strayTags, .rewrite, order))
        }
        if places.count < order.limit { slice.next = nil }
        return slice
    }

    /// Tags of another size than tags have: they lead nowhere, and could not even be told where a slice ends.
    private func checkMalformedTags(_ slice: inout CheckSlice<TagPlace>, _ order: CheckOrder) throws {
        let size = DatabaseValue.integer(Int64(ItemTags.attributeTagBytes))
        let count = try connection.row("SELECT count(*) FROM keychain_tags WHERE length(tag) <> ?", size) {
            try $0.integer(0)
        }
        guard let count, count > 0 else { return }
        slice.checkedCount += Int(clamping: count)
        if order.repairs { try connection.execute("DELETE FROM keychain_tags WHERE length(tag) <> ?", size) }
        slice.findings.append(Finding(.keychainTags, Examination(), .strayTags, .rewrite, order))
    }

    // MARK: Former values

    /// Looks at some former values of secrets.
    ///
    /// Those of a damaged item are no findings of their own: they go where it goes.
    ///
    /// - Parameters:
    ///   - place: The row number that an earlier slice has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func checkHistory(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        var numbers: [Int64] = []
        try connection.rows(
            "SELECT id FROM keychain_history WHERE id > ? ORDER BY id LIMIT ?",
            .integer(place),
            .integer(Int64(order.limit))
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        var slice = CheckSlice<Int64>()
        for number in numbers {
            slice.checkedCount += 1
            slice.next = number
            let seen = try connection.row(
                "SELECT id, class_key, metadata, wrapped_key, secret, uuid FROM keychain_history WHERE id = ?",
                .integer(number)
            ) { row in try self.examination(ofHistory: row) }
            guard let seen else { continue }
            if seen.isSealed { slice.sealedCount += 1 }
            guard let damage = seen.damage else { continue }
            if order.repairs {
                if damage == .otherClass {
                    try connection.transaction { try alignHistory(number) }
                } else {
                    slice.quarantinedCount += try quarantineHistory(number, damage, order.now)
                }
            }
            slice.findings.append(
                Finding(.formerValues, seen, damage, damage == .otherClass ? .rewrite : .quarantine, order)
            )
        }
        if numbers.count < order.limit { slice.next = nil }
        return slice
    }

    /// Looks at a row that has the columns of a former value, and behind them the reference of its item.
    func examination(ofHistory row: borrowing Row) throws -> Examination {
        var seen = Examination()
        do {
            seen.reference = ItemID(try row.blob(5))
            guard let reference = seen.reference else {
                seen.damage = .row
                return seen
            }
            let item: KeychainItem
            do {
                guard let found = try find(reference) else {
                    seen.damage = .missingOwner
                    return seen
                }
                item = found
            } catch let error as CofferError where error.code == .decode {
                return seen
            }
            seen.attributes = item.attributes
            let classKey = try row.integer(1)
            guard Accessibility(classKey: classKey) != nil else {
                seen.damage = .row
                return seen
            }
            let value: EarlierValue
            do {
                value = try earlierValue(of: item, in: row)
            } catch let error as CofferError where error.code == .decode {
                let context = Self.historyContext(item.id, classKey)
                let isAuthentic = try row.withBlob(2) { sealed in
                    (try? AEAD.open(sealed, under: keys.catalog.keychainMetadata, context: context)) != nil
                }
                seen.damage = isAuthentic ? .exchangedSecret : .metadata
                return seen
            }
            try seen.look {
                try row.withBlob(3) { wrapped in
                    try row.withBlob(4) { sealed in
                        let former = item.with(value.accessibility)
                        return try openSecret(of: former, wrapped, sealed, with: nil).count == value.byteCount
                    }
                }
            }
            if seen.damage == nil && value.accessibility != item.accessibility {
                if value.isAvailable(in: keys.state, as: item.accessibility) {
                    seen.damage = .otherClass
                } else {
                    seen.isSealed = true
                }
            }
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
        }
        return seen
    }

    // MARK: The count

    /// Counts the items, all at once.
    ///
    /// - Parameter order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func checkCount(_ order: CheckOrder) throws -> CheckSlice<Int64> {
        var slice = CheckSlice<Int64>()
        slice.checkedCount = 1
        let isRight = try connection.row(
            """
            SELECT (SELECT group_concat(items) FROM keychain_count) = CAST(count(*) AS TEXT) FROM keychain_items
            """
        ) { row in try row.optionalInteger(0) == 1 }
        if isRight == true { return slice }
        if order.repairs {
            try connection.transaction {
                try connection.execute("DELETE FROM keychain_count")
                try connection.execute("INSERT INTO keychain_count SELECT count(*) FROM keychain_items")
            }
        }
        slice.findings = [Finding(.counts, name: "the keychain", .count, repair: .rewrite, isRepaired: order.repairs)]
        return slice
    }
}

extension Examination {
    /// Tries a secret: what does not open is damaged, and what is locked is left for another time.
    fileprivate mutating func look(_ opens: () throws -> Bool) throws {
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

extension Finding {
    fileprivate init(
        _ stage: CheckStage,
        _ seen: Examination,
        _ damage: Damage,
        _ repair: Repair,
        _ order: CheckOrder
    ) {
        self.init(
            stage,
            reference: seen.reference,
            name: seen.name(for: order.groups),
            damage,
            repair: repair,
            isRepaired: order.repairs
        )
    }
}
