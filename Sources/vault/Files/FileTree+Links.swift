internal import CofferCore
internal import CofferDatabase

// Hard links. A file with one name has it in its row. With the second name, the row of the file moves under
// ``FileTree/linked``, and each name becomes a row of its own: then names can be removed in every state, also while the
// metadata of the file can't be read.

extension FileTree {
    /// How many names a row has.
    func linkCount(of node: Node) throws -> Int64 { node.parent == Self.linked ? try linkCount(of: node.id) : 1 }

    func linkCount(of id: Int64) throws -> Int64 {
        try connection.row("SELECT count(*) FROM file_nodes WHERE kind = 4 AND target = ?", .integer(id)) {
            try $0.integer(0)
        } ?? 0
    }

    func hasLinks(_ id: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_nodes WHERE kind = 4 AND target = ? LIMIT 1", .integer(id)) { _ in true }
            ?? false
    }

    /// The row that names a row: itself, or the first of its hard links that can be read.
    ///
    /// - Returns: `nil` if no name is left that can be read.
    func nameRow(of node: Node) throws -> Node? {
        if node.parent != Self.linked { return node }
        for link in try links(of: node.id) {
            if let found = try? self.node(numbered: link, "a name") { return found }
        }
        return nil
    }

    private func links(of id: Int64) throws -> [Int64] {
        var links: [Int64] = []
        try connection.rows("SELECT id FROM file_nodes WHERE kind = 4 AND target = ? ORDER BY id", .integer(id)) {
            row in
            links.append(try row.integer(0))
            return true
        }
        return links
    }

    /// The file of a hard link.
    ///
    /// - Throws: `decode` if it is missing.
    func target(of link: Node, _ subject: String) throws -> Node {
        guard let target = link.target, let node = try node(numbered: target, subject),
            node.kind == .file || node.kind == .symbolicLink
        else { throw Self.dangling(subject) }
        return node
    }

    /// Gives the hard links of a file its new class: it decides what protects their names.
    func protectLinks(of id: Int64, as protectionClass: ProtectionClass) throws {
        for number in try links(of: id) {
            do {
                guard var link = try node(numbered: number, "a name") else { continue }
                link.protectionClass = protectionClass
                try update(link)
            } catch let error where error.isDamage {
                // Doctor finds it.
            }
        }
    }

    /// Gives a row another name beside those that it has.
    ///
    /// - Parameters:
    ///   - node: A file or a symbolic link.
    ///   - name: The new name, in its directory.
    ///   - parent: The directory.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The row, changed.
    func addLink(to node: Node, named name: String, under parent: Int64, now: Int64) throws -> Node {
        var node = node
        node.metadata.times.changed = NodeTimes.nanoseconds(now)
        if node.parent == Self.linked {
            try update(node)
        } else {
            let (former, formerParent) = (node.metadata.name, node.parent)
            node.parent = Self.linked
            node.metadata.name = String(node.id)
            try update(node)
            try insertLink(to: node, named: former, under: formerParent, now: now)
        }
        try insertLink(to: node, named: name, under: parent, now: now)
        return node
    }

    private func insertLink(to node: Node, named name: String, under parent: Int64, now: Int64) throws {
        _ = try insert(
            NodeMetadata(group: node.metadata.group, name: name, created: now, modified: now),
            under: parent,
            .hardLink,
            class: node.protectionClass,
            content: nil,
            wrappedKey: [],
            target: node.id
        )
    }

    /// Counts the rows whose last name is missing.
    func unnamedCount() throws -> Int {
        try connection.row(
            """
            SELECT count(*) FROM file_nodes AS file WHERE parent = ?
                AND NOT EXISTS (SELECT 1 FROM file_nodes WHERE kind = 4 AND target = file.id)
            """,
            .integer(Self.linked)
        ) { Int(try $0.integer(0)) } ?? 0
    }
}
