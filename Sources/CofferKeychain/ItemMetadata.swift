internal import CofferCore

/// The sealed attributes of an item, and the tie to its secret.
struct ItemMetadata {
    private static let version: UInt8 = 1

    let key: GenericPasswordKey
    let kind: ItemKind?
    let created: Int64
    let modified: Int64
    let secretByteCount: Int
    /// A tag of the sealed secret that belongs to these attributes: another one put in its place is noticed.
    let secretTag: [UInt8]

    static let secretTagBytes = 16

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: key.group.utf8)
        writer.write(counted: key.service.utf8)
        writer.write(counted: key.account.utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(created)
        writer.write(modified)
        writer.write(UInt32(secretByteCount))
        writer.write(raw: secretTag)
        return writer.bytes
    }

    init(
        key: GenericPasswordKey,
        kind: ItemKind?,
        created: Int64,
        modified: Int64,
        secretByteCount: Int,
        secretTag: [UInt8]
    ) {
        self.key = key
        self.kind = kind
        self.created = created
        self.modified = modified
        self.secretByteCount = secretByteCount
        self.secretTag = secretTag
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let group = try reader.readText()
        let service = try reader.readText()
        key = GenericPasswordKey(group: group, service: service, account: try reader.readText())
        kind = ItemKind(rawValue: try reader.readText())
        created = try reader.read()
        modified = try reader.read()
        secretByteCount = Int(try reader.read(UInt32.self))
        secretTag = Array(try reader.readRaw(Self.secretTagBytes))
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}
