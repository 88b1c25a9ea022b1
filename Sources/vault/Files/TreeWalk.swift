package import CofferCore
internal import CofferDatabase
internal import CofferKeys

/// A walk through everything below a directory, in the order of the names' tags, which can pause anywhere.
///
/// Its memory is bounded by the depth of the tree, not by its size. The tree may change while it pauses: the walk sees
/// entries that it has not reached yet as they are then. Another walk can continue from its position: the two together
/// visit an entry exactly once if neither its name nor those of its directories change.
package struct TreeWalk {
    /// A step of the walk.
    package enum Visit {
        /// A file, or a directory before its entries.
        case entry(FileEntry)
        /// A row that can't be decrypted.
        case damaged(UnreadEntry)
        /// A row that can be decrypted after the first unlock only, or that is in such a directory.
        case sealed(UnreadEntry)
        /// The end of the directory with this number: all its entries were visited.
        case end(of: Int64)
    }

    /// A row that can't be decrypted.
    package struct UnreadEntry {
        let id: Int64
        let parent: Int64
        let content: ItemID?
        /// The row of the file, of a hard link.
        let target: Int64?
        /// Whether the row says that it is a directory.
        package let isDirectory: Bool
        /// Whether the row says that it is a file, or a name of one.
        package let isFile: Bool
        /// The path of its directory; empty for the root.
        package let directory: String
        /// Why it can't be decrypted.
        package let error: CofferError
    }

    private struct Level {
        let id: Int64
        /// The parent and the tag by which it was found; `nil` for the root.
        let place: (parent: Int64, tag: [UInt8])?
        let path: String
        /// Whether a name of the path can be read after the first unlock only.
        var isSealed = false
        /// The tags of the next children, the next one last.
        var pending: [[UInt8]] = []
        /// The tag of the last visited child.
        var visited = TreeWalk.noTag
    }

    private static let batch: Int64 = 64
    private static let tagBytes = 32
    /// Less than every tag: no keyed hash is all zeros.
    private static let noTag = [UInt8](repeating: 0, count: tagBytes)

    private let tree: FileTree
    private let isRecursive: Bool
    /// Whether to descend into directories that can't be decrypted.
    private let entersDamaged: Bool
    private let groups: AccessGroups
    private var levels: [Level]

    init(
        _ tree: FileTree,
        below directory: Start?,
        in groups: AccessGroups,
        isRecursive: Bool,
        entersDamaged: Bool = false
    ) {
        self.tree = tree
        self.groups = groups
        self.isRecursive = isRecursive
        self.entersDamaged = entersDamaged
        levels = [
            Level(
                id: directory?.id ?? FileTree.root,
                place: directory.map { ($0.parent, $0.tag) },
                path: directory?.path ?? ""
            )
        ]
    }

    /// The directory at which a walk begins.
    struct Start {
        let id: Int64
        let parent: Int64
        let tag: [UInt8]
        let path: String
    }

    /// Continues after a pause: directories that were moved or removed meanwhile are skipped.
    ///
    /// - Returns: The path of a directory that was moved: not all of its entries were visited.
    package mutating func resume() throws -> String? {
        for (index, level) in levels.enumerated() {
            guard let place = level.place else { continue }
            if try tree.id(tagged: place.tag, under: place.parent) == level.id { continue }
            let left = levels[index...]
            levels.removeSubrange(index...)
            // The moved directory may have been the only entry of its parent.
            return try left.first { try tree.contains(row: $0.id) }?.path
        }
        return nil
    }

    /// The position of the walk: for each directory from its start on, the tag of the last visited entry.
    package var position: [UInt8] { levels.flatMap(\.visited) }

    /// Moves a new walk to the position of another one.
    ///
    /// - Parameter position: The ``position`` of a walk below the same directory.
    /// - Returns: Whether the position is valid.
    /// - Throws: `decode` if a directory of the path is damaged; ``DatabaseError``.
    package mutating func seek(_ position: [UInt8]) throws -> Bool {
        let tags = stride(from: 0, to: position.count, by: Self.tagBytes).map { start in
            Array(position[start..<min(start + Self.tagBytes, position.count)])
        }
        let mostLevels = isRecursive ? Limits.nameComponents + 1 : 1
        guard tags.allSatisfy({ $0.count == Self.tagBytes }), tags.count <= mostLevels else { return false }
        for (depth, tag) in tags.enumerated() {
            levels[depth].visited = tag
            guard depth + 1 < tags.count else { break }
            // A directory that was moved or removed is skipped, and the walk continues after its place.
            switch try visit(tag, in: levels[depth]) {
            case .entry(let entry) where entry.isDirectory: continue
            case .sealed(let entry) where entry.isDirectory: continue
            default: return true
            }
        }
        return true
    }

    /// Goes to the next entry.
    ///
    /// - Returns: `nil` at the end.
    package mutating func next() throws -> Visit? {
        while let index = levels.indices.last {
            if levels[index].pending.isEmpty { try refill(index) }
            guard let tag = levels[index].pending.popLast() else {
                return .end(of: levels.removeLast().id)
            }
            levels[index].visited = tag
            if let visit = try visit(tag, in: levels[index]) { return visit }
        }
        return nil
    }

    private mutating func refill(_ index: Int) throws {
        let tags = try tree.tags(under: levels[index].id, after: levels[index].visited, limit: Self.batch)
        levels[index].pending = tags.reversed()
    }

    /// `nil` if it was removed, or belongs to another group.
    private mutating func visit(_ tag: [UInt8], in level: Level) throws -> Visit? {
        guard let row = try tree.rawNode(tagged: tag, under: level.id) else { return nil }
        switch row.node {
        case .success(let node):
            guard groups.contains(node.metadata.group) else { return nil }
            let prefix = level.path.isEmpty ? "" : level.path + "/"
            let path = prefix + node.metadata.name
            let entry: FileEntry
            switch try tree.entry(node, path: path) {
            case .success(let found): entry = found
            case .failure(let error) where error.code == .interactionNotAllowed:
                return try sealed(row, tag, level, error)
            case .failure(let error): return .damaged(UnreadEntry(row, in: level.path, error))
            }
            if level.isSealed {
                return try sealed(row, tag, level, .locked(entry.quoted, in: tree.keys.state, for: .read))
            }
            if node.kind == .directory { try enter(node.id, level.id, tag, entry.path) }
            return .entry(entry)
        case .failure(let error) where error.code == .interactionNotAllowed:
            return try sealed(row, tag, level, error)
        case .failure(let error):
            let entry = UnreadEntry(row, in: level.path, error)
            if entry.isDirectory && entersDamaged { try enter(row.id, level.id, tag, level.path) }
            return .damaged(entry)
        }
    }

    private mutating func sealed(
        _ row: FileTree.RawNode,
        _ tag: [UInt8],
        _ level: Level,
        _ error: CofferError
    ) throws -> Visit {
        let entry = UnreadEntry(row, in: level.path, error)
        if entry.isDirectory { try enter(row.id, level.id, tag, level.path, isSealed: true) }
        return .sealed(entry)
    }

    private mutating func enter(
        _ id: Int64,
        _ parent: Int64,
        _ tag: [UInt8],
        _ path: String,
        isSealed: Bool = false
    ) throws {
        guard isRecursive else { return }
        // No valid name is as deep: a directory contains itself, because the database was tampered with.
        guard levels.count <= Limits.nameComponents else {
            throw CofferError.damaged(quotedForDisplay(path), found: "its directories go too deep")
        }
        levels.append(Level(id: id, place: (parent, tag), path: path, isSealed: isSealed))
    }
}

