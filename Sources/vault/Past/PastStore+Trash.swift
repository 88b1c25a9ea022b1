package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// The trash: removed items, until they are restored or destroyed.

/// An entry of the trash.
package struct TrashEntry {
    let row: PastRow
    private let read: Result<TrashLabel?, any Error>

    init(row: PastRow, label: Result<TrashLabel?, any Error>) {
        self.row = row
        read = label
    }

    /// Its number.
    package var number: Int64 { row.number }
    /// Its label; `nil` if that can be read after the first unlock only.
    ///
    /// - Throws: `decode` if it is damaged.
    package var label: TrashLabel? { get throws { try read.get() } }

    /// How long it stays, in milliseconds.
    ///
    /// - Parameters:
    ///   - lifetime: How long an entry stays.
    ///   - time: The time in the trash.
    package func remaining(of lifetime: Int64, at time: Int64) -> Int64 {
        max(0, lifetime - max(0, time.nearestDifference(row.time)))
    }
}

extension PastStore {
    // MARK: Into the trash

    /// Adds an entry, within the open transaction, with the rows of the past that belong to its item.
    ///
    /// - Parameters:
    ///   - image: The row of the item, as its store has written it.
    ///   - label: The name and the protection of the item.
    ///   - owner: The owner of its rows of the past.
    ///   - kept: The content of a file, which stays on the disk.
    ///   - wantsPasscode: Whether it is destroyed with the passcode.
    ///   - moment: The time.
    /// - Returns: The number of the entry.
    package func discard(
        _ image: RowImage,
        _ label: TrashLabel,
        withRowsOf owner: ItemID?,
        keeping kept: KeptContent? = nil,
        wantsPasscode: Bool = false,
        at moment: TrashMoment
    ) throws -> Int64 {
        let key = try key(of: label.group)
        let encoded = image.encoded
        let content = kept == nil ? 0 : label.byteCount
        let former = try owner.map(byteCount) ?? 0
        let row = PastRow(
            number: try nextNumber(),
            .removed,
            owner: key.trash,
            node: kept?.node,
            time: try advance(to: moment),
            byteCount: content.nearestSum(former).nearestSum(Int64(encoded.count))
        )
        try insert(
            row,
            keeping: kept,
            wantsPasscode: wantsPasscode,
            label: try seal(label, of: row),
            sealed: unsafe AEAD.seal(encoded.span.bytes, under: key.key, context: row.context)
        )
        for held in try owner.map(allRows) ?? [] {
            let stored = try sealed(held.number)
            try connection.execute(
                "UPDATE past SET entry = ?, sealed = ? WHERE number = ?",
                .integer(row.number),
                .blob(unsafe AEAD.seal(stored.span.bytes, under: key.key, context: held.heldContext)),
                .integer(held.number)
            )
        }
        return row.number
    }

    /// The rows that an entry holds.
    private func rows(heldBy entry: TrashEntry) throws -> [PastRow] {
        try rows(
            "SELECT number, reason, owner, entry, node, time, bytes FROM past WHERE entry = ?",
            .integer(entry.number)
        )
    }

    /// The space of the rows of an item and of the contents that are kept for them, in bytes; without those in the trash.
    package func byteCount(of owner: ItemID) throws -> Int64 {
        try allRows(of: owner).reduce(0) { $0.nearestSum($1.byteCount) }
    }

    // MARK: In the trash

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
            SELECT number, reason, owner, entry, node, time, past.bytes, label FROM past
            WHERE owner = (SELECT trash FROM trash_keys WHERE group_tag = ?) AND reason = 2 AND entry IS NULL
                AND number >= ?
            ORDER BY number LIMIT ?
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

    /// The entry of a group with a number; `nil` if there is none.
    package func entry(_ number: Int64, of group: String) throws -> TrashEntry? {
        try connection.row(
            """
            SELECT number, reason, owner, entry, node, time, past.bytes, label FROM past
            WHERE number = ? AND owner = (SELECT trash FROM trash_keys WHERE group_tag = ?) AND reason = 2
            """,
            .integer(number),
            .blob(tag(of: group))
        ) { row in try self.entry(in: row) }
    }

