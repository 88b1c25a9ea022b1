package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem

// Files that are opened, read and written in place. Chunks go to slots of the overlay at once; a sync makes the catalog name
// them, all in one transaction.

extension FileStore {
    // MARK: Opening

    /// Makes an empty file, within the transaction that is open.
    ///
    /// - Parameters:
    ///   - name: The path, at which nothing is.
    ///   - group: The caller's group.
    ///   - protectionClass: Its class: class B can be made in every state.
    ///   - kind: What the owner says it is.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The file, open for the first time.
    /// - Throws: `interactionNotAllowed`; `param` where a part of the path is a file.
    package func create(
        _ name: ItemName,
        in group: String,
        as protectionClass: ProtectionClass,
        kind: ItemKind? = nil,
        now: Int64
    ) throws -> OpenFile {
        try checkPath(name, in: group)
        let id = ItemID()
        let new: WrappedItemKey
        do {
            new = try keys.newFileKey(for: protectionClass, of: id)
        } catch {
            throw error.cofferError(name.quoted, in: keys.state, for: .write)
        }
        let wrapped = new.wrapped
        let overlay = try makeOverlay(id, name.quoted)
        let node = try connection.transaction {
            let parent = try tree.makeParents(of: name, in: group, now: now)
            let metadata = NodeMetadata(
                group: group,
                name: String(name.components[name.components.count - 1]),
                kind: kind,
                created: now,
                modified: now,
                flags: .hasNoBase
            )
            return try tree.insert(
                metadata,
                under: parent,
                .file,
                class: protectionClass,
                content: id,
                wrappedKey: wrapped
            )
        }
        toPlaceOverlays.append(id)
        let content = OpenedContent(
            id: id,
            subject: name.quoted,
            key: opened(new.takeKey(), of: id, as: protectionClass),
            base: nil,
            overlay: overlay,
            directory: contents
        )
        let file = OpenFile(
            node: node,
            protectionClass: protectionClass,
            content: content,
            isOverlayStaged: true,
            byteCount: 0,
            visibleBaseBytes: 0,
            usedSlots: []
        )
        openFiles[node] = file
        return file
    }

    private func makeOverlay(_ id: ItemID, _ subject: String) throws -> Overlay {
        do throws(SystemError) {
            let file = try contents.createOverlay(id)
            try contents.fileSystem.willPerform(.write)
            return try Overlay(making: file, of: id)
        } catch {
            contents.discardStagedOverlay(id)
            throw error.cofferError("can't store \(subject)")
        }
    }

    /// Begins to open a file.
    ///
    /// - Parameter file: The file.
    /// - Returns: What goes through its rows, a part of them a turn.
    /// - Throws: `interactionNotAllowed` where it can't be opened now, whoever has it open already; `decode`.
    package func beginOpening(_ file: FileItem) throws -> FileOpening {
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
        if let open = openFiles[file.node] { return FileOpening(file, found: open) }
        // The same key again when the rows have been gone through: until then it need not be in memory.
        _ = consume key
        return FileOpening(file, found: nil)
    }

    /// Goes through some more rows of a file that is being opened.
    ///
    /// - Parameters:
    ///   - opening: What was gone through already.
    ///   - limit: The most rows.
    /// - Returns: Whether there are more.
    package func goOn(_ opening: FileOpening, limit: Int) throws -> Bool {
        if opening.found != nil { return false }
        let rows = try chunks.rows(of: opening.file.node, from: opening.next, limit: limit)
        for (chunk, slot) in rows {
            opening.tag.toggle(chunks.tag(of: slot, chunk, in: opening.file.content))
            opening.usedSlots.append(slot.number)
        }
        guard rows.count == limit, let last = rows.last else { return false }
        opening.next = last.chunk + 1
        return true
    }

    /// Ends the opening of a file whose rows were gone through.
    ///
    /// - Parameter opening: What was found.
    /// - Returns: The open file; `nil` where it has changed meanwhile, and is to be opened anew.
    /// - Throws: `decode` where its rows or its content are damaged; `interactionNotAllowed`.
    package func finish(_ opening: FileOpening) throws -> OpenFile? {
        if let found = opening.found ?? openFiles[opening.file.node] { return found }
        let file = opening.file
        let subject = quotedForDisplay(file.path)
        guard let node = try tree.node(numbered: file.node, subject), node.content == file.content,
            node.wrappedKey == file.wrappedKey, node.metadata == file.metadata
        else { return nil }
        guard opening.tag == ChunksTag(node.metadata.chunksTag) else {
            throw CofferError.damaged(subject, found: "the rows of its chunks are not those that it had")
        }
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
        let parts = try parts(of: file, subject)
        let open = OpenFile(
            node: file.node,
            protectionClass: file.protectionClass,
            content: OpenedContent(
                id: file.content,
                subject: subject,
                key: opened(key, of: file.content, as: file.protectionClass),
                base: parts.base,
                overlay: parts.overlay,
                directory: contents
            ),
            isOverlayStaged: parts.isStaged,
            byteCount: file.byteCount,
            visibleBaseBytes: node.metadata.visibleBaseBytes,
            usedSlots: opening.usedSlots
        )
        openFiles[file.node] = open
        return open
    }