extension TreeWalk.UnreadEntry {
    fileprivate init(_ row: FileTree.RawNode, in directory: String, _ error: CofferError) {
        self.init(
            id: row.id,
            parent: row.parent,
            content: row.content,
            target: row.target,
            isDirectory: row.kind == FileTree.Kind.directory.rawValue,
            isFile: row.kind == FileTree.Kind.file.rawValue || row.kind == FileTree.Kind.hardLink.rawValue,
            directory: directory,
            error: error
        )
    }
}

extension FileTree {
    /// The start of a walk below a directory; `nil` for the root.
    func start(at directory: FileEntry?) -> TreeWalk.Start? {
        directory.map { directory in
            TreeWalk.Start(
                id: directory.node.id,
                parent: directory.node.parent,
                tag: tag(
                    directory.metadata.name[...],
                    under: directory.node.parent,
                    in: directory.metadata.group
                ),
                path: directory.path
            )
        }
    }

    /// The entry of a row: of a hard link that of its file.
    func entry(_ node: Node, path: String) throws -> Result<FileEntry, CofferError> {
        guard node.kind == .hardLink else { return .success(FileEntry(node: node, path: path)) }
        do {
            let file = try target(of: node, quotedForDisplay(path))
            return .success(FileEntry(node: file, path: path, name: NameRow(id: node.id, parent: node.parent)))
        } catch let error as CofferError {
            connection.faults.note(ifDamage: error)
            return .failure(error)
        }
    }

