internal import CofferAccess
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

// Files that are open: read and written in place, on worker threads, one request of a connection after the other.

extension Server {
    /// The rows of a file that are gone through in a turn when it is opened.
    private static let openingRows = 1024
    /// Written chunks that wait for a sync: beyond it one is made, so that what is known of them stays small.
    private static let mostPendingChunks = 4096

    // MARK: Opening

    /// Opens a file, or makes it.
    func openFile(_ params: FileOpenParameters, from caller: Caller) throws(CofferError) -> Answer {
        let access = params.access ?? .read
        let group = try caller.group(nil)
        try check(params, access)
        try caller.handles.checkRoom()
        try checkRoomForOpenFile(of: caller)
        return .later { (transfer) async throws(CofferError) in
            let store = try self.vault.catalog.files
            let opened = try await self.openOrMake(params, access, in: group, store, transfer)
            let file = opened.file
            let handle = FileHandle(file, access, appends: params.appends, in: store, of: caller.tenant)
            var isWriter = false
            do throws(CofferError) {
                if access.writes { try await self.becomeWriter(handle, waits: params.waits, store, transfer) }
                isWriter = access.writes
                try self.checkUsable(handle, for: access.writes ? .write : .read)
                if params.truncates && !opened.isNew { try await self.cut(handle, to: 0) }
            } catch {
                await self.release(handle, isWriter: isWriter)
                throw error
            }
            return Reply(
                FileOpenResult(
                    handle: caller.handles.add(handle),
                    byteCount: file.byteCount,
                    protectionClass: store.protectionClass(of: file),
                    isNew: opened.isNew
                )
            )
        }
    }

    private func check(_ params: FileOpenParameters, _ access: FileAccess) throws(CofferError) {
        let needsWriting = [
            ("create", params.creates), ("truncate", params.truncates), ("append", params.appends),
        ]
        for (name, isAsked) in needsWriting where isAsked && !access.writes {
            throw CofferError(
                .param,
                "parameter '\(name)' is for a handle that writes",
                hint: "'access' is 'write' or 'readWrite'"
            )
        }
        if params.isExclusive && !params.creates {
            throw CofferError(.param, "parameter 'exclusive' is for a file that is made", hint: "say 'create', too")
        }
        if params.protectionClass != nil && !params.creates {
            throw CofferError(.param, "parameter 'class' is for a file that is made", hint: "say 'create', too")
        }
    }

