package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
package import CofferMemory
internal import CofferPast

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

/// The former values of items, each of which is the row of its item as it was.
package struct ItemHistories {
    let connection: Connection
    let past: PastStore
    let seals: ItemSeals

    /// The former values of an item's secret.
    ///
    /// - Throws: `decode` if the item is one of its former rows, put back; ``DatabaseError``.
    package func values(of item: KeychainItem) throws -> FormerValues {
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
    package func count(of item: KeychainItem) throws -> Int { try past.count(of: item.id) }

    /// Opens a former value of an item's secret.
    ///
    /// - Parameters:
    ///   - number: The number of the value.
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `itemNotFound` if it is not kept; as ``KeychainStore/secret(of:with:)``.
    package func secret(
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
        guard value.isAvailable(in: seals.keys.state, as: item.accessibility) else {
            throw CofferError.locked(item.attributes.quoted, in: seals.keys.state, for: .read)
        }
        return try openSecret(of: value, item, with: context)
    }

    func openSecret(
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

    func formerValue(_ row: PastRow, of item: KeychainItem) throws -> FormerValue {
        let subject = "an earlier value of \(item.attributes.quoted)"
        let former = try past.open(row, subject)
        guard former.image.id == item.id else {
            throw CofferError.damaged(subject, found: "its row is that of another item")
        }
        return FormerValue(row: row, replaced: former.replaced, opened: try seals.opened(former.image, subject))
    }

    // MARK: Keeping

    /// Adds the current secret of an item to its former values, and removes the oldest ones beyond the limit.
    func keepSecret(of item: KeychainItem, limit: Int, now: Int64) throws {
        if limit > 0, let image = try RowImage.ofItem(item.row, in: connection) {
            try add(image, of: item, replaced: now)
        }
        try past.trim(item.id, to: limit)
    }

    func add(_ image: RowImage, of item: KeychainItem, replaced: Int64) throws {
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
    func rewrap(of item: KeychainItem, to accessibility: Accessibility) throws {
        for value in try values(of: item).values where value.accessibility != accessibility {
            let image = value.opened.image
            let wrappedKey = try seals.rewrap(image.wrappedKey, of: item.with(value.accessibility), to: accessibility)
            try write(value, SealedSecret(wrappedKey: wrappedKey, secret: image.secret), as: accessibility)
        }
    }

    /// Seals the former values anew when the access control of an item changes.
    func rebind(
        of item: KeychainItem,
        to attributes: ItemAttributes,
        _ context: AuthenticationContext?
    ) throws {
        for value in try values(of: item).values {
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
