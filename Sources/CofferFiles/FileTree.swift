internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// The tree of directories and files in the catalog: a row is found by the tag of its name within its parent, and its
/// sealed metadata is bound to every other column.
struct FileTree {
    static let root: Int64 = 0

    enum Kind: Int64 {
        case directory = 1
        case file = 2
    }

    /// A row of the tree.
    struct Node {
        let id: Int64
        var parent: Int64
        let kind: Kind
        /// The class of a file; `nil` for a directory.
        var protectionClass: ProtectionClass?
        let content: ItemID?
        var wrappedKey: [UInt8]
        var metadata: NodeMetadata
    }

    let connection: Connection
    let keys: VaultKeys

    // MARK: Finding

    /// The node at a path.
    func node(at name: ItemName, in group: String) throws -> Node? {
        var parent = Self.root
        let components = name.components
        for component in components.dropLast() {
            guard let next = try node(component, under: parent, in: group, name), next.kind == .directory else {
                return nil
            }
            parent = next.id
        }
        return try node(components[components.count - 1], under: parent, in: group, name)
    }

    /// Calls a closure for the existing directories of a path, from the root on.
    func forEachDirectory(around name: ItemName, in group: String, _ each: (Node) throws -> Void) throws {
        var parent = Self.root
        for component in name.components.dropLast() {
            guard let next = try node(component, under: parent, in: group, name), next.kind == .directory else {
                return
            }
            try each(next)
            parent = next.id
        }
    }

    /// Whether a parent of the path is a file.
    func fileInTheWay(of name: ItemName, in group: String) throws -> Bool {
        var parent = Self.root
        let components = name.components
        for component in components.dropLast() {
            guard let next = try node(component, under: parent, in: group, name) else { return false }
            if next.kind == .file { return true }
            parent = next.id
        }
        return try node(components[components.count - 1], under: parent, in: group, name)?.kind == .directory
    }

    /// The node of one part of a path.
    func node(
        _ component: Substring,
        under parent: Int64,
        in group: String,
        _ subject: ItemName
    ) throws -> Node? {
        try node(tagged: tag(component, under: parent, in: group), under: parent, subject.quoted)
    }

    private func node(tagged tag: [UInt8], under parent: Int64, _ subject: String) throws -> Node? {
        try row(tagged: tag, under: parent) { row in try decode(row, subject) }
    }

