package import CofferFileContent
internal import CofferCore
internal import CofferDatabase
internal import CofferKeys

// Recording the writes of open files in the catalog.

extension OpenFileTable {
    /// Records synced writes in the catalog, within the open transaction.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - logged: Its unsynced chunks, by ``ChunkLog/plan(_:)``; `nil` if its overlay was synced.
    ///   - now: Milliseconds since 1970.
    package func commit(_ file: OpenFile, logging logged: [LoggedChunk]? = nil, now: Int64) throws {
        if logged == nil, !file.isUnlinked { file.overlayState.isHeaderSynced = true }
        guard file.hasChanges else {
            if file.overlayState.loggedByteCount > 0 { try log.forget(of: file) }
            return
        }
        guard !file.isUnlinked, let node = try tree.node(numbered: file.node, file.subject), node.content == file.id
        else {
            // The file has no name any more: its data exists as long as its handles.
            return
        }
        let rowsEnd = file.rowsEnd
        let changes = file.beginCommit()
        let state = UnsyncedState(
            changes: changes,
            byteCount: file.byteCount,
            visibleBaseBytes: file.visibleBaseBytes
        )
        do {
            try tree.connection.transaction {
                try dead.forgetRemoved()
                if logged == nil { try log.forget(of: file) }
                let number = unsynced?.number(of: file.id)
                for slot in try record(state, of: node, file.id, below: rowsEnd, includes: number, now: now) {
                    file.slots.willForget(slot.number, isEmptied: slot.isEmptied)
                }
                try log.add(logged ?? [], of: file)
            }
        } catch let finding as ContentFormat.Finding {
            file.undoCommit()
            throw CofferError.damaged(content: file.subject, found: finding.words)
        } catch {
            file.undoCommit()
            throw error
        }
        didCommit(file)
    }

    /// Changes the rows of a file, within the open transaction.
    ///
    /// - Parameters:
    ///   - state: The changes, and the layout.
    ///   - node: The row of the file.
    ///   - content: Its content.
    ///   - rowsEnd: The chunk from which on it has no rows.
    ///   - number: The last number of the log that the row includes then; `nil` for no change.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The slots that rows name no longer, and whether no other ones take their places.
    func record(
        _ state: UnsyncedState,
        of node: FileTree.Node,
        _ content: ItemID,
        below rowsEnd: Int64 = .max,
        includes number: ChangeNumber?,
        now: Int64
    ) throws -> [(number: Int64, isEmptied: Bool)] {
        let changes = state.changes
        var metadata = node.metadata
        var tag = ChunksTag(metadata.layout.chunksTag)
        var forgotten: [(number: Int64, isEmptied: Bool)] = []
        func forget(_ slot: ChunkSlot, _ chunk: Int64, isEmptied: Bool) throws {
            try log.forget(in: slot.number, of: content)
            tag.toggle(chunks.tag(of: slot, chunk, in: content))
            forgotten.append((slot.number, isEmptied))
        }
        if let cut = changes.cutFrom {
            try chunks.forEachRow(of: node.id, from: cut) { chunk, slot in
                if cut > 0 { return try forget(slot, chunk, isEmptied: true) }
                forgotten.append((slot.number, true))
            }
            try chunks.remove(from: cut, in: node.id)
            if cut == 0 {
                tag = .none
                try log.forget(of: content)
            }
        }
        for chunk in changes.holes {
            guard let old = try chunks.slot(of: chunk, in: node.id) else { continue }
            try forget(old, chunk, isEmptied: true)
            try chunks.remove(chunk, in: node.id)
        }
        for (chunk, slot) in changes.chunks {
            if chunk < rowsEnd, let old = try chunks.slot(of: chunk, in: node.id) {
                try forget(old, chunk, isEmptied: slot.byteCount == 0)
            }
            try chunks.put(slot, chunk, in: node.id)
            tag.toggle(chunks.tag(of: slot, chunk, in: content))
        }
        metadata.layout.byteCount = state.byteCount
        metadata.layout.visibleBaseBytes = state.visibleBaseBytes
        metadata.layout.chunksTag = tag.bytes
        metadata.times.modified = changes.time ?? NodeTimes.nanoseconds(now)
        // A sync changes nothing that programs see.
        metadata.times.changed = max(metadata.times.changed, changes.time ?? NodeTimes.nanoseconds(now))
        metadata.layout.lastChange = number ?? metadata.layout.lastChange
        try tree.update(node, to: metadata)
        return forgotten
    }

