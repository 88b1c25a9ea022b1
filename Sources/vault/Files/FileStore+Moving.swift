package import CofferCore
internal import CofferDatabase
internal import CofferKeys

/// What becomes of the entry that is at the new name of another one.
package enum MoveMode: Sendable {
    /// It is an error.
    case refuses
    /// It is removed: a directory only if it is empty. The other one gets its class if that is stricter.
    case replaces
    /// It is removed, and the class of the other one stays.
    case replacesKeepingClass
    /// It gets the former name of the other one.
    case exchanges
}

// Renaming. One or two rows change, whatever is in a directory.

extension FileStore {
    /// Renames an entry, within the open transaction; missing parent directories of the new path are created.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - target: The new path.
    ///   - group: The caller's group.
    ///   - mode: What becomes of what is at the new path.
    ///   - keepsDirectory: Whether the former directory stays, also if it was made implicitly and is empty now.
    ///   - isChecked: Whether the ``TreeMove`` of each directory has come to its end, and nothing was changed since it began.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `itemNotFound`; `duplicateItem` if the target exists and is not to be replaced; `param` if a part of
    ///   the path is a file, a directory would contain itself, or a path would become too long; `interactionNotAllowed`
    ///   if the file would get a stricter class, and a key for that is not in memory.
    package func move(
        _ name: ItemName,
        to target: ItemName,
        in group: String,
        _ mode: MoveMode,
        keepsDirectory: Bool = false,
        isChecked: Bool = false,
        now: Int64
    ) throws {
        let entry = try requireOwnEntry(name, in: group)
        if name == target { return }
        if !isChecked { try checkMove(of: entry, to: target) }
        guard let existing = try tree.place(at: target, in: group) else {
            if mode == .exchanges { throw CofferError.noEntry(target) }
            try connection.faults.refuseNew(target.quoted)
            return try move(entry, to: target, replacing: nil, nil, keepsDirectory, now)
        }
        if mode == .refuses { throw Self.exists(target, existing.kind) }
        // Two names of one file: as POSIX has it, nothing is to be done.
        if existing.id == entry.node.id { return }
        if mode == .exchanges {
            let other = try requireOwnEntry(target, in: group)
            if !isChecked { try checkMove(of: other, to: name) }
            return try exchange(entry, other, now)
        }
        try checkReplacing(existing, target, by: entry)
        let least = mode == .replaces ? existing.protectionClassOfFile : nil
        try move(entry, to: target, replacing: existing, least, keepsDirectory, now)
    }

    private func checkReplacing(_ existing: FileTree.Place, _ target: ItemName, by entry: FileEntry) throws {
        guard (existing.kind == .directory) == entry.isDirectory else {
            throw CofferError(
                .duplicateItem,
                "can't replace \(target.quoted): a file takes the place of a file only, a directory of a directory",
                operation: .write,
                reason: existing.kind == .directory ? .isDirectory : .notDirectory
            )
        }
        if existing.kind == .directory, try !tree.isEmpty(existing.id) { throw Self.notEmpty(target, .duplicateItem) }
    }

    /// - Parameter least: The class that the entry gets if its own is weaker.
    private func move(
        _ former: FileEntry,
        to target: ItemName,
        replacing existing: FileTree.Place?,
        _ least: ProtectionClass?,
        _ keepsDirectory: Bool,
        _ now: Int64
    ) throws {
        var entry = former
        try connection.transaction {
            try dead.forgetRemoved()
            // Programs save by writing beside and renaming: what they save stays as secret as it was.
            if let least { entry = try raised(former, to: least, as: target) }
            var row = try nameRow(of: entry)
            // The parents come first: the removal of the replaced entry would not prune them, but the moved entry may
            // be their only one.
            let parent = try tree.makeParents(of: target, in: entry.metadata.group, now: now)
            if let existing, let file = entry.file {
                let heir = Heir(
                    node: file.node,
                    protectionClass: file.protectionClass,
                    name: target,
                    group: entry.metadata.group
                )
                try versions.replace(existing, by: heir, keepCount: nil, now: now)
            } else if let existing {
                try versions.removeName(existing.name, of: existing.id, content: existing.content, now: now)
            }
            let formerParent = row.parent
            row.parent = parent
            row.metadata.name = target.lastComponent
            row.metadata.times.changed = NodeTimes.nanoseconds(now)
            try tree.update(row)
            if row.kind == .hardLink { try tree.touchChanged(entry.node.id, now: now) }
            try tree.touch(parent, now: now)
            try tree.didRemove(from: formerParent, keepsDirectory: keepsDirectory, now: now)
        }
        guard let file = former.file, let present = entry.file, present.protectionClass != file.protectionClass else {
            return
        }
        openContents.change(file.content, from: file.protectionClass, to: present.protectionClass)
    }

