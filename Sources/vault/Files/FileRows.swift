internal import CofferCore
internal import CofferDatabase
internal import CofferKeys

/// Checks, quarantines and restores the rows of files and directories.
///
/// The contents of files are not checked here. The row of an open file is skipped: the file's state in memory is
/// intact, and is written again. A file whose directory is missing or damaged gets a new one under the root, because
/// nothing else is wrong with it.
struct FileRows: SealedTable {
    static let numbersSQL: StaticString = "SELECT id FROM file_nodes WHERE id >= ? ORDER BY id LIMIT ?"
    static let rowSQL: StaticString = """
        SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target FROM file_nodes WHERE id = ?
        """
    static let quarantineSQL: StaticString = """
        INSERT INTO file_quarantine
            (damage, moved, row, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target)
        SELECT ?, ?, id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target
        FROM file_nodes WHERE id = ?
        """
    static let removeSQL: StaticString = "DELETE FROM file_nodes WHERE id = ?"
    static let quarantinedRowSQL: StaticString = """
        SELECT row, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target
        FROM file_quarantine WHERE id = ?
        """
    static let restoreSQL: StaticString = """
        INSERT INTO file_nodes (id, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target)
        SELECT row, parent, name_tag, kind, class_key, content, wrapped_key, metadata, target
        FROM file_quarantine WHERE id = ?
        """
    static let stage = CheckStage.files
    static let store = StoreName.file
    static let takenWords = "there is something else in its place"

    let store: FileStore
    var connection: Connection { store.connection }

    // MARK: Examining

    /// Examines a row: its metadata, its name and whether its directory exists.
    func examine(_ row: borrowing Row) throws -> Examination<FileTree.Node> {
        var seen = Examination<FileTree.Node>()
        do {
            let node = try store.tree.decode(row, "a file")
            seen.contents = node
            let tag = store.tree.tag(node.metadata.name[...], under: node.parent, in: node.metadata.group)
            if try row.blob(2) != tag {
                seen.damage = .name
            } else if try !isWhole(node) {
                // A name without a file can't be given one; a file without a name can.
                seen.damage = .missingOwner
                if node.kind != .hardLink { seen.repair = .directory }
            } else if node.parent != FileTree.linked, node.parent != FileTree.root {
                switch try directory(node.parent) {
                case .there: break
                case .replaceable:
                    seen.damage = .missingOwner
                    seen.repair = .directory
                case .taken: seen.damage = .missingOwner
                }
            }
        } catch let error as CofferError where error.code == .decode {
            seen.damage = (try? store.tree.columns(of: row, "a file")) == nil ? .row : .metadata
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            seen.isSealed = true
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
        }
        return seen
    }

    /// Whether the other half of a hard link is there.
    private func isWhole(_ node: FileTree.Node) throws -> Bool {
        if node.kind == .hardLink {
            return (try? store.tree.target(of: node, "a file"))?.parent == FileTree.linked
        }
        return try node.parent != FileTree.linked || store.tree.hasLinks(node.id)
    }

    func name(of contents: FileTree.Node, for groups: AccessGroups) -> String? {
        groups.contains(contents.metadata.group) ? quotedForDisplay(contents.metadata.name) : nil
    }

    func byteCount(of contents: FileTree.Node) -> Int64 {
        contents.protectionClass?.permits(.read, in: store.keys.state) == true ? contents.metadata.byteCount : 0
    }

    func isInUse(_ number: Int64) -> Bool { store.openFiles[number] != nil }

    // MARK: Directories

    private enum Place {
        case there
        /// Nothing is there, or nothing that can be read.
        case replaceable
        /// A file is there.
        case taken
    }

    private func directory(_ number: Int64) throws -> Place {
        do {
            let kind = try store.tree.node(numbered: number, "a directory")?.kind
            return kind == .directory ? .there : kind == nil ? .replaceable : .taken
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return .there
        } catch let error as CofferError where error.code == .decode {
            return .replaceable
        } catch let error as DatabaseError where error.kind == .damaged {
            return .replaceable
        }
    }