    // MARK: Looking

    /// A file that was written and is not synced yet; `nil` if there is none of the number.
    package func unsyncedFile(_ number: Int64) -> OpenFile? { self[number].flatMap { $0.hasChanges ? $0 : nil } }

    /// The files that were written since their last sync.
    package var changedFiles: [OpenFile] { all.filter(\.hasChanges) }

    /// Whether a file has rewritten chunks, so that it is read through an ``OpenFile``.
    package func hasChunks(_ file: FileItem) -> Bool {
        let layout = file.metadata.layout
        return self[file.node]?.hasChanges ?? false || file.metadata.flags.contains(.hasNoBase)
            || layout.baseByteCount != layout.byteCount || layout.visibleBaseBytes != layout.baseByteCount
            || ChunksTag(layout.chunksTag) != .none
    }

    /// The current item of an open file; `nil` if it was removed.
    ///
    /// - Parameter file: An open file.
    /// - Throws: `decode` if it is damaged; ``DatabaseError``.
    package func item(of file: OpenFile) throws -> FileItem? {
        guard let node = try tree.node(numbered: file.node, file.subject), let name = try tree.nameRow(of: node),
            let directory = try tree.path(ofDirectory: name.parent)
        else { return nil }
        return FileItem(
            node,
            path: directory + name.metadata.name,
            FileTree.NameRow(id: name.id, parent: name.parent)
        )
    }

    /// The entry of an open file, which may have lost its name.
    ///
    /// - Parameter file: An open file.
    /// - Throws: `interactionNotAllowed` if its attributes can be read after the first unlock only; `decode`.
    package func entry(of file: OpenFile) throws -> FileEntry {
        if file.isUnlinked {
            guard let last = file.last else { throw CofferError.locked(file.subject, in: tree.keys.state, for: .read) }
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

    func openFile(of entry: FileEntry) -> OpenFile? { entry.orphan ?? self[entry.node.id] }

    /// Whether a file is open for writing.
    package func isOpenForWriting(_ entry: FileEntry) -> Bool { openFile(of: entry)?.use.hasWriter ?? false }

    /// The size of a file, including what open handles have not synced; 0 for a directory.
    package func byteCount(of entry: FileEntry) -> Int64 { openFile(of: entry)?.byteCount ?? entry.metadata.byteCount }

    /// The bytes of the disk that the content of a file takes; `nil` if that is not known, and for anything else.
    package func storedByteCount(of entry: FileEntry) -> Int64? {
        guard entry.type == .file else { return nil }
        if let open = openFile(of: entry) { return open.content.storedByteCount }
        let metadata = entry.metadata
        let base = metadata.flags.contains(.hasNoBase) ? 0 : metadata.layout.baseByteCount
        if ChunksTag(metadata.layout.chunksTag) == .none { return base }
        guard let content = entry.node.content else { return nil }
        return contents.storedByteCount(ofOverlay: content).map { base + $0 }
    }

    /// The size of a file and when it was changed, in milliseconds since 1970, if open handles have not synced them.
    package func unsynced(_ file: FileItem) -> (byteCount: Int64, modified: Int64)? {
        guard file.version == nil, let open = self[file.node], open.id == file.content else { return nil }
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

    /// Keeps the metadata of the files, because it is about to be sealed until the next unlock: what was written to
    /// them is still synced.
    package func keepMetadata() {
        for file in all { try? tree.keepMetadata(of: file.node) }
    }
}
