internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// A row of the tree and its sealed metadata, which is bound to every other column.

extension FileTree {
    /// The columns of a row without its metadata.
    struct Columns {
        let id: Int64
        let parent: Int64
        let kind: Kind
        let classKey: Int64
        let content: ItemID?
        let wrappedKey: [UInt8]
        let target: Int64?

        /// The class of a file, or the default class of a directory.
        var protectionClass: ProtectionClass? {
            ProtectionClass.allCases.first { FileTree.code(of: $0) == classKey }
        }
    }

    func columns(of row: borrowing Row, _ subject: @autoclosure () -> String) throws -> Columns {
        let content = try row.optionalBlob(5).flatMap { ItemID($0) }
        let wrappedKey = try row.blob(6)
        guard let kind = Kind(rawValue: try row.integer(3)) else { throw Self.impossibleRow(subject()) }
        let columns = Columns(
            id: try row.integer(0),
            parent: try row.integer(1),
            kind: kind,
            classKey: try row.integer(4),
            content: content,
            wrappedKey: wrappedKey,
            target: try row.optionalInteger(8)
        )
        let protectionClass = columns.protectionClass
        let keyBytes = kind == .file ? Self.wrappedKeyBytes(of: protectionClass) : 0
        guard (kind == .file) == (content != nil), wrappedKey.count == keyBytes,
            (kind == .hardLink) == (columns.target != nil),
            protectionClass != nil || kind != .file && columns.classKey == 0
        else { throw Self.impossibleRow(subject()) }
        return columns
    }

    private static func impossibleRow(_ subject: String) -> CofferError {
        .damaged(subject, found: "its row has impossible values")
    }

    /// Opens the metadata of a row; `nil` if that is possible after the first unlock only.
    func metadata(
        of row: borrowing Row,
        _ columns: Columns,
        _ subject: @autoclosure () -> String
    ) throws -> NodeMetadata? {
        let context = Self.context(columns, try row.blob(2))
        do {
            return try row.withBlob(7) { sealed in
                try NodeMetadata(decoding: try keys.openNames(sealed, of: .files, context: context).exposeBytes())
            }
        } catch let error as KeyError {
            if error == .locked { return nil }
            throw error == .damaged
                ? .damaged(subject(), found: "its metadata is not authentic")
                : error.cofferError(subject(), in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject(), found: "its metadata has an unknown form")
        }
    }

    /// - Throws: `interactionNotAllowed` if its metadata can be opened after the first unlock only.
    func decode(_ row: borrowing Row, _ subject: String) throws -> Node {
        let columns = try columns(of: row, subject)
        guard let metadata = try metadata(of: row, columns, subject) else {
            throw CofferError.locked(subject, in: keys.state, for: .read)
        }
        return Node(columns, metadata)
    }

    /// Seals the metadata of a row: under the passcode, unless the passcode protects no content either.
    func seal(_ node: Node, _ tag: [UInt8]) throws -> [UInt8] {
        let context = Self.context(Columns(node), tag)
        let bytes = node.metadata.encoded
        let isOpen = node.isNamedInEveryState
        do throws(KeyError) {
            let sealed = unsafe try keys.sealNames(bytes.span.bytes, of: .files, context: context, inEveryState: isOpen)
            if !isOpen && !keys.opensNames { recent.keep(node.metadata, as: sealed, of: node.id) }
            return sealed
        } catch {
            throw error.cofferError(quotedForDisplay(node.metadata.name), in: keys.state, for: .write)
        }
    }

    func tag(_ component: Substring, under parent: Int64, in group: String) -> [UInt8] {
        var place = ByteWriter()
        place.write(parent)
        return KeyedHash.tag(
            under: keys.catalog.search,
            for: "coffer file name tag v1",
            byteCount: 32,
            Array(group.utf8),
            place.bytes,
            Array(component.utf8)
        )
    }

    static func code(of protectionClass: ProtectionClass?) -> Int64 {
        protectionClass.map { Int64(ClassKeyName($0).rawValue) } ?? 0
    }

    /// The size of the wrapped key of a file of a class; 0 for a directory.
    static func wrappedKeyBytes(of protectionClass: ProtectionClass?) -> Int {
        guard let protectionClass else { return 0 }
        return protectionClass == .completeUnlessOpen ? KeyAgreement.wrappedBytes : KeyWrap.wrappedBytes
    }

    static func context(_ columns: Columns, _ tag: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer file metadata v1".utf8)
        writer.write(columns.id)
        writer.write(columns.parent)
        writer.write(raw: tag)
        writer.write(UInt8(truncatingIfNeeded: columns.kind.rawValue))
        writer.write(UInt8(truncatingIfNeeded: columns.classKey))
        writer.write(raw: columns.content?.bytes ?? [])
        writer.write(counted: columns.wrappedKey)
        if let target = columns.target { writer.write(target) }
        return writer.bytes
    }
}

extension FileTree.Columns {
    init(_ node: FileTree.Node) {
        self.init(
            id: node.id,
            parent: node.parent,
            kind: node.kind,
            classKey: node.classKey,
            content: node.content,
            wrappedKey: node.wrappedKey,
            target: node.target
        )
    }
}

extension FileTree.Node {
    init(_ columns: FileTree.Columns, _ metadata: NodeMetadata) {
        self.init(
            id: columns.id,
            parent: columns.parent,
            kind: columns.kind,
            protectionClass: columns.kind == .directory ? nil : columns.protectionClass,
            content: columns.content,
            wrappedKey: columns.wrappedKey,
            target: columns.target,
            metadata: metadata
        )
    }

    /// The code in the row: that of the class, or of a directory's default class, so that both are known before the
    /// first unlock.
    var classKey: Int64 { FileTree.code(of: kind == .directory ? metadata.defaultClass : protectionClass) }

    /// Whether the passcode does not protect its name: it is that of a file of class `none`, or part of its path.
    var isNamedInEveryState: Bool {
        switch kind {
        case .file, .symbolicLink, .hardLink: protectionClass?.isNamedInEveryState == true
        case .directory:
            metadata.flags.contains(.isNamedInEveryState) || metadata.defaultClass?.isNamedInEveryState == true
        }
    }
}
