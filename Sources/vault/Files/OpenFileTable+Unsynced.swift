package import CofferCore
internal import CofferDatabase
internal import CofferFileContent
internal import CofferSystem

// Changes of open files, and those that a kill has left in the log.

extension OpenFileTable {
    /// Makes a change of an open file.
    ///
    /// - Parameters:
    ///   - change: The change, whose chunks were written.
    ///   - file: The file, which the caller has claimed.
    ///   - isLogged: Whether a kill of the daemon must not lose it.
    /// - Throws: `diskFull`, `io`: the file is unchanged then.
    package func make(_ change: FileChange, in file: OpenFile, isLogged: Bool) throws(CofferError) {
        let effect = file.effect(of: change)
        guard file.hasChanges || !effect.changes.isEmpty else { return }
        if let unsynced, !file.isUnlinked, isLogged || unsynced.isLogging(file.id) {
            var state = effect
            if !unsynced.isLogging(file.id) {
                // Changes of a client that did not want that come first.
                state = file.unsynced
                state.add(effect)
            }
            do throws(SystemError) {
                try unsynced.append(UnsyncedRecord(file.id, .change(state, of: file.node)))
            } catch {
                throw error.cofferError("can't store \(file.subject)")
            }
        }
        file.apply(effect)
        guard let unsynced, unsynced.isLong else { return }
        let logged = all.filter { unsynced.isLogging($0.id) }
        unsynced.shorten(to: logged.map { UnsyncedRecord($0.id, .change($0.unsynced, of: $0.node)) })
    }

    /// Whether so much of a file is not synced that the answer to its change has to wait for a sync.
    package func mustSync(_ file: OpenFile) -> Bool {
        file.pendingCount > Limits.pendingChunks || unsynced?.isFull == true && unsynced?.isLogging(file.id) == true
    }

    // MARK: After a kill

    /// Records what an earlier process has logged, as far as that is possible before the first unlock.
    func recover() throws {
        guard let unsynced else { return }
        try unsynced.read()
        if !unsynced.waiting.isEmpty {
            // On a full disk, the other files can be used.
            do { try tree.connection.transaction { try recordWaiting() } } catch { unsynced.abandon() }
        }
        unsynced.settle()
        unsynced.removeIfUnused()
    }

    /// Whether something that an earlier process has logged waits for the first unlock.
    package var hasWaiting: Bool { unsynced?.waiting.isEmpty == false }

    /// What of that is lost.
    package var losses: [VaultFault] { unsynced?.losses ?? [] }

    /// Ends the reports of losses.
    package func acknowledgeLosses() { unsynced?.acknowledgeLosses() }

    /// Removes the log if all changes are in the catalog.
    package func removeUnusedLog() { unsynced?.removeIfUnused() }

    /// Records what an earlier process has logged, within the open transaction, of the files whose metadata can be opened.
    package func recordWaiting() throws {
        guard let unsynced else { return }
        var (recorded, lost): ([ItemID], [ItemID]) = ([], [])
        for (content, records) in unsynced.waiting {
            guard case .change(_, let number)? = records.first?.record.body else { continue }
            do {
                if let node = try tree.node(numbered: number, "a file"), node.content == content {
                    try recordWaiting(unsynced.state(of: content, after: node.metadata.layout.lastChange), of: node)
                    recorded.append(content)
                } else {
                    // The file was removed.
                    lost.append(content)
                }
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                continue
            } catch is SystemError {
                // Its overlay can't be synced: until it can, the file is not opened.
                continue
            } catch let error where error.isDamage || error is ContentFormat.Finding {
                let damage = (error as? ContentFormat.Finding)?.words ?? "its row is damaged"
                unsynced.lose("what was written last to the file with inode \(number) is lost: \(damage)")
                lost.append(content)
            }
        }
        // Only now is nothing of them rolled back any more.
        for content in recorded { unsynced.willRecord(content) }
        for content in lost { unsynced.willDrop(content) }
    }

    private func recordWaiting(_ state: UnsyncedState?, of node: FileTree.Node) throws {
        guard let state, let content = node.content else { return }
        guard try contents.synchronizeOverlay(of: content) else {
            throw ContentFormat.Finding("the chunks that were rewritten are missing")
        }
        try tree.connection.transaction {
            // Each record has its time.
            _ = try record(state, of: node, content, includes: unsynced?.number(of: content), now: 0)
        }
    }

    /// Refuses a file whose row is older than what was answered.
    func checkIsRecorded(_ file: FileItem) throws(CofferError) {
        guard unsynced?.isAwaited(file.content) == true else { return }
        throw CofferError(
            .notAvailable,
            "what was written last to \(quotedForDisplay(file.path)) before the daemon ended is not recorded yet",
            hint: "free some space on the disk of the vault, and restart the daemon",
            retry: .later
        )
    }
}
