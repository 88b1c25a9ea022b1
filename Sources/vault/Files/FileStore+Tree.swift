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
        guard let place = try tree.place(at: name, in: group) else { return nil }
        guard let node = place.node else { throw CofferError.locked(name.quoted, in: keys.state, for: .read) }
        return FileEntry(node: node, path: name.path, name: place.name)
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
        guard let place = try tree.place(at: name, in: group) else { throw CofferError.noEntry(name) }
        return FileEntry(node: try own(place.node, place.id, name), path: name.path, name: place.name)
    }

    /// A row that is to be changed.
    private func own(_ node: FileTree.Node?, _ id: Int64, _ name: ItemName) throws -> FileTree.Node {
        do {
            guard let node = try node ?? tree.node(numbered: id, name.quoted) else { throw CofferError.noEntry(name) }
            return node
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

    /// What is at a path, and around it.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    package func spot(of name: ItemName, in group: String) throws -> FileSpot { try FileSpot(name, in: group, tree) }

    /// What keeps a keychain item from having a name, in every state of the vault.
    ///
    /// Before the first unlock, a directory whose metadata can't be opened counts as one that was created explicitly.
    package enum Occupant {
        case file
        /// A directory that was created explicitly.
        case madeDirectory
        case symbolicLink
    }

    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: `nil` if a keychain item may have the name.
    package func occupant(of name: ItemName, in group: String) throws -> Occupant? {
        try occupant(at: spot(of: name, in: group))
    }

    /// What keeps a keychain item from having the name of a path.
    ///
    /// - Returns: `nil` if a keychain item may have the name.
    package func occupant(at spot: FileSpot) throws -> Occupant? {
        guard let place = try spot.place else { return nil }
        if place.kind == .file { return .file }
        if place.kind == .symbolicLink { return .symbolicLink }
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
    ///   - ownership: The mode and the owner of the directory.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `duplicateItem` if something is at the path; `itemNotFound` if a parent directory does not exist;
    ///   `param` if a parent is a file.
    package func makeDirectory(
        _ name: ItemName,
        in group: String,
        defaultClass: ProtectionClass?,
        makesParents: Bool,
        ownership: Ownership = Ownership(),
        now: Int64
    ) throws {
        let components = name.components
        try connection.transaction {
            var parent = FileTree.root
            for (index, component) in components.enumerated() {
                let isLast = index == components.count - 1
                if let place = try tree.place(component, under: parent, in: group, name.quoted) {
                    if isLast {
                        try acceptDirectory(place, name, defaultClass, makesParents)
                    } else if place.kind != .directory {
                        throw CofferError.fileInTheWay(name)
                    }
                    parent = place.id
                    continue
                }
                guard isLast || makesParents else { throw Self.noParent(name) }
                try connection.faults.refuseNew(name.quoted)
                var metadata = NodeMetadata(
                    group: group,
                    name: String(component),
                    created: now,
                    modified: now,
                    flags: .stays,
                    defaultClass: isLast ? defaultClass : nil
                )
                metadata.ownership = isLast ? ownership : Ownership(uid: ownership.uid, gid: ownership.gid)
                try tree.touch(parent, now: now)
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
    /// - Throws: `param` for anything else.
    package func setDefaultClass(of directory: FileEntry, to protectionClass: ProtectionClass, now: Int64) throws {
        guard directory.isDirectory else { throw Self.hasNoClass(directory) }
        var node = directory.node
        if node.metadata.defaultClass == protectionClass { return }
        node.metadata.defaultClass = protectionClass
        node.metadata.didChange(at: now)
        try tree.update(node)
    }

    /// Changes the class of a file, or the default class of a directory, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: The file or directory.
    ///   - protectionClass: The class.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Whether it had another class.
    /// - Throws: `param` for a symbolic link; `interactionNotAllowed` if a key that a file's change of class needs is not in
    ///   memory.
    package func protect(
        _ entry: FileEntry,
        as protectionClass: ProtectionClass,
        now: Int64
    ) throws -> Bool {
        guard entry.hasClass else { throw Self.hasNoClass(entry) }
        if entry.protectionClass == protectionClass { return false }
        if let file = entry.file {
            try protect(file, as: protectionClass, now: now)
        } else {
            try setDefaultClass(of: entry, to: protectionClass, now: now)
        }
        return true
    }

    // MARK: Errors

    private static func hasNoClass(_ entry: FileEntry) -> CofferError {
        CofferError(
            .param,
            "\(entry.quoted) is a symbolic link, which has no class",
            hint: "name the file that it leads to",
            reason: .notSupported
        )
    }

    static func exists(_ name: ItemName, _ kind: FileTree.Kind) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a \(kind.words) \(name.quoted) already",
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
            operation: .write,
            reason: .notEmpty
        )
    }
}

extension FileTree.Kind {
    /// What it is, in words.
    var words: String {
        switch self {
        case .directory: "directory"
        case .file, .hardLink: "file"
        case .symbolicLink: "symbolic link"
        }
    }
}