    func mend(_ number: Int64, _ seen: Examination<FileTree.Node>, _ now: Int64) throws -> Int {
        guard let node = seen.contents else { return 0 }
        if node.parent == FileTree.linked {
            try rename(node)
            return 0
        }
        return try replaceDirectory(of: node, now)
    }

    /// Gives a file whose last name is missing a new one, under the root.
    private func rename(_ node: FileTree.Node) throws {
        var node = node
        node.parent = FileTree.root
        node.metadata.name = Self.recoveredName(node.id)
        try store.tree.update(node)
    }

    private static func recoveredName(_ number: Int64) -> String {
        "recovered-\(hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }))"
    }

    /// Creates a directory for entries whose directory is missing.
    ///
    /// - Returns: The number of rows that were moved to quarantine for it.
    private func replaceDirectory(of node: FileTree.Node, _ now: Int64) throws -> Int {
        try connection.transaction {
            let movedCount = try move(node.parent, .metadata, now)
            let metadata = NodeMetadata(
                group: node.metadata.group,
                name: Self.recoveredName(node.parent),
                created: now,
                modified: now
            )
            _ = try store.tree.insert(
                metadata,
                under: FileTree.root,
                .directory,
                class: nil,
                content: nil,
                wrappedKey: [],
                as: node.parent
            )
            return movedCount
        }
    }

    // MARK: Going back

    func isTaken(_ number: Int64, _ seen: Examination<FileTree.Node>) throws -> Bool {
        try connection.row(
            """
            SELECT EXISTS (
                SELECT 1 FROM file_nodes JOIN file_quarantine AS moved ON file_nodes.id = moved.row
                    OR file_nodes.content = moved.content
                    OR file_nodes.parent = moved.parent AND file_nodes.name_tag = moved.name_tag
                WHERE moved.id = ?
            )
            """,
            .integer(number)
        ) { try $0.integer(0) == 1 } ?? false
    }

    /// Destroys a row's chunks, and its content if no other row names it.
    func discard(_ number: Int64) throws {
        var content: ItemID?
        var parent: Int64?
        var former: Int64?
        try connection.rows("SELECT content, parent, row FROM file_quarantine WHERE id = ?", .integer(number)) { row in
            content = (try? row.optionalBlob(0)).flatMap { $0 }.flatMap { ItemID($0) }
            parent = try? row.integer(1)
            former = try? row.integer(2)
            return true
        }
        try store.versions.destroy(ofQuarantined: number)
        // Now the row no longer counts as one that names its content.
        try connection.execute("DELETE FROM file_quarantine WHERE id = ?", .integer(number))
        if let former, try store.tree.row(numbered: former, read: { _ in true }) == nil {
            try store.orphans.remove(of: former)
        }
        if let parent { try store.tree.prune(parent) }
        if let content { try store.dead.addUnlessNamed(content) }
    }

    // MARK: Duplicates

    /// Files of one name, by their row numbers: the one to which the index leads, and the one that it hides.
    func duplicates() throws -> [(found: Int64, hidden: Int64)] {
        var pairs: [(found: Int64, hidden: Int64)] = []
        try connection.rows(
            """
            SELECT min(id), max(id), parent, name_tag FROM file_nodes NOT INDEXED
            GROUP BY parent, name_tag HAVING count(*) = 2
            """
        ) { row in
            let (one, other) = (try row.integer(0), try row.integer(1))
            let found = try connection.row(
                "SELECT id FROM file_nodes WHERE parent = ? AND name_tag = ?",
                .integer(try row.integer(2)),
                .blob(try row.blob(3))
            ) { try $0.integer(0) }
            if found == one { pairs.append((found: one, hidden: other)) }
            if found == other { pairs.append((found: other, hidden: one)) }
            return true
        }
        return pairs
    }
}
