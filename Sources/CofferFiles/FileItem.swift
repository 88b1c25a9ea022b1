package import CofferCore

/// A file as the catalog knows it.
package struct FileItem: Sendable {
    let node: Int64
    let parent: Int64
    /// The access group that the file belongs to.
    package let group: String
    /// The last part of the path.
    let name: String
    /// The path.
    package let path: String
    /// The file's class.
    package let protectionClass: ProtectionClass
    /// The bytes of the content.
    package let byteCount: Int64
    /// What the owner said it is.
    package let kind: ItemKind?
    /// When it was created, in milliseconds since 1970.
    package let created: Int64
    /// When its content or its class was last changed, in milliseconds since 1970.
    package let modified: Int64
    let content: ItemID
    let wrappedKey: [UInt8]
}

/// The sealed attributes of a node of the tree.
struct NodeMetadata {
    private static let version: UInt8 = 1

    let group: String
    let name: String
    let kind: ItemKind?
    let byteCount: Int64
    let created: Int64
    let modified: Int64

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: group.utf8)
        writer.write(counted: name.utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(byteCount)
        writer.write(created)
        writer.write(modified)
        return writer.bytes
    }

    init(group: String, name: String, kind: ItemKind?, byteCount: Int64, created: Int64, modified: Int64) {
        self.group = group
        self.name = name
        self.kind = kind
        self.byteCount = byteCount
        self.created = created
        self.modified = modified
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        group = try reader.readText()
        name = try reader.readText()
        kind = ItemKind(rawValue: try reader.readText())
        byteCount = try reader.read()
        created = try reader.read()
        modified = try reader.read()
        guard reader.isAtEnd, (0...Limits.fileBytes).contains(byteCount) else { throw ByteReader.Malformed() }
    }
}
