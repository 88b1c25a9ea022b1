internal import CofferCore
internal import CofferDatabase
internal import CofferFileContent
internal import CofferKeys
internal import CofferPast

/// The open files, by the numbers of their rows, and their changes in the open transaction.
package final class OpenFileTable {
    private struct Transaction {
        /// Those whose rows the transaction removes.
        var unlinking: [OpenFile] = []
        /// Those that the transaction creates.
        var creating: [OpenFile] = []
        /// Those whose sync is part of the transaction.
        var committing: [OpenFile] = []
        /// Those whose rows it removes, and that were closed meanwhile.
        var closed: [OpenFile] = []
        /// Those whose overlays get their final paths after the transaction.
        var staged: [OpenFile] = []
    }

    let tree: FileTree
    let chunks: ChunkTable
    let contents: ContentDirectory
    let openContents: OpenContents
    package let log: ChunkLog
    let dead: DeadContents
    let past: PastStore
    let unsynced: UnsyncedLog?
    /// Whether a large file was opened, for which libcrypto is loaded.
    var triedLibcrypto = false
    private var files: [Int64: OpenFile] = [:]
    private var transaction = Transaction()
    /// Those with slots that are free once the commits are on the disk.
    private var freeing: [OpenFile] = []

    init(
        _ tree: FileTree,
        _ chunks: ChunkTable,
        _ openContents: OpenContents,
        _ dead: DeadContents,
        _ past: PastStore,
        _ unsynced: UnsyncedLog?
    ) {
        (self.tree, self.chunks, self.openContents, self.dead, self.past) = (tree, chunks, openContents, dead, past)
        self.unsynced = unsynced
        contents = dead.contents
        log = ChunkLog(tree.connection, contents)
        tree.recent.isInUse = { [weak self] in self?.files[$0] != nil }
    }

    subscript(node: Int64) -> OpenFile? { files[node] }

    var all: Dictionary<Int64, OpenFile>.Values { files.values }

    /// Whether a file is open for writing, or has unsynced writes.
    func isBeingWritten(_ node: Int64) -> Bool { files[node].map { $0.use.hasWriter || $0.hasChanges } ?? false }

    // MARK: Changing

    /// Adds a file that was opened.
    func add(_ file: OpenFile) { files[file.node] = file }

    /// Removes a file whose handles a lock has revoked.
    func remove(_ file: OpenFile) { if files[file.node] === file { files[file.node] = nil } }

    /// Adds a file that the transaction creates.
    func create(_ file: OpenFile) {
        add(file)
        transaction.creating.append(file)
    }

    /// Keeps the data of an open file for its handles when its row is removed.
    ///
    /// - Parameter node: The number of the row.
    func unlink(_ node: Int64) throws {
        guard let open = self[node] else { return }
        let last = try? entry(of: open)
        do {
            let rows = try chunks.rows(of: node, from: 0, limit: Limits.chunkRowsAtOnce + 1)
            let areMany = rows.count > Limits.chunkRowsAtOnce
            if areMany { tree.orphans.keep(for: open) }
            open.unlink(keeping: areMany ? nil : rows, as: last)
        } catch let finding as ContentFormat.Finding {
            throw CofferError.damaged(content: open.subject, found: finding.words)
        }
        log.settle(open)
        unsynced?.willDrop(open.id)
        remove(open)
        transaction.unlinking.append(open)
    }

    /// Notes that the transaction has recorded the writes of a file.
    func didCommit(_ file: OpenFile) {
        transaction.committing.append(file)
        unsynced?.willRecord(file.id)
        if file.overlayState.isStaged { transaction.staged.append(file) }
    }

    /// Closes a file without handles.
    ///
    /// - Parameter file: The file, synced as far as possible.
    package func close(_ file: OpenFile) {
        guard file.use.handleCount == 0, !file.slots.hasForgotten else { return }
        openContents.close(file.content.key, of: file.id)
        tree.orphans.release(file)
        if let index = transaction.unlinking.firstIndex(where: { $0 === file }) {
            transaction.closed.append(transaction.unlinking.remove(at: index))
        } else if !file.isUnlinked && file.hasChanges {
            // They could not be synced, and are lost.
            unsynced?.drop(file.id)
        }
        remove(file)
    }

    // MARK: After the transaction

    /// The transaction was committed.
    func settle() {
        unsynced?.settle()
        for file in transaction.staged where (try? contents.placeOverlay(file.id)) != nil {
            file.overlayState.isStaged = false
        }
        for file in transaction.committing where file.endCommit() { freeing.append(file) }
        transaction = Transaction()
    }

    /// The commits are on the disk: the slots that they have freed may be written again.
    ///
    /// - Parameter keepsSlots: Whether a backup may read them.
    func settleSynced(keepingSlots keepsSlots: Bool) {
        let freed = freeing
        freeing = []
        for file in freed {
            file.slots.freeForgotten(keepingSlots: keepsSlots)
            close(file)
        }
    }

    /// The transaction was rolled back.
    ///
    /// - Parameter isCertain: Whether nothing of it can be on the disk.
    func abandon(isCertain: Bool) {
        unsynced?.abandon()
        for file in transaction.creating {
            openContents.close(file.content.key, of: file.id)
            files[file.node] = nil
            file.undoCreation()
            unsynced?.drop(file.id)
            if isCertain { contents.discardStagedOverlay(file.id) }
        }
        for file in transaction.committing { file.undoCommit() }
        for file in transaction.unlinking {
            file.undoUnlinking()
            tree.orphans.release(file)
            add(file)
        }
        // Those that were closed meanwhile have lost their changes.
        for file in transaction.committing + transaction.closed where files[file.node] !== file {
            unsynced?.drop(file.id)
        }
        transaction = Transaction()
    }
}
