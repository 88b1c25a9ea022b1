internal import CofferFileContent
internal import CofferCore
internal import CofferKeys

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
    /// The entry of an open file, which may have lost its name.
    ///
    /// - Parameter file: An open file.
    /// - Throws: `interactionNotAllowed` if its attributes can be read after the first unlock only; `decode`.
    package func entry(of file: OpenFile) throws -> FileEntry {
        if file.isUnlinked {
            guard let last = file.last else { throw CofferError.locked(file.subject, in: keys.state, for: .read) }
            return last
        }
        guard let node = try tree.node(numbered: file.node, file.subject) else {
            throw CofferError(.itemNotFound, "\(file.subject) was removed meanwhile")
        }
        // Before the first unlock, it may be in a directory whose name can't be read.
        let name = try tree.nameRow(of: node) ?? node
        let directory = (try? tree.path(ofDirectory: name.parent)).flatMap(\.self) ?? ""
        return FileEntry(
            node: node,
            path: directory + name.metadata.name,
            name: FileTree.NameRow(id: name.id, parent: name.parent)
        )
    }

    private func openFile(of entry: FileEntry) -> OpenFile? { entry.orphan ?? openFiles[entry.node.id] }

    /// Whether a file is open for writing.
    package func isOpenForWriting(_ entry: FileEntry) -> Bool { openFile(of: entry)?.hasWriter ?? false }

    /// The size of a file, including what open handles have not synced; 0 for a directory.
    package func byteCount(of entry: FileEntry) -> Int64 { openFile(of: entry)?.byteCount ?? entry.metadata.byteCount }

    /// The bytes of the disk that the content of a file takes; `nil` if that is not known, and for anything else.
    package func storedByteCount(of entry: FileEntry) -> Int64? {
        guard entry.type == .file else { return nil }
        if let open = openFile(of: entry) { return open.content.storedByteCount }
        let metadata = entry.metadata
        let base = metadata.flags.contains(.hasNoBase) ? 0 : metadata.baseByteCount
        if ChunksTag(metadata.chunksTag) == .none { return base }
        guard let content = entry.node.content else { return nil }
        return contents.storedByteCount(ofOverlay: content).map { base + $0 }
    }

    /// The size of a file and when it was changed, in milliseconds since 1970, if open handles have not synced them.
    package func unsynced(_ file: FileItem) -> (byteCount: Int64, modified: Int64)? {
        guard file.version == nil, let open = openFiles[file.node], open.id == file.content else { return nil }
        var times = file.metadata.times
        times.modified = open.unsyncedTime ?? times.modified
        return (open.byteCount, times.modifiedMilliseconds)
    }

    /// The times of an entry, including what open handles have not synced.
    package func times(of entry: FileEntry) -> NodeTimes {
        var times = entry.metadata.times
        if let unsynced = openFile(of: entry)?.unsyncedTime {
            times.modified = unsynced
            times.changed = max(times.changed, unsynced)
        }
        return times
    }

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
        if let modified = change.modified { openFile(of: entry)?.noteChange(at: modified) }
        return try store(node, of: entry)
    }

    /// Writes the changed row of an entry, or keeps it with the open file that has lost its name.
    func store(_ node: FileTree.Node, of entry: FileEntry) throws -> FileEntry {
        let changed = FileEntry(node: node, path: entry.path, name: entry.name)
        if let orphan = entry.orphan {
            orphan.setLast(changed)
            return try self.entry(of: orphan)
        }
        try tree.update(node)
        return changed
    }
}
