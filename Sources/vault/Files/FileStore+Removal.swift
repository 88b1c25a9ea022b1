package import CofferCore
internal import CofferDatabase

// Removing files and directories, in every state of the vault: a name leads to its row, and nothing of it is read.

extension FileStore {
    /// Removes a file or an empty directory, within the open transaction.
    ///
    /// A damaged entry is removed as well.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - keepsDirectory: Whether its directory stays, also if it was made implicitly and is empty now.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The number of what was removed.
    /// - Throws: `itemNotFound`; `param` if the directory is not empty.
    @discardableResult
    package func removeEntry(
        _ name: ItemName,
        in group: String,
        keepsDirectory: Bool = false,
        now: Int64
    ) throws -> Int64 {
        guard let found = try tree.rawNode(at: name, in: group) else { throw CofferError.noEntry(name) }
        guard try tree.isEmpty(found.id) else { throw Self.notEmpty(name, .param) }
        let (id, content) = try owner(of: found.id, found.content, target: found.target)
        try connection.transaction {
            try dead.forgetRemoved()
            let name = FileTree.NameRow(id: found.id, parent: found.parent)
            try versions.removeName(name, of: id, content: content, now: now)
            try tree.didRemove(from: found.parent, keepsDirectory: keepsDirectory, now: now)
        }
        return id
    }

    /// Begins to remove a directory with everything in it.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: The removal; `nil` for a file.
    /// - Throws: `itemNotFound`.
    package func beginRemoval(of name: ItemName, in group: String) throws -> TreeRemoval? {
        guard let found = try tree.rawNode(at: name, in: group) else { throw CofferError.noEntry(name) }
        guard found.kind == FileTree.Kind.directory.rawValue else { return nil }
        let start = TreeWalk.Start(id: found.id, parent: found.parent, tag: found.tag, path: name.path)
        let walk = TreeWalk(tree, below: start, in: [group], isRecursive: true, entersDamaged: true)
        return TreeRemoval(top: found.id, parent: found.parent, walk: walk)
    }

    /// Removes some entries of a directory, and at the end the directory itself, within the open transaction.
    ///
    /// - Parameters:
    ///   - removal: The removal.
    ///   - now: Milliseconds since 1970.
    ///   - isEnough: Called after each entry; whether to stop for now.
    /// - Returns: Whether the removal is complete.
    package func resume(with removal: inout TreeRemoval, now: Int64, until isEnough: () -> Bool) throws -> Bool {
        // Changed as a copy, so that entries of a transaction that is rolled back are not counted.
        var next = removal
        let isDone = try connection.transaction {
            try dead.forgetRemoved()
            if try next.walk.resume() != nil { next.keptCount += 1 }
            repeat {
                guard let visit = try next.walk.next() else { return true }
                try take(visit, &next, now)
            } while !isEnough()
            return false
        }
        removal = next
        return isDone
    }

    private func take(_ visit: TreeWalk.Visit, _ removal: inout TreeRemoval, _ now: Int64) throws {
        switch visit {
        case .entry(let entry) where entry.isDirectory: return
        case .entry(let entry):
            let name = entry.name ?? FileTree.NameRow(id: entry.node.id, parent: entry.node.parent)
            try versions.removeName(name, of: entry.node.id, content: entry.node.content, now: now)
        case .damaged(let entry) where entry.isDirectory, .sealed(let entry) where entry.isDirectory: return
        case .damaged(let entry), .sealed(let entry):
            let (id, content) = try owner(of: entry.id, entry.content, target: entry.target)
            let name = FileTree.NameRow(id: entry.id, parent: entry.parent)
            try versions.removeName(name, of: id, content: content, now: now)
        case .end(let directory):
            // Another client may have created an entry in it in another turn.
            guard try tree.isEmpty(directory) else {
                removal.keptCount += 1
                return
            }
            try tree.delete(directory, content: nil)
            if directory == removal.top { try tree.didRemove(from: removal.parent, now: now) }
        }
        removal.removedCount += 1
    }

    /// What a row names, with its content: of a hard link its file, even if neither can be read.
    private func owner(
        of id: Int64,
        _ content: ItemID?,
        target: Int64?
    ) throws -> (id: Int64, content: ItemID?) {
        guard let target else { return (id, content) }
        let found = try connection.row(
            "SELECT content FROM file_nodes WHERE id = ? AND parent = ?",
            .integer(target),
            .integer(FileTree.linked)
        ) { row in (try? row.optionalBlob(0)).flatMap(\.self).flatMap { ItemID($0) } }
        // The file of a dangling name is gone: only the name is left to be removed.
        return found.map { (target, $0) } ?? (id, nil)
    }
}

/// The removal of a directory with everything in it, in progress.
package struct TreeRemoval {
    /// The number of the directory.
    package let top: Int64
    let parent: Int64
    var walk: TreeWalk
    /// The number of entries removed.
    package var removedCount = 0
    /// The number of directories that stay because they got a new entry, or were moved, meanwhile.
    package var keptCount = 0

    init(top: Int64, parent: Int64, walk: TreeWalk) {
        self.top = top
        self.parent = parent
        self.walk = walk
    }
}
