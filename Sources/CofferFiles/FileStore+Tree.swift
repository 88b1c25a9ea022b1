package import CofferCore
internal import CofferDatabase
internal import CofferKeys

// Operations on directories, and on files by name. They need no class key except that of the names, and so work from
// the first unlock on in every state of the vault; before it, with what the passcode does not name.

extension FileStore {
    // MARK: Finding

    /// Finds a file or a directory.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: The entry; `nil` if there is none.
    /// - Throws: `decode` if it, or a directory on its path, is damaged; `interactionNotAllowed` before the first unlock,
    ///   if the passcode protects its name.
    package func entry(_ name: ItemName, in group: String) throws -> FileEntry? {
        try tree.node(at: name, in: group).map { FileEntry(node: $0, path: name.path) }
    }

    /// The current entry of an open file; `nil` if it was removed.
    ///
    /// - Parameter file: An open file.
    /// - Throws: `decode` if it is damaged; ``DatabaseError``.
    package func item(of file: OpenFile) throws -> FileItem? {
        guard let node = try tree.node(numbered: file.node, file.subject),
            let directory = try tree.path(ofDirectory: node.parent)
        else { return nil }
        return FileItem(node, path: directory + node.metadata.name)
    }

    /// Finds a file or a directory that must exist.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Throws: `itemNotFound`; `decode` if it, or a directory on its path, is damaged.
    package func requireEntry(_ name: ItemName, in group: String) throws -> FileEntry {
        guard let entry = try entry(name, in: group) else { throw CofferError.noEntry(name) }
        return entry
    }

    /// Finds a file or a directory that must exist and is to be changed, or was changed just now.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Throws: As ``requireEntry(_:in:)``, but not for what was stored before the first unlock and since the daemon
    ///   started.
    package func requireOwnEntry(_ name: ItemName, in group: String) throws -> FileEntry {
        guard let node = try ownNode(at: name, in: group) else { throw CofferError.noEntry(name) }
        return FileEntry(node: node, path: name.path)
    }