    private func parts(
        of file: FileItem,
        _ subject: String
    ) throws -> (base: BaseContent?, overlay: Overlay?, isStaged: Bool) {
        do {
            var base: BaseContent?
            if !file.metadata.flags.contains(.hasNoBase) {
                guard let content = try contents.open(file.content) else {
                    throw ContentFormat.Finding("its content is missing")
                }
                base = try BaseContent(ContentFile(content), file.content, byteCount: file.metadata.baseByteCount)
            }
            guard let found = try contents.openOverlay(file.content) else { return (base, nil, false) }
            return (base, try Overlay(found.file, of: file.content), found.isStaged)
        } catch let finding as ContentFormat.Finding {
            throw CofferError.damaged(subject, found: finding.words)
        }
    }

    /// Makes an open file one that can be written.
    ///
    /// - Parameter file: The file.
    package func prepareWriting(_ file: OpenFile) throws {
        if file.content.overlay != nil { return }
        file.addOverlay(try makeOverlay(file.id, file.subject))
    }

    /// Lets go of a file that nobody has open any more.
    ///
    /// - Parameter file: The file, synced as far as it is going to be.
    package func close(_ file: OpenFile) {
        guard file.handleCount == 0 else { return }
        close(file.content.key, of: file.id)
        if openFiles[file.node] === file { openFiles[file.node] = nil }
        unlinking.removeAll { $0 === file }
    }

    // MARK: Reading and writing

    /// The most chunks of one plan: others get their turn in between.
    package static let planChunks = 64

    /// Plans to read a part of an open file.
    ///
    /// Each plan is followed by ``finishedReading(_:)``.
    ///
    /// - Parameters:
    ///   - range: The bytes; what is behind the end, and what is more than a plan holds, is left out.
    ///   - file: The file.
    package func planReading(_ range: Range<Int64>, of file: OpenFile) throws -> ReadPlan {
        let chunkBytes = Int64(Limits.chunkBytes)
        let start = min(range.lowerBound, file.byteCount)
        let most = (start / chunkBytes + Int64(Self.planChunks)) * chunkBytes
        let part = start..<max(start, min(range.upperBound, file.byteCount, most))
        var sources: [ChunkSource] = []
        if !part.isEmpty {
            for index in (part.lowerBound / chunkBytes)...((part.upperBound - 1) / chunkBytes) {
                sources.append(try source(of: index, in: file))
            }
        }
        file.beginRead()
        return ReadPlan(content: file.content, range: part, sources: sources)
    }

    /// Ends a read of an open file.
    package func finishedReading(_ file: OpenFile) { file.endRead() }

    /// Plans to write over a part of an open file.
    ///
    /// - Parameters:
    ///   - count: The bytes that are written.
    ///   - offset: Where.
    ///   - file: The file, prepared for writing.
    /// - Throws: `dataTooLarge`.
    package func planWriting(_ count: Int, at offset: Int64, of file: OpenFile) throws -> WritePlan {
        guard offset <= Limits.fileBytes - Int64(count) else {
            throw CofferError(
                .dataTooLarge,
                "can't write \(file.subject): a file has at most \(Limits.fileBytes >> 40) TiB",
                operation: .write
            )
        }
        let chunkBytes = Int64(Limits.chunkBytes)
        var pieces: [WritePlan.Piece] = []
        var place = offset
        let end = offset + Int64(count)
        while place < end {
            let index = place / chunkBytes
            let start = index * chunkBytes
            let range = Int(place - start)..<Int(min(end - start, chunkBytes))
            let source = try source(of: index, in: file)
            pieces.append(
                WritePlan.Piece(
                    index: index,
                    source: source,
                    slot: file.slotForWriting(index),
                    range: range,
                    byteCount: max(source.byteCount, range.upperBound)
                )
            )
            place = start + chunkBytes
        }
        return WritePlan(content: file.content, pieces: pieces)
    }

    /// Plans to cut the chunk that a shorter file ends in.
    ///
    /// - Returns: `nil` where there is nothing to cut.
    package func planCutting(to count: Int64, of file: OpenFile) throws -> WritePlan? {
        let chunkBytes = Int64(Limits.chunkBytes)
        let index = count / chunkBytes
        let rest = Int(count - index * chunkBytes)
        guard rest > 0, count < file.byteCount, case .slot(let slot) = try source(of: index, in: file),
            slot.byteCount > rest
        else { return nil }
        let piece = WritePlan.Piece(
            index: index,
            source: .slot(slot),
            slot: file.slotForWriting(index),
            range: 0..<0,
            byteCount: rest
        )
        return WritePlan(content: file.content, pieces: [piece])
    }

