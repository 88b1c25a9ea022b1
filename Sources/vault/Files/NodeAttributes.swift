package import CofferCore
internal import CofferDatabase
internal import CofferKeys

/// What a file system tells of a node: its attributes, without a path.
package struct NodeAttributes: Sendable {
    /// The number of the node, which its names share.
    package let inode: Int64
    package let type: FileType
    /// The permission bits of POSIX: those that were stated, or else the usual ones.
    package let mode: UInt16
    package let ownership: Ownership
    /// How many names it has: 0 if it only exists for those who have it open.
    package let linkCount: Int64
    /// The size, including what is not synced yet; 0 for a directory.
    package let byteCount: Int64
    /// The bytes of the disk that it takes.
    package let storedByteCount: Int64
    package let times: NodeTimes
    /// The class of a file, or the default class of a directory for new files.
    package let protectionClass: ProtectionClass?
    /// Where a symbolic link leads.
    package let target: String

    package init(
        inode: Int64,
        type: FileType,
        mode: UInt16,
        ownership: Ownership,
        linkCount: Int64,
        byteCount: Int64,
        storedByteCount: Int64,
        times: NodeTimes,
        protectionClass: ProtectionClass?,
        target: String
    ) {
        (self.inode, self.type, self.mode, self.ownership) = (inode, type, mode, ownership)
        (self.linkCount, self.byteCount, self.storedByteCount) = (linkCount, byteCount, storedByteCount)
        (self.times, self.protectionClass, self.target) = (times, protectionClass, target)
    }
}

/// An entry of a directory, and its place in the order of a listing.
package struct NumberedEntry: Sendable {
    package let name: String
    package let attributes: NodeAttributes
    /// The place, from which on a listing continues behind the entry.
    package let cookie: UInt64
}

extension FileStore {
    /// The number of the directory that has all others.
    package static let rootNumber = FileTree.root

    /// Its nodes by their numbers.
    package var numbered: NumberedNodes { NumberedNodes(store: self) }
}

