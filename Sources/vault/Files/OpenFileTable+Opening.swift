internal import CofferFileContent
package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
internal import CofferPast
internal import CofferSystem

// Files that are opened, read and written in place. Chunks are written to slots of the overlay immediately; a sync
// records them in the catalog, all in one transaction.

extension OpenFileTable {
    // MARK: Opening

    /// Creates an empty file, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path, at which nothing exists.
    ///   - group: The caller's group.
    ///   - protectionClass: Its class: a file of class B can be created in every state.
    ///   - kind: The kind that its owner states.
    ///   - ownership: Its mode and its owner.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The file, open.
    /// - Throws: `interactionNotAllowed`; `param` if a part of the path is a file.
    package func create(
        _ name: ItemName,
        in group: String,
        as protectionClass: ProtectionClass,
        kind: ItemKind? = nil,
        ownership: Ownership = Ownership(),
        now: Int64
    ) throws -> OpenFile {
        try tree.checkPath(name, in: group)
        let id = ItemID()
        let new: WrappedItemKey
        do {
            new = try tree.keys.newFileKey(for: protectionClass, of: id)
        } catch {
            throw error.cofferError(name.quoted, in: tree.keys.state, for: .write)
        }
        let wrapped = new.wrapped
        let overlay = try makeOverlay(id, name.quoted, isNew: true)
        let node: Int64
        do {
            node = try tree.connection.transaction {
                try tree.connection.faults.refuseNew(name.quoted)
                let parent = try tree.makeParents(of: name, in: group, now: now)
                var metadata = NodeMetadata(
                    group: group,
                    name: String(name.components[name.components.count - 1]),
                    kind: kind,
                    created: now,
                    modified: now,
                    flags: .hasNoBase
                )
                metadata.ownership = ownership
                try tree.touch(parent, now: now)
                return try tree.insert(
                    metadata,
                    under: parent,
                    .file,
                    class: protectionClass,
                    content: id,
                    wrappedKey: wrapped
                )
            }
        } catch {
            contents.discardStagedOverlay(id)
            throw error
        }
        let content = OpenedContent(
            id: id,
            subject: name.quoted,
            key: openContents.open(new.takeKey(), of: id, as: protectionClass),
            base: nil,
            overlay: overlay,
            directory: contents
        )
        let file = OpenFile(node: node, protectionClass: protectionClass, content: content, isOverlayStaged: true)
        // Its overlay is placed by the commit of the first sync: until then no name of it is on the disk.
        create(file)
        return file
    }

    private func makeOverlay(_ id: ItemID, _ subject: String, isNew: Bool = false) throws -> Overlay {
        do throws(SystemError) {
            let file = try contents.createOverlay(id, isNew: isNew)
            try contents.fileSystem.willPerform(.write)
            return try Overlay(making: file, of: id)
        } catch {
            contents.discardStagedOverlay(id)
            throw error.cofferError("can't store \(subject)")
        }
    }

    /// Begins to open a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - operation: What it is opened for.
    ///   - scansAnew: Whether its rows are scanned even if they are known.
    /// - Returns: An opening, which scans the rows of the file over several turns.
    /// - Throws: `interactionNotAllowed` if its key is not in memory, even if another handle has it open; `decode`.
    package func beginOpening(
        _ file: FileItem,
        for operation: ItemOperation,
        scansAnew: Bool = false
    ) throws -> FileOpening {
        let subject = quotedForDisplay(file.path)
        let key = try file.key(tree.keys, for: operation)
        try checkIsRecorded(file)
        if let open = self[file.node] {
            guard open.isRevoked else { return FileOpening(file, found: open) }
            // A lock has revoked its handles. What they had written must be synced before the file is opened again.
            if open.hasChanges || open.isBeingCommitted || open.use.isBeingChanged || open.slots.hasForgotten {
                throw CofferError(
                    .notAvailable,
                    "\(subject) is still being synced after a lock",
                    hint: "try again in a moment",
                    retry: .later
                )
            }
            remove(open)
        }
        // The key is taken again when all rows have been scanned; until then it need not be in memory.
        _ = consume key
        let tag = ChunksTag(file.metadata.layout.chunksTag)
        return FileOpening(file, found: nil, known: scansAnew ? nil : chunks.recent.rows(of: file.content, with: tag))
    }

