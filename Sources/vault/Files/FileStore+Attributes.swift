internal import CofferCore

// What POSIX tells of a file besides its content. It is metadata: it can be read and changed whenever the names can be,
// whatever the class of the file.

/// A change of attributes; `nil` for those that stay.
package struct AttributeChange: Sendable {
    package var ownership: Ownership
    /// Nanoseconds since 1970.
    package var accessed: Int64?
    /// Nanoseconds since 1970.
    package var modified: Int64?

    package init(ownership: Ownership = Ownership(), accessed: Int64? = nil, modified: Int64? = nil) {
        self.ownership = ownership
        self.accessed = accessed
        self.modified = modified
    }
}

extension FileStore {
    /// How many names a file has: 0 if it only exists for its handles; 1 for a directory.
    package func linkCount(of entry: FileEntry) throws -> Int64 {
        entry.orphan == nil ? try tree.linkCount(of: entry.node) : 0
    }

    /// Changes attributes, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: A file or a directory, or an open file that has lost its name.
    ///   - change: The attributes.
    ///   - now: Nanoseconds since 1970.
    /// - Returns: The changed entry.
    package func setAttributes(of entry: FileEntry, to change: AttributeChange, now: Int64) throws -> FileEntry {
        if change.ownership.mode != nil, entry.type == .symbolicLink {
            throw CofferError(.param, "\(entry.quoted) is a symbolic link, which has no mode", reason: .notSupported)
        }
        var node = entry.node
        node.metadata.ownership.mode = change.ownership.mode ?? node.metadata.ownership.mode
        node.metadata.ownership.uid = change.ownership.uid ?? node.metadata.ownership.uid
        node.metadata.ownership.gid = change.ownership.gid ?? node.metadata.ownership.gid
        node.metadata.times.accessed = change.accessed ?? node.metadata.times.accessed
        node.metadata.times.modified = change.modified ?? node.metadata.times.modified
        node.metadata.times.changed = now
        // Otherwise the next sync would record the time of what was written before.
        if let modified = change.modified, let open = openFiles.openFile(of: entry), open.hasChanges {
            try openFiles.make(FileChange(time: modified), in: open, isLogged: false)
        }
        return try store(node, of: entry)
    }

    /// Writes the changed row of an entry, or keeps it with the open file that has lost its name.
    func store(_ node: FileTree.Node, of entry: FileEntry) throws -> FileEntry {
        let changed = FileEntry(node: node, path: entry.path, name: entry.name)
        if let orphan = entry.orphan {
            orphan.setLast(changed)
            return try openFiles.entry(of: orphan)
        }
        try tree.update(node)
        return changed
    }
}
