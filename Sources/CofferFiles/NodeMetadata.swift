package import CofferCore
internal import CofferKeys

/// The sealed attributes of a node of the tree: a file or a directory.
///
/// proto-docs/FORMATS.md has the table. Version 2 is written, and version 1, which knew contents of one piece only, is read.
package struct NodeMetadata: Equatable, Sendable {
    /// What else is true of a node, a bit each.
    package struct Flags: OptionSet, Sendable {
        /// The bits, as they are stored.
        package let rawValue: UInt8

        /// The flags of some bits.
        ///
        /// - Parameter rawValue: The bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A directory that was made for its own sake, and stays when nothing is in it.
        package static let stays = Flags(rawValue: 1)

        /// A file that has no base: it was made through a handle, and is in its overlay.
        package static let hasNoBase = Flags(rawValue: 2)

        /// Every bit that has a meaning.
        static let known: Flags = [.stays, .hasNoBase]
    }

    /// The bytes of ``chunksTag``.
    package static let chunksTagBytes = 16

    /// The access group that the node belongs to.
    package var group: String
    /// The part of the path that the node is.
    package var name: String
    /// What the owner said a file is.
    package var kind: ItemKind?
    /// The bytes of a file; 0 for a directory.
    package var byteCount: Int64
    /// When the node was created, in milliseconds since 1970.
    package var created: Int64
    /// When it was last changed, in milliseconds since 1970.
    package var modified: Int64
    /// The plaintext bytes of the base, the content that was written in one piece.
    package var baseByteCount: Int64
    /// The first bytes of the base that still show through: what is behind them was cut off once.
    package var visibleBaseBytes: Int64
    /// The keyed tags of the rows of all rewritten chunks, joined by exclusive or.
    package var chunksTag: [UInt8]
    /// What else is true of the node.
    package var flags: Flags
    /// The class that new files in a directory have; `nil` for a file, and where a directory has none of its own.
    package var defaultClass: ProtectionClass?

    /// The attributes of a directory, or of a file whose content is one piece.
    ///
    /// - Parameters:
    ///   - group: The access group.
    ///   - name: The part of the path that the node is.
    ///   - kind: What the owner said a file is.
    ///   - byteCount: The bytes of a file; 0 for a directory.
    ///   - created: Milliseconds since 1970.
    ///   - modified: Milliseconds since 1970.
    ///   - flags: What else is true of the node.
    ///   - defaultClass: The class that new files in a directory have.
    package init(
        group: String,
        name: String,
        kind: ItemKind? = nil,
        byteCount: Int64 = 0,
        created: Int64,
        modified: Int64,
        flags: Flags = [],
        defaultClass: ProtectionClass? = nil
    ) {
        self.group = group
        self.name = name
        self.kind = kind
        self.byteCount = byteCount
        self.created = created
        self.modified = modified
        baseByteCount = byteCount
        visibleBaseBytes = byteCount
        chunksTag = Self.noChunks
        self.flags = flags
        self.defaultClass = defaultClass
    }

    private static let noChunks = [UInt8](repeating: 0, count: chunksTagBytes)
}

// MARK: - On disk

extension NodeMetadata {
    private enum Version: UInt8 {
        /// A content is one piece that nothing has changed; no flags, no default class.
        case onePiece = 1
        case current = 2
    }

    /// The attributes as they are sealed.
    package var encoded: [UInt8] {
        precondition(chunksTag.count == Self.chunksTagBytes, "the tag of all chunks has a size")
        var writer = ByteWriter()
        writer.write(Version.current.rawValue)
        writer.write(counted: group.utf8)
        writer.write(counted: name.utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(byteCount)
        writer.write(created)
        writer.write(modified)
        writer.write(baseByteCount)
        writer.write(visibleBaseBytes)
        writer.write(raw: chunksTag)
        writer.write(flags.rawValue)
        writer.write(defaultClass.map { ClassKeyName($0).rawValue } ?? 0)
        return writer.bytes
    }

    /// Reads what was sealed, by any version.
    ///
    /// - Parameter bytes: The attributes.
    /// - Throws: `Malformed` where they are cut short, too long, of an unknown version, or have impossible values.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard let version = Version(rawValue: try reader.read()) else { throw ByteReader.Malformed() }
        group = try reader.readText()
        name = try reader.readText()
        kind = ItemKind(rawValue: try reader.readText())
        byteCount = try reader.read()
        created = try reader.read()
        modified = try reader.read()
        switch version {
        case .onePiece:
            baseByteCount = byteCount
            visibleBaseBytes = byteCount
            chunksTag = Self.noChunks
            flags = []
            defaultClass = nil
        case .current:
            baseByteCount = try reader.read()
            visibleBaseBytes = try reader.read()
            chunksTag = Array(try reader.readRaw(Self.chunksTagBytes))
            flags = Flags(rawValue: try reader.read())
            let code = try reader.read(UInt8.self)
            defaultClass = ProtectionClass.allCases.first { ClassKeyName($0).rawValue == code }
            guard flags.isSubset(of: .known), (code == 0) == (defaultClass == nil) else { throw ByteReader.Malformed() }
        }
        guard reader.isAtEnd, (0...Limits.fileBytes).contains(byteCount),
            (0...Limits.fileBytes).contains(baseByteCount), (0...baseByteCount).contains(visibleBaseBytes)
        else { throw ByteReader.Malformed() }
    }
}