    func contains(row id: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_nodes WHERE id = ?", .integer(id)) { _ in true } ?? false
    }

    /// A row whose metadata may be damaged, or sealed until the first unlock.
    struct RawNode {
        let id: Int64
        let parent: Int64
        let tag: [UInt8]
        let kind: Int64
        let content: ItemID?
        let target: Int64?
        let node: Result<Node, CofferError>
    }

    /// The tags of children of a directory, in ascending order.
    func tags(under parent: Int64, after tag: [UInt8], limit: Int64) throws -> [[UInt8]] {
        var tags: [[UInt8]] = []
        try connection.rows(
            "SELECT name_tag FROM file_nodes WHERE parent = ? AND name_tag > ? ORDER BY name_tag LIMIT ?",
            .integer(parent),
            .blob(tag),
            .integer(limit)
        ) { row in
            tags.append(try row.blob(0))
            return true
        }
        return tags
    }

    /// The number of the row with a tag.
    func id(tagged tag: [UInt8], under parent: Int64) throws -> Int64? {
        try connection.row(
            "SELECT id FROM file_nodes WHERE parent = ? AND name_tag = ?",
            .integer(parent),
            .blob(tag)
        ) { try $0.integer(0) }
    }

    /// The row with a tag, even if it is damaged.
    func rawNode(tagged tag: [UInt8], under parent: Int64, _ subject: String = "an entry") throws -> RawNode? {
        try row(tagged: tag, under: parent) { row in
            let node: Result<Node, CofferError>
            do {
                node = .success(try decode(row, subject))
            } catch let error as CofferError {
                connection.faults.note(ifDamage: error)
                node = .failure(error)
            } catch let error as DatabaseError where error.kind == .damaged {
                // A value of a type or a size that the schema does not allow: damage of this row only.
                node = .failure(.damaged(subject, found: "its row has impossible values"))
            }
            return RawNode(
                id: try row.integer(0),
                parent: parent,
                tag: tag,
                kind: (try? row.integer(3)) ?? 0,
                content: (try? row.optionalBlob(5)).flatMap { $0 }.flatMap { ItemID($0) },
                target: (try? row.optionalInteger(8)).flatMap(\.self),
                node: node
            )
        }
    }

    /// The row at a path, even if it, or a directory of the path, is damaged.
    func rawNode(at name: ItemName, in group: String) throws -> RawNode? {
        var parent = Self.root
        var found: RawNode?
        for component in name.components {
            found = try rawNode(tagged: tag(component, under: parent, in: group), under: parent, name.quoted)
            guard let found else { return nil }
            parent = found.id
        }
        return found
    }
}
