internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

// Moving, changing and removing rows of the tree.

extension FileTree {
    /// Writes a row again: everything except its number, its kind and its content may have changed.
    ///
    /// Its children are found by its number, so they stay its children when it moves.
    func update(_ node: Node) throws {
        let tag = tag(node.metadata.name[...], under: node.parent, in: node.metadata.group)
        let sealed = try seal(node, tag)
        try connection.execute(
            """
            UPDATE file_nodes SET parent = ?, name_tag = ?, class_key = ?, wrapped_key = ?, metadata = ? WHERE id = ?
            """,
            .integer(node.parent),
            .blob(tag),
            .integer(node.classKey),
            .blob(node.wrappedKey),
            .blob(sealed),
            .integer(node.id)
        )
        try didSeal(node)
    }

    /// Completes a row that was written: the directories of a file of class `none` are part of its name.
    func didSeal(_ node: Node) throws {
        if node.isNamedInEveryState, try !nameInEveryState(node.parent) { try deferRow(node.id) }
    }

    /// Seals the directories of a path under the device key: they are part of the name of a file of class `none`.
    ///
    /// - Returns: Whether that was possible: what is sealed under the passcode stays so until the first unlock.
    private func nameInEveryState(_ directory: Int64) throws -> Bool {
        guard directory != Self.root else { return true }
        do {
            guard var node = try node(numbered: directory, "a directory"),
                !node.metadata.flags.contains(.isNamedInEveryState)
            else {
                return true
            }
            node.metadata.flags.insert(.isNamedInEveryState)
            try update(node)
            return true
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return false
        } catch let error where error.isDamage {
            // Doctor finds it.
            return true
        }
    }

    /// Records a row that ``FileStore/settleDeferred(until:)`` has to look at after the first unlock.
    func deferRow(_ number: Int64) throws {
        try connection.execute("INSERT OR IGNORE INTO file_deferred (node) VALUES (?)", .integer(number))
    }

    /// Notes that an entry of a directory was made, renamed or removed.
    ///
    /// What is sealed until the first unlock stays as it is: only its dates are concerned.
    func touch(_ directory: Int64, adding flags: NodeMetadata.Flags = [], now: Int64) throws {
        guard directory != Self.root else { return }
        do {
            guard var node = try node(numbered: directory, "a directory") else { return }
            let former = node.metadata
            node.metadata.didChange(at: now)
            node.metadata.flags.formUnion(flags)
            if node.metadata != former { try update(node) }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return
        } catch let error where error.isDamage {
            // Doctor finds it.
            return
        }
    }

    /// Notes that a file has lost or got a name, if its metadata can be read.
    func touchChanged(_ id: Int64, now: Int64) throws {
        do {
            guard var node = try node(numbered: id, "a file") else { return }
            node.metadata.times.changed = NodeTimes.nanoseconds(now)
            try update(node)
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return
        } catch let error where error.isDamage {
            // Doctor finds it.
            return
        }
    }

    /// Completes the removal of an entry of a directory.
    ///
    /// - Parameter keepsDirectory: Whether a directory that was made implicitly stays, also if it is empty now.
    func didRemove(from directory: Int64, keepsDirectory: Bool = false, now: Int64) throws {
        if !keepsDirectory { try prune(directory) }
        try touch(directory, adding: keepsDirectory ? .stays : [], now: now)
    }

    /// Removes a row, and enters its content in the list of dead ones.
    func delete(_ id: Int64, content: ItemID?) throws {
        try connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(id))
        if let content { try listDead(content) }
    }

    /// Gives a row that is to be removed another number, so that the rows of its chunks, which have the former one, stay.
    ///
    /// - Returns: The number.
    func renumber(_ id: Int64) throws -> Int64 {
        let number = Int64.random(in: 1...Int64.max)
        try connection.execute("UPDATE file_nodes SET id = ? WHERE id = ?", .integer(number), .integer(id))
        return number
    }

    /// Lists a content as dead, within the open transaction.
    func listDead(_ content: ItemID) throws {
        // The content of a damaged row may be in the list already.
        try connection.execute(
            "INSERT OR IGNORE INTO file_dead_contents (content) VALUES (?)",
            .blob(content.bytes)
        )
    }

    /// Removes a directory if it is empty and no quarantined row would go back there, and then its parents in the same
    /// way, but no directory that was created explicitly.
    func prune(_ directory: Int64) throws {
        var directory = directory
        while directory != Self.root, try isEmpty(directory), try !isAwaited(directory) {
            let node: Node?
            do {
                node = try self.node(numbered: directory, "a directory")
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                // It may be one that was created explicitly: that is known after the first unlock.
                return try deferRow(directory)
            } catch let error where error.isDamage {
                // It stays, so that the damage can be found.
                return
            }
            guard let node, node.kind == .directory, !node.metadata.flags.contains(.stays) else { return }
            let parent = node.parent
            try connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(directory))
            directory = parent
        }
    }

    /// Whether a quarantined row was in a directory.
    private func isAwaited(_ directory: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_quarantine WHERE parent = ? LIMIT 1", .integer(directory)) { _ in true }
            ?? false
    }

    func isEmpty(_ directory: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_nodes WHERE parent = ? LIMIT 1", .integer(directory)) { _ in false }
            ?? true
    }

    /// The number of entries of a directory.
    func childCount(of directory: Int64) throws -> Int {
        try connection.row("SELECT count(*) FROM file_nodes WHERE parent = ?", .integer(directory)) {
            Int(try $0.integer(0))
        } ?? 0
    }

    /// The depth of the tree below a directory, at most the number of parts of a name.
    func height(of directory: Int64) throws -> Int {
        try connection.row(
            """
            WITH RECURSIVE below (id, depth) AS (
                VALUES (?, 0)
                UNION ALL SELECT file_nodes.id, below.depth + 1 FROM below JOIN file_nodes ON file_nodes.parent = below.id
                WHERE file_nodes.kind = 1 AND below.depth < ?
            ) SELECT max(depth) FROM below
            """,
            .integer(directory),
            .integer(Int64(Limits.nameComponents))
        ) { Int(try $0.integer(0)) } ?? 0
    }
}
