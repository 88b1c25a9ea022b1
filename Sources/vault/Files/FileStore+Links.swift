package import CofferCore
internal import CofferDatabase
internal import CofferKeys

// Symbolic links, which the daemon keeps and never follows, and further names of files.

extension FileStore {
    /// Creates a symbolic link, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - target: Where it leads, as the client has it.
    ///   - group: The caller's group.
    ///   - ownership: Its owner.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `duplicateItem` if something is at the path; `param` if a part of the path is a file.
    package func makeSymbolicLink(
        _ name: ItemName,
        to target: String,
        in group: String,
        ownership: Ownership,
        now: Int64
    ) throws {
        try checkFree(name, in: group)
        // Where the passcode protects no names of files, it does not protect this one either.
        let inherited = try defaultClass(for: name, in: group)
        try connection.transaction {
            let parent = try tree.makeParents(of: name, in: group, now: now)
            var metadata = NodeMetadata(group: group, name: name.lastComponent, created: now, modified: now)
            metadata.layout.byteCount = Int64(target.utf8.count)
            metadata.target = target
            metadata.ownership = ownership
            try tree.touch(parent, now: now)
            _ = try tree.insert(
                metadata,
                under: parent,
                .symbolicLink,
                class: inherited == ProtectionClass.none ? inherited : nil,
                content: nil,
                wrappedKey: []
            )
        }
    }

    /// Gives a file, or a symbolic link, a further name, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - target: The new path.
    ///   - group: The caller's group.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `itemNotFound`; `duplicateItem` if something is at the new path; `param` for a directory;
    ///   `dataTooLarge` if it would have too many names.
    package func link(_ name: ItemName, to target: ItemName, in group: String, now: Int64) throws {
        let entry = try requireOwnEntry(name, in: group)
        guard !entry.isDirectory else {
            throw CofferError(
                .param,
                "\(entry.quoted) is a directory, which can't have a second name",
                hint: "a symbolic link leads to a directory",
                reason: .notPermitted
            )
        }
        try checkFree(target, in: group)
        guard try tree.linkCount(of: entry.node) < Limits.links else {
            throw CofferError(
                .dataTooLarge,
                "\(entry.quoted) has \(Limits.links) names, which is the most",
                operation: .write,
                reason: .tooManyLinks
            )
        }
        try connection.transaction {
            let parent = try tree.makeParents(of: target, in: group, now: now)
            _ = try tree.addLink(to: entry.node, named: target.lastComponent, under: parent, now: now)
            try tree.touch(parent, now: now)
        }
    }

    /// Refuses a path at which something is, or that leads through a file.
    private func checkFree(_ name: ItemName, in group: String) throws {
        if let existing = try tree.place(at: name, in: group) { throw Self.exists(name, existing.kind) }
        try tree.checkPath(name, in: group)
        try connection.faults.refuseNew(name.quoted)
    }
}