    private func openOrMake(
        _ params: FileOpenParameters,
        _ access: FileAccess,
        in group: String,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws(CofferError) -> (file: OpenFile, isNew: Bool) {
        await fileOpenings.enter(for: transfer.tenant)
        defer { fileOpenings.leave() }
        try checkWanted(transfer)
        do {
            if let item = try store.find(params.name, in: group) {
                if params.isExclusive { throw CofferError.fileExists(params.name) }
                let operation: ItemOperation = access.writes ? .write : .read
                return (try await open(item, params.name, in: group, for: operation, store, transfer), false)
            }
            if try vault.catalog.keychain.find(GenericPasswordKey(params.name, in: group)) != nil {
                throw CofferError(
                    params.creates ? .duplicateItem : .itemNotFound,
                    "\(params.name.quoted) is a secret of the keychain, and not a file",
                    hint: "'coffer get' reads it"
                )
            }
            guard params.creates else {
                throw CofferError(
                    .itemNotFound,
                    "there is no file \(params.name.quoted)",
                    hint: "'coffer list' shows what there is; 'create' makes one"
                )
            }
            return (try await make(params, in: group, store), true)
        } catch {
            throw .init(mapping: error, "can't open \(params.name.quoted)")
        }
    }

    private func make(_ params: FileOpenParameters, in group: String, _ store: FileStore) async throws -> OpenFile {
        let inherited = try params.protectionClass ?? store.defaultClass(for: params.name, in: group)
        let protectionClass = inherited ?? .completeUntilFirstUserAuthentication
        let state = try vault.keys.state
        guard protectionClass.permits(.create, in: state) else {
            throw CofferError.locked(params.name.quoted, in: state, for: .write)
        }
        let catalog = try vault.catalog
        let file = try catalog.change { changes in
            let file = try store.create(params.name, in: group, as: protectionClass, now: wallClockMilliseconds())
            changes.note(ItemChange(.added, file: params.name, in: group))
            return file
        }
        try await catalog.pendingCommit?.wait()
        file.handleCount += 1
        return file
    }

    /// Opens a file that exists; its rows are gone through over some turns, if there are many.
    ///
    /// If another file takes the name meanwhile, that one is opened, unless a lease allows the request: it is for one item.
    ///
    /// - Returns: The file, with the caller's handle counted: who closes the last one besides leaves it open.
    func open(
        _ item: FileItem,
        _ name: ItemName,
        in group: String,
        for operation: ItemOperation,
        salvaging: Bool = false,
        under lease: LeaseTerms? = nil,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws -> OpenFile {
        var item = item
        while true {
            let opening = try store.beginOpening(item, for: operation)
            while try store.goOn(opening, limit: Self.openingRows) {
                await Task.yield()
                try checkWanted(transfer)
                guard vault.openCatalog?.files === store else { throw CofferError.vaultIsGone }
            }
            let finished = try salvaging ? store.finishSalvaging(opening) : store.finish(opening)
            if let file = finished {
                file.handleCount += 1
                return file
            }
            item = try find(name, in: group, again: store)
            if let lease, item.created != lease.itemCreated { throw CofferError.replacedMeanwhile(name) }
        }
    }

    /// Finds a file that has changed since it was found first.
    private func find(_ name: ItemName, in group: String, again store: FileStore) throws -> FileItem {
        if let item = try store.find(name, in: group) { return item }
        if try vault.catalog.keychain.find(GenericPasswordKey(name, in: group)) != nil {
            throw CofferError.replacedMeanwhile(name)
        }
        throw CofferError(.itemNotFound, "\(name.quoted) was removed meanwhile")
    }

    private func becomeWriter(
        _ handle: FileHandle,
        waits: Bool,
        _ store: FileStore,
        _ transfer: Transfer
    ) async throws(CofferError) {
        let file = handle.file
        guard await writers.enter(file, waits: waits, while: { self.isWanted(transfer) }) else {
            try checkWanted(transfer)
            try checkUsable(handle, for: .write)
            throw CofferError(
                .notAvailable,
                "\(file.subject) is open for writing elsewhere",
                hint: "try again later, or wait for it: 'wait'"
            )
        }
        do {
            try checkWanted(transfer)
            try checkUsable(handle, for: .write)
            try store.prepareWriting(file)
        } catch {
            writers.leave(file)
            throw .init(mapping: error, "can't open \(file.subject)")
        }
    }

    // MARK: Using

    /// Reads a part of an open file.
    func readFile(_ params: FileReadParameters, from caller: Caller) throws(CofferError) -> Answer {
        let handle = try caller.handles[params.handle]
        guard handle.access.reads else { throw .wrongAccess(handle, "reading") }
        return .later { (_) async throws(CofferError) in
            let store = try self.checkUsable(handle, for: .read)
            let content = try await self.read(params.offset..<(params.offset + params.length), of: handle, store)
            let result = FileByteCount(byteCount: Int64(content.count))
            return Reply(result, payload: content, protection: .file(store.protectionClass(of: handle.file)))
        }
    }

    private func read(
        _ range: Range<Int64>,
        of handle: FileHandle,
        _ store: FileStore
    ) async throws(CofferError) -> SecretBytes {
        let file = handle.file
        let plan: ReadPlan
        do { plan = try store.planReading(range, of: file) } catch { throw .init(mapping: error, "can't read") }
        defer { store.finishedReading(file) }
        // Another thread costs more than opening a chunk.
        if let content = try plan.collectIfCached() { return content }
        return try await workers.run(for: handle.tenant) { () throws(CofferError) in try plan.collect() }
    }

    /// Writes to a part of an open file: it is sealed when this is answered, and survives a crash from the next sync on.
    func writeFile(
        _ params: FileWriteParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        let payload = Handoff(try attachments.takePayload().orEmpty())
        try attachments.refuseLeftovers(of: .fileWrite)
        let handle = try caller.handles[params.handle]
        guard handle.access.writes else { throw .wrongAccess(handle, "writing") }
        return .later { (_) async throws(CofferError) in
            let file = handle.file
            let offset = try await self.change(handle) { (store) throws(CofferError) in
                guard let bytes = payload.take() else { throw .carriedOutTwice }
                let offset = handle.appends ? file.byteCount : params.offset ?? file.byteCount
                try await self.write(bytes, at: offset, to: handle, store)
                return offset
            }
            if file.pendingCount > Self.mostPendingChunks, let store = handle.store {
                try await self.synchronize(handle, store)
            }
            return Reply(FileWriteResult(offset: offset, byteCount: file.byteCount))
        }
    }

    /// Changes an open file, when it is this change's turn.
    private func change<Result>(
        _ handle: FileHandle,
        _ body: (FileStore) async throws(CofferError) -> Result
    ) async throws(CofferError) -> Result {
        let file = handle.file
        await file.turnstile.enter(for: handle.tenant)
        defer {
            file.turnstile.leave()
            // A lock that came meanwhile found nothing to keep.
            if file.isRevoked { keepWhatWasWritten() }
        }
        return try await body(try checkUsable(handle, for: .write))
    }

    private func write(
        _ bytes: consuming SecretBytes,
        at offset: Int64,
        to handle: FileHandle,
        _ store: FileStore
    ) async throws(CofferError) {
        let file = handle.file
        let end = offset + Int64(bytes.count)
        let plan: WritePlan
        do {
            plan = try store.planWriting(bytes.count, at: offset, of: file)
        } catch {
            throw .init(mapping: error, "can't write \(file.subject)")
        }
        let content: SecretBytes? = bytes
        let handoff = Handoff(content)
        do throws(CofferError) {
            let written = try await workers.run(for: handle.tenant) { () throws(CofferError) in
                try plan.perform(handoff.take())
            }
            store.apply(written, upTo: written.isEmpty ? 0 : end, to: file)
        } catch {
            store.discard(plan, of: file)
            throw error
        }
    }

    /// Makes an open file shorter or longer.
    func truncateFile(_ params: FileTruncateParameters, from caller: Caller) throws(CofferError) -> Answer {
        let handle = try caller.handles[params.handle]
        guard handle.access.writes else { throw .wrongAccess(handle, "writing") }
        return .later { (_) async throws(CofferError) in
            try await self.cut(handle, to: params.byteCount)
            return Reply(Empty())
        }
    }

    private func cut(_ handle: FileHandle, to count: Int64) async throws(CofferError) {
        try await change(handle) { (store) throws(CofferError) in try await self.cut(handle, to: count, store) }
    }

    private func cut(_ handle: FileHandle, to count: Int64, _ store: FileStore) async throws(CofferError) {
        let file = handle.file
        do {
            if let plan = try store.planCutting(to: count, of: file) {
                do throws(CofferError) {
                    let written = try await workers.run(for: handle.tenant) { () throws(CofferError) in
                        try plan.perform(nil)
                    }
                    store.apply(written, upTo: 0, to: file)
                } catch {
                    store.discard(plan, of: file)
                    throw error
                }
            }
            store.truncate(file, to: count)
        } catch {
            throw .init(mapping: error, "can't truncate \(file.subject)")
        }
    }

    /// Reserves room on the disk for a part of an open file.
    func allocateFile(_ params: FileAllocateParameters, from caller: Caller) throws(CofferError) -> Answer {
        let handle = try caller.handles[params.handle]
        guard handle.access.writes else { throw .wrongAccess(handle, "writing") }
        return .later { (_) async throws(CofferError) in
            try await self.change(handle) { (store) throws(CofferError) in
                let end = params.offset + params.length
                let plan = try store.planAllocating(params.offset..<end, of: handle.file)
                try await self.workers.run(for: handle.tenant) { () throws(CofferError) in try plan.perform() }
                try self.checkUsable(handle, for: .write)
                store.extend(handle.file, to: end)
            }
            return Reply(FileByteCount(byteCount: handle.file.byteCount))
        }
    }

    // MARK: Who may go on

    /// Gives up work that nobody waits for any more.
    func checkWanted(_ transfer: Transfer) throws(CofferError) {
        if !isWanted(transfer) { throw CofferError.cancelled }
    }

    /// Refuses a handle that a lock has ended, or whose vault is gone.
    @discardableResult
    private func checkUsable(_ handle: FileHandle, for operation: ItemOperation) throws(CofferError) -> FileStore {
        guard let store = handle.store, vault.openCatalog?.files === store else { throw CofferError.vaultIsGone }
        if handle.file.isRevoked {
            throw .locked(handle.file.subject, in: vault.openKeys?.state ?? .locked, for: operation)
        }
        return store
    }
}

extension CofferError {
    fileprivate static func replacedMeanwhile(_ name: ItemName) -> CofferError {
        CofferError(
            .notAvailable,
            "another item has taken the name \(name.quoted) while it was being opened",
            hint: "run the command again"
        )
    }

    fileprivate static func fileExists(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a file \(name.quoted) already",
            hint: "open it without 'exclusive', or choose another name",
            operation: .write
        )
    }

    fileprivate static func wrongAccess(_ handle: FileHandle, _ what: String) -> CofferError {
        CofferError(.param, "\(handle.file.subject) was not opened for \(what)", hint: "open it with another 'access'")
    }
}
