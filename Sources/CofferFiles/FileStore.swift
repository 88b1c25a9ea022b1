package import CofferCore
package import CofferDatabase
package import CofferKeys
internal import CofferMemory
internal import CofferSystem

/// The file-protection store: files of any size, each under a key of its own that its class key wraps.
///
/// The catalog is changed on the store's own actor; contents are sealed and opened on other threads, through
/// ``ContentWrite`` and ``ContentRead``. After the transaction of a change is committed, ``settle()`` moves and removes
/// contents on disk accordingly; where that is cut off, ``recover()`` does it when the store comes up.
package final class FileStore {
    let connection: Connection
    let keys: VaultKeys
    let contents: ContentDirectory
    let tree: FileTree
    let chunks: ChunkTable
    var openContents = OpenContents()
    /// The files that are open, by their rows.
    var openFiles: [Int64: OpenFile] = [:]
    /// The open files whose rows go with the transaction.
    var unlinking: [OpenFile] = []
    /// The open files that the transaction makes.
    var creating: [OpenFile] = []
    /// The open files whose sync is in the transaction.
    var committing: [OpenFile] = []
    var toPlace: [ItemID] = []
    var toPlaceOverlays: [ItemID] = []
    var toRemove: [ItemID] = []
    var removed: [ItemID] = []

    /// The tables of the store, in the order of their making.
    ///
    /// Never edited: a change is a new one.
    package static let migrations = [
        Migration(
            name: "files: the tree",
            sql: """
                CREATE TABLE file_nodes (
                    id INTEGER PRIMARY KEY,
                    parent INTEGER NOT NULL,
                    name_tag BLOB NOT NULL,
                    kind INTEGER NOT NULL,
                    class_key INTEGER NOT NULL,
                    content BLOB UNIQUE,
                    wrapped_key BLOB NOT NULL,
                    metadata BLOB NOT NULL,
                    UNIQUE (parent, name_tag)
                ) STRICT;
                CREATE TABLE file_dead_contents (content BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
                """
        ),
        Migration(
            name: "files: count",
            generation: 2,
            sql: """
                CREATE TABLE file_count (files INTEGER NOT NULL) STRICT;
                INSERT INTO file_count SELECT count(*) FROM file_nodes WHERE kind = 2;
                CREATE TRIGGER file_nodes_added AFTER INSERT ON file_nodes WHEN NEW.kind = 2
                    BEGIN UPDATE file_count SET files = files + 1; END;
                CREATE TRIGGER file_nodes_removed AFTER DELETE ON file_nodes WHEN OLD.kind = 2
                    BEGIN UPDATE file_count SET files = files - 1; END;
                """
        ),
        Migration(
            name: "files: chunks",
            generation: 5,
            sql: """
                CREATE TABLE file_chunks (
                    node INTEGER NOT NULL,
                    chunk INTEGER NOT NULL,
                    slot INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    tag BLOB NOT NULL,
                    PRIMARY KEY (node, chunk)
                ) STRICT, WITHOUT ROWID;
                CREATE TRIGGER file_nodes_chunks AFTER DELETE ON file_nodes WHEN OLD.kind = 2
                    BEGIN DELETE FROM file_chunks WHERE node = OLD.id; END;
                """
        ),
        quarantineMigration,
        Migration(
            name: "files: directories",
            generation: 6,
            sql: "CREATE INDEX file_directories ON file_nodes (parent) WHERE kind = 1;"
        ),
    ]

    /// Opens the store in a catalog that was migrated.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The vault's keys.
    ///   - contents: Where contents lie.
    package init(connection: Connection, keys: VaultKeys, contents: ContentDirectory) {
        self.connection = connection
        self.keys = keys
        self.contents = contents
        tree = FileTree(connection: connection, keys: keys)
        chunks = ChunkTable(connection: connection, keys: keys)
    }

    // MARK: Finding

    /// Finds a file, in every state of the vault.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    /// - Returns: The file; `nil` where there is none.
    package func find(_ name: ItemName, in group: String) throws -> FileItem? {
        guard let node = try tree.node(at: name, in: group) else { return nil }
        return FileItem(node, path: name.path)
    }

    /// How many files there are.
    package func count() throws -> Int { try tree.fileCount() }

    // MARK: Contents

    /// Prepares to write a new content for a path.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - protectionClass: The class of the file: its key has to be there now, and to replace a file that file's as well.
    /// - Throws: `interactionNotAllowed`; `param` where a part of the path is a file.
    package func prepareWrite(
        _ name: ItemName,
        in group: String,
        as protectionClass: ProtectionClass
    ) throws -> ContentWrite {
        try checkPath(name, in: group)
        if let existing = try find(name, in: group), !existing.protectionClass.permits(.write, in: keys.state) {
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
            key: opened(new.takeKey(), of: id, as: protectionClass),
            directory: contents
        )
    }

    /// Prepares to read a file.
    ///
    /// - Parameter file: The file.
    /// - Throws: `interactionNotAllowed`; `decode` where its wrapped key is damaged.
    package func prepareRead(_ file: FileItem) throws -> ContentRead {
        let subject = quotedForDisplay(file.path)
        let key: SymmetricKey
        do {
            key = unsafe try keys.fileKey(
                unwrapping: file.wrappedKey.span.bytes,
                for: file.protectionClass,
                of: file.content
            )
        } catch {
            throw error.cofferError(subject, in: keys.state, for: .read)
        }
        guard let content = try contents.open(file.content) else {
            throw CofferError.damaged(subject, found: "its content is missing")
        }
        return ContentRead(
            id: file.content,
            subject: subject,
            protectionClass: file.protectionClass,
            key: opened(key, of: file.content, as: file.protectionClass),
            file: ContentFile(content),
            byteCount: file.byteCount
        )
    }

    func opened(
        _ key: consuming sending SymmetricKey,
        of id: ItemID,
        as protectionClass: ProtectionClass
    ) -> ContentKey {
        let key = ContentKey(key)
        openContents.add(key, of: id, as: protectionClass)
        return key
    }

    /// Forgets the keys of a content that nobody reads or writes any more.
    ///
    /// - Parameters:
    ///   - write: A write that ended, well or not.
    package func finished(_ write: ContentWrite) { close(write.key, of: write.id) }

    /// Forgets the keys of a content that nobody reads or writes any more.
    ///
    /// - Parameters:
    ///   - read: A read that ended, well or not.
    package func finished(_ read: ContentRead) { close(read.key, of: read.id) }

    func close(_ key: ContentKey, of id: ItemID) {
        if openContents.takeUse() { keys.noteUse() }
        key.close()
        openContents.remove(key, of: id)
    }

    /// Whether an open content of a class that the passcode protects was read or written since this was asked last.
    package func takeTransferUse() -> Bool { openContents.takeUse() }

    /// Wipes the keys of the open contents that may not go on in a state of the vault.
    ///
    /// What counts is the class that the file has now, and not the one that it was opened with.
    ///
    /// - Parameter state: The state that the vault is in now.
    package func revokeOpenKeys(in state: VaultState) { openContents.revoke(in: state) }

    /// The class that a file which is being read has now.
    ///
    /// - Parameter read: A read that has not finished.
    package func protectionClass(of read: ContentRead) -> ProtectionClass {
        protectionClass(ofContent: read.id) ?? read.protectionClass
    }

    func protectionClass(ofContent id: ItemID) -> ProtectionClass? { openContents.protectionClass(of: id) }

    // MARK: Changing

    /// Puts a written content in place of what was at a path, within the transaction that is open.
    ///
    /// - Parameters:
    ///   - write: The write, performed.
    ///   - name: The path it was prepared for.
    ///   - group: The caller's group.
    ///   - byteCount: What performing it returned.
    ///   - kind: What the owner says it is.
    ///   - created: When the item that it replaces was created, in milliseconds since 1970.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `interactionNotAllowed` where the vault was locked meanwhile.
    package func commit(
        _ write: ContentWrite,
        at name: ItemName,
        in group: String,
        byteCount: Int64,
        kind: ItemKind?,
        created: Int64?,
        now: Int64
    ) throws {
        try checkPath(name, in: group)
        let existing = try find(name, in: group)
        let mayCreate = write.protectionClass.permits(.create, in: keys.state)
        // Whether the old file may be replaced was decided when the write began; this is going on with that.
        guard mayCreate, existing?.protectionClass.permits(.proceed, in: keys.state) ?? true else {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
        if existing == nil { try connection.faults.refuseNew(name.quoted) }
        try connection.transaction {
            try forgetRemoved()
            // The parents come first: removing the old file would prune them.
            let parent = try tree.makeParents(of: name, in: group, now: now)
            if let existing {
                try unlink(existing.node)
                try tree.delete(existing.node, content: existing.content)
            }
            let metadata = NodeMetadata(
                group: group,
                name: String(name.components[name.components.count - 1]),
                kind: kind ?? existing?.kind,
                byteCount: byteCount,
                created: existing?.created ?? created ?? now,
                modified: now
            )
            _ = try tree.insert(
                metadata,
                under: parent,
                .file,
                class: write.protectionClass,
                content: write.id,
                wrappedKey: write.wrappedKey
            )
        }
        toPlace.append(write.id)
        if let existing { toRemove.append(existing.content) }
    }

    /// Gives a file another class, within the transaction that is open: its key is wrapped anew, its content is not touched.
    ///
    /// Whoever is reading it goes on, as one who reads a file of the new class. A file that has the class already is left as
    /// it is, in every state of the vault.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - protectionClass: The class it is to have.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `interactionNotAllowed` where the old class's key for unwrapping or the new one's for wrapping is not
    ///   there; `decode` where the wrapped key is damaged. Nothing is changed then.
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
        try tree.protect(file, as: protectionClass, wrappedKey: wrappedKey, modified: now)
        openContents.change(file.content, from: file.protectionClass, to: protectionClass)
    }

    /// Removes a file, in every state of the vault, within the transaction that is open.
    ///
    /// - Parameter file: The file.
    package func remove(_ file: FileItem) throws {
        try connection.transaction {
            try forgetRemoved()
            try unlink(file.node)
            try tree.remove(file)
        }
        toRemove.append(file.content)
    }

    /// Lets the handles of a file whose row goes use it to their end.
    ///
    /// - Parameter node: The number of the row.
    func unlink(_ node: Int64) throws {
        guard let open = openFiles[node] else { return }
        do {
            open.unlink(keeping: try chunks.rows(of: node, from: 0))
        } catch let finding as ContentFormat.Finding {
            throw CofferError.damaged(open.subject, found: finding.words)
        }
        openFiles[node] = nil
        unlinking.append(open)
    }

    /// Gives up a write that was performed and will not be committed.
    ///
    /// - Parameter write: The write.
    package func discard(_ write: ContentWrite) { contents.discardStaged(write.id) }

    func checkPath(_ name: ItemName, in group: String) throws {
        if try tree.fileInTheWay(of: name, in: group) { throw CofferError.fileInTheWay(name) }
    }
}