    /// Scans more rows of a file that is being opened.
    ///
    /// - Parameters:
    ///   - opening: The opening.
    ///   - limit: The maximum number of rows.
    /// - Returns: Whether more rows follow.
    package func resume(_ opening: FileOpening, limit: Int) throws -> Bool {
        if opening.found != nil || opening.isScanned || opening.hasImpossibleRows { return false }
        let rows: [(chunk: Int64, slot: ChunkSlot)]
        do {
            rows = try chunks.rows(of: opening.file.node, from: opening.next, limit: limit)
        } catch is ContentFormat.Finding {
            opening.hasImpossibleRows = true
            return false
        }
        for (chunk, slot) in rows {
            opening.rows.tag.toggle(chunks.tag(of: slot, chunk, in: opening.file.content))
            opening.rows.usedSlots.append(slot.number)
            opening.rows.mostBytes = max(opening.rows.mostBytes, slot.byteCount)
            opening.rows.end = chunk + 1
        }
        guard rows.count == limit, let last = rows.last else {
            opening.isScanned = true
            return false
        }
        opening.next = last.chunk + 1
        return true
    }

    /// Finishes opening a file whose rows were scanned.
    ///
    /// - Parameter opening: The opening.
    /// - Returns: The open file; `nil` if it has changed meanwhile, and must be opened again.
    /// - Throws: `decode` if its rows or its content are damaged; `interactionNotAllowed`.
    package func finish(_ opening: FileOpening) throws -> OpenFile? {
        if let found = opening.found ?? self[opening.file.node] { return found }
        guard let open = try open(opening, salvaging: false) else { return nil }
        add(open)
        unsynced?.number(above: opening.file.metadata.layout.lastChange)
        return open
    }

    /// Finishes opening a damaged file: each of its chunks is intact or not.
    ///
    /// - Parameter opening: The opening.
    /// - Returns: The open file, which is not shared unless the file as a whole is intact; `nil` if it has changed
    ///   meanwhile, and must be opened again.
    /// - Throws: `interactionNotAllowed`; `decode` if its row is damaged.
    package func finishSalvaging(_ opening: FileOpening) throws -> OpenFile? {
        do {
            // A file that others may write must be shared with them, because they write other chunks to its slots.
            return try finish(opening)
        } catch let error as CofferError where error.code == .decode {
            return try open(opening, salvaging: true)
        }
    }

    private func open(_ opening: FileOpening, salvaging: Bool) throws -> OpenFile? {
        let file = opening.file
        let subject = quotedForDisplay(file.path)
        guard try isPresent(file) else { return nil }
        let hasItsRows = !opening.hasImpossibleRows && opening.rows.tag == ChunksTag(file.metadata.layout.chunksTag)
        guard salvaging || hasItsRows else {
            throw CofferError.damaged(content: subject, found: "the rows of its chunks are not those that it had")
        }
        let key = try file.key(tree.keys, for: .read)
        let parts = try parts(of: opening, subject, salvaging)
        if hasItsRows { chunks.recent.remember(opening.rows, of: file.content) }
        if file.byteCount >= Limits.bulkBytes, !LibCrypto.isReady, !triedLibcrypto {
            triedLibcrypto = true
            // libsodium opens chunks until it is loaded, and where it can't be.
            try? NativeThread.startDetached { LibCrypto.load() }
        }
        return OpenFile(
            node: file.node,
            protectionClass: file.protectionClass,
            content: OpenedContent(
                id: file.content,
                subject: subject,
                key: openContents.open(key, of: file.content, as: file.protectionClass),
                base: parts.base,
                overlay: parts.overlay,
                directory: contents
            ),
            isOverlayStaged: parts.isStaged,
            byteCount: file.byteCount,
            visibleBaseBytes: file.metadata.layout.visibleBaseBytes,
            usedSlots: opening.rows.usedSlots,
            keptSlotCount: parts.keptSlotCount,
            rowsEnd: hasItsRows ? opening.rows.end : .max,
            integrity: OpenFile.Integrity(
                isIntact: !salvaging,
                hasItsRows: hasItsRows && !opening.hasUnknownChunks
            )
        )
    }

