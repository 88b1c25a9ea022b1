internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferSystem
internal import CofferWire

// How what was written to open files comes to stay: synced, closed, and let go of.

extension Server {
    /// Makes what was written to an open file survive a crash: all of it or nothing.
    func syncFile(_ params: FileSyncParameters, from caller: Caller) throws(CofferError) -> Answer {
        let handle = try caller.handles[params.handle]
        return .later { (_) async throws(CofferError) in
            // What was written before a lock is sealed already: no key is wanted for this.
            guard let store = handle.store else { throw CofferError.vaultIsGone }
            try await self.synchronize(handle, store)
            return Reply(Empty())
        }
    }

    func synchronize(_ handle: FileHandle, _ store: FileStore) async throws(CofferError) {
        try await synchronize(handle.file, store, for: handle.tenant)
    }

    func synchronize(_ file: OpenFile, _ store: FileStore, for tenant: Int = 0) async throws(CofferError) {
        await file.turnstile.enter(for: tenant)
        defer { file.turnstile.leave() }
        if file.isBeingCommitted, let catalog = vault.openCatalog, catalog.files === store {
            try await catalog.pendingCommit?.wait()
        }
        guard file.hasChanges else { return }
        let plan = store.planSyncing(file)
        try await workers.run(for: tenant) { () throws(CofferError) in try plan.perform() }
        do {
            guard let catalog = vault.openCatalog, catalog.files === store else { throw CofferError.vaultIsGone }
            try catalog.change { changes in
                try store.commit(file, now: wallClockMilliseconds())
                try changes.note(try store.item(of: file).map { ItemChange(.changed, $0) })
            }
            try await catalog.pendingCommit?.wait()
        } catch {
            throw .init(mapping: error, "can't sync \(file.subject)")
        }
    }

    /// Closes a handle; what was written is synced first.
    func closeFile(_ params: FileCloseParameters, from caller: Caller) throws(CofferError) -> Answer {
        let handle = try caller.handles[params.handle]
        return .later { (_) async throws(CofferError) in
            if handle.access.writes, let store = handle.store { try await self.synchronize(handle, store) }
            caller.handles.remove(params.handle)
            await self.release(handle, isWriter: handle.access.writes)
            return Reply(Empty())
        }
    }

    /// Lets go of a handle; what was written is synced as far as it can be.
    func release(_ handle: FileHandle, isWriter: Bool) async {
        let file = handle.file
        if isWriter {
            if let store = handle.store { try? await synchronize(handle, store) }
            writers.leave(file)
        }
        file.handleCount -= 1
        handle.store?.close(file)
    }

    /// Lets go of everything that a connection had open.
    func releaseHandles(of caller: Caller) {
        let handles = caller.handles.takeAll()
        if handles.isEmpty { return }
        orphanedHandles += handles
        Task(executorPreference: loop) { await self.releaseOrphans() }
    }

    private func releaseOrphans() async {
        while let handle = orphanedHandles.popLast() { await release(handle, isWriter: handle.access.writes) }
    }

    /// Syncs what was written to files whose handles a lock has ended: it is sealed, and wants no key.
    func keepWhatWasWritten() {
        guard let store = vault.openCatalog?.files, store.changedFiles.contains(where: \.isRevoked) else { return }
        Task(executorPreference: loop) { await self.synchronizeRevoked() }
    }

    private func synchronizeRevoked() async {
        guard let store = vault.openCatalog?.files else { return }
        for file in store.changedFiles where file.isRevoked { try? await synchronize(file, store) }
    }

    /// Syncs all that was written, at once: the daemon ends.
    func synchronizeForShutDown() {
        guard let catalog = vault.openCatalog else { return }
        for file in catalog.files.changedFiles {
            let plan = catalog.files.planSyncing(file)
            guard (try? plan.perform()) != nil else { continue }
            try? catalog.change { _ in try catalog.files.commit(file, now: wallClockMilliseconds()) }
        }
        if catalog.hasChanges { try? catalog.commit() }
    }
}
