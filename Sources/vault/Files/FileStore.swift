package import CofferFileContent
package import CofferCore
package import CofferDatabase
package import CofferKeys
package import CofferSystem
package import CofferPast

/// The file-protection store: files of any size, each encrypted under its own key, which its class key wraps.
///
/// The catalog is changed on the daemon's thread; contents are sealed and opened on other threads, by ``ContentWrite``
/// and ``ContentRead``. After a transaction is committed, ``settle()`` links and removes contents on disk accordingly;
/// if that is interrupted, ``recover()`` does it at the next start.
package final class FileStore {
    let connection: Connection
    let keys: VaultKeys
    package let contents: ContentDirectory
    let tree: FileTree
    package let plans: FilePlans
    package let openContents: OpenContents
    package let openFiles: OpenFileTable
    let dead: DeadContents
    package let past: PastStore
    package let versions: FileVersions
    /// The contents that the transaction makes.
    var toPlace: [ItemID] = []
    package var orphans: OrphanedChunks { tree.orphans }

    /// Opens the store in a catalog after its migrations.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The keys of the vault.
    ///   - contents: The contents.
    ///   - unsynced: The log of changes that are not synced; `nil` for none.
    package init(
        connection: Connection,
        keys: VaultKeys,
        contents: ContentDirectory,
        unsynced: UnsyncedLog? = nil
    ) {
        self.connection = connection
        self.keys = keys
        self.contents = contents
        tree = FileTree(connection: connection, keys: keys)
        let chunks = ChunkTable(connection, keys)
        let recentChunks = ChunkReader(keeping: Limits.openedChunks)
        plans = FilePlans(contents, chunks, recentChunks)
        openContents = OpenContents(keys, recentChunks)
        dead = DeadContents(connection, contents, tree)
        past = PastStore(connection: connection, keys: keys)
        openFiles = OpenFileTable(tree, chunks, openContents, dead, past, unsynced)
        versions = FileVersions(openFiles)
    }

    // MARK: Finding

    /// Finds a file.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - operation: What is to be done with it, for the error.
    /// - Returns: The file; `nil` if there is none.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects its name.
    package func find(
        _ name: ItemName,
        in group: String,
        for operation: ItemOperation = .read
    ) throws -> FileItem? {
        try tree.file(tree.place(at: name, in: group), name, for: operation)
    }

    /// The class of a file, in every state of the vault; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    package func protectionClass(of name: ItemName, in group: String) throws -> ProtectionClass? {
        guard let place = try tree.place(at: name, in: group), place.kind == .file else { return nil }
        return place.protectionClass
    }

    /// The number of what is at a path, in every state of the vault; `nil` if nothing is.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    package func inode(of name: ItemName, in group: String) throws -> Int64? { try tree.place(at: name, in: group)?.id }

    /// The space of the disk that the vault is on.
    ///
    /// - Throws: `io`.
    package func space() throws(CofferError) -> DiskSpace {
        do throws(SystemError) { return try contents.space() } catch {
            throw error.cofferError("can't read how much space the disk has")
        }
    }

    /// The number of files.
    package func count() throws -> Int { try tree.fileCount() }

    // MARK: Contents

    /// Prepares to write a new content for a path.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - protectionClass: The class of the file. Its key for creating must be in memory, and so must that of a file
    ///     that is replaced.
    /// - Throws: `interactionNotAllowed`; `param` if a part of the path is a file.
    package func prepareWrite(
        _ name: ItemName,
        in group: String,
        as protectionClass: ProtectionClass
    ) throws -> ContentWrite {
        try tree.checkPath(name, in: group)
        if let existing = try self.protectionClass(of: name, in: group), !existing.permits(.create, in: keys.state) {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
        let id = ItemID()
        let new: WrappedItemKey
        do {
            new = try keys.newFileKey(for: protectionClass, of: id)
        } catch {
            throw error.cofferError(name.quoted, in: keys.state, for: .write)
        }
        let wrapped = new.wrapped
        return ContentWrite(
            id: id,
            subject: name.quoted,
            protectionClass: protectionClass,
            wrappedKey: wrapped,
            key: openContents.open(new.takeKey(), of: id, as: protectionClass),
            directory: contents
        )
    }

    /// Prepares to read a file.
    ///
    /// - Throws: `interactionNotAllowed`; `decode` if its wrapped key is damaged.
    package func prepareRead(_ file: FileItem) throws -> ContentRead {
        let subject = quotedForDisplay(file.path)
        let key = try file.key(keys, for: .read)
        try openFiles.checkIsRecorded(file)
        guard let content = try contents.open(file.content) else {
            throw CofferError.damaged(content: subject, found: "its content is missing")
        }
        return ContentRead(
            id: file.content,
            subject: subject,
            protectionClass: file.protectionClass,
            key: openContents.open(key, of: file.content, as: file.protectionClass),
            file: ContentFile(content),
            byteCount: file.byteCount
        )
    }

    // MARK: Changing

    /// Puts a written content at a path and replaces what was there, within the open transaction.
    ///
    /// - Parameters:
    ///   - write: The write, after it was performed.
    ///   - name: The path for which it was prepared.
    ///   - group: The caller's group.
    ///   - byteCount: The result of performing the write.
    ///   - kind: The kind that its owner states.
    ///   - created: The creation date of the replaced item, in milliseconds since 1970.
    ///   - decision: The rule by which the put was decided, and what overrode it.
    ///   - extended: Extended attributes that it gets besides.
    ///   - keepCount: How many versions the file keeps from now on; `nil` for no change.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The number of the file.
    /// - Throws: `interactionNotAllowed` if the vault was locked meanwhile.
    @discardableResult
    package func commit(
        _ write: ContentWrite,
        at name: ItemName,
        in group: String,
        byteCount: Int64,
        kind: ItemKind?,
        created: Int64?,
        decision: String = "",
        extended: ExtendedAttributes = ExtendedAttributes(),
        keepCount: Int? = nil,
        now: Int64
    ) throws -> Int64 {
        try tree.checkPath(name, in: group)
        let place = try tree.place(at: name, in: group)
        let existing = place.flatMap { place in place.node.flatMap { FileItem($0, path: name.path, place.name) } }
        let mayCreate = write.protectionClass.permits(.create, in: keys.state)
        // Whether the old file may be replaced was decided when the write began; this continues that write.
        guard mayCreate, place?.protectionClass?.permits(.proceed, in: keys.state) ?? true else {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
        if place == nil { try connection.faults.refuseNew(name.quoted) }
        let node = Int64.random(in: 1...Int64.max)
        try connection.transaction {
            try dead.forgetRemoved()
            // The parents come first: the removal of the old file would prune them.
            let parent = try tree.makeParents(of: name, in: group, now: now)
            var formerKind = existing?.kind
            if let place {
                if place.node == nil {
                    formerKind = (try? tree.node(numbered: place.id, name.quoted))?.metadata.kind
                    try versions.setAside(place, for: node)
                }
                let heir = Heir(node: node, protectionClass: write.protectionClass, name: name, group: group)
                try versions.replace(place, by: heir, keepCount: keepCount, now: now)
            } else if let keepCount {
                try versions.histories.set(node, keepCount: keepCount)
            }
            var metadata = NodeMetadata(
                group: group,
                name: String(name.components[name.components.count - 1]),
                kind: kind ?? formerKind,
                byteCount: byteCount,
                created: existing?.created ?? created ?? now,
                modified: now
            )
            metadata.decision = decision
            // Another content of the same file, for those who look at it by name.
            metadata.ownership = existing?.metadata.ownership ?? Ownership()
            metadata.extended = existing?.metadata.extended ?? ExtendedAttributes()
            for attribute in extended.all { metadata.extended[attribute.name] = attribute.value }
            try metadata.extended.check(of: name.quoted)
            try tree.touch(parent, now: now)
            _ = try tree.insert(
                metadata,
                under: parent,
                .file,
                class: write.protectionClass,
                content: write.id,
                wrappedKey: write.wrappedKey,
                as: node
            )
        }
        toPlace.append(write.id)
        return node
    }

    /// Changes the class of a file, within the open transaction: its key is rewrapped, its content is not touched.
    ///
    /// Reads in progress continue, as reads of a file of the new class. If the file has the class already, nothing
    /// changes.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - protectionClass: The new class.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `interactionNotAllowed` if the key of the old class or of the new one is not in memory; `decode` if
    ///   the wrapped key is damaged. Nothing is changed then.
    package func protect(_ file: FileItem, as protectionClass: ProtectionClass, now: Int64) throws {
        if protectionClass == file.protectionClass { return }
        let wrappedKey: [UInt8]
        do {
            wrappedKey = unsafe try keys.rewrapFileKey(
                file.wrappedKey.span.bytes,
                from: file.protectionClass,
                to: protectionClass,
                of: file.content
            )
        } catch {
            throw error.cofferError(quotedForDisplay(file.path), in: keys.state, for: .write)
        }
        try connection.transaction {
            try versions.protect(ofFile: file.node, as: protectionClass)
            try tree.protect(file, as: protectionClass, wrappedKey: wrappedKey, modified: now)
        }
        openContents.change(file.content, from: file.protectionClass, to: protectionClass)
    }

    /// Removes a file, within the open transaction.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - now: Milliseconds since 1970.
    package func remove(_ file: FileItem, now: Int64) throws {
        try connection.transaction {
            try dead.forgetRemoved()
            try versions.removeName(file.name, of: file.node, content: file.content, now: now)
            try tree.didRemove(from: file.name.parent, now: now)
        }
    }

    /// Drops a write that was performed and will not be committed.
    package func discard(_ write: ContentWrite) { contents.discardStaged(write.id) }
}
