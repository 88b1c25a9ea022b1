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
    /// - Throws: `itemNotFound`; `param` if the directory is not empty.
    package func removeEntry(_ name: ItemName, in group: String) throws {
        guard let found = try tree.rawNode(at: name, in: group) else { throw CofferError.noEntry(name) }
        guard try tree.isEmpty(found.id) else { throw Self.notEmpty(name, .param) }
        try remove(found.id, content: found.content, under: found.parent)
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
    ///   - isEnough: Called after each entry; whether to stop for now.
    /// - Returns: Whether the removal is complete.
    package func resume(with removal: inout TreeRemoval, until isEnough: () -> Bool) throws -> Bool {
        // Changed as a copy, so that entries of a transaction that is rolled back are not counted.
        var next = removal
        var contents: [ItemID] = []
        let isDone = try connection.transaction {
            try forgetRemoved()
            if try next.walk.resume() != nil { next.keptCount += 1 }
            repeat {
                guard let visit = try next.walk.next() else { return true }
                try take(visit, &next, &contents)
            } while !isEnough()
            return false
        }
        removal = next
        for content in contents { toRemove.append(content) }
        return isDone
    }

    private func take(_ visit: TreeWalk.Visit, _ removal: inout TreeRemoval, _ contents: inout [ItemID]) throws {
        switch visit {
        case .entry(let entry) where entry.isDirectory: return
        case .entry(let entry):
            try unlink(entry.node.id)
            try tree.delete(entry.node.id, content: entry.node.content)
            if let content = entry.node.content { contents.append(content) }
        case .damaged(let entry) where entry.isDirectory, .sealed(let entry) where entry.isDirectory: return
        case .damaged(let entry), .sealed(let entry):
            try unlink(entry.id)
            try tree.delete(entry.id, content: entry.content)
            if let content = entry.content { contents.append(content) }
        case .end(let directory):
            // Another client may have created an entry in it in another turn.
            guard try tree.isEmpty(directory) else {
                removal.keptCount += 1
                return
            }
            try tree.delete(directory, content: nil)
            if directory == removal.top { try tree.prune(removal.parent) }
        }
        removal.removedCount += 1
    }

    private func remove(_ id: Int64, content: ItemID?, under parent: Int64) throws {
        try connection.transaction {
            try forgetRemoved()
            try unlink(id)
            try tree.delete(id, content: content)
            try tree.prune(parent)
        }
        if let content { toRemove.append(content) }
    }
}

/// The removal of a directory with everything in it, in progress.
package struct TreeRemoval {
    let top: Int64
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