    /// Gives a file a class, unless its own is as strict, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: The file; anything else stays as it is.
    ///   - least: The class of the file that it replaces.
    ///   - target: The path of that file.
    private func raised(_ entry: FileEntry, to least: ProtectionClass, as target: ItemName) throws -> FileEntry {
        guard let file = entry.file, file.protectionClass.stricter(least) != file.protectionClass else { return entry }
        var node = entry.node
        node.protectionClass = least
        do {
            node.wrappedKey = unsafe try keys.rewrapFileKey(
                file.wrappedKey.span.bytes,
                from: file.protectionClass,
                to: least,
                of: file.content
            )
        } catch {
            // The key that is missing is that of the stricter class, unless that has a public one.
            let subject = least.permits(.create, in: keys.state) ? entry.quoted : target.quoted
            throw error.cofferError(subject, in: keys.state, for: .write)
        }
        try tree.update(node)
        try tree.protectLinks(of: node.id, as: least)
        try versions.raise(ofFile: node.id, to: least)
        return FileEntry(node: node, path: entry.path, name: entry.name)
    }

    private func exchange(_ one: FileEntry, _ other: FileEntry, _ now: Int64) throws {
        var (first, second) = (try nameRow(of: one), try nameRow(of: other))
        try connection.transaction {
            // Two rows can't have one place, not even between the two changes.
            try connection.execute("UPDATE file_nodes SET parent = -2 WHERE id = ?", .integer(first.id))
            let place = (parent: first.parent, name: first.metadata.name)
            (first.parent, first.metadata.name) = (second.parent, second.metadata.name)
            (second.parent, second.metadata.name) = (place.parent, place.name)
            for var row in [second, first] {
                row.metadata.times.changed = NodeTimes.nanoseconds(now)
                try tree.update(row)
                if let target = row.target { try tree.touchChanged(target, now: now) }
            }
            for parent in Set([first.parent, second.parent]) { try tree.touch(parent, now: now) }
        }
    }

    /// The row that gives an entry its name.
    private func nameRow(of entry: FileEntry) throws -> FileTree.Node {
        guard let name = entry.name, name.id != entry.node.id else { return entry.node }
        guard let row = try tree.node(numbered: name.id, entry.quoted) else { throw FileTree.dangling(entry.quoted) }
        return row
    }

    // MARK: Directories

    private func checkMove(of entry: FileEntry, to target: ItemName) throws {
        guard entry.isDirectory else { return }
        var move = try beginMove(of: entry, to: target)
        if move.mayBecomeTooLong { while try move.next() != nil {} }
    }

    /// Begins to check what is in a directory before it is moved.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - target: The new path.
    /// - Throws: `param` if the directory would contain itself.
    package func beginMove(of directory: FileEntry, to target: ItemName) throws -> TreeMove {
        if target.path.utf8.starts(with: (directory.path + "/").utf8) {
            throw CofferError(
                .param,
                "can't move \(directory.quoted) to \(target.quoted): that is inside of it",
                reason: .insideItself
            )
        }
        return TreeMove(
            of: directory,
            to: target,
            mayBecomeTooLong: try mayBecomeTooLong(in: directory, at: target),
            walk(below: directory, in: [directory.metadata.group], isRecursive: true)
        )
    }

    /// Whether a path below a directory may be invalid after the directory is moved.
    private func mayBecomeTooLong(in directory: FileEntry, at target: ItemName) throws -> Bool {
        let depth = target.components.count
        let byteCount = target.path.utf8.count
        let formerDepth = directory.path.utf8.count { $0 == UInt8(ascii: "/") } + 1
        if depth <= formerDepth && byteCount <= directory.path.utf8.count { return false }
        let height = try tree.height(of: directory.node.id) + 1
        // Most trees are so flat that no name has to be read.
        return depth + height > Limits.nameComponents
            || byteCount + height * (Limits.nameComponentBytes + 1) > Limits.nameBytes
    }
}

extension FileTree.Place {
    /// The class of a file; `nil` for anything else.
    fileprivate var protectionClassOfFile: ProtectionClass? { kind == .file ? protectionClass : nil }
}

extension ItemName {
    /// The part after the last slash.
    var lastComponent: String { String(components[components.count - 1]) }
}
