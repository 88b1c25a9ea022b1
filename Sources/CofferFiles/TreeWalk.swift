package import CofferCore
internal import CofferDatabase

/// Goes through what is below a directory, in the order of the names' tags, and can rest anywhere.
///
/// What it holds is bounded by the depth of the tree, and not by its size. While it rests the tree may change: what it has
/// not come to yet it sees as it is then. Another walk can go on from its position: an entry that keeps its name, and whose
/// directories keep theirs, is visited once by both together.
package struct TreeWalk {
    /// What it comes to.
    package enum Visit {
        /// A file, or a directory before what is in it.
        case entry(FileEntry)
        /// A row that can't be opened.
        case damaged(DamagedEntry)
        /// The end of the directory with this number: all that is in it was visited.
        case end(of: Int64)
    }

    /// A row that can't be opened.
    package struct DamagedEntry {
        let id: Int64
        let content: ItemID?
        /// Whether it says that it is a directory.
        let isDirectory: Bool
        /// The path of the directory that it is in, empty for the root.
        package let directory: String
        /// What is wrong with it.
        package let error: CofferError
    }

    private struct Level {
        let id: Int64
        /// Where it was found: `nil` for the root.
        let place: (parent: Int64, tag: [UInt8])?
        let path: String
        /// The tags of the next children, the next one last.
        var pending: [[UInt8]] = []
        /// The tag of the last child that was visited.
        var visited = TreeWalk.noTag
    }

    private static let batch: Int64 = 64
    private static let tagBytes = 32
    /// Before every tag: no keyed hash is all zeros.
    private static let noTag = [UInt8](repeating: 0, count: tagBytes)

    private let tree: FileTree
    private let isRecursive: Bool
    private let entersDamaged: Bool
    private let group: String
    private var levels: [Level]

    /// - Parameters:
    ///   - directory: Where to begin; `nil` for the root.
    ///   - entersDamaged: Whether to go into directories that can't be opened as well.
    init(
        _ tree: FileTree,
        below directory: Start?,
        in group: String,
        isRecursive: Bool,
        entersDamaged: Bool = false
    ) {
        self.tree = tree
        self.group = group
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

    /// A directory to begin with.
    struct Start {
        let id: Int64
        let parent: Int64
        let tag: [UInt8]
        let path: String
    }

    /// Goes on after a rest: directories that were moved or removed meanwhile are left.
    ///
    /// - Returns: The path of the one that was moved, where one was: what is in it was not visited to the end.
    package mutating func resume() throws -> String? {
        for (index, level) in levels.enumerated() {
            guard let place = level.place else { continue }
            if try tree.id(tagged: place.tag, under: place.parent) == level.id { continue }
            let left = levels[index...]
            levels.removeSubrange(index...)
            // What was moved may have been all that the directory around it held.
            return try left.first { try tree.contains(row: $0.id) }?.path
        }
        return nil
    }

    /// Where the walk is: of each directory from its start on, the tag of the entry that was visited last.
    package var position: [UInt8] { levels.flatMap(\.visited) }

    /// Moves a walk that has not begun to the position of another one.
    ///
    /// - Parameter position: The ``position`` of a walk below the same directory.
    /// - Returns: Whether a walk can be there.
    /// - Throws: `decode` where a directory on the way is damaged; ``DatabaseError``.
    package mutating func seek(_ position: [UInt8]) throws -> Bool {
        let tags = stride(from: 0, to: position.count, by: Self.tagBytes).map { start in
            Array(position[start..<min(start + Self.tagBytes, position.count)])
        }
        let mostLevels = isRecursive ? Limits.nameComponents + 1 : 1
        guard tags.allSatisfy({ $0.count == Self.tagBytes }), tags.count <= mostLevels else { return false }
        for (depth, tag) in tags.enumerated() {
            levels[depth].visited = tag
            guard depth + 1 < tags.count else { break }
            // A directory that was moved or removed is left, and the walk goes on behind its place.
            guard case .entry(let entry)? = try visit(tag, in: levels[depth]), entry.isDirectory else { break }
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

    /// `nil` where it is not there any more, or is of another group.
    private mutating func visit(_ tag: [UInt8], in level: Level) throws -> Visit? {
        guard let row = try tree.rawNode(tagged: tag, under: level.id) else { return nil }
        switch row.node {
        case .success(let node):
            guard node.metadata.group.utf8.elementsEqual(group.utf8) else { return nil }
            let prefix = level.path.isEmpty ? "" : level.path + "/"
            let entry = FileEntry(node: node, path: prefix + node.metadata.name)
            if node.kind == .directory { try enter(node.id, level.id, tag, entry.path) }
            return .entry(entry)
        case .failure(let error):
            let isDirectory = row.kind == FileTree.Kind.directory.rawValue
            if isDirectory && entersDamaged { try enter(row.id, level.id, tag, level.path) }
            return .damaged(
                DamagedEntry(
                    id: row.id,
                    content: row.content,
                    isDirectory: isDirectory,
                    directory: level.path,
                    error: error
                )
            )
        }
    }

    private mutating func enter(_ id: Int64, _ parent: Int64, _ tag: [UInt8], _ path: String) throws {
        guard isRecursive else { return }
        // No name is as deep: a directory that contains itself, by somebody else's hand.
        guard levels.count <= Limits.nameComponents else {
            throw CofferError.damaged(quotedForDisplay(path), found: "its directories go too deep")
        }
        levels.append(Level(id: id, place: (parent, tag), path: path))
    }
}

extension FileTree {
    /// Where a walk below a directory begins; `nil` for the root.
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

    func contains(row id: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_nodes WHERE id = ?", .integer(id)) { _ in true } ?? false
    }

    /// A row whose metadata may be damaged.
    struct RawNode {
        let id: Int64
        let parent: Int64
        let tag: [UInt8]
        let kind: Int64
        let content: ItemID?
        let node: Result<Node, CofferError>
    }

    /// The tags of children of a directory, in their order.
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

    /// The row with a tag, also where it is damaged.
    func rawNode(tagged tag: [UInt8], under parent: Int64, _ subject: String = "an entry") throws -> RawNode? {
        try row(tagged: tag, under: parent) { row in
            let node: Result<Node, CofferError>
            do {
                node = .success(try decode(row, subject))
            } catch let error as CofferError {
                connection.faults.note(ifDamage: error)
                node = .failure(error)
            } catch let error as DatabaseError where error.kind == .damaged {
                // A value of another type than the schema lets in, or of no size that one has: this row's damage alone.
                node = .failure(.damaged(subject, found: "its row has impossible values"))
            }
            return RawNode(
                id: try row.integer(0),
                parent: parent,
                tag: tag,
                kind: (try? row.integer(3)) ?? 0,
                content: (try? row.optionalBlob(5)).flatMap { $0 }.flatMap { ItemID($0) },
                node: node
            )
        }
    }

    /// The row at a path, also where it, or a directory on its way, is damaged.
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
