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
    /// The parent of what has hard links: its names are rows of their own.
    static let linked: Int64 = -1

    enum Kind: Int64 {
        case directory = 1
        case file = 2
        case symbolicLink = 3
        /// One of the names of a file or a symbolic link whose own row is under ``linked``.
        case hardLink = 4
    }

    /// A row of the tree.
    struct Node {
        let id: Int64
        var parent: Int64
        let kind: Kind
        /// The class of a file, also of a hard link to it; of a symbolic link `none`, if the passcode does not protect
        /// it; `nil` for a directory.
        var protectionClass: ProtectionClass?
        let content: ItemID?
        var wrappedKey: [UInt8]
        /// The row of the file, of a hard link.
        var target: Int64?
        var metadata: NodeMetadata
    }

    /// The row that gives something its name: its own, or a hard link.
    struct NameRow: Sendable {
        let id: Int64
        let parent: Int64
    }

    /// What a row tells before the first unlock as well.
    struct Place {
        let id: Int64
        let kind: Kind
        /// The class of a file, or the default class of a directory for new files.
        let protectionClass: ProtectionClass?
        let content: ItemID?
        /// The row; `nil` if its metadata can be opened after the first unlock only.
        let node: Node?
        /// The row that the name leads to.
        let name: NameRow

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
    let orphans: OrphanedChunks

    init(connection: Connection, keys: VaultKeys) {
        (self.connection, self.keys) = (connection, keys)
        orphans = OrphanedChunks(connection)
    }

    // MARK: Finding

    /// The node at a path.
    ///
    /// - Throws: `interactionNotAllowed` if its metadata can be opened after the first unlock only.
    func node(at name: ItemName, in group: String) throws -> Node? {
        guard let place = try place(at: name, in: group) else { return nil }
        guard let node = place.node else { throw CofferError.locked(name.quoted, in: keys.state, for: .read) }
        return node
    }

    /// The row at a path, in every state of the vault.
    func place(at name: ItemName, in group: String) throws -> Place? {
        var parent = Self.root
        let components = name.components
        for component in components.dropLast() {
            guard let next = try place(component, under: parent, in: group, name.quoted), next.kind == .directory else {
                return nil
            }
            parent = next.id
        }
        return try place(components[components.count - 1], under: parent, in: group, name.quoted)
    }

    /// The file that a row describes.
    func file(_ place: FileTree.Place?, _ name: ItemName, for operation: ItemOperation) throws -> FileItem? {
        guard let place, place.kind == .file else { return nil }
        guard let node = place.node else { throw CofferError.locked(name.quoted, in: keys.state, for: operation) }
        return FileItem(node, path: name.path, place.name)
    }

    /// Refuses a path that leads through a file.
    func checkPath(_ name: ItemName, in group: String) throws {
        if let reason = try obstacle(to: name, in: group) { throw CofferError.fileInTheWay(name, reason) }
    }

    /// Calls a closure for the existing directories of a path, from the root on.
    func forEachDirectory(around name: ItemName, in group: String, _ each: (Place) throws -> Void) throws {
        _ = try forEachDirectory(name.components.dropLast(), in: group, name, each)
    }

    /// Calls a closure for the existing directories of a path, from the root on.
    ///
    /// - Returns: How many there are.
    func forEachDirectory(
        _ components: ArraySlice<Substring>,
        in group: String,
        _ subject: ItemName,
        _ each: (Place) throws -> Void
    ) throws -> Int {
        var (parent, count) = (Self.root, 0)
        for component in components {
            guard let next = try place(component, under: parent, in: group, subject.quoted), next.kind == .directory
            else {
                break
            }
            try each(next)
            parent = next.id
            count += 1
        }
        return count
    }

    /// Why no file can be stored at a path: a parent is no directory, or the path is something else than a file.
    func obstacle(to name: ItemName, in group: String) throws -> ErrorReason? {
        var parent = Self.root
        let components = name.components
        for component in components.dropLast() {
            guard let next = try place(component, under: parent, in: group, name.quoted) else { return nil }
            if next.kind != .directory { return .notDirectory }
            parent = next.id
        }
        switch try place(components[components.count - 1], under: parent, in: group, name.quoted)?.kind {
        case nil, .file: return nil
        case .directory: return .isDirectory
        case .symbolicLink, .hardLink: return .isSymbolicLink
        }
    }

    /// The row of one part of a path.
    func place(
        _ component: Substring,
        under parent: Int64,
        in group: String,
        _ subject: @autoclosure () -> String
    ) throws -> Place? {
        let found = try row(tagged: tag(component, under: parent, in: group), under: parent) { row in
            let columns = try columns(of: row, subject())
            let isReadable = try metadata(of: row, columns, subject()).map { Node(columns, $0) }
            return (columns: columns, node: isReadable)
        }
        guard let found else { return nil }
        let name = NameRow(id: found.columns.id, parent: parent)
        guard let target = found.columns.target else { return Place(found.columns, found.node, name) }
        let file = try row(numbered: target) { row in
            let columns = try columns(of: row, subject())
            let metadata = found.node == nil ? nil : try metadata(of: row, columns, subject())
            return Place(columns, metadata.map { Node(columns, $0) }, name)
        }
        guard let file, file.isLinkable else { throw Self.dangling(subject()) }
        return file
    }

    static func dangling(_ subject: String) -> CofferError {
        .damaged(subject, found: "the file that this name belongs to is missing")
    }

    /// Reads the row with a tag.
    func row<Result>(
        tagged tag: [UInt8],
        under parent: Int64,
        read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let found = try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target FROM file_nodes
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
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target FROM file_nodes NOT INDEXED
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
        try row(numbered: id) { row in
            let columns = try columns(of: row, subject)
            if let metadata = try metadata(of: row, columns, subject)
                ?? recent.metadata(of: columns.id, as: try row.blob(7))
            {
                return Node(columns, metadata)
            }
            throw CofferError.locked(subject, in: keys.state, for: .read)
        }
    }

    /// Reads the row with a number.
    func row<Result>(numbered id: Int64, read: (borrowing Row) throws -> Result) throws -> Result? {
        try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target FROM file_nodes
            WHERE id = ?
            """,
            .integer(id),
            read: read
        )
    }

    /// Keeps the metadata of a row, which the keys in memory can open now.
    func keepMetadata(of id: Int64) throws {
        let found = try row(numbered: id) { row in
            (metadata: try metadata(of: row, try columns(of: row, "a file"), "a file"), sealed: try row.blob(7))
        }
        if let found, let metadata = found.metadata { recent.keep(metadata, as: found.sealed, of: id) }
    }

    func fileCount() throws -> Int {
        try connection.row("SELECT files FROM file_count") { row in
            min(max(0, Int(try row.integer(0))), Limits.countedRows)
        } ?? 0
    }

    /// Whether a row names a content, in the tree, in quarantine or in the trash.
    func contains(_ content: ItemID) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM file_nodes WHERE content = ?1
            UNION ALL SELECT 1 FROM past WHERE content = ?1
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
            if let next = try place(component, under: parent, in: group, name.quoted) {
                guard next.kind == .directory else { throw CofferError.fileInTheWay(name) }
                parent = next.id
            } else {
                try connection.faults.refuseNew(name.quoted)
                let metadata = NodeMetadata(group: group, name: String(component), created: now, modified: now)
                try touch(parent, now: now)
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
        target: Int64? = nil,
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
            target: target,
            metadata: metadata
        )
        let tag = tag(metadata.name[...], under: parent, in: metadata.group)
        let sealed = try seal(node, tag)
        try connection.execute(
            """
            INSERT INTO file_nodes (id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(id),
            .integer(parent),
            .blob(tag),
            .integer(kind.rawValue),
            .integer(node.classKey),
            content.map { .blob($0.bytes) } ?? .null,
            .blob(wrappedKey),
            .blob(sealed),
            target.map { .integer($0) } ?? .null
        )
        try didSeal(node)
        return id
    }

    /// Changes the class of a file, and its wrapped key.
    func protect(
        _ file: FileItem,
        as protectionClass: ProtectionClass,
        wrappedKey: [UInt8],
        modified: Int64
    ) throws {
        var metadata = file.metadata
        metadata.didChange(at: modified)
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
        try protectLinks(of: file.node, as: protectionClass)
    }

    /// Changes the attributes of a node, but not its place.
    func update(_ node: Node, to metadata: NodeMetadata) throws {
        var node = node
        node.metadata = metadata
        try update(node)
    }
}

extension FileTree.Place {
    fileprivate init(_ columns: FileTree.Columns, _ node: FileTree.Node?, _ name: FileTree.NameRow) {
        self.init(
            id: columns.id,
            kind: columns.kind,
            protectionClass: columns.protectionClass,
            content: columns.content,
            node: node,
            name: name
        )
    }

    /// Whether it may have hard links.
    fileprivate var isLinkable: Bool { kind == .file || kind == .symbolicLink }
}
