internal import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The trash of a vault: what was removed, until it is restored or destroyed.
package final class TrashStore {
    let connection: Connection
    let keys: VaultKeys

    /// Opens the trash of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    // MARK: Adding

    /// Adds an entry, within the open transaction.
    ///
    /// - Parameters:
    ///   - label: What it was called.
    ///   - image: The rows of the item, as its store has written them.
    ///   - node: The number of a file, which its store keeps.
    ///   - versionBytes: The space that the versions of a file take, in bytes.
    ///   - wantsPasscode: Whether a part of it is destroyed with the passcode.
    ///   - time: The time in the trash, from ``advance(to:)``.
    /// - Returns: The number of the entry, which no other entry of the vault ever has.
    package func add(
        _ label: TrashLabel,
        image: [UInt8],
        node: Int64?,
        versionBytes: Int64 = 0,
        wantsPasscode: Bool,
        time: Int64
    ) throws -> Int64 {
        let key = try key(of: label.group)
        let byteCount = (node == nil ? 0 : label.byteCount).nearestSum(versionBytes).nearestSum(Int64(image.count))
        try connection.execute(
            """
            INSERT INTO trash (trash_key, removed, bytes, wants_passcode, node, label, sealed)
            VALUES (?, ?, ?, ?, ?, x'', x'')
            """,
            .integer(key.number),
            .integer(time),
            .integer(byteCount),
            .integer(wantsPasscode ? 1 : 0),
            node.map { .integer($0) } ?? .null
        )
        let row = TrashRow(number: connection.lastInsertedRowID, removed: time, byteCount: byteCount, node: node)
        try connection.execute(
            "UPDATE trash SET label = ?, sealed = ? WHERE number = ?",
            .blob(try seal(label, of: row)),
            .blob(unsafe AEAD.seal(image.span.bytes, under: key.key, context: row.imageContext)),
            .integer(row.number)
        )
        return row.number
    }

    // MARK: Looking

    /// Some entries of a group, the oldest first.
    ///
    /// - Parameters:
    ///   - group: The access group.
    ///   - number: The number of the entry after which they begin; `nil` for the first one.
    ///   - limit: The greatest number of entries.
    /// - Throws: ``DatabaseError``.
    package func entries(of group: String, after number: Int64?, limit: Int) throws -> [TrashEntry] {
        guard let first = Connection.firstNumber(after: number) else { return [] }
        var entries: [TrashEntry] = []
        try connection.rows(
            """
            SELECT trash.number, removed, trash.bytes, node, label FROM trash_keys CROSS JOIN trash
                ON trash_key = trash_keys.number
            WHERE group_tag = ? AND trash.number >= ? ORDER BY trash.number LIMIT ?
            """,
            .blob(tag(of: group)),
            .integer(first),
            .integer(Int64(limit))
        ) { row in
            entries.append(try self.entry(in: row))
            return true
        }
        return entries
    }

    /// Some entries of all groups, for a check.
    package func entries(after number: Int64?, limit: Int) throws -> [TrashEntry] {
        guard let first = Connection.firstNumber(after: number) else { return [] }
        var entries: [TrashEntry] = []
        try connection.rows(
            """
            SELECT trash.number, removed, trash.bytes, node, label FROM trash CROSS JOIN trash_keys
                ON trash_key = trash_keys.number
            WHERE trash.number >= ? AND length(trash_keys.sealed) > 0 ORDER BY trash.number LIMIT ?
            """,
            .integer(first),
            .integer(Int64(limit))
        ) { row in
            entries.append(try self.entry(in: row))
            return true
        }
        return entries
    }

    /// Whether there is an entry, emptied or not, for which a file is kept.
    package func hasEntry(ofFile node: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM trash WHERE node = ? LIMIT 1", .integer(node)) { _ in true } ?? false
    }

    /// The entry of a group with a number; `nil` if there is none.
    package func entry(_ number: Int64, of group: String) throws -> TrashEntry? {
        try connection.row(
            """
            SELECT trash.number, removed, trash.bytes, node, label FROM trash JOIN trash_keys
                ON trash_key = trash_keys.number
            WHERE trash.number = ? AND group_tag = ?
            """,
            .integer(number),
            .blob(tag(of: group))
        ) { row in try self.entry(in: row) }
    }

    private func entry(in row: borrowing Row) throws -> TrashEntry {
        let found = TrashRow(
            number: try row.integer(0),
            removed: try row.integer(1),
            byteCount: try row.integer(2),
            node: try row.optionalInteger(3)
        )
        return TrashEntry(row: found, label: Result { try row.withBlob(4) { try open($0, of: found) } })
    }

    /// The number of entries, and the space that they take, in bytes; without what was emptied.
    package func total() throws -> (count: Int, byteCount: Int64) {
        // A row may hold any number, and a sum() that is too large is an error of SQLite: total() has no end.
        try connection.row(
            """
            SELECT CAST(min(total(max(entries, 0)), 1 << 40) AS INTEGER), CAST(min(total(max(bytes, 0)), 1 << 60) AS INTEGER)
            FROM trash_keys WHERE length(sealed) > 0
            """
        ) { (Int(try $0.integer(0)), try $0.integer(1)) } ?? (0, 0)
    }

    /// How many entries a group has in the trash.
    package func count(of group: String) throws -> Int {
        try connection.row("SELECT entries FROM trash_keys WHERE group_tag = ?", .blob(tag(of: group))) {
            max(0, Int(try $0.integer(0)))
        } ?? 0
    }

    /// The rows of an entry's item.
    ///
    /// - Throws: `decode` if they are damaged; ``DatabaseError``.
    package func image(of entry: TrashEntry) throws -> [UInt8] { try image(of: entry.row) }

    func image(of found: TrashRow) throws -> [UInt8] {
        let opened = try connection.row(
            """
            SELECT group_tag, trash_keys.sealed, trash.sealed FROM trash JOIN trash_keys ON trash_key = trash_keys.number
            WHERE trash.number = ?
            """,
            .integer(found.number)
        ) { row -> [UInt8]? in
            let context = Self.keyContext(try row.blob(0))
            guard
                let key = try? row.withBlob(
                    1,
                    { (wrapped) throws(CryptoError) in
                        try KeyWrap.unwrap(wrapped, under: self.keys.catalog.trash, context: context)
                    }
                )
            else { return nil }
            return try? row.withBlob(2) { (sealed) throws(CryptoError) in
                try AEAD.open(sealed, under: key, context: found.imageContext).exposeBytes()
            }
        }
        if let image = opened ?? nil { return image }
        throw CofferError.damaged("entry \(found.number) of the trash", found: "its rows are not authentic")
    }

    // MARK: Keys

    /// The trash key of a group, which is created if necessary.
    private func key(of group: String) throws -> TrashKey {
        let tag = tag(of: group)
        let context = Self.keyContext(tag)
        let found = try connection.row(
            "SELECT number, sealed FROM trash_keys WHERE group_tag = ?",
            .blob(tag)
        ) { row -> TrashKey? in
            let number = try row.integer(0)
            do {
                return try row.withBlob(1) { wrapped in
                    TrashKey(
                        number: number,
                        key: try KeyWrap.unwrap(wrapped, under: self.keys.catalog.trash, context: context)
                    )
                }
            } catch CryptoError.unauthentic {
                return nil
            }
        }
        if let found {
            if let key = found { return key }
            // Nothing can be put beside what a damaged key has sealed.
            try retire(tag)
        }
        let key: SymmetricKey
        do { key = try SymmetricKey() } catch { throw CofferError.noSecretMemory }
        try connection.execute(
            "INSERT INTO trash_keys (group_tag, sealed, entries, bytes) VALUES (?, ?, 0, 0)",
            .blob(tag),
            .blob(KeyWrap.wrap(key, under: keys.catalog.trash, context: context))
        )
        return TrashKey(number: connection.lastInsertedRowID, key: key)
    }

    /// Destroys everything that a group has in the trash, within the open transaction.
    ///
    /// One statement overwrites its key. The rows are removed by what follows ``nextDoomed(lifetime:bound:time:)``.
    ///
    /// - Throws: ``DatabaseError``.
    package func empty(_ group: String) throws { try retire(tag(of: group)) }

    private func retire(_ tag: [UInt8]) throws {
        try connection.execute(
            "UPDATE trash_keys SET sealed = x'', group_tag = randomblob(17) WHERE group_tag = ?",
            .blob(tag)
        )
    }

    private func tag(of group: String) -> [UInt8] {
        KeyedHash.tag(under: keys.catalog.search, for: "coffer trash group tag v1", byteCount: 16, Array(group.utf8))
    }

    static func keyContext(_ tag: [UInt8]) -> [UInt8] { Array("coffer trash key v1".utf8) + tag }
}

/// The trash key of a group, and the number of its row.
private struct TrashKey: ~Copyable {
    let number: Int64
    let key: SymmetricKey
}
