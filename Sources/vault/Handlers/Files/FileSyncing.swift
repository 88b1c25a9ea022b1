internal import CofferFileContent
internal import CofferCore
package import CofferFiles
internal import CofferSystem
package import CofferVault
package import CofferWire

// Syncing and closing open files.

extension FileHandlers {
    /// Makes the writes to a file durable.
    package func fileSync(_ params: FileSyncParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles[params.handle]
        call.isFor("can't sync \(handle.file.subject)")
        // Writes before a lock are sealed already, so this needs no key.
        guard let store = handle.store else { throw CofferError.vaultIsGone }
        return synchronize(handle.file, store, call, mayLog: true) { [self] in
            // The file may have been made, or renamed, without a sync.
            guard let catalog = openCatalog, catalog.isBehind else { return .done }
            try catalog.makeDurable()
            return .committed { .done }
        }
    }

    /// Syncs a file and closes its handle.
    package func fileClose(_ params: FileCloseParameters, _ call: Call) throws -> Step {
        let handles = call.caller.handles
        let handle = try handles[params.handle]
        call.isFor("can't sync \(handle.file.subject)")
        let close: Step.Next = { [self] in
            handles.remove(params.handle)
            release(handle)
            return .done
        }
        guard handle.access.writes, let store = handle.store, !defersSync(of: handle.file, for: call.caller) else {
            return try close()
        }
        return synchronize(handle.file, store, call, then: close)
    }

    /// Syncs a file once the request holds its content.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - store: Its store.
    ///   - call: The request.
    ///   - mayLog: Whether the log of the catalog suffices for a few chunks, until the file is closed.
    ///   - next: What follows.
    func synchronize(
        _ file: OpenFile,
        _ store: FileStore,
        _ call: Call,
        mayLog: Bool = false,
        then next: @escaping Step.Next
    ) -> Step {
        .claim(.content(of: file)) { [self] in
            file.use.isBeingChanged = true
            call.atEnd { file.use.isBeingChanged = false }
            // Another request may have closed the handle, or the sync of a write may be part of this turn's
            // transaction.
            guard file.isBeingCommitted, openCatalog?.files === store else {
                return try synchronizeChanged(file, store, mayLog: mayLog, then: next)
            }
            return .committed { [self] in try synchronizeChanged(file, store, mayLog: mayLog, then: next) }
        }
    }

    /// Syncs a file that the caller has claimed; `next` runs once all of it is committed.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - store: Its store.
    ///   - mayLog: Whether the log of the catalog suffices for a few chunks.
    ///   - next: What follows.
    func synchronizeChanged(
        _ file: OpenFile,
        _ store: FileStore,
        mayLog: Bool = false,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard mayLog ? file.hasChanges : file.hasUnsyncedChunks else { return try next() }
        if mayLog, let logged = store.openFiles.log.plan(file) {
            return try record(file, store, logging: logged, then: next)
        }
        let plan = store.plans.syncing(file)
        return .work(with: ()) { (_) throws(CofferError) in
            try plan.perform()
        } ended: { failure in
            if failure != nil { store.openFiles.log.noteFailedSync(of: file) }
        } then: { [self] _ in
            try record(file, store, then: next)
        }
    }

    /// Records in the catalog what was synced, or what it logs.
    private func record(
        _ file: OpenFile,
        _ store: FileStore,
        logging logged: [LoggedChunk]? = nil,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard let catalog = openCatalog, catalog.files === store else { throw CofferError.vaultIsGone }
        shared.filesInUse.unannounced.removeAll { $0.file === file }
        try commit(file, store, catalog, logging: logged)
        return .committed { [self] in try giveBack([file], store, then: next) }
    }

    /// Records what was synced, and has clients notified if something was written.
    func commit(
        _ file: OpenFile,
        _ store: FileStore,
        _ catalog: Catalog,
        logging logged: [LoggedChunk]? = nil
    ) throws {
        let isChanged = file.hasChanges
        try catalog.change { changes in
            try store.openFiles.commit(file, logging: logged, now: wallClockMilliseconds())
            if isChanged { try changes.note(try store.openFiles.item(of: file).map { ItemChange(.changed, $0) }) }
        }
    }

    /// Gives the space of what was punched or cut off back to the disk, once no row on the disk names it.
    ///
    /// - Parameters:
    ///   - files: The files, which the caller has claimed.
    ///   - store: Their store.
    ///   - next: What follows.
    func giveBack(_ files: [OpenFile], _ store: FileStore, then next: @escaping Step.Next) throws -> Step {
        let plans = files.compactMap(store.plans.returning)
        if plans.isEmpty { return try next() }
        return .work(with: ()) { (_) throws(CofferError) in
            for plan in plans { plan.perform() }
        } then: { _ in
            try next()
        }
    }

    // MARK: Closing

    /// Releases a handle that is not registered, or no longer.
    package func release(_ handle: OpenHandle) {
        let file = handle.file
        if handle.isWriter {
            handle.isWriter = false
            file.use.removeWriter()
            // A request that fails releases its claims itself: a second release would admit two writers.
            if handle.isShared ? !file.use.hasWriter : handle.isRegistered {
                shared.claims.freed.append(.writer(of: file))
            }
        }
        file.use.handleCount -= 1
        handle.store?.openFiles.close(file)
    }

    /// Syncs and closes the files that a connection left open.
    package func releaseHandles(of caller: Caller) {
        handlers.backup.endBackup(of: caller)
        for handle in caller.handles.takeAll() {
            guard handle.access.writes, let store = handle.store, !defersSync(of: handle.file, for: caller) else {
                release(handle)
                continue
            }
            shared.filesInUse.addOrphan(of: caller.tenant)
            shared.chores.append(
                Chore(tenant: caller.tenant) { [self] call in
                    call.atEnd { [self] in
                        shared.filesInUse.removeOrphan(of: caller.tenant)
                        release(handle)
                    }
                    return synchronize(handle.file, store, call) { .done }
                }
            )
        }
    }

    /// Syncs writes to files that a lock has revoked: they are sealed already.
    package func keepWhatWasWritten() {
        guard let store = openCatalog?.files else { return }
        for file in store.openFiles.changedFiles where file.isRevoked && !file.use.isBeingChanged {
            shared.chores.append(Chore(tenant: 0) { [self] call in synchronize(file, store, call) { .done } })
        }
    }

    /// Syncs all open files, before the daemon exits.
    package func synchronizeForShutDown() {
        guard let catalog = openCatalog else { return }
        for file in catalog.files.openFiles.changedFiles {
            let plan = catalog.files.plans.syncing(file)
            guard (try? plan.perform()) != nil else { continue }
            try? catalog.change { _ in try catalog.files.openFiles.commit(file, now: wallClockMilliseconds()) }
        }
        if catalog.hasChanges { try? catalog.commit() }
        try? catalog.makeDurable()
        catalog.files.openFiles.removeUnusedLog()
    }
}