    /// Reads the row with a tag.
    func row<Result>(
        tagged tag: [UInt8],
        under parent: Int64,
        read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let found = try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes
            WHERE parent = ? AND name_tag = ?
            """,
            .integer(parent),
            .blob(tag),
            read: read
        )
        if found != nil || connection.faults.first == nil { return found }
        // The index may be what is damaged.
        return try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes NOT INDEXED
            WHERE parent = ? AND name_tag = ? LIMIT 1
            """,
            .integer(parent),
            .blob(tag),
            read: read
        )
    }

    /// The node with a number; `nil` if it was removed.
    func node(numbered id: Int64, _ subject: String) throws -> Node? {
        try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE id = ?
            """,
            .integer(id)
        ) { row in try decode(row, subject) }
    }

    func fileCount() throws -> Int {
        try connection.row("SELECT files FROM file_count") { max(0, Int(try $0.integer(0))) } ?? 0
    }

    /// Whether a row names a content, in the tree or in quarantine.
    func contains(_ content: ItemID) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM file_nodes WHERE content = ?1
            UNION ALL SELECT 1 FROM file_quarantine WHERE content = ?1 LIMIT 1
            """,
            .blob(content.bytes)
        ) { _ in true } ?? false
    }

    // MARK: Changing

    /// The directory of a path, created with its parents if it does not exist.
    func makeParents(of name: ItemName, in group: String, now: Int64) throws -> Int64 {
        var parent = Self.root
        for component in name.components.dropLast() {
            if let next = try node(component, under: parent, in: group, name) {
                guard next.kind == .directory else { throw CofferError.fileInTheWay(name) }
                parent = next.id
            } else {
                try connection.faults.refuseNew(name.quoted)
                let metadata = NodeMetadata(group: group, name: String(component), created: now, modified: now)
                parent = try insert(metadata, under: parent, .directory, class: nil, content: nil, wrappedKey: [])
            }
        }
        return parent
    }

    func insert(
        _ metadata: NodeMetadata,
        under parent: Int64,
        _ kind: Kind,
        class protectionClass: ProtectionClass?,
        content: ItemID?,
        wrappedKey: [UInt8],
        // Random, because the row is sealed before it is inserted and could get a number.
        as id: Int64 = .random(in: 1...Int64.max)
    ) throws -> Int64 {
        let tag = tag(metadata.name[...], under: parent, in: metadata.group)
        let classKey = Self.code(of: protectionClass)
        let context = Self.context(id, parent, tag, kind, classKey, content, wrappedKey)
        try connection.execute(
            """
            INSERT INTO file_nodes (id, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(id),
            .integer(parent),
            .blob(tag),
            .integer(kind.rawValue),
            .integer(classKey),
            content.map { .blob($0.bytes) } ?? .null,
            .blob(wrappedKey),
            unsafe .blob(AEAD.seal(metadata.encoded.span.bytes, under: keys.catalog.fileMetadata, context: context))
        )
        return id
    }

    /// Changes the class of a file, and its wrapped key.
    func protect(
        _ file: FileItem,
        as protectionClass: ProtectionClass,
        wrappedKey: [UInt8],
        keptItem: [UInt8],
        modified: Int64
    ) throws {
        var metadata = file.metadata
        metadata.keptItem = keptItem
        metadata.modified = modified
        try update(
            Node(
                id: file.node,
                parent: file.parent,
                kind: .file,
                protectionClass: protectionClass,
                content: file.content,
                wrappedKey: wrappedKey,
                metadata: metadata
            )
        )
    }

    /// Changes the attributes of a node, but not its place.
    func update(_ node: Node, to metadata: NodeMetadata) throws {
        var node = node
        node.metadata = metadata
        try update(node)
    }

    /// Removes a file, enters its content in the list of dead ones, and removes the implicitly created directories that
    /// become empty.
    func remove(_ file: FileItem) throws {
        try delete(file.node, content: file.content)
        try prune(file.parent)
    }

    // MARK: Rows

    func decode(_ row: borrowing Row, _ subject: String) throws -> Node {
        let classKey = try row.integer(4)
        let content = try row.optionalBlob(5).flatMap { ItemID($0) }
        let protectionClass = ProtectionClass.allCases.first { Self.code(of: $0) == classKey }
        let wrappedKey = try row.blob(6)
        guard let kind = Kind(rawValue: try row.integer(3)),
            (kind == .file) == (protectionClass != nil), (kind == .file) == (content != nil),
            wrappedKey.count == Self.wrappedKeyBytes(of: protectionClass)
        else { throw CofferError.damaged(subject, found: "its row has impossible values") }
        let id = try row.integer(0)
        let parent = try row.integer(1)
        let context = Self.context(id, parent, try row.blob(2), kind, classKey, content, wrappedKey)
        let metadata: NodeMetadata
        do {
            metadata = try row.withBlob(7) { sealed in
                let opened = try AEAD.open(sealed, under: keys.catalog.fileMetadata, context: context)
                return try NodeMetadata(decoding: opened.exposeBytes())
            }
        } catch is CryptoError {
            throw CofferError.damaged(subject, found: "its metadata is not authentic")
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its metadata has an unknown form")
        }
        return Node(
            id: id,
            parent: parent,
            kind: kind,
            protectionClass: protectionClass,
            content: content,
            wrappedKey: wrappedKey,
            metadata: metadata
        )
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

    static func context(
        _ id: Int64,
        _ parent: Int64,
        _ tag: [UInt8],
        _ kind: Kind,
        _ classKey: Int64,
        _ content: ItemID?,
        _ wrappedKey: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer file metadata v1".utf8)
        writer.write(id)
        writer.write(parent)
        writer.write(raw: tag)
        writer.write(UInt8(truncatingIfNeeded: kind.rawValue))
        writer.write(UInt8(truncatingIfNeeded: classKey))
        writer.write(raw: content?.bytes ?? [])
        writer.write(counted: wrappedKey)
        return writer.bytes
    }
}