/// Nodes by their numbers: for a file system whose kernel knows no paths.
package struct NumberedNodes {
    fileprivate let store: FileStore
    private var tree: FileTree { store.tree }

    /// The attributes of a node.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - group: The caller's group.
    /// - Returns: `nil` if there is none; one that has lost its name and is open counts as none.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects it; `decode`.
    package func attributes(ofNumber number: Int64, in group: String) throws -> NodeAttributes? {
        guard let node = try tree.node(numbered: number, "a file"), isEntry(node, of: group) else { return nil }
        return try attributes(of: FileEntry(node: node, path: node.metadata.name))
    }

    /// The attributes of an open file, which may have lost its name.
    package func attributes(of file: OpenFile) throws -> NodeAttributes {
        try attributes(of: try store.openFiles.entry(of: file))
    }

    /// The attributes of an entry of a directory.
    ///
    /// - Parameters:
    ///   - name: The name in the directory.
    ///   - directory: The number of the directory.
    ///   - group: The caller's group.
    /// - Returns: `nil` if there is none.
    /// - Throws: As ``attributes(ofNumber:in:)``.
    package func attributes(
        named name: String,
        inDirectory directory: Int64,
        of group: String
    ) throws -> NodeAttributes? {
        guard let place = try tree.place(name[...], under: directory, in: group, quotedForDisplay(name)) else {
            return nil
        }
        guard let node = place.node else {
            throw CofferError.locked(quotedForDisplay(name), in: store.keys.state, for: .read)
        }
        return try attributes(of: FileEntry(node: node, path: name, name: place.name))
    }

    private func attributes(of entry: FileEntry) throws -> NodeAttributes {
        let byteCount = store.openFiles.byteCount(of: entry)
        return NodeAttributes(
            inode: entry.inode,
            type: entry.type,
            mode: entry.mode,
            ownership: entry.metadata.ownership,
            linkCount: try store.linkCount(of: entry),
            byteCount: byteCount,
            storedByteCount: store.openFiles.storedByteCount(of: entry) ?? byteCount,
            times: store.openFiles.times(of: entry),
            protectionClass: entry.protectionClass,
            target: entry.metadata.target
        )
    }

    /// Some entries of a directory, in the order of their names' tags, which stays whatever is made and removed.
    ///
    /// What can't be read now is left out.
    ///
    /// - Parameters:
    ///   - directory: The number of the directory.
    ///   - group: The caller's group.
    ///   - cookie: The place behind which to begin; `nil` for the first.
    ///   - limit: The most entries that are looked at.
    /// - Returns: The entries, the place of the last row that was read, and whether no row follows it.
    /// - Throws: ``DatabaseError``.
    package func entries(
        inDirectory directory: Int64,
        of group: String,
        after cookie: UInt64?,
        limit: Int
    ) throws -> (entries: [NumberedEntry], last: UInt64?, isEnd: Bool) {
        // Two names of a directory whose tags begin with the same 62 bits would have one place. Tags are keyed hashes: of a
        // million names, that happens once in ten million directories.
        let start = cookie.map { FileTree.tagEnd(behind: $0) } ?? []
        let tags = try tree.tags(under: directory, after: start, limit: Int64(limit))
        var entries: [NumberedEntry] = []
        for tag in tags {
            guard let row = try tree.rawNode(tagged: tag, under: directory), case .success(let node) = row.node,
                node.metadata.group.hasSameBytes(as: group),
                case .success(let entry) = try tree.entry(node, path: node.metadata.name)
            else { continue }
            let name = node.metadata.name
            let attributes = try attributes(of: entry)
            entries.append(NumberedEntry(name: name, attributes: attributes, cookie: FileTree.cookie(of: tag)))
        }
        return (entries, tags.last.map { FileTree.cookie(of: $0) }, tags.count < limit)
    }

    /// The path of a node: of several names that of one that can be read.
    ///
    /// - Parameter number: Its number.
    /// - Returns: `nil` if it has none, or a directory of it is damaged.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects it; ``DatabaseError``.
    package func path(ofNumber number: Int64) throws -> String? {
        guard let node = try tree.node(numbered: number, "a file"), let name = try tree.nameRow(of: node),
            let directory = try tree.path(ofDirectory: name.parent)
        else { return nil }
        return directory + name.metadata.name
    }

    /// The files and symbolic links whose content may be in caches outside: those whose class a lock can end.
    ///
    /// - Parameters:
    ///   - number: The number behind which to begin.
    ///   - limit: The most of them.
    /// - Returns: Their numbers, in ascending order.
    package func fileNumbers(behind number: Int64, limit: Int) throws -> [Int64] {
        try tree.fileNumbers(behind: number, limit: limit)
    }

    private func isEntry(_ node: FileTree.Node, of group: String) -> Bool {
        node.kind != .hardLink && node.metadata.group.hasSameBytes(as: group)
    }
}

extension FileTree {
    /// The place of a tag in a listing: its first 62 bits, behind the places of a directory's own two entries.
    ///
    /// Programs hold it as a signed number.
    fileprivate static func cookie(of tag: [UInt8]) -> UInt64 {
        max(3, tag.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 2)
    }

    /// The last tag that a place can have.
    fileprivate static func tagEnd(behind cookie: UInt64) -> [UInt8] {
        let bits = cookie << 2 | 3
        let first = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
        return first + [UInt8](repeating: .max, count: 24)
    }

    fileprivate func fileNumbers(behind number: Int64, limit: Int) throws -> [Int64] {
        var numbers: [Int64] = []
        try connection.rows(
            "SELECT id FROM file_nodes WHERE id > ? AND kind IN (2, 3) AND class_key IS NOT 5 ORDER BY id LIMIT ?",
            .integer(number),
            .integer(Int64(limit))
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return numbers
    }
}
