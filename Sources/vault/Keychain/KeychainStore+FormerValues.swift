package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
package import CofferMemory
package import CofferPast

/// A former value of an item's secret.
package struct FormerValue: Sendable {
    let row: PastRow
    /// When another value replaced it, in milliseconds since 1970.
    package let replaced: Int64
    let opened: OpenedImage

    /// Its number: later ones have higher numbers.
    package var number: Int64 { row.number }
    /// The bytes of the secret.
    package var byteCount: Int { opened.metadata.secretByteCount }
    /// The class under which its row is sealed: the item's, unless it was damaged when the item got another.
    package var accessibility: Accessibility { opened.accessibility }

    /// Whether it can be read in `state`, as a value of an item of another class.
    ///
    /// A former value is as secret as the current one.
    func isAvailable(in state: VaultState, as itemAccessibility: Accessibility) -> Bool {
        accessibility.isAvailable(in: state) && itemAccessibility.isAvailable(in: state)
    }
}

/// The former values of an item's secret.
package struct FormerValues {
    /// The latest first.
    package var values: [FormerValue] = []
    /// The numbers of those that can't be read any more.
    package var damaged: [Int64] = []
}

// A former value is the row of the item as it was.

extension KeychainStore {
    /// The former values of an item's secret.
    ///
    /// - Throws: `decode` if the item is one of its former rows, put back; ``DatabaseError``.
    package func formerValues(of item: KeychainItem) throws -> FormerValues {
        let present = try connection.row(
            "SELECT wrapped_key FROM keychain_items WHERE id = ?",
            .integer(item.row)
        ) { try $0.blob(0) }
        var found = FormerValues()
        for row in try past.rows(of: item.id) {
            let value: FormerValue
            do { value = try formerValue(row, of: item) } catch let error where error.isDamage {
                found.damaged.append(row.number)
                continue
            }
            // A restored value is sealed under a new key.
            if value.opened.image.wrappedKey == present { throw CofferError.isFormer(item) }
            found.values.append(value)
        }
        return found
    }

    /// The number of former values of an item's secret, damaged ones included.
    package func formerValueCount(of item: KeychainItem) throws -> Int { try past.count(of: item.id) }

    /// Opens a former value of an item's secret.
    ///
    /// - Parameters:
    ///   - number: The number of the value.
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `itemNotFound` if it is not kept; as ``secret(of:with:)``.
    package func formerSecret(
        _ number: Int64,
        of item: KeychainItem,
        with context: AuthenticationContext? = nil
    ) throws -> SecretBytes {
        guard let row = try past.row(number, of: item.id) else {
            throw CofferError(
                .itemNotFound,
                "\(item.attributes.quoted) has no earlier value \(number)",
                hint: "its history shows which there are"
            )
        }
        let value = try formerValue(row, of: item)
        guard value.isAvailable(in: keys.state, as: item.accessibility) else {
            throw CofferError.locked(item.attributes.quoted, in: keys.state, for: .read)
        }
        return try openSecret(of: value, item, with: context)
    }

    private func openSecret(
        of value: FormerValue,
        _ item: KeychainItem,
        with context: AuthenticationContext?
    ) throws -> SecretBytes {
        let image = value.opened.image
        return unsafe try seals.openSecret(
            of: item.with(value.accessibility),
            image.wrappedKey.span.bytes,
            image.secret.span.bytes,
            with: context
        )
    }

    private func formerValue(_ row: PastRow, of item: KeychainItem) throws -> FormerValue {
        let subject = "an earlier value of \(item.attributes.quoted)"
        let former = try past.open(row, subject)
        guard former.image.id == item.id else {
            throw CofferError.damaged(subject, found: "its row is that of another item")
        }
        return FormerValue(row: row, replaced: former.replaced, opened: try seals.opened(former.image, subject))
    }

    // MARK: Keeping

    /// Adds the current secret of an item to its former values, and removes the oldest ones beyond the limit.
    func keepFormerValue(of item: KeychainItem, limit: Int, now: Int64) throws {
        if limit > 0, let image = try image(ofRow: item.row) { try addFormerValue(image, of: item, replaced: now) }
        try past.trim(item.id, to: limit)
    }

    func addFormerValue(_ image: RowImage, of item: KeychainItem, replaced: Int64) throws {
        try past.add(
            formerRow(image, replaced, item.accessibility),
            to: item.id,
            wantsPasscode: item.accessibility.wantsPasscode
        )
    }

    private func formerRow(_ image: RowImage, _ replaced: Int64, _ accessibility: Accessibility) -> FormerRow {
        FormerRow(replaced: replaced, isNamedInEveryState: accessibility.isNamedInEveryState, image: image)
    }

    /// Rewraps the former values when the class of an item changes: they are as secret as the current one.
    ///
    /// Damaged ones stay as they are.
    ///
    /// - Throws: `interactionNotAllowed` if the class key of one of them is not in memory.
    func rewrapFormerValues(of item: KeychainItem, to accessibility: Accessibility) throws {
        for value in try formerValues(of: item).values where value.accessibility != accessibility {
            let image = value.opened.image
            let wrappedKey = try rewrap(image.wrappedKey, of: item.with(value.accessibility), to: accessibility)
            try write(value, SealedSecret(wrappedKey: wrappedKey, secret: image.secret), as: accessibility)
        }
    }

    /// Seals the former values anew when the access control of an item changes.
    func rebindFormerValues(
        of item: KeychainItem,
        to attributes: ItemAttributes,
        _ context: AuthenticationContext?
    ) throws {
        for value in try formerValues(of: item).values {
            let secret = try openSecret(of: value, item, with: context)
            let sealed = try seals.seal(secret, of: item.id, as: item.accessibility, attributes, context?.password)
            try write(value, sealed, as: item.accessibility)
        }
    }

    private func write(_ value: FormerValue, _ sealed: SealedSecret, as accessibility: Accessibility) throws {
        let former = value.opened.metadata
        let metadata = former.with(former.attributes, seals.secretTag(sealed.wrappedKey, sealed.secret))
        var image = value.opened.image
        image.classKey = UInt8(ClassKeyName(accessibility).rawValue)
        image.metadata = try seals.seal(metadata, of: image.id, accessibility, image.tag)
        (image.wrappedKey, image.secret) = (sealed.wrappedKey, sealed.secret)
        try past.write(
            formerRow(image, value.replaced, accessibility),
            as: value.row,
            wantsPasscode: accessibility.wantsPasscode
        )
    }

    // MARK: Checking

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
            let value = try formerValue(row, of: item)
            if item.isLeftBehind { return .whole }
            try seen.trySecret { try openSecret(of: value, item, with: nil).count == value.byteCount }
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
}

extension CofferError {
    /// The error if the secret of an item is one of its former ones: its row was replaced by an older one.
    fileprivate static func isFormer(_ item: KeychainItem) -> CofferError {
        CofferError(
            .decode,
            "\(item.attributes.quoted) was tampered with: its secret is one that it had earlier, put back",
            hint: "store the present secret again"
        )
    }
}
