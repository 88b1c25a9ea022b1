package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
package import CofferMemory

/// A former value of an item's secret.
package struct EarlierValue: Sendable {
    /// Its number among those of its item: later ones have higher numbers.
    package let number: Int64
    /// When another value replaced it, in milliseconds since 1970.
    package let replaced: Int64
    /// The bytes of the secret.
    package let byteCount: Int
    /// The class under which its row is sealed: the item's, unless the item got another while this value was in
    /// quarantine.
    package let accessibility: Accessibility

    /// Whether it can be read in `state`, as a value of an item of another class.
    ///
    /// A former value is as secret as the current one.
    func isAvailable(in state: VaultState, as itemAccessibility: Accessibility) -> Bool {
        accessibility.isAvailable(in: state) && itemAccessibility.isAvailable(in: state)
    }
}

// A former value is a row of its own: the wrapped key and the sealed secret are unchanged, and its metadata is sealed
// and bound to both, as for an item.

extension KeychainStore {
    private static let historyVersion: UInt8 = 1

    /// The former values of an item's secret, the latest first.
    ///
    /// - Throws: `decode` if one is damaged; ``DatabaseError``.
    package func history(of item: KeychainItem) throws -> [EarlierValue] {
        let values = try earlierValues(of: item) { throw $0 }
        try checkPresent(item)
        return values
    }

    /// The number of former values of an item's secret, damaged ones included.
    package func formerValueCount(of item: KeychainItem) throws -> Int {
        let count = try connection.row("SELECT count(*) FROM keychain_history WHERE uuid = ?", .blob(item.id.bytes)) {
            try $0.integer(0)
        }
        return Int(count ?? 0)
    }

    private func earlierValues(
        of item: KeychainItem,
        failed: (any Error) throws -> Void
    ) throws -> [EarlierValue] {
        var values: [EarlierValue] = []
        try connection.rows(
            """
            SELECT id, class_key, metadata, wrapped_key, secret FROM keychain_history WHERE uuid = ?
            ORDER BY id DESC
            """,
            .blob(item.id.bytes)
        ) { row in
            do { values.append(try self.earlierValue(of: item, in: row)) } catch { try failed(error) }
            return true
        }
        return values
    }

    /// Opens a former value of an item's secret.
    ///
    /// - Parameters:
    ///   - number: The number of the value.
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `itemNotFound` if it is not kept; as ``secret(of:with:)``.
    package func earlierSecret(
        _ number: Int64,
        of item: KeychainItem,
        with context: AuthenticationContext? = nil
    ) throws -> SecretBytes {
        let secret = try connection.row(
            """
            SELECT id, class_key, metadata, wrapped_key, secret FROM keychain_history WHERE uuid = ? AND id = ?
            """,
            .blob(item.id.bytes),
            .integer(number)
        ) { row in
            let value = try self.earlierValue(of: item, in: row)
            guard value.isAvailable(in: self.keys.state, as: item.accessibility) else {
                throw CofferError.locked(item.attributes.quoted, in: self.keys.state, for: .read)
            }
            let former = item.with(value.accessibility)
            return try row.withBlob(3) { wrapped in
                try row.withBlob(4) { sealed in try self.openSecret(of: former, wrapped, sealed, with: context) }
            }
        }
        guard let secret else {
            throw CofferError(
                .itemNotFound,
                "\(item.attributes.quoted) has no earlier value \(number)",
                hint: "its history shows which there are"
            )
        }
        return secret
    }

    /// Refuses an item whose secret is one of its former ones: its row was replaced by an older one.
    ///
    /// This does not affect restored values, which are sealed under a new key.
    private func checkPresent(_ item: KeychainItem) throws {
        let isEarlier = try connection.row(
            """
            SELECT 1 FROM keychain_history JOIN keychain_items USING (uuid, wrapped_key)
            WHERE keychain_history.uuid = ? LIMIT 1
            """,
            .blob(item.id.bytes)
        ) { _ in true }
        if isEarlier ?? false {
            throw CofferError(
                .decode,
                "\(item.attributes.quoted) was tampered with: its secret is one that it had earlier, put back",
                hint: "store the present secret again"
            )
        }
    }

    // MARK: Keeping

    /// Adds the current secret of an item to its history, and removes the oldest values beyond the limit.
    func keepHistory(of item: KeychainItem, limit: Int, now: Int64) throws {
        if limit > 0 {
            let sealed = try connection.row(
                "SELECT wrapped_key, secret FROM keychain_items WHERE id = ?",
                .integer(item.row)
            ) { row in SealedSecret(wrappedKey: try row.blob(0), secret: try row.blob(1)) }
            guard let sealed else { return }
            try addHistory(of: item, sealed, replaced: now, byteCount: item.secretByteCount)
        }
        try trimHistory(of: item.id, to: limit)
    }

    func addHistory(of item: KeychainItem, _ sealed: SealedSecret, replaced: Int64, byteCount: Int) throws {
        try connection.execute(
            """
            INSERT INTO keychain_history (uuid, class_key, metadata, wrapped_key, secret) VALUES (?, ?, ?, ?, ?)
            """,
            .blob(item.id.bytes),
            .integer(Int64(ClassKeyName(item.accessibility).rawValue)),
            .blob(try sealHistory(sealed, of: item, item.accessibility, replaced, byteCount)),
            .blob(sealed.wrappedKey),
            .blob(sealed.secret)
        )
    }

