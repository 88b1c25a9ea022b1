package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The past of both stores: former secrets and contents, the trash, and rows that were replaced before the first unlock.
///
/// A row belongs to an owner: the persistent reference of an item, the history of a file, or the trash of a group. A store
/// gives and takes whole rows, sealed as they were, and alone opens them.
package final class PastStore {
    let connection: Connection
    let keys: VaultKeys

    /// Opens the past of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    // MARK: Former rows

    /// The former rows of an item, the newest first, except those in the trash.
    ///
    /// - Throws: ``DatabaseError``.
    package func rows(of owner: ItemID) throws -> [PastRow] {
        try rows(
            """
            SELECT number, reason, owner, entry, node, time, bytes FROM past
            WHERE owner = ? AND reason = 1 AND entry IS NULL ORDER BY number DESC
            """,
            .blob(owner.bytes)
        )
    }

    /// All rows of an item, those that were set aside too, except those in the trash.
    func allRows(of owner: ItemID) throws -> [PastRow] {
        try rows(
            "SELECT number, reason, owner, entry, node, time, bytes FROM past WHERE owner = ? AND entry IS NULL",
            .blob(owner.bytes)
        )
    }

    func rows(_ sql: StaticString, _ binding: DatabaseValue) throws -> [PastRow] {
        var found: [PastRow] = []
        try connection.rows(sql, binding) { row in
            found.append(try PastRow(in: row))
            return true
        }
        return found
    }

    /// The sealed part of a row; empty if there is none.
    func sealed(_ number: Int64) throws -> [UInt8] {
        try connection.row("SELECT sealed FROM past WHERE number = ?", .integer(number)) { try $0.blob(0) } ?? []
    }

    /// The number of former rows of an item, damaged ones included.
    package func count(of owner: ItemID) throws -> Int {
        let count = try connection.row(
            "SELECT count(*) FROM past WHERE owner = ? AND reason = 1 AND entry IS NULL",
            .blob(owner.bytes)
        ) { Int(try $0.integer(0)) }
        return count ?? 0
    }

    /// The former row of an item with a number; `nil` if there is none.
    package func row(_ number: Int64, of owner: ItemID) throws -> PastRow? {
        try rows(of: owner).first { $0.number == number }
    }

    /// Adds a former row to an item, within the open transaction.
    ///
    /// - Parameters:
    ///   - former: The row.
    ///   - owner: The item.
    ///   - kept: The content of a file, which stays on the disk.
    ///   - byteCount: The space of that content, in bytes.
    ///   - wantsPasscode: Whether it is destroyed with the passcode.
    /// - Throws: ``DatabaseError``; `internal` if there is no memory for a key.
    package func add(
        _ former: FormerRow,
        to owner: ItemID,
        keeping kept: KeptContent? = nil,
        of byteCount: Int64 = 0,
        wantsPasscode: Bool = false
    ) throws {
        let encoded = former.encoded
        let row = PastRow(
            number: try nextNumber(),
            .replaced,
            owner: owner.bytes,
            node: kept?.node,
            byteCount: byteCount.nearestSum(Int64(encoded.count))
        )
        let sealed = try seal(encoded, isNamedInEveryState: former.isNamedInEveryState, as: row)
        try insert(row, keeping: kept, wantsPasscode: wantsPasscode, sealed: sealed)
    }

    /// Seals a former row anew, within the open transaction.
    ///
    /// - Parameters:
    ///   - former: The row as it is from now on.
    ///   - row: Where it is.
    ///   - owner: Its owner from now on; `nil` for the one that it has.
    ///   - wantsPasscode: Whether it is destroyed with the passcode.
    package func write(
        _ former: FormerRow,
        as row: PastRow,
        of owner: ItemID? = nil,
        wantsPasscode: Bool = false
    ) throws {
        let moved = owner.map(row.owned(by:)) ?? row
        let sealed = try seal(former.encoded, isNamedInEveryState: former.isNamedInEveryState, as: moved)
        try connection.execute(
            "UPDATE past SET owner = ?, wants_passcode = ?, sealed = ? WHERE number = ?",
            .blob(moved.owner),
            .integer(wantsPasscode ? 1 : 0),
            .blob(sealed),
            .integer(row.number)
        )
    }

    private func seal(_ bytes: [UInt8], isNamedInEveryState: Bool, as row: PastRow) throws -> [UInt8] {
        do throws(KeyError) {
            return unsafe try keys.sealNames(
                bytes.span.bytes,
                of: .past,
                context: row.context,
                inEveryState: isNamedInEveryState
            )
        } catch {
            throw error.cofferError("a former row", in: keys.state, for: .write)
        }
    }

    /// Opens a former row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - subject: The row, for an error.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects the name of the item; `decode` if
    ///   it is damaged; ``DatabaseError``.
    package func open(_ row: PastRow, _ subject: String) throws -> FormerRow {
        let sealed = try sealed(row.number)
        // Not while the row is read: no name leads to it, so its damage makes no look-up doubtful.
        do {
            let opened = unsafe try keys.openNames(sealed.span.bytes, of: .past, context: row.context)
            return try FormerRow(decoding: opened.exposeBytes())
        } catch let error as KeyError {
            throw error == .damaged
                ? CofferError.damaged(subject, found: "its row is not authentic")
                : error.cofferError(subject, in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its row has an unknown form")
        }
    }

    /// The former rows of an item that it keeps no longer.
    ///
    /// - Parameters:
    ///   - owner: The item.
    ///   - count: How many it keeps.
    ///   - bound: The space that they may take, in bytes.
    package func excess(of owner: ItemID, beyond count: Int, bound: Int64) throws -> [PastRow] {
        var byteCount: Int64 = 0
        return try rows(of: owner).enumerated().drop { place, row in
            byteCount = byteCount.nearestSum(row.byteCount)
            return place < count && byteCount <= bound
        }.map(\.element)
    }

    /// Removes the oldest former rows of an item for which no content is kept, within the open transaction.
    ///
    /// - Parameters:
    ///   - owner: The item.
    ///   - count: How many stay.
    package func trim(_ owner: ItemID, to count: Int) throws {
        try connection.execute(
            """
            DELETE FROM past WHERE owner = ?1 AND reason = 1 AND entry IS NULL AND number <= (
                SELECT number FROM past WHERE owner = ?1 AND reason = 1 AND entry IS NULL
                ORDER BY number DESC LIMIT 1 OFFSET ?2)
            """,
            .blob(owner.bytes),
            .integer(Int64(count))
        )
    }

    /// Gives the rows of one owner to another, within the open transaction.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, if there are former ones; `decode`.
    package func move(from owner: ItemID, to other: ItemID) throws {
        for row in try rows(of: owner) { try write(try open(row, "a former row"), as: row, of: other) }
        try connection.execute(
            "UPDATE past SET owner = ? WHERE owner = ? AND reason = 3 AND entry IS NULL",
            .blob(other.bytes),
            .blob(owner.bytes)
        )
    }

    /// Removes a row within the open transaction, and with an entry of the trash the rows that it holds.
    ///
    /// - Parameter number: Its number.
    /// - Returns: The contents that were kept for them. The file store removes them.
    package func remove(_ number: Int64) throws -> [KeptContent] {
        var kept: [KeptContent] = []
        try connection.rows(
            "SELECT node, content FROM past WHERE (number = ?1 OR entry = ?1) AND node IS NOT NULL",
            .integer(number)
        ) { row in
            if let node = try? row.integer(0), let content = try? row.blob(1), let id = ItemID(content) {
                kept.append(KeptContent(node: node, content: id))
            }
            return true
        }
        try connection.execute("DELETE FROM past WHERE number = ?1 OR entry = ?1", .integer(number))
        return kept
    }

    /// Removes all rows of an owner, except those in the trash, within the open transaction.
    package func removeAll(of owner: ItemID) throws {
        try connection.execute("DELETE FROM past WHERE owner = ? AND entry IS NULL", .blob(owner.bytes))
    }

    /// Removes the rows that are destroyed with the passcode, within the open transaction.
    package func removeWantingPasscode() throws {
        try connection.execute(
            """
            DELETE FROM past WHERE wants_passcode = 1
                OR entry IN (SELECT number FROM past WHERE wants_passcode = 1 AND reason = 2)
            """
        )
    }

    /// Whether the content of a file is kept.
    package func keeps(_ kept: KeptContent) throws -> Bool {
        try connection.row(
            "SELECT 1 FROM past WHERE node = ? AND content = ?",
            .integer(kept.node),
            .blob(kept.content.bytes)
        ) { _ in true } ?? false
    }

    /// The number of the next row, which none has had.
    func nextNumber() throws -> Int64 {
        let last = try connection.row(
            """
            SELECT max(
                coalesce((SELECT max(last) FROM past_numbers), 0),
                coalesce((SELECT max(number) FROM past), 0))
            """
        ) { try $0.integer(0) }
        return (last ?? 0).nearestSum(1)
    }

    func insert(
        _ row: PastRow,
        keeping kept: KeptContent? = nil,
        wantsPasscode: Bool = false,
        label: [UInt8] = [],
        sealed: [UInt8]
    ) throws {
        try connection.execute(
            """
            INSERT INTO past (number, reason, owner, node, content, time, bytes, wants_passcode, label, sealed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(row.number),
            .integer(row.reason?.rawValue ?? 0),
            .blob(row.owner),
            row.node.map { .integer($0) } ?? .null,
            kept.map { .blob($0.content.bytes) } ?? .null,
            .integer(row.time),
            .integer(row.byteCount),
            .integer(wantsPasscode ? 1 : 0),
            .blob(label),
            .blob(sealed)
        )
    }
}

// MARK: - Before the first unlock

extension PastStore {
    /// Whether there are rows that were set aside, except those in the trash.
    package var hasAside: Bool { get throws { try !ownersOfAside().isEmpty } }

    /// Sets the row of an item aside that is being replaced before the first unlock, within the open transaction.
    ///
    /// - Parameters:
    ///   - image: The row.
    ///   - owner: The item.
    ///   - count: How many are kept beside the first one.
    package func setAside(_ image: RowImage, of owner: ItemID, keeping count: Int) throws {
        let encoded = image.encoded
        let row = PastRow(
            number: try nextNumber(),
            .aside,
            owner: owner.bytes,
            byteCount: Int64(encoded.count)
        )
        try insert(row, sealed: encoded)
        try connection.execute(
            """
            DELETE FROM past WHERE owner = ?1 AND reason = 3 AND entry IS NULL
                AND number > (SELECT min(number) FROM past WHERE owner = ?1 AND reason = 3 AND entry IS NULL)
                AND number NOT IN (
                    SELECT number FROM past WHERE owner = ?1 AND reason = 3 AND entry IS NULL
                    ORDER BY number DESC LIMIT ?2)
            """,
            .blob(owner.bytes),
            .integer(Int64(count))
        )
    }

    /// The items with rows that were set aside, except those in the trash.
    package func ownersOfAside() throws -> [ItemID] {
        var owners: [ItemID] = []
        try connection.rows("SELECT DISTINCT owner FROM past WHERE reason = 3 AND entry IS NULL") { row in
            if let owner = try? row.blob(0), let owner = ItemID(owner) { owners.append(owner) }
            return true
        }
        return owners
    }

    /// The rows of an item that were set aside, the oldest first, except damaged ones.
    package func aside(of owner: ItemID) throws -> [RowImage] {
        var images: [RowImage] = []
        try connection.rows(
            "SELECT sealed FROM past WHERE owner = ? AND reason = 3 AND entry IS NULL ORDER BY number",
            .blob(owner.bytes)
        ) { row in
            if let image = try? RowImage(decoding: try row.blob(0)) { images.append(image) }
            return true
        }
        return images
    }

    /// Removes the rows of an item that were set aside.
    package func removeAside(of owner: ItemID) throws {
        try connection.execute(
            "DELETE FROM past WHERE owner = ? AND reason = 3 AND entry IS NULL",
            .blob(owner.bytes)
        )
    }
}
