internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// The tree of directories and files in the catalog: a row is found by the tag of its name within its parent, and its
/// sealed metadata is bound to every other column.
///
/// The tags are keyed and need no metadata, so that names lead to rows before the first unlock as well.
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

    /// What a row tells before the first unlock as well.
    struct Place {
        let id: Int64
        let parent: Int64
        let tag: [UInt8]
        let kind: Kind
        /// The class of a file, or the default class of a directory for new files.
        let protectionClass: ProtectionClass?
        let content: ItemID?
        /// The row; `nil` if its metadata can be opened after the first unlock only.
        let node: Node?

        /// The default class of a directory for new files.
        var defaultClass: ProtectionClass? {
            if let node { return node.metadata.defaultClass }
            // The passcode would not protect the name of a directory whose files it does not protect.
            return kind == .directory && protectionClass != ProtectionClass.none ? protectionClass : nil
        }

        /// Whether it is a directory that was created explicitly, as far as that is known.
        var stays: Bool { kind == .directory && node?.metadata.flags.contains(.stays) ?? true }
    }

    let connection: Connection
    let keys: VaultKeys
    /// The metadata of what was stored since the daemon started and is sealed until the first unlock.
    let recent = RecentMetadata()

    // MARK: Finding

    /// The node at a path.
    ///
    /// - Throws: `interactionNotAllowed` if its metadata can be opened after the first unlock only.
    func node(at name: ItemName, in group: String, for operation: ItemOperation = .read) throws -> Node? {
        guard let place = try place(at: name, in: group) else { return nil }
        guard let node = place.node else { throw CofferError.locked(name.quoted, in: keys.state, for: operation) }
        return node
    }

    /// The row at a path, in every state of the vault.
    func place(at name: ItemName, in group: String) throws -> Place? {
        var parent = Self.root
        let components = name.components
        for component in components.dropLast() {
            guard let next = try place(component, under: parent, in: group, name), next.kind == .directory else {
                return nil
            }
            parent = next.id
        }
        return try place(components[components.count - 1], under: parent, in: group, name)
    }

    /// Calls a closure for the existing directories of a path, from the root on.
    func forEachDirectory(around name: ItemName, in group: String, _ each: (Place) throws -> Void) throws {
        var parent = Self.root
        for component in name.components.dropLast() {
            guard let next = try place(component, under: parent, in: group, name), next.kind == .directory else {
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
            guard let next = try place(component, under: parent, in: group, name) else { return false }
            if next.kind == .file { return true }
            parent = next.id
        }
        return try place(components[components.count - 1], under: parent, in: group, name)?.kind == .directory
    }

    /// The row of one part of a path.
    func place(
        _ component: Substring,
        under parent: Int64,
        in group: String,
        _ subject: ItemName
    ) throws -> Place? {
        let tag = tag(component, under: parent, in: group)
        return try row(tagged: tag, under: parent) { row in try place(in: row, tag, subject.quoted) }
    }

    private func place(in row: borrowing Row, _ tag: [UInt8], _ subject: String) throws -> Place {
        let columns = try columns(of: row, subject)
        let metadata = try metadata(of: row, columns, subject)
        return Place(
            id: columns.id,
            parent: columns.parent,
            tag: tag,
            kind: columns.kind,
            protectionClass: columns.protectionClass,
            content: columns.content,
            node: metadata.map { Node(columns, $0) }
        )
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
    ///
    /// - Throws: `interactionNotAllowed` if its metadata can be opened after the first unlock only, unless it was
    ///   stored since the daemon started.
    func node(numbered id: Int64, _ subject: String) throws -> Node? {
        try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE id = ?
            """,
            .integer(id)
        ) { row in
            let columns = try columns(of: row, subject)
            if let metadata = try metadata(of: row, columns, subject) ?? recent[try row.blob(7)] {
                return Node(columns, metadata)
            }
            throw CofferError.locked(subject, in: keys.state, for: .read)
        }
    }

    /// Keeps the metadata of a row, which the keys in memory can open now.
    func keepMetadata(of id: Int64) throws {
        let found = try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE id = ?
            """,
            .integer(id)
        ) { row in
            (metadata: try metadata(of: row, try columns(of: row, "a file"), "a file"), sealed: try row.blob(7))
        }
        if let found, let metadata = found.metadata { recent.keep(metadata, as: found.sealed) }
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
            if let next = try place(component, under: parent, in: group, name) {
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
        let node = Node(
            id: id,
            parent: parent,
            kind: kind,
            protectionClass: protectionClass,
            content: content,
            wrappedKey: wrappedKey,
            metadata: metadata
        )
        let tag = tag(metadata.name[...], under: parent, in: metadata.group)
        let sealed = try seal(node, tag)
        try connection.execute(
            """
            INSERT INTO file_nodes (id, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(id),
            .integer(parent),
            .blob(tag),
            .integer(kind.rawValue),
            .integer(node.classKey),
            content.map { .blob($0.bytes) } ?? .null,
            .blob(wrappedKey),
            .blob(sealed)
        )
        try didSeal(node)
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

    /// The columns of a row without its metadata.
    struct Columns {
        let id: Int64
        let parent: Int64
        let kind: Kind
        let classKey: Int64
        let content: ItemID?
        let wrappedKey: [UInt8]

        /// The class of a file, or the default class of a directory.
        var protectionClass: ProtectionClass? {
            ProtectionClass.allCases.first { FileTree.code(of: $0) == classKey }
        }
    }

    func columns(of row: borrowing Row, _ subject: String) throws -> Columns {
        let content = try row.optionalBlob(5).flatMap { ItemID($0) }
        let wrappedKey = try row.blob(6)
        guard let kind = Kind(rawValue: try row.integer(3)) else { throw Self.impossibleRow(subject) }
        let columns = Columns(
            id: try row.integer(0),
            parent: try row.integer(1),
            kind: kind,
            classKey: try row.integer(4),
            content: content,
            wrappedKey: wrappedKey
        )
        let protectionClass = columns.protectionClass
        let keyBytes = kind == .file ? Self.wrappedKeyBytes(of: protectionClass) : 0
        guard (kind == .file) == (content != nil), wrappedKey.count == keyBytes,
            protectionClass != nil || kind == .directory && columns.classKey == 0
        else { throw Self.impossibleRow(subject) }
        return columns
    }

    private static func impossibleRow(_ subject: String) -> CofferError {
        .damaged(subject, found: "its row has impossible values")
    }

    /// Opens the metadata of a row; `nil` if that is possible after the first unlock only.
    func metadata(of row: borrowing Row, _ columns: Columns, _ subject: String) throws -> NodeMetadata? {
        let context = Self.context(columns, try row.blob(2))
        do {
            return try row.withBlob(7) { sealed in
                try NodeMetadata(decoding: try keys.openNames(sealed, of: .files, context: context).exposeBytes())
            }
        } catch let error as KeyError {
            if error == .locked { return nil }
            throw error == .damaged
                ? .damaged(subject, found: "its metadata is not authentic")
                : error.cofferError(subject, in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its metadata has an unknown form")
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
        if node.isNamedInEveryState {
            return unsafe AEAD.seal(bytes.span.bytes, under: keys.catalog.fileMetadata, context: context)
        }
        do throws(KeyError) {
            let sealed = unsafe try keys.sealNames(bytes.span.bytes, of: .files, context: context)
            if !keys.opensNames { recent.keep(node.metadata, as: sealed) }
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
            wrappedKey: node.wrappedKey
        )
    }
}

extension FileTree.Node {
    init(_ columns: FileTree.Columns, _ metadata: NodeMetadata) {
        self.init(
            id: columns.id,
            parent: columns.parent,
            kind: columns.kind,
            protectionClass: columns.kind == .file ? columns.protectionClass : nil,
            content: columns.content,
            wrappedKey: columns.wrappedKey,
            metadata: metadata
        )
    }

    /// The code in the row: that of the class, or of a directory's default class, so that both are known before the
    /// first unlock.
    var classKey: Int64 { FileTree.code(of: kind == .file ? protectionClass : metadata.defaultClass) }

    /// Whether the passcode does not protect its name: it is that of a file of class `none`, or part of its path.
    var isNamedInEveryState: Bool {
        switch kind {
        case .file: protectionClass == ProtectionClass.none
        case .directory:
            metadata.flags.contains(.isNamedInEveryState) || metadata.defaultClass == ProtectionClass.none
        }
    }
}