    func trimHistory(of id: ItemID, to limit: Int) throws {
        try connection.execute(
            """
            DELETE FROM keychain_history WHERE uuid = ?1 AND id <=
                (SELECT id FROM keychain_history WHERE uuid = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """,
            .blob(id.bytes),
            .integer(Int64(limit))
        )
    }

    func removeHistory(of id: ItemID) throws {
        try connection.execute("DELETE FROM keychain_history WHERE uuid = ?", .blob(id.bytes))
    }

    /// Rewraps the former values when the class of an item changes: they are as secret as the current one.
    ///
    /// - Throws: `interactionNotAllowed` if the class key of one of them is not in memory, `decode` if one is damaged.
    func rewrapHistory(of item: KeychainItem, to accessibility: Accessibility) throws {
        for value in try history(of: item) where value.accessibility != accessibility {
            try rewrap(value, of: item, to: accessibility)
        }
    }

    private func rewrap(_ value: EarlierValue, of item: KeychainItem, to accessibility: Accessibility) throws {
        guard var sealed = try sealedHistory(value) else { return }
        sealed.wrappedKey = try rewrap(sealed.wrappedKey, of: item.with(value.accessibility), to: accessibility)
        try writeHistory(value, sealed, of: item, accessibility)
    }

    private func sealedHistory(_ value: EarlierValue) throws -> SealedSecret? {
        try connection.row(
            "SELECT wrapped_key, secret FROM keychain_history WHERE id = ?",
            .integer(value.number)
        ) { row in SealedSecret(wrappedKey: try row.blob(0), secret: try row.blob(1)) }
    }

    /// Gives a former value the class of its item, if the keys of both are in memory.
    ///
    /// - Parameter number: The number of its row.
    /// - Throws: `decode` if it, or its item, is damaged; ``DatabaseError``.
    func alignHistory(_ number: Int64) throws {
        let found = try connection.row(
            "SELECT id, class_key, metadata, wrapped_key, secret, uuid FROM keychain_history WHERE id = ?",
            .integer(number)
        ) { row -> (item: KeychainItem, value: EarlierValue)? in
            guard let reference = ItemID(try row.blob(5)), let item = try self.find(reference) else { return nil }
            return (item, try self.earlierValue(of: item, in: row))
        }
        guard let (item, value) = found ?? nil, value.accessibility != item.accessibility,
            value.isAvailable(in: keys.state, as: item.accessibility)
        else { return }
        try rewrap(value, of: item, to: item.accessibility)
    }

    /// Writes a former value that was sealed again.
    func writeHistory(
        _ value: EarlierValue,
        _ sealed: SealedSecret,
        of item: KeychainItem,
        _ accessibility: Accessibility
    ) throws {
        try connection.execute(
            "UPDATE keychain_history SET class_key = ?, metadata = ?, wrapped_key = ?, secret = ? WHERE id = ?",
            .integer(Int64(ClassKeyName(accessibility).rawValue)),
            .blob(try sealHistory(sealed, of: item, accessibility, value.replaced, value.byteCount)),
            .blob(sealed.wrappedKey),
            .blob(sealed.secret),
            .integer(value.number)
        )
    }

    // MARK: Sealing

    private func sealHistory(
        _ sealed: SealedSecret,
        of item: KeychainItem,
        _ accessibility: Accessibility,
        _ replaced: Int64,
        _ byteCount: Int
    ) throws(CofferError) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.historyVersion)
        writer.write(replaced)
        writer.write(UInt32(byteCount))
        writer.write(raw: secretTag(sealed.wrappedKey, sealed.secret))
        let context = Self.historyContext(item.id, Int64(ClassKeyName(accessibility).rawValue))
        return try sealNames(writer.bytes, accessibility, context, item.attributes.quoted)
    }

    func earlierValue(of item: KeychainItem, in row: borrowing Row) throws -> EarlierValue {
        let classKey = try row.integer(1)
        let subject = "an earlier value of \(item.attributes.quoted)"
        guard let accessibility = Accessibility(classKey: classKey) else {
            throw CofferError.damaged(subject, found: "its row has impossible values")
        }
        let context = Self.historyContext(item.id, classKey)
        do {
            let opened = try row.withBlob(2) { sealed in try openNames(sealed, context) }
            var reader = ByteReader(opened)
            guard try reader.read(UInt8.self) == Self.historyVersion else { throw ByteReader.Malformed() }
            let replaced = try reader.read(Int64.self)
            let byteCount = Int(try reader.read(UInt32.self))
            let tag = Array(try reader.readRaw(ItemMetadata.secretTagBytes))
            guard reader.isAtEnd else { throw ByteReader.Malformed() }
            guard isEqualInConstantTime(tag, try secretTag(in: row, wrappedKey: 3, secret: 4)) else {
                throw CofferError.damaged(subject, found: "its secret is not the one that its metadata names")
            }
            return EarlierValue(
                number: try row.integer(0),
                replaced: replaced,
                byteCount: byteCount,
                accessibility: accessibility
            )
        } catch let error as KeyError {
            throw error.cofferError(metadataOf: subject, in: keys.state)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its metadata has an unknown form")
        }
    }

    static func historyContext(_ id: ItemID, _ classKey: Int64) -> [UInt8] {
        Array("coffer keychain history v1".utf8) + id.bytes + [UInt8(truncatingIfNeeded: classKey)]
    }
}
