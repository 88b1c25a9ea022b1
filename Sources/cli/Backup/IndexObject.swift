package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// An index: what some packs have.
package enum IndexObject {
    private static let magic = Array("COFFERIX".utf8)

    /// The bytes of an index.
    static func bytes(
        of records: [PackRecord],
        _ repositoryID: ItemID,
        under key: borrowing SymmetricKey
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: magic)
        writer.write(BackupFormat.version)
        writer.write(repositoryID)
        writer.write(UInt32(records.count))
        for record in records { record.write(to: &writer) }
        writer.write(raw: tag(of: writer.bytes, under: key))
        return writer.bytes
    }

    private static func tag(of bytes: [UInt8], under key: borrowing SymmetricKey) -> [UInt8] {
        KeyedHash.tag(under: key, for: "coffer backup index tag v1", byteCount: BackupFormat.digestBytes, bytes)
    }

    /// Reads an index.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, at most `Limits.backupIndexBytes`.
    ///   - repositoryID: The repository.
    ///   - key: Its key.
    /// - Throws: `Malformed` if it is damaged, or that of another repository.
    package static func records(
        in bytes: [UInt8],
        _ repositoryID: ItemID,
        under key: borrowing SymmetricKey
    ) throws(ByteReader.Malformed) -> [PackRecord] {
        let end = bytes.count - BackupFormat.digestBytes
        guard end > 0, isEqualInConstantTime(tag(of: Array(bytes[..<end]), under: key), Array(bytes[end...])) else {
            throw ByteReader.Malformed()
        }
        return try records(inFront: Array(bytes[..<end]), repositoryID)
    }

    /// Reads what the tag authenticates.
    package static func records(
        inFront bytes: [UInt8],
        _ repositoryID: ItemID
    ) throws(ByteReader.Malformed) -> [PackRecord] {
        var reader = ByteReader(bytes)
        let version: UInt16
        guard try reader.readRaw(magic.count) == magic[...] else { throw ByteReader.Malformed() }
        version = try reader.read()
        guard version == BackupFormat.version, try reader.readID() == repositoryID else {
            throw ByteReader.Malformed()
        }
        let count: UInt32 = try reader.read()
        var records: [PackRecord] = []
        for _ in 0..<count { records.append(try PackRecord(&reader)) }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        return records
    }
}

extension ChunkIndex {
    /// Adds what a record says.
    func add(_ record: PackRecord) {
        let number = add(pack: record.id)
        var offset = UInt32(PackRecord.headerBytes)
        for chunk in record.chunks {
            add(chunk.id, at: ChunkPlace(pack: number, offset: offset, byteCount: chunk.byteCount))
            offset += chunk.byteCount
        }
    }
}
