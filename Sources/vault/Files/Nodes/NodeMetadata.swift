package import CofferCore
internal import CofferKeys

/// The sealed attributes of a node of the tree: a file, a directory or a symbolic link.
///
/// proto-docs/FORMATS.md describes their bytes.
package struct NodeMetadata: Equatable, Sendable {
    /// Further properties of a node, one bit each.
    package struct Flags: OptionSet, Sendable {
        /// The bits, as they are stored.
        package let rawValue: UInt8

        /// Creates flags from their bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// An explicitly created directory, which stays when it is empty.
        package static let stays = Flags(rawValue: 1)

        /// A file without a base: it was created through a handle, and is in its overlay.
        package static let hasNoBase = Flags(rawValue: 2)

        /// A directory whose name the passcode does not protect, as a file of class `none` is below it.
        package static let isNamedInEveryState = Flags(rawValue: 4)

        /// The known bits.
        static let known: Flags = [.stays, .hasNoBase, .isNamedInEveryState]
    }

    /// How the content of a file is stored: a base, of which chunks were rewritten since.
    package struct Layout: Equatable, Sendable {
        /// The size of ``chunksTag``.
        package static let chunksTagBytes = 16

        /// The size of a file; 0 for a directory.
        package var byteCount: Int64
        /// The plaintext size of the base, the content that a put wrote.
        package var baseByteCount: Int64
        /// The size of the visible part of the base: the rest was cut off.
        package var visibleBaseBytes: Int64
        /// The keyed tags of the rows of all rewritten chunks, joined by exclusive or.
        package var chunksTag: [UInt8]
        /// The last change that the log of unsynced changes had; `nil` if it had none.
        package var lastChange: ChangeNumber?

        /// Creates the layout of a base without rewritten chunks.
        init(byteCount: Int64) {
            (self.byteCount, baseByteCount, visibleBaseBytes) = (byteCount, byteCount, byteCount)
            chunksTag = Self.noChunks
        }

        private static let noChunks = [UInt8](repeating: 0, count: chunksTagBytes)
    }

    /// The access group of the node.
    package var group: String
    /// The node's part of the path.
    package var name: String
    /// The kind of the file that its owner stated.
    package var kind: ItemKind?
    package var layout: Layout
    /// When the node was created, in milliseconds since 1970.
    package var created: Int64
    /// When its content and its attributes were changed.
    package var times: NodeTimes
    /// Further properties of the node.
    package var flags: Flags
    /// The default class of a directory for new files; `nil` for a file, and for a directory without one.
    package var defaultClass: ProtectionClass?
    /// The rule by which the put that stored a file was decided, and what overrode it; "" if none was kept.
    package var decision = ""
    /// The mode and the owner that were stated.
    package var ownership = Ownership()
    /// Where a symbolic link leads; "" for everything else.
    package var target = ""
    /// The extended attributes.
    package var extended = ExtendedAttributes()

    /// Creates the attributes of a directory, or of a file without an overlay.
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
        layout = Layout(byteCount: byteCount)
        self.created = created
        times = NodeTimes(milliseconds: modified)
        self.flags = flags
        self.defaultClass = defaultClass
    }

    /// The size of a file; 0 for a directory.
    package var byteCount: Int64 { layout.byteCount }
    /// When the content was last changed, in milliseconds since 1970.
    package var modified: Int64 { times.modifiedMilliseconds }

    /// Notes that the content has changed.
    ///
    /// - Parameter now: Milliseconds since 1970.
    package mutating func didChange(at now: Int64) {
        times.modified = NodeTimes.nanoseconds(now)
        times.changed = times.modified
    }
}

/// The number of a change in the log of unsynced changes, which only grows within a boot.
package struct ChangeNumber: Equatable, Sendable {
    /// Identifies the boot.
    let boot: UInt64
    let number: UInt64

    package init(boot: UInt64, number: UInt64) { (self.boot, self.number) = (boot, number) }
}

// MARK: - On disk

extension NodeMetadata {
    private static let version: UInt8 = 1

    /// The serialised attributes.
    package var encoded: [UInt8] {
        precondition(layout.chunksTag.count == Layout.chunksTagBytes, "the tag of all chunks has a size")
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: group.utf8)
        writer.write(counted: name.utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(layout.byteCount)
        writer.write(created)
        writer.write(times.modified)
        writer.write(layout.baseByteCount)
        writer.write(layout.visibleBaseBytes)
        writer.write(raw: layout.chunksTag)
        writer.write(flags.rawValue)
        writer.write(defaultClass.map { ClassKeyName($0).rawValue } ?? 0)
        writer.write(counted: decision.utf8)
        writer.write(times.accessed)
        writer.write(times.changed)
        ownership.write(to: &writer)
        writer.write(counted: target.utf8)
        extended.write(to: &writer)
        if let change = layout.lastChange {
            writer.write(change.boot)
            writer.write(change.number)
        }
        return writer.bytes
    }

    /// Parses serialised attributes.
    ///
    /// - Throws: `Malformed` if they are truncated, too long, of an unknown version, or have impossible values.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        group = try reader.readText()
        name = try reader.readText()
        kind = ItemKind(rawValue: try reader.readText())
        layout = Layout(byteCount: try reader.read())
        created = try reader.read()
        let modified = try reader.read(Int64.self)
        layout.baseByteCount = try reader.read()
        layout.visibleBaseBytes = try reader.read()
        layout.chunksTag = Array(try reader.readRaw(Layout.chunksTagBytes))
        flags = Flags(rawValue: try reader.read())
        let code = try reader.read(UInt8.self)
        defaultClass = ProtectionClass.allCases.first { ClassKeyName($0).rawValue == code }
        guard flags.isSubset(of: .known), (code == 0) == (defaultClass == nil) else { throw ByteReader.Malformed() }
        decision = try reader.readText()
        times = NodeTimes(accessed: try reader.read(), modified: modified, changed: try reader.read())
        ownership = try Ownership(from: &reader)
        target = try reader.readText()
        extended = try ExtendedAttributes(from: &reader)
        if !reader.isAtEnd { layout.lastChange = ChangeNumber(boot: try reader.read(), number: try reader.read()) }
        guard reader.isAtEnd, (0...Limits.fileBytes).contains(layout.byteCount),
            (0...Limits.fileBytes).contains(layout.baseByteCount),
            (0...layout.baseByteCount).contains(layout.visibleBaseBytes)
        else { throw ByteReader.Malformed() }
    }
}