    /// Takes over what a plan has written.
    ///
    /// - Parameters:
    ///   - written: What performing it returned.
    ///   - end: Where the write ended.
    ///   - file: The file.
    package func apply(_ written: [WritePlan.Written], upTo end: Int64, to file: OpenFile) {
        file.apply(written, upTo: end)
    }

    /// Gives up a plan that was not performed to its end.
    package func discard(_ plan: WritePlan, of file: OpenFile) { file.giveBack(plan) }

    /// Makes an open file shorter, or longer by zeros that cost nothing.
    ///
    /// - Parameters:
    ///   - count: The bytes it is to have; the chunk at the end was cut by ``planCutting(to:of:)``.
    ///   - file: The file.
    package func truncate(_ file: OpenFile, to count: Int64) { file.truncate(to: count) }

    /// Reserves room on the disk for what will be written to a part of an open file; the file is as long as that then.
    ///
    /// - Parameters:
    ///   - range: The bytes.
    ///   - file: The file, prepared for writing.
    /// - Throws: `diskFull` where there is not so much room.
    package func allocate(_ range: Range<Int64>, of file: OpenFile) throws {
        let chunkBytes = Int64(Limits.chunkBytes)
        guard range.upperBound <= Limits.fileBytes else {
            throw CofferError(
                .dataTooLarge,
                "can't reserve room for \(file.subject): a file has at most \(Limits.fileBytes >> 40) TiB",
                operation: .write
            )
        }
        let count = range.isEmpty ? 0 : (range.upperBound - 1) / chunkBytes - range.lowerBound / chunkBytes + 1
        let room = file.reserve(Int(count))
        if let overlay = file.content.overlay, !room.isEmpty {
            do throws(SystemError) {
                try contents.fileSystem.willPerform(.write)
                try overlay.file.descriptor.reserve(Int64(room.count), at: room.lowerBound)
            } catch {
                throw error.cofferError("can't reserve room for \(file.subject)")
            }
        }
        if range.upperBound > file.byteCount { file.setByteCount(range.upperBound) }
    }

    private func source(of index: Int64, in file: OpenFile) throws -> ChunkSource {
        if let known = file.known(index) { return known }
        if let slot = try chunks.slot(of: index, in: file.node) { return .slot(slot) }
        return file.unwritten(index)
    }

    // MARK: Syncing

    /// Plans to sync an open file.
    package func planSyncing(_ file: OpenFile) -> SyncPlan {
        SyncPlan(content: file.content, isStaged: file.isOverlayStaged)
    }

    /// Makes the catalog name what was written and synced, within the transaction that is open.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - now: Milliseconds since 1970.
    package func commit(_ file: OpenFile, now: Int64) throws {
        guard file.hasChanges else { return }
        guard !file.isUnlinked, let node = try tree.node(numbered: file.node, file.subject), node.content == file.id
        else {
            // Nobody finds it any more: what is written lives as long as its handles.
            return
        }
        let changes = file.beginCommit()
        var tag = ChunksTag(node.metadata.chunksTag)
        do {
            try connection.transaction {
                try forgetRemoved()
                if let cut = changes.cutFrom {
                    for (chunk, slot) in try chunks.rows(of: file.node, from: cut) { forget(slot, chunk, file, &tag) }
                    try chunks.remove(from: cut, in: file.node)
                }
                for (chunk, slot) in changes.chunks {
                    if let old = try chunks.slot(of: chunk, in: file.node) { forget(old, chunk, file, &tag) }
                    try chunks.put(slot, chunk, in: file.node)
                    tag.toggle(chunks.tag(of: slot, chunk, in: file.id))
                }
                var metadata = node.metadata
                metadata.byteCount = file.byteCount
                metadata.visibleBaseBytes = file.visibleBaseBytes
                metadata.chunksTag = tag.bytes
                metadata.modified = now
                try tree.update(node, to: metadata)
            }
        } catch {
            file.undoCommit()
            throw error
        }
        committing.append(file)
        if file.isOverlayStaged { toPlaceOverlays.append(file.id) }
    }

    private func forget(_ slot: ChunkSlot, _ chunk: Int64, _ file: OpenFile, _ tag: inout ChunksTag) {
        tag.toggle(chunks.tag(of: slot, chunk, in: file.id))
        file.willForget(slot.number)
    }

    /// Every file that was written since its last sync.
    package var changedFiles: [OpenFile] { openFiles.values.filter(\.hasChanges) }

    /// Whether a file is open for writing.
    package func isOpenForWriting(_ file: FileItem) -> Bool { openFiles[file.node]?.hasWriter ?? false }
}

/// A file that is being opened: its rows are gone through, so that none is missing, added or older.
package final class FileOpening {
    let file: FileItem
    let found: OpenFile?
    var next: Int64 = 0
    var tag = ChunksTag.none
    var usedSlots: [Int64] = []

    init(_ file: FileItem, found: OpenFile?) {
        self.file = file
        self.found = found
    }
}