    /// Whether a file, or a version, is still as it was found.
    private func isPresent(_ file: FileItem) throws -> Bool {
        if file.version != nil { return try past.keeps(KeptContent(node: file.node, content: file.content)) }
        guard let node = try tree.node(numbered: file.node, quotedForDisplay(file.path)) else { return false }
        return node.content == file.content && node.wrappedKey == file.wrappedKey && node.metadata == file.metadata
    }

    private func parts(
        of opening: FileOpening,
        _ subject: String,
        _ salvaging: Bool
    ) throws -> (base: BaseContent?, overlay: Overlay?, isStaged: Bool, keptSlotCount: Int64) {
        let file = opening.file
        do {
            var base: BaseContent?
            if !file.metadata.flags.contains(.hasNoBase) {
                if let content = try contents.open(file.content) {
                    base = try BaseContent(
                        ContentFile(content),
                        file.content,
                        byteCount: file.metadata.layout.baseByteCount,
                        salvaging: salvaging
                    )
                } else if !salvaging {
                    throw ContentFormat.Finding("its content is missing")
                }
            }
            guard let found = try contents.openOverlay(file.content) else {
                opening.hasUnknownChunks = !opening.hasNoRows && opening.rows.mostBytes <= Limits.chunkBytes / 2
                if opening.hasUnknownChunks, !salvaging {
                    throw ContentFormat.Finding("the chunks that were rewritten are missing")
                }
                return (base, nil, false, 0)
            }
            do {
                let overlay = try Overlay(found.file, of: file.content, salvaging: salvaging)
                // What is salvaged is not written.
                let keptSlotCount = !dead.areKept || salvaging ? 0 : try overlay.slotCount()
                return (base, overlay, found.isStaged, keptSlotCount)
            } catch is ContentFormat.Finding where opening.hasNoRows {
                // Its creation was interrupted, and it is empty: the next writer creates another one.
                return (base, nil, false, 0)
            }
        } catch let finding as ContentFormat.Finding {
            throw CofferError.damaged(content: subject, found: finding.words)
        }
    }

    /// Prepares an open file for writing.
    package func prepareWriting(_ file: OpenFile) throws {
        try contents.checkWritable()
        if file.content.overlay != nil { return }
        file.addOverlay(try makeOverlay(file.id, file.subject))
    }
}

/// A file that is being opened: its rows are scanned, so that a missing, added or older one is detected.
package final class FileOpening {
    let file: FileItem
    let found: OpenFile?
    /// The next chunk.
    ///
    /// It starts below zero, so that rows with impossible numbers are found.
    var next: Int64 = .min
    var hasImpossibleRows = false
    /// The rows that were found.
    var rows: ScannedRows
    /// Whether these are all.
    var isScanned: Bool
    /// Whether the overlay is missing, and with it the size of its chunks: what they replaced can't be told from the
    /// rest of the base.
    var hasUnknownChunks = false
    /// Whether no chunk was rewritten.
    var hasNoRows: Bool { rows.usedSlots.isEmpty && !hasImpossibleRows }

    init(_ file: FileItem, found: OpenFile?, known rows: ScannedRows? = nil) {
        self.file = file
        self.found = found
        self.rows = rows ?? ScannedRows()
        isScanned = rows != nil
    }
}
