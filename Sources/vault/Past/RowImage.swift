package import CofferCore

/// The row of an item of either store outside of its table: everything is sealed as it was in it.
package struct RowImage: Sendable {
    private static let version: UInt8 = 1

    /// The persistent reference of an item of the keychain; the content of a file.
    package let id: ItemID
    /// The numbers of a file and of its directory; 0 for an item of the keychain.
    package let node, parent: Int64
    /// The code of its class key.
    package var classKey: UInt8
    /// The tag of its name.
    package let tag: [UInt8]
    package var metadata, wrappedKey: [UInt8]
    /// The secret of an item of the keychain; empty for a file, whose content stays on the disk.
    package var secret: [UInt8]

    package init(
        id: ItemID,
        node: Int64 = 0,
        parent: Int64 = 0,
        classKey: UInt8,
        tag: [UInt8],
        metadata: [UInt8],
        wrappedKey: [UInt8],
        secret: [UInt8] = []
    ) {
        self.id = id
        self.node = node
        self.parent = parent
        self.classKey = classKey
        self.tag = tag
        self.metadata = metadata
        self.wrappedKey = wrappedKey
        self.secret = secret
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(id)
        writer.write(node)
        writer.write(parent)
        writer.write(classKey)
        for part in [tag, metadata, wrappedKey, secret] { writer.write(longCounted: part) }
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
    }

    /// - Throws: As ``init(decoding:)``; nothing may follow.
    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        guard try reader.read(UInt8.self) == Self.version, let id = ItemID(Array(try reader.readRaw(ItemID.byteCount)))
        else { throw ByteReader.Malformed() }
        self.id = id
        node = try reader.read()
        parent = try reader.read()
        classKey = try reader.read()
        tag = try reader.readLongCounted()
        metadata = try reader.readLongCounted()
        wrappedKey = try reader.readLongCounted()
        secret = try reader.readLongCounted()
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension ByteWriter {
    /// Writes bytes after their count of 4 bytes.
    fileprivate mutating func write(longCounted bytes: [UInt8]) {
        write(UInt32(bytes.count))
        write(raw: bytes)
    }
}

extension ByteReader {
    /// Reads bytes after their count of 4 bytes.
    fileprivate mutating func readLongCounted() throws(Malformed) -> [UInt8] {
        Array(try readRaw(Int(try read(UInt32.self))))
    }
}
