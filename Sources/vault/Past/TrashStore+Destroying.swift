internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

// What leaves the trash.

/// An entry that is to be removed.
package struct DoomedEntry: Sendable {
    package let number: Int64
    /// The number of the file that its store keeps; `nil` for an item of the keychain.
    package let node: Int64?
}

extension TrashStore {
    /// Whether there are rows of entries, emptied ones included.
    package func hasRows() throws -> Bool {
        try connection.row("SELECT 1 FROM trash LIMIT 1") { _ in true } ?? false
    }

    /// Whether ``nextDoomed(lifetime:bound:time:)`` may find something: it changes nothing.
    package func hasDoomed(lifetime: Int64, bound: Int64, time: Int64) throws -> Bool {
        try connection.row(
            """
            SELECT EXISTS (SELECT 1 FROM trash_keys WHERE (length(sealed) = 0 OR bytes > ?) AND entries > 0)
                OR (SELECT removed FROM trash ORDER BY number LIMIT 1) <= ?
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
    /// - Returns: `nil` if every entry stays.
    /// - Throws: ``DatabaseError``.
    package func nextDoomed(lifetime: Int64, bound: Int64, time: Int64) throws -> DoomedEntry? {
        while let full = try fullTrash(bound) {
            let entry = try connection.row(
                "SELECT number, node FROM trash WHERE trash_key = ? ORDER BY number LIMIT 1",
                .integer(full)
            ) { DoomedEntry(number: try $0.integer(0), node: try $0.optionalInteger(1)) }
            if let entry { return entry }
            // The counts of a group without entries are wrong.
            try connection.execute("UPDATE trash_keys SET entries = 0, bytes = 0 WHERE number = ?", .integer(full))
        }
        return try connection.row(
            "SELECT number, node, removed FROM trash ORDER BY number LIMIT 1"
        ) { row -> DoomedEntry? in
            guard time.nearestDifference(try row.integer(2)) >= lifetime else { return nil }
            return DoomedEntry(number: try row.integer(0), node: try row.optionalInteger(1))
        } ?? nil
    }

    /// The number of a group's key whose trash was emptied or is too large.
    private func fullTrash(_ bound: Int64) throws -> Int64? {
        try connection.row(
            """
            SELECT number FROM trash_keys WHERE (length(sealed) = 0 OR bytes > ?) AND entries > 0 LIMIT 1
            """,
            .integer(bound)
        ) { try $0.integer(0) }
    }

    /// Forgets the keys of emptied trashes of which no row is left.
    package func forgetEmptied() throws {
        try connection.execute("DELETE FROM trash_keys WHERE length(sealed) = 0 AND entries <= 0")
    }

    /// Removes an entry, within the open transaction; what its store keeps of it is the store's to remove.
    package func remove(_ number: Int64) throws {
        try connection.execute("DELETE FROM trash WHERE number = ?", .integer(number))
    }

    /// Removes what is destroyed with the passcode, within the open transaction.
    ///
    /// - Parameter stripped: What is left of the rows of an item; `nil` for nothing.
    /// - Throws: ``DatabaseError``.
    package func removeWantingPasscode(_ stripped: ([UInt8]) throws -> [UInt8]?) throws {
        var rows: [TrashRow] = []
        try connection.rows("SELECT number, removed, bytes, node FROM trash WHERE wants_passcode = 1") { row in
            let found = TrashRow(
                number: try row.integer(0),
                removed: try row.integer(1),
                byteCount: try row.integer(2),
                node: try row.optionalInteger(3)
            )
            rows.append(found)
            return true
        }
        for row in rows {
            guard let image = try? image(of: row), let rest = try stripped(image) else {
                try remove(row.number)
                continue
            }
            try replace(image: rest, of: row)
        }
    }

    private func replace(image: [UInt8], of row: TrashRow) throws {
        let found = try connection.row(
            """
            SELECT group_tag, trash_keys.sealed FROM trash JOIN trash_keys ON trash_key = trash_keys.number
            WHERE trash.number = ?
            """,
            .integer(row.number)
        ) { found -> [UInt8]? in
            let context = Self.keyContext(try found.blob(0))
            return try? found.withBlob(1) { (wrapped) throws(CryptoError) in
                let key = try KeyWrap.unwrap(wrapped, under: self.keys.catalog.trash, context: context)
                return unsafe AEAD.seal(image.span.bytes, under: key, context: row.imageContext)
            }
        }
        guard let sealed = found ?? nil else { return try remove(row.number) }
        try connection.execute(
            "UPDATE trash SET sealed = ?, wants_passcode = 0 WHERE number = ?",
            .blob(sealed),
            .integer(row.number)
        )
    }
}