    private func ownNode(at name: ItemName, in group: String) throws -> FileTree.Node? {
        guard let place = try tree.place(at: name, in: group) else { return nil }
        do {
            return try place.node ?? tree.node(numbered: place.id, name.quoted)
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
    }

    /// The number of entries of a directory, including damaged ones.
    package func childCount(of directory: FileEntry) throws -> Int { try tree.childCount(of: directory.node.id) }

    /// The default class of a new file: that of the nearest parent directory that has one.
    ///
    /// - Parameters:
    ///   - name: The path of the file.
    ///   - group: The caller's group.
    /// - Returns: `nil` if no directory has one.
    package func defaultClass(for name: ItemName, in group: String) throws -> ProtectionClass? {
        var found: ProtectionClass?
        try tree.forEachDirectory(around: name, in: group) { found = $0.defaultClass ?? found }
        return found
    }

    /// The default class of a directory for new files, in every state of the vault; `nil` if it has none.
    ///
    /// - Parameters:
    ///   - name: The path of the directory.
    ///   - group: The caller's group.
    package func defaultClass(ofDirectory name: ItemName, in group: String) throws -> ProtectionClass? {
        try tree.place(at: name, in: group)?.defaultClass
    }

    /// What the directories around a name say about a new item there, at any depth.
    ///
    /// Before the first unlock, a directory whose metadata can't be opened counts as one that was created explicitly.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: Whether one of them was created explicitly or has a default class, and the innermost default class.
    package func surroundings(
        of name: ItemName,
        in group: String
    ) throws -> (isInMadeDirectory: Bool, defaultClass: ProtectionClass?) {
        var (isFound, defaultClass) = (false, ProtectionClass?.none)
        try tree.forEachDirectory(around: name, in: group) { directory in
            if directory.stays || directory.defaultClass != nil { isFound = true }
            defaultClass = directory.defaultClass ?? defaultClass
        }
        return (isFound, defaultClass)
    }

    /// What keeps a keychain item from having a name, in every state of the vault.
    ///
    /// Before the first unlock, a directory whose metadata can't be opened counts as one that was created explicitly.
    package enum Occupant {
        case file
        /// A directory that was created explicitly.
        case madeDirectory
    }

    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: `nil` if a keychain item may have the name.
    package func occupant(of name: ItemName, in group: String) throws -> Occupant? {
        guard let place = try tree.place(at: name, in: group) else { return nil }
        if place.kind == .file { return .file }
        return place.stays ? .madeDirectory : nil
    }

    /// Begins a walk through a directory.
    ///
    /// - Parameters:
    ///   - directory: The directory; `nil` for the root.
    ///   - groups: The groups of the entries.
    ///   - isRecursive: Whether to descend into its directories.
    package func walk(below directory: FileEntry?, in groups: AccessGroups, isRecursive: Bool) -> TreeWalk {
        TreeWalk(tree, below: tree.start(at: directory), in: groups, isRecursive: isRecursive)
    }

    // MARK: Directories

    /// Creates a directory that stays when it is empty, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - defaultClass: The class of new files in it; `nil` to inherit it.
    ///   - makesParents: Whether to create missing parent directories, and to accept an existing directory.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `duplicateItem` if something is at the path; `itemNotFound` if a parent directory does not exist;
    ///   `param` if a parent is a file.
    package func makeDirectory(
        _ name: ItemName,
        in group: String,
        defaultClass: ProtectionClass?,
        makesParents: Bool,
        now: Int64
    ) throws {
        let components = name.components
        try connection.transaction {
            var parent = FileTree.root
            for (index, component) in components.enumerated() {
                let isLast = index == components.count - 1
                if let place = try tree.place(component, under: parent, in: group, name) {
                    if isLast {
                        try acceptDirectory(place, name, defaultClass, makesParents)
                    } else if place.kind == .file {
                        throw CofferError.fileInTheWay(name)
                    }
                    parent = place.id
                    continue
                }
                guard isLast || makesParents else { throw Self.noParent(name) }
                try connection.faults.refuseNew(name.quoted)
                let metadata = NodeMetadata(
                    group: group,
                    name: String(component),
                    created: now,
                    modified: now,
                    flags: .stays,
                    defaultClass: isLast ? defaultClass : nil
                )
                parent = try tree.insert(metadata, under: parent, .directory, class: nil, content: nil, wrappedKey: [])
            }
        }
    }

    /// Checks what is at the path of a directory that is to be created.
    private func acceptDirectory(
        _ place: FileTree.Place,
        _ name: ItemName,
        _ defaultClass: ProtectionClass?,
        _ isContentWithOne: Bool
    ) throws {
        guard place.kind == .directory, isContentWithOne else { throw Self.exists(name, place.kind) }
        guard defaultClass == nil || defaultClass == place.defaultClass else {
            throw CofferError(
                .duplicateItem,
                "there is a directory \(name.quoted) already, and its new files have another class",
                hint: "'coffer file protect --default' changes that",
                operation: .create
            )
        }
        if place.stays { return }
        guard var node = place.node else { return }
        node.metadata.flags.insert(.stays)
        try tree.update(node)
    }

    /// Changes the default class of a directory, within the open transaction.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - protectionClass: The class; existing files keep theirs.
    ///   - now: Milliseconds since 1970.
    package func setDefaultClass(of directory: FileEntry, to protectionClass: ProtectionClass, now: Int64) throws {
        precondition(directory.isDirectory, "a file has no default class")
        var node = directory.node
        if node.metadata.defaultClass == protectionClass { return }
        node.metadata.defaultClass = protectionClass
        node.metadata.modified = now
        try tree.update(node)
    }

    /// Changes the class of a file, or the default class of a directory, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: The file or directory.
    ///   - protectionClass: The class.
    ///   - now: Milliseconds since 1970.
    ///   - rewrapKept: Gives what a file keeps of a keychain item the new class as well.
    /// - Returns: Whether it had another class.
    /// - Throws: `interactionNotAllowed` if a key that a file's change of class needs is not in memory.
    package func protect(
        _ entry: FileEntry,
        as protectionClass: ProtectionClass,
        now: Int64,
        rewrapKept: ([UInt8]) throws -> [UInt8] = { $0 }
    ) throws -> Bool {
        if entry.protectionClass == protectionClass { return false }
        if let file = entry.file {
            try protect(file, as: protectionClass, now: now, rewrapKept: rewrapKept)
        } else {
            try setDefaultClass(of: entry, to: protectionClass, now: now)
        }
        return true
    }

    /// Whether a file is open for writing.
    package func isOpenForWriting(_ entry: FileEntry) -> Bool { openFiles[entry.node.id]?.hasWriter ?? false }

    /// The size of a file, including what open handles have not synced; 0 for a directory.
    package func byteCount(of entry: FileEntry) -> Int64 {
        openFiles[entry.node.id]?.byteCount ?? entry.metadata.byteCount
    }

    // MARK: Moving

    /// Renames a file or a directory, within the open transaction.
    ///
    /// One row is changed, regardless of the content of a directory. Classes do not change; missing parent directories
    /// of the new path are created.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - target: The new path.
    ///   - group: The caller's group.
    ///   - replaces: Whether to replace a file, or an empty directory by a directory.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `itemNotFound`; `duplicateItem` if the target exists and is not to be replaced; `param` if a part of
    ///   the path is a file, a directory would contain itself, or a path would become too long.
    package func move(
        _ name: ItemName,
        to target: ItemName,
        in group: String,
        replaces: Bool,
        now: Int64
    ) throws {
        guard var node = try ownNode(at: name, in: group) else { throw CofferError.noEntry(name) }
        if name == target { return }
        if node.kind == .directory {
            if target.isBelow(name) {
                throw CofferError(.param, "can't move \(name.quoted) to \(target.quoted): that is inside of it")
            }
            try checkDepth(of: FileEntry(node: node, path: name.path), at: target)
        }
        let existing = try tree.place(at: target, in: group)
        if let existing {
            guard replaces else { throw Self.exists(target, existing.kind) }
            guard existing.kind == node.kind else {
                throw CofferError(
                    .duplicateItem,
                    "can't replace \(target.quoted): a file takes the place of a file only, a directory of a directory",
                    operation: .write
                )
            }
            if existing.kind == .directory, try !tree.isEmpty(existing.id) {
                throw Self.notEmpty(target, .duplicateItem)
            }
        } else {
            try connection.faults.refuseNew(target.quoted)
        }
        try connection.transaction {
            try forgetRemoved()
            // The parents come first: the removal of the replaced entry would not prune them, but the moved entry may
            // be their only one.
            let parent = try tree.makeParents(of: target, in: group, now: now)
            if let existing {
                try unlink(existing.id)
                try tree.delete(existing.id, content: existing.content)
            }
            let former = node.parent
            node.parent = parent
            node.metadata.name = String(target.components[target.components.count - 1])
            try tree.update(node)
            try tree.prune(former)
        }
        if let content = existing?.content { toRemove.append(content) }
    }

    /// Checks that every path below a directory is valid after the directory is moved.
    private func checkDepth(of directory: FileEntry, at target: ItemName) throws {
        let depth = target.components.count
        let byteCount = target.path.utf8.count
        let formerDepth = directory.path.utf8.count { $0 == UInt8(ascii: "/") } + 1
        if depth <= formerDepth && byteCount <= directory.path.utf8.count { return }
        let height = try tree.height(of: directory.node.id) + 1
        // Most trees are so flat that no name has to be read.
        let isShort = byteCount + height * (Limits.nameComponentBytes + 1) <= Limits.nameBytes
        if depth + height <= Limits.nameComponents && isShort { return }
        var walk = walk(below: directory, in: [directory.metadata.group], isRecursive: true)
        let growth = byteCount - directory.path.utf8.count
        while let visit = try walk.next() {
            guard case .entry(let entry) = visit else { continue }
            let parts = entry.path.utf8.count { $0 == UInt8(ascii: "/") } + 1 - formerDepth + depth
            guard parts <= Limits.nameComponents, entry.path.utf8.count + growth <= Limits.nameBytes else {
                throw CofferError(
                    .param,
                    "can't move \(directory.quoted) to \(target.quoted): the path of \(entry.quoted) would become too long",
                    hint: "a path has at most \(Limits.nameComponents) parts and \(Limits.nameBytes) bytes"
                )
            }
        }
    }

    // MARK: Errors

    private static func exists(_ name: ItemName, _ kind: FileTree.Kind) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a \(kind == .file ? "file" : "directory") \(name.quoted) already",
            hint: "choose another name, or remove it",
            operation: .create
        )
    }

    private static func noParent(_ name: ItemName) -> CofferError {
        CofferError(
            .itemNotFound,
            "can't make \(name.quoted): the directory that it would be in is not there",
            hint: "'--parents' makes it as well",
            operation: .create
        )
    }

    static func notEmpty(_ name: ItemName, _ code: ErrorCode) -> CofferError {
        CofferError(
            code,
            "the directory \(name.quoted) is not empty",
            hint: "'coffer file remove --recursive' removes it with all that is in it",
            operation: .write
        )
    }
}

extension ItemName {
    /// Whether a path is below another one.
    fileprivate func isBelow(_ other: ItemName) -> Bool { path.utf8.starts(with: (other.path + "/").utf8) }
}
