package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// What an index, or the end of a pack, says about a pack.
package struct PackRecord: Equatable, Sendable {
    /// A chunk of the pack: the first begins behind the header, each other behind the one before it.
    package struct Chunk: Equatable, Sendable {
        let id: ChunkID
        let byteCount: UInt32

        static let recordBytes = ChunkID.byteCount + 4

        init(id: ChunkID, byteCount: UInt32) {
            self.id = id
            self.byteCount = byteCount
        }

        init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
            id = try ChunkID(&reader)
            byteCount = try reader.read()
            guard byteCount > 0, byteCount <= Limits.backupChunkBytes else { throw ByteReader.Malformed() }
        }
    }

    private static let magic = Array("COFFERPK".utf8)
    /// The bytes before the first chunk.
    static let headerBytes = 32
    /// The bytes behind the table: how many chunks it has, and its tag.
    static let trailerBytes = 4 + BackupFormat.digestBytes

    let id: ItemID
    var chunks: [Chunk] = []

    init(id: ItemID) { self.id = id }

    /// The bytes of the chunks.
    var contentBytes: Int { chunks.reduce(0) { $0 + Int($1.byteCount) } }

    /// The bytes of the whole pack.
    var packBytes: Int {
        Self.headerBytes + contentBytes + chunks.count * Chunk.recordBytes + Self.trailerBytes
    }

    /// The name of the pack in the repository.
    var name: String { BackupFormat.name(ofPack: id) }

    /// The header of the pack.
    var header: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(BackupFormat.version)
        writer.write(raw: [UInt8](repeating: 0, count: 6))
        writer.write(id)
        return writer.bytes
    }

    // MARK: The record in an index

    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(UInt32(chunks.count))
        writeTable(to: &writer)
    }

    private func writeTable(to writer: inout ByteWriter) {
        for chunk in chunks {
            writer.write(chunk.id)
            writer.write(chunk.byteCount)
        }
    }

    init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
        id = try reader.readID()
        let count: UInt32 = try reader.read()
        try readTable(&reader, Int(count))
    }

    private mutating func readTable(_ reader: inout ByteReader, _ count: Int) throws(ByteReader.Malformed) {
        guard (1...Limits.packChunks).contains(count) else { throw ByteReader.Malformed() }
        chunks.reserveCapacity(count)
        for _ in 0..<count { chunks.append(try Chunk(&reader)) }
        guard packBytes <= Limits.largestPackBytes else { throw ByteReader.Malformed() }
    }

    // MARK: The end of a pack

    /// The table behind the chunks, by which a pack without an index can be used.
    func end(under key: borrowing SymmetricKey) -> [UInt8] {
        var writer = ByteWriter(capacity: chunks.count * Chunk.recordBytes + Self.trailerBytes)
        writeTable(to: &writer)
        writer.write(UInt32(chunks.count))
        writer.write(raw: tag(of: writer.bytes, under: key))
        return writer.bytes
    }

    private func tag(of table: [UInt8], under key: borrowing SymmetricKey) -> [UInt8] {
        KeyedHash.tag(
            under: key,
            for: "coffer backup pack tag v1",
            byteCount: BackupFormat.digestBytes,
            header,
            table
        )
    }

    /// Reads the table of a pack.
    ///
    /// - Parameters:
    ///   - id: The pack.
    ///   - byteCount: Its size.
    ///   - key: The key of the repository.
    ///   - read: Reads a part of it.
    /// - Throws: `decode` if it is incomplete or damaged.
    package init(
        of id: ItemID,
        _ byteCount: Int64,
        under key: borrowing SymmetricKey,
        _ read: (_ offset: Int64, _ count: Int) throws(CofferError) -> [UInt8]?
    ) throws(CofferError) {
        self.id = id
        let name = BackupFormat.name(ofPack: id)
        let least = Self.headerBytes + Self.trailerBytes
        guard byteCount >= least, byteCount <= Limits.largestPackBytes else {
            throw .damaged(object: name, "its size is none that a pack can have")
        }
        let trailer = try read(byteCount - Int64(Self.trailerBytes), Self.trailerBytes) ?? []
        guard trailer.count == Self.trailerBytes else { throw .damaged(object: name, "its end is missing") }
        let count = trailer[..<4].reduce(0) { $0 << 8 | Int($1) }
        let tableBytes = count * Chunk.recordBytes
        guard (1...Limits.packChunks).contains(count), tableBytes + least <= Int(byteCount) else {
            throw .damaged(object: name, "it is incomplete, or its end was changed")
        }
        let table = try read(byteCount - Int64(Self.trailerBytes + tableBytes), tableBytes) ?? []
        guard try read(0, Self.headerBytes) == header else {
            throw .damaged(object: name, "it is no pack of this name")
        }
        guard isEqualInConstantTime(tag(of: table + trailer[..<4], under: key), Array(trailer[4...])) else {
            throw .damaged(object: name, "its table was changed")
        }
        do {
            var reader = ByteReader(table)
            try readTable(&reader, count)
        } catch {
            throw .damaged(object: name, "its table has a value that none can have")
        }
        guard packBytes == Int(byteCount) else { throw .damaged(object: name, "its size is not that of its chunks") }
    }
}