    /// - Parameter row: The columns of a row, and its label.
    func entry(in row: borrowing Row) throws -> TrashEntry {
        let found = try PastRow(in: row)
        return TrashEntry(row: found, label: Result { try row.withBlob(7) { try openLabel($0, of: found) } })
    }

    /// The number of entries and their space in bytes, without emptied trashes.
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

    // MARK: Out of the trash

    /// Removes an entry from the trash within the open transaction, and restores the rows of the past that it holds.
    ///
    /// - Returns: The row of the item.
    /// - Throws: `decode` if it is damaged; ``DatabaseError``.
    package func takeOut(_ entry: TrashEntry) throws -> RowImage {
        let key = try key(of: entry)
        let image = try image(of: entry, under: key)
        for held in try rows(heldBy: entry) {
            let stored = try sealed(held.number)
            // A damaged one stays as it is.
            let opened = unsafe try? AEAD.open(stored.span.bytes, under: key, context: held.heldContext)
            try connection.execute(
                "UPDATE past SET entry = NULL, sealed = ? WHERE number = ?",
                .blob(opened?.exposeBytes() ?? stored),
                .integer(held.number)
            )
        }
        _ = try remove(entry.number)
        return image
    }

    /// The row of an entry's item.
    func image(of entry: TrashEntry) throws -> RowImage { try image(of: entry, under: try key(of: entry)) }

    private func image(of entry: TrashEntry, under key: borrowing SymmetricKey) throws -> RowImage {
        let stored = try sealed(entry.number)
        let opened = unsafe try? AEAD.open(stored.span.bytes, under: key, context: entry.row.context)
        guard let opened = opened?.exposeBytes(), let image = try? RowImage(decoding: opened) else {
            throw CofferError.damaged(entry.row.entrySubject, found: "its row is not authentic")
        }
        return image
    }

    /// The trash key of an entry.
    private func key(of entry: TrashEntry) throws -> SymmetricKey {
        let found = try connection.row(
            "SELECT group_tag, sealed FROM trash_keys WHERE trash = ?",
            .blob(entry.row.owner)
        ) { row -> SymmetricKey? in
            let context = Self.keyContext(try row.blob(0))
            return try? row.withBlob(1) { (wrapped) throws(CryptoError) in
                try KeyWrap.unwrap(wrapped, under: self.keys.catalog.past, context: context)
            }
        }
        if let found, let key = found { return key }
        throw CofferError.damaged(entry.row.entrySubject, found: "the key of its trash is missing")
    }

    // MARK: Labels

    /// Seals the label of an entry: under the passcode, unless that did not protect its name.
    private func seal(_ label: TrashLabel, of row: PastRow) throws(CofferError) -> [UInt8] {
        let bytes = label.encoded
        do throws(KeyError) {
            return unsafe try keys.sealNames(
                bytes.span.bytes,
                of: .past,
                context: row.labelContext,
                inEveryState: label.protection.hidesNoName
            )
        } catch {
            throw error.cofferError(label.quoted, in: keys.state, for: .write)
        }
    }

    /// - Returns: `nil` if it can be opened after the first unlock only.
    private func openLabel(_ sealed: RawSpan, of row: PastRow) throws -> TrashLabel? {
        do {
            let opened = try keys.openNames(sealed, of: .past, context: row.labelContext)
            return try TrashLabel(decoding: opened.exposeBytes())
        } catch KeyError.locked {
            return nil
        } catch is KeyError {
            throw CofferError.damaged(row.entrySubject, found: "its name is not authentic")
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(row.entrySubject, found: "its name has an unknown form")
        }
    }

    // MARK: Keys

