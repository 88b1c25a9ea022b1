internal import CofferFileContent
package import CofferCore
internal import CofferFiles
internal import CofferSystem
package import CofferVault
package import CofferWire

// What connections that defer syncs leave to a later sync: files that were closed, and commits.

extension FileHandlers {
    /// Syncs the changes of the tree that were answered before they were on the disk.
    package func fileSyncTree(_ params: FileSyncTreeParameters, _ call: Call) throws -> Step {
        call.isFor("can't sync the changes")
        let store = try catalog.files
        let files = params.includesClosedFiles ? shared.filesInUse.takeClosed() : []
        call.atEnd { [self] in endSync(of: files, store) }
        let underWay = params.includesClosedFiles ? shared.filesInUse.beingSynced : []
        let all = files + underWay.filter { other in !files.contains { $0.file === other.file } }
        return claim(all, call) { [self] in
            try synchronize(all, store) { [self] in
                let failed = all.map(\.file).first { $0.hasChanges && !$0.isUnlinked && !$0.isRevoked }
                if let failed {
                    throw CofferError(.io, "\(failed.subject) can't be synced", hint: "look at the disk of the vault")
                }
                try openCatalog?.makeDurable()
                return .committed { .done }
            }
        }
    }

    /// Has clients notified of a change that is not synced, if it stays so for a moment.
    func announceLater(_ file: OpenFile, by call: Call) {
        guard openCatalog?.changes.isWanted == true else { return }
        shared.filesInUse.noteUnannounced(file, by: call.caller.origin)
    }

    /// Whether there are changes that are not synced, and of which no client was notified.
    package var hasUnannounced: Bool { !shared.filesInUse.unannounced.isEmpty }

    /// Records the changes that were not synced for a moment.
    package func announceUnsynced() {
        defer { shared.filesInUse.unannounced = [] }
        guard let catalog = openCatalog else { return }
        for unannounced in shared.filesInUse.unannounced where unannounced.file.hasChanges {
            catalog.changes.origin = unannounced.origin
            let item = (try? catalog.files.openFiles.item(of: unannounced.file)).flatMap(\.self)
            catalog.changes.note(item.map { ItemChange(.changed, $0) })
        }
    }

    /// Whether something waits for a sync.
    package var hasDeferred: Bool { !shared.filesInUse.closed.isEmpty || openCatalog?.isBehind == true }

    /// Leaves the sync of a file to a later one, if its client wants that.
    ///
    /// - Returns: Whether it was left.
    func defersSync(of file: OpenFile, for caller: Caller) -> Bool {
        guard caller.choice.defersSyncs, file.hasUnsyncedChunks, !file.isRevoked, !shared.filesInUse.areTooMany
        else {
            return false
        }
        if shared.filesInUse.noteClosed(file, by: caller.origin) { file.use.handleCount += 1 }
        if shared.filesInUse.areMany { syncDeferred() }
        return true
    }

    /// Continues once what was written to a file is synced: a new name never leads to less, and a mount may not have told
    /// yet that the file was closed.
    package func settled(
        _ name: ItemName,
        in group: String,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        try settled([name], in: group, call, then: next)
    }

    /// Continues once what was written to some files is synced.
    func settled(
        _ names: [ItemName],
        in group: String,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        let store = try catalog.files
        let files = try names.compactMap { name in
            try store.inode(of: name, in: group).flatMap { store.openFiles.unsyncedFile($0) }
        }
        func settle(_ files: ArraySlice<OpenFile>) throws -> Step {
            guard let first = files.first else { return try next() }
            return synchronize(first, store, call) { try settle(files.dropFirst()) }
        }
        // Every request claims contents in the order of their numbers: so two requests never wait for each other.
        return try settle(files.sorted { $0.inode < $1.inode }[...])
    }

    /// Syncs what was deferred, beside the requests.
    package func syncDeferred() {
        if !shared.filesInUse.beingSynced.isEmpty { return }
        guard !shared.filesInUse.closed.isEmpty, let store = openCatalog?.files else {
            // What could not be synced is found again by the next sync.
            try? openCatalog?.makeDurable()
            return
        }
        let files = shared.filesInUse.takeClosed(upTo: Limits.closedFilesAtOnce)
        shared.filesInUse.beingSynced = files
        shared.chores.append(
            Chore(tenant: 0) { [self] call in
                call.atEnd { [self] in
                    shared.filesInUse.beingSynced = []
                    endSync(of: files, store)
                }
                return claim(files, call) { [self] in
                    try synchronize(files, store) { .done }
                }
            }
        )
    }

    /// Claims the contents of files, always in the order of their numbers: two that claim several never wait for each other.
    private func claim(_ files: [ChangedFile], _ call: Call, then next: @escaping Step.Next) -> Step {
        claim(sorted: files.map(\.file).sorted { $0.inode < $1.inode }[...], call, then: next)
    }

    private func claim(sorted files: ArraySlice<OpenFile>, _ call: Call, then next: @escaping Step.Next) -> Step {
        guard let file = files.first else { return .committed(next) }
        return .claim(.content(of: file)) { [self] in
            file.use.isBeingChanged = true
            call.atEnd { file.use.isBeingChanged = false }
            return claim(sorted: files.dropFirst(), call, then: next)
        }
    }

    /// Syncs files that the caller has claimed; those that fail stay changed.
    private func synchronize(_ files: [ChangedFile], _ store: FileStore, then next: @escaping Step.Next) throws -> Step
    {
        // One may lose its name meanwhile.
        let due = files.filter { $0.file.hasUnsyncedChunks && !$0.file.isUnlinked }
        if due.isEmpty { return try next() }
        let plans = due.map { store.plans.syncing($0.file) }
        return .work(with: ()) { (_) throws(CofferError) in
            SyncPlan.perform(plans)
        } then: { [self] outcomes in
            guard let catalog = openCatalog, catalog.files === store else { throw CofferError.vaultIsGone }
            let log = store.openFiles.log
            for (failed, isSynced) in zip(due, outcomes) where !isSynced { log.noteFailedSync(of: failed.file) }
            let synced = zip(due, outcomes).filter(\.1).map(\.0)
            for closed in synced where closed.file.hasUnsyncedChunks {
                catalog.changes.origin = closed.origin
                try commit(closed.file, store, catalog)
            }
            return .committed { [self] in try giveBack(synced.map(\.file), store, then: next) }
        }
    }

    /// Closes the files that were synced, and keeps the others for the next time.
    private func endSync(of files: [ChangedFile], _ store: FileStore) {
        for closed in files {
            let file = closed.file
            let isChanged = file.hasUnsyncedChunks && !file.isUnlinked && openCatalog?.files === store
            // Another handle that was closed meanwhile may have noted it.
            if isChanged && shared.filesInUse.noteClosed(file, by: closed.origin) { continue }
            file.use.handleCount -= 1
            store.openFiles.close(file)
        }
    }
}
