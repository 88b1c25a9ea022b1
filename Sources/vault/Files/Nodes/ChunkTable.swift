package import CofferFileContent
package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys

/// The rows that record in which slot of its overlay each rewritten chunk of a file is.
///
/// A single row is not authenticated. The sealed metadata of the file has the exclusive or of keyed tags of all its
/// rows, which an attacker who has only the disk can't forge: a missing, added or older row is detected when the rows
/// are read.
package struct ChunkTable {
    package static let tagBytes = 16
    /// The maximum number of chunks of a file.
    private static let chunkCount = Overlay.slotBound

    private let connection: Connection
    private let keys: VaultKeys
    let recent = RecentRows()

    package init(_ connection: Connection, _ keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// The slot of a chunk; `nil` if it was not rewritten.
    ///
    /// - Throws: ``ContentFormat/Finding`` if its row has impossible values, as for every access to rows.
    package func slot(of chunk: Int64, in node: Int64) throws -> ChunkSlot? {
        try connection.row(
            "SELECT chunk, slot, bytes, tag FROM file_chunks WHERE node = ? AND chunk = ?",
            .integer(node),
            .integer(chunk)
        ) { row in try Self.decode(row).slot }
    }

    /// Reads rows, in ascending order of their chunks.
    ///
    /// - Parameters:
    ///   - node: The file.
    ///   - first: The first chunk.
    ///   - last: The last chunk.
    ///   - limit: The maximum number of rows.
    package func rows(
        of node: Int64,
        from first: Int64,
        to last: Int64 = .max,
        limit: Int = .max
    ) throws -> [(chunk: Int64, slot: ChunkSlot)] {
        var found: [(chunk: Int64, slot: ChunkSlot)] = []
        try forEachRow(of: node, from: first, to: last, limit: limit) { found.append(($0, $1)) }
        return found
    }

    /// Calls a closure for each of the rows that ``rows(of:from:to:limit:)`` returns: a file may have millions.
    func forEachRow(
        of node: Int64,
        from first: Int64,
        to last: Int64 = .max,
        limit: Int = .max,
        _ each: (_ chunk: Int64, _ slot: ChunkSlot) throws -> Void
    ) throws {
        try connection.rows(
            """
            SELECT chunk, slot, bytes, tag FROM file_chunks WHERE node = ? AND chunk BETWEEN ? AND ?
            ORDER BY chunk LIMIT ?
            """,
            .integer(node),
            .integer(first),
            .integer(last),
            .integer(Int64(limit))
        ) { row in
            let (chunk, slot) = try Self.decode(row)
            try each(chunk, slot)
            return true
        }
    }

    /// The first chunk of some that has a row, whether its values are possible or not.
    package func first(in chunks: Range<Int64>, of node: Int64) throws -> Int64? {
        try connection.row(
            "SELECT chunk FROM file_chunks WHERE node = ? AND chunk >= ? AND chunk < ? ORDER BY chunk LIMIT 1",
            .integer(node),
            .integer(chunks.lowerBound),
            .integer(chunks.upperBound)
        ) { row in try row.integer(0) }
    }

    package func put(_ slot: ChunkSlot, _ chunk: Int64, in node: Int64) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO file_chunks (node, chunk, slot, bytes, tag) VALUES (?, ?, ?, ?, ?)",
            .integer(node),
            .integer(chunk),
            .integer(slot.number),
            .integer(Int64(slot.byteCount)),
            .blob(slot.tag)
        )
    }

    package func remove(_ chunk: Int64, in node: Int64) throws {
        try connection.execute(
            "DELETE FROM file_chunks WHERE node = ? AND chunk = ?",
            .integer(node),
            .integer(chunk)
        )
    }

    package func remove(from first: Int64, in node: Int64) throws {
        try connection.execute(
            "DELETE FROM file_chunks WHERE node = ? AND chunk >= ?",
            .integer(node),
            .integer(first)
        )
    }

    /// The tag of a row, which is never stored by itself.
    package func tag(of slot: ChunkSlot, _ chunk: Int64, in content: ItemID) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: content.bytes)
        writer.write(chunk)
        writer.write(slot.number)
        writer.write(UInt32(slot.byteCount))
        writer.write(raw: slot.tag)
        return KeyedHash.tag(
            under: keys.catalog.fileMetadata,
            for: "coffer chunk row v1",
            byteCount: Self.tagBytes,
            writer.bytes
        )
    }

    private static func decode(_ row: borrowing Row) throws -> (chunk: Int64, slot: ChunkSlot) {
        let slot = ChunkSlot(
            number: try row.integer(1),
            byteCount: Int(try row.integer(2)),
            tag: try row.blob(3)
        )
        let chunk = try row.integer(0)
        guard (0...chunkCount).contains(chunk), (0...chunkCount).contains(slot.number),
            (0...Limits.chunkBytes).contains(slot.byteCount), slot.tag.count == CipherSuite.tagBytes
        else { throw ContentFormat.Finding("a row of its chunks has impossible values") }
        return (chunk, slot)
    }
}

/// The exclusive or of the tags of rows, which can be added and removed in any order.
package struct ChunksTag: Equatable {
    package private(set) var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The value for no rows.
    package static let none = ChunksTag([UInt8](repeating: 0, count: ChunkTable.tagBytes))

    /// Adds or removes a row.
    package mutating func toggle(_ tag: [UInt8]) { for index in bytes.indices { bytes[index] ^= tag[index] } }
}