    /// The trash key of a group, which is created if necessary.
    private func key(of group: String) throws -> TrashKey {
        let tag = tag(of: group)
        let context = Self.keyContext(tag)
        let found = try connection.row(
            "SELECT trash, sealed FROM trash_keys WHERE group_tag = ?",
            .blob(tag)
        ) { row -> TrashKey? in
            let trash = try row.blob(0)
            do {
                return try row.withBlob(1) { wrapped in
                    TrashKey(
                        trash: trash,
                        key: try KeyWrap.unwrap(wrapped, under: self.keys.catalog.past, context: context)
                    )
                }
            } catch CryptoError.unauthentic {
                return nil
            }
        }
        if let found {
            if let key = found { return key }
            // A new entry can't join those that a damaged key has sealed.
            try retire(tag)
        }
        let key: SymmetricKey
        do { key = try SymmetricKey() } catch { throw CofferError.noSecretMemory }
        let trash = ItemID().bytes
        try connection.execute(
            "INSERT INTO trash_keys (trash, group_tag, sealed, entries, bytes) VALUES (?, ?, ?, 0, 0)",
            .blob(trash),
            .blob(tag),
            .blob(KeyWrap.wrap(key, under: keys.catalog.past, context: context))
        )
        return TrashKey(trash: trash, key: key)
    }

    /// Destroys everything that a group has in the trash, within the open transaction.
    ///
    /// One statement overwrites its key. ``nextDoomed(lifetime:bound:time:)`` returns the entries from then on.
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

    private static func keyContext(_ tag: [UInt8]) -> [UInt8] { Array("coffer trash key v1".utf8) + tag }
}

/// The trash key of a group, and the trash to which its entries belong.
private struct TrashKey: ~Copyable {
    let trash: [UInt8]
    let key: SymmetricKey
}

// MARK: - Destroying

extension PastStore {
    /// Whether there are entries, emptied ones included.
    package func hasEntries() throws -> Bool {
        try connection.row("SELECT 1 FROM past WHERE reason = 2 LIMIT 1") { _ in true } ?? false
    }

    /// Whether ``nextDoomed(lifetime:bound:time:)`` may find something: it changes nothing.
    package func hasDoomed(lifetime: Int64, bound: Int64, time: Int64) throws -> Bool {
        try connection.row(
            """
            SELECT EXISTS (SELECT 1 FROM trash_keys WHERE (length(sealed) = 0 OR bytes > ?) AND entries > 0)
                OR (SELECT time FROM past WHERE reason = 2 ORDER BY number LIMIT 1) <= ?
            """,
            .integer(bound),
            .integer(time - lifetime)
        ) { try $0.optionalInteger(0) == 1 } ?? false
    }

    /// The next entry to be removed: of an emptied trash, of one that is too large, or one whose time is over.
    ///
    /// - Parameters:
    ///   - lifetime: How long an entry stays, in milliseconds.
    ///   - bound: The space that one group has, in bytes.
    ///   - time: The time in the trash, in milliseconds.
    /// - Returns: Its number; `nil` if every entry stays.
    /// - Throws: ``DatabaseError``.
    package func nextDoomed(lifetime: Int64, bound: Int64, time: Int64) throws -> Int64? {
        while let full = try fullTrash(bound) {
            let entry = try connection.row(
                "SELECT number FROM past WHERE owner = ? AND reason = 2 AND entry IS NULL ORDER BY number LIMIT 1",
                .blob(full)
            ) { try $0.integer(0) }
            if let entry { return entry }
            // The counts of a group without entries are wrong.
            try connection.execute("UPDATE trash_keys SET entries = 0, bytes = 0 WHERE trash = ?", .blob(full))
        }
        return try connection.row(
            "SELECT number, time FROM past WHERE reason = 2 ORDER BY number LIMIT 1"
        ) { row -> Int64? in
            time.nearestDifference(try row.integer(1)) >= lifetime ? try row.integer(0) : nil
        } ?? nil
    }

    /// A group's trash that was emptied or is too large.
    private func fullTrash(_ bound: Int64) throws -> [UInt8]? {
        try connection.row(
            """
            SELECT trash FROM trash_keys WHERE (length(sealed) = 0 OR bytes > ?) AND entries > 0 LIMIT 1
            """,
            .integer(bound)
        ) { try $0.blob(0) }
    }

    /// Forgets the keys of emptied trashes of which no row is left.
    package func forgetEmptied() throws {
        try connection.execute("DELETE FROM trash_keys WHERE length(sealed) = 0 AND entries <= 0")
    }
}
