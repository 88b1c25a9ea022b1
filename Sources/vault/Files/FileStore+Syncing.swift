package import CofferFileContent
internal import CofferCore
internal import CofferDatabase

// Recording the writes of open files in the catalog.

extension FileStore {
    /// Records synced writes in the catalog, within the open transaction.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - logged: Its unsynced chunks, by ``ChunkLog/plan(_:)``; `nil` if its overlay was synced.
    ///   - now: Milliseconds since 1970.
    package func commit(_ file: OpenFile, logging logged: [LoggedChunk]? = nil, now: Int64) throws {
        if logged == nil, !file.isUnlinked { file.isHeaderSynced = true }
        guard file.hasChanges else {
            if file.loggedByteCount > 0 { try log.forget(of: file) }
            return
        }
        guard !file.isUnlinked, let node = try tree.node(numbered: file.node, file.subject), node.content == file.id
        else {
            // The file has no name any more: its data exists as long as its handles.
            return
        }
        let rowsEnd = file.rowsEnd
        let changes = file.beginCommit()
        var tag = ChunksTag(node.metadata.chunksTag)
        do {
            try connection.transaction {
                try dead.forgetRemoved()
                if logged == nil { try log.forget(of: file) }
                if let cut = changes.cutFrom {
                    for (chunk, slot) in try chunks.rows(of: file.node, from: cut) {
                        try forget(slot, chunk, file, &tag, isEmptied: true)
                    }
                    try chunks.remove(from: cut, in: file.node)
                }
                for chunk in changes.holes {
                    guard let old = try chunks.slot(of: chunk, in: file.node) else { continue }
                    try forget(old, chunk, file, &tag, isEmptied: true)
                    try chunks.remove(chunk, in: file.node)
                }
                for (chunk, slot) in changes.chunks {
                    if chunk < rowsEnd, let old = try chunks.slot(of: chunk, in: file.node) {
                        try forget(old, chunk, file, &tag, isEmptied: slot.byteCount == 0)
                    }
                    try chunks.put(slot, chunk, in: file.node)
                    tag.toggle(chunks.tag(of: slot, chunk, in: file.id))
                }
                try log.add(logged ?? [], of: file)
                var metadata = node.metadata
                metadata.byteCount = file.byteCount
                metadata.visibleBaseBytes = file.visibleBaseBytes
                metadata.chunksTag = tag.bytes
                metadata.times.modified = changes.time ?? NodeTimes.nanoseconds(now)
                // A sync changes nothing that programs see.
                metadata.times.changed = max(metadata.times.changed, changes.time ?? NodeTimes.nanoseconds(now))
                try tree.update(node, to: metadata)
            }
        } catch let finding as ContentFormat.Finding {
            file.undoCommit()
            throw CofferError.damaged(content: file.subject, found: finding.words)
        } catch {
            file.undoCommit()
            throw error
        }
        openFiles.commit(file)
    }

    private func forget(
        _ slot: ChunkSlot,
        _ chunk: Int64,
        _ file: OpenFile,
        _ tag: inout ChunksTag,
        isEmptied: Bool
    ) throws {
        try log.forget(in: slot.number, of: file)
        tag.toggle(chunks.tag(of: slot, chunk, in: file.id))
        file.willForget(slot.number, isEmptied: isEmptied)
    }

    /// A file that was written and is not synced yet; `nil` if there is none of the number.
    package func unsyncedFile(_ number: Int64) -> OpenFile? { openFiles[number].flatMap { $0.hasChanges ? $0 : nil } }

    /// The files that were written since their last sync.
    package var changedFiles: [OpenFile] { openFiles.all.filter(\.hasChanges) }

    /// Whether a file has rewritten chunks, so that it is read through an ``OpenFile``.
    package func hasChunks(_ file: FileItem) -> Bool {
        let metadata = file.metadata
        return openFiles[file.node]?.hasChanges ?? false || metadata.flags.contains(.hasNoBase)
            || metadata.baseByteCount != metadata.byteCount || metadata.visibleBaseBytes != metadata.baseByteCount
            || ChunksTag(metadata.chunksTag) != .none
    }

    /// Whether a file is open for writing.
    package func isOpenForWriting(_ file: FileItem) -> Bool { openFiles[file.node]?.hasWriter ?? false }
}
