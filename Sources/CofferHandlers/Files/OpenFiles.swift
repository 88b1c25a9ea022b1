internal import CofferAccess
internal import CofferChunks
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Open files: read and written in place, on worker threads, with one change of a file at a time.

extension Vault {

    // MARK: Opening

    /// Opens a file for reading and writing in place, and creates it if the client asks for that.
    package func fileOpen(_ params: FileOpenParameters, _ call: Call) throws -> Step {
        _ = try call.group(params.group)
        let access = params.access ?? .read
        try check(params, access)
        let handles = call.caller.handles
        try handles.reserve()
        call.atEnd { handles.endReservation() }
        try checkRoomForOpenFile(of: call.caller)
        call.isFor("can't open \(params.name.quoted)")
        let store = try catalog.files
        func attempt() throws -> Step {
            try openOrMake(params, access, store, call) { file, isNew in
                let handle = OpenHandle(file, access, appends: params.appends, isShared: params.isShared, in: store)
                call.atEnd { if !handle.isRegistered { self.release(handle) } }
                // The file is created or truncated durably before a client gets a handle.
                let register: Step.Next = { .committed { try self.register(handle, isNew: isNew, call) } }
                return try self.becomeWriter(handle, waits: params.waits, store, call, orElse: attempt) {
                    guard params.truncates && !isNew else { return try register() }
                    return self.cut(handle, to: 0, call, then: register)
                }
            }
        }
        return try attempt()
    }

    private func register(_ handle: OpenHandle, isNew: Bool, _ call: Call) throws -> Step {
        let store = try checkUsable(handle, for: handle.access.writes ? .write : .read)
        let info = try fileInfo(of: handle.file, store)
        if handle.isWriter && !handle.isShared { call.keep(.writer(of: handle.file)) }
        let result = FileOpenResult(
            handle: call.caller.handles.add(handle),
            byteCount: handle.file.byteCount,
            protectionClass: store.protectionClass(of: handle.file),
            isNew: isNew,
            file: info
        )
        return .done(Reply(result))
    }

    /// What is known of an open file; `nil` if that can be read after the first unlock only.
    private func fileInfo(of file: OpenFile, _ store: FileStore) throws -> FileInfo? {
        do {
            return try FileInfo(try store.entry(of: file), store, in: try keys.state)
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return nil
        }
    }

    private func check(_ params: FileOpenParameters, _ access: FileAccess) throws(CofferError) {
        let needsWriting = [("create", params.creates), ("truncate", params.truncates), ("append", params.appends)]
        for (name, isAsked) in needsWriting where isAsked && !access.writes {
            throw CofferError(
                .param,
                "parameter '\(name)' is for a handle that writes",
                hint: "'access' is 'write' or 'readWrite'"
            )
        }
        if params.isShared && params.waits {
            throw CofferError(
                .param,
                "parameters 'shared' and 'wait' exclude each other",
                hint: "leave one of them out"
            )
        }
        let needsCreating = [
            ("exclusive", params.isExclusive), ("class", params.protectionClass != nil),
            ("mode", params.mode != nil), ("uid", params.uid != nil), ("gid", params.gid != nil),
        ]
        for (name, isAsked) in needsCreating where isAsked && !params.creates {
            throw CofferError(.param, "parameter '\(name)' is for a file that is made", hint: "say 'create', too")
        }
    }

    private func openOrMake(
        _ params: FileOpenParameters,
        _ access: FileAccess,
        _ store: FileStore,
        _ call: Call,
        then next: @escaping (OpenFile, _ isNew: Bool) throws -> Step
    ) throws -> Step {
        let group = try call.group(params.group)
        if params.isExclusive, try store.inode(of: params.name, in: group) != nil {
            throw CofferError(
                .duplicateItem,
                "there is a file or a directory \(params.name.quoted) already",
                hint: "open it without 'exclusive', or choose another name",
                operation: .write
            )
        }
        if let item = try store.find(params.name, in: group, for: access.writes ? .write : .read) {
            return try open(item, for: access.writes ? .write : .read, store, call) { try next($0, false) }
        }
        if try catalog.keychain.contains(GenericPasswordKey(params.name, in: group)) {
            throw CofferError(
                params.creates ? .duplicateItem : .itemNotFound,
                "\(params.name.quoted) is a secret of the keychain, and not a file",
                hint: "'coffer get' reads it"
            )
        }
        if let entry = try store.entry(params.name, in: group) { throw CofferError.noFile(entry) }
        guard params.creates else {
            throw CofferError(
                .itemNotFound,
                "there is no file \(params.name.quoted)",
                hint: "'coffer list' shows what there is; 'create' makes one"
            )
        }
        let file = try make(params, in: group, store)
        // The writer's claim is taken before another client can find the file: only the commit can still fail.
        file.handleCount += 1
        return try next(file, true)
    }

    private func make(_ params: FileOpenParameters, in group: String, _ store: FileStore) throws -> OpenFile {
        let inherited = try params.protectionClass ?? store.defaultClass(for: params.name, in: group)
        let protectionClass = inherited ?? .completeUntilFirstUserAuthentication
        let state = try keys.state
        guard protectionClass.permits(.create, in: state) else {
            throw CofferError.locked(params.name.quoted, in: state, for: .write)
        }
        return try catalog.change { changes in
            let file = try store.create(
                params.name,
                in: group,
                as: protectionClass,
                ownership: Ownership(mode: params.mode, uid: params.uid, gid: params.gid),
                now: wallClockMilliseconds()
            )
            changes.note(ItemChange(.added, file: params.name, in: group, inode: file.inode))
            return file
        }
    }

    /// Opens a stored file; its rows are scanned in bounded steps.
    ///
    /// - Parameter next: Gets the file, with its handle count increased.
    func open(
        _ item: FileItem,
        for operation: ItemOperation,
        salvaging: Bool = false,
        _ store: FileStore,
        _ call: Call,
        then next: @escaping (OpenFile) throws -> Step
    ) throws -> Step {
        let name = try ItemName(item.path)
        var opening = try store.beginOpening(item, for: operation)
        func resume() throws -> Step {
            try call.checkWanted()
            guard openCatalog?.files === store else { throw CofferError.vaultIsGone }
            if try store.resume(opening, limit: Limits.openingRows) { return .again(resume) }
            let finished = try salvaging ? store.finishSalvaging(opening) : store.finish(opening)
            if let file = finished {
                file.handleCount += 1
                return try next(file)
            }
            // The file was changed during the scan, which starts again. A lease is for one particular item.
            let item = try find(name, in: item.group, again: store)
            if let terms = call.lease?.terms, item.created != terms.itemCreated {
                throw CofferError.replacedMeanwhile(name)
            }
            opening = try store.beginOpening(item, for: operation)
            return .again(resume)
        }
        return try resume()
    }

    /// Finds a file again after it has changed.
    private func find(_ name: ItemName, in group: String, again store: FileStore) throws -> FileItem {
        if let item = try store.find(name, in: group) { return item }
        if try catalog.keychain.contains(GenericPasswordKey(name, in: group)) {
            throw CofferError.replacedMeanwhile(name)
        }
        throw CofferError(.itemNotFound, "\(name.quoted) was removed meanwhile")
    }

    /// Takes the writer's claim if the handle writes, and continues.
    ///
    /// - Parameter retry: What to do if the commit that was to make the file has failed meanwhile.
    private func becomeWriter(
        _ handle: OpenHandle,
        waits: Bool,
        _ store: FileStore,
        _ call: Call,
        orElse retry: @escaping Step.Next,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard handle.access.writes else {
            try checkUsable(handle, for: .read)
            return try next()
        }
        let file = handle.file
        if handle.isShared && file.hasWriter && file.isShared {
            try checkUsable(handle, for: .write)
            file.addWriter(isShared: true)
            handle.isWriter = true
            return try next()
        }
        if claims.isTaken(.writer(of: file)) {
            if waits && call.caller.handles.writes(file) {
                throw CofferError(
                    .param,
                    "\(file.subject) is open for writing on this connection, which would wait for itself",
                    hint: "write by the handle that there is, or close it first"
                )
            }
            guard waits else {
                throw CofferError(
                    .notAvailable,
                    "\(file.subject) is open for writing elsewhere",
                    hint: "wait until it is closed: 'wait'",
                    reason: .writerElsewhere
                )
            }
        }
        call.waits { [self] in
            do throws(CofferError) { _ = try checkUsable(handle, for: .write) } catch { return error }
            return nil
        }
        return .claim(.writer(of: file)) { [self] in
            try call.checkWanted()
            try checkUsable(handle, for: .write)
            if file.isUndone {
                freedClaims.append(.writer(of: file))
                return try retry()
            }
            file.addWriter(isShared: handle.isShared)
            handle.isWriter = true
            // Another handle may share it before this request ends.
            if handle.isShared { claims.keep(.writer(of: file)) }
            try store.prepareWriting(file)
            return try next()
        }
    }

    private func checkRoomForOpenFile(of caller: Caller) throws(CofferError) {
        guard let counts = observer?.openFileCounts(of: caller.tenant) else { return }
        // The counts include the file that is being opened.
        let (held, used) = (counts.held - 1, counts.used - 1)
        if FairShare.left(holding: held, used: used, of: Limits.openFiles) > 0 { return }
        throw CofferError(
            .notAvailable,
            "too many files are open: '\(caller.identity.principal)' has \(held) of \(used)",
            hint: "close some and try again",
            reason: .tooManyOpen
        )
    }

    // MARK: Using

    /// Reads a part of an open file.
    package func fileRead(_ params: FileReadParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.reader(params.handle)
        let file = handle.file
        let store = try checkUsable(handle, for: .read)
        call.isFor("can't read \(file.subject)")
        return try read(params.offset..<(params.offset + params.length), of: file, store, call) { content in
            let result = FileByteCount(byteCount: Int64(content.count))
            return .done(Reply(result, payload: content, protection: .file(store.protectionClass(of: file))))
        }
    }

    /// Reads a range, at once if all of it is cached: a switch of threads costs more than opening a chunk.
    func read(
        _ range: Range<Int64>,
        of file: OpenFile,
        _ store: FileStore,
        _ call: Call,
        then next: @escaping (consuming SecretBytes) throws -> Step
    ) throws -> Step {
        let plan = try store.planReading(range, of: file)
        call.atEnd { store.finishedReading(file) }
        if let cached = try store.collectIfCached(plan) { return try next(cached) }
        return .work(with: ()) { (_) throws(CofferError) in
            try plan.collect()
        } then: { content in
            try next(content)
        }
    }

    /// Writes to an open file; the data is durable once it is synced.
    package func fileWrite(_ params: FileWriteParameters, _ call: Call) throws -> Step {
        let content = Held<SecretBytes>(try call.attachments.takePayload().orEmpty())
        let handle = try call.caller.handles.writer(params.handle)
        call.isFor("can't write \(handle.file.subject)")
        return change(handle, call) { [self] store in
            let file = handle.file
            let offset = handle.appends ? file.byteCount : params.offset ?? file.byteCount
            guard let bytes = content.take() else { throw CofferError.takenTwice }
            let end = offset + Int64(bytes.count)
            let plan = try store.planWriting(bytes.count, at: offset, of: file)
            return try carryOut(plan, with: bytes, on: file, store) { [self] written in
                store.apply(written, upTo: written.isEmpty ? 0 : end, to: file)
                file.noteChange(at: wallClockNanoseconds())
                announceLater(file, by: call)
                let reply: Step.Next = { .done(Reply(FileWriteResult(offset: offset, byteCount: file.byteCount))) }
                if file.pendingCount <= Limits.pendingChunks { return try reply() }
                return try synchronizeChanged(file, store, then: reply)
            }
        }
    }

    /// Carries out a plan, on another thread if it takes long; if it fails, the file is unchanged.
    private func carryOut(
        _ plan: WritePlan,
        with bytes: consuming SecretBytes?,
        on file: OpenFile,
        _ store: FileStore,
        then next: @escaping ([WritePlan.Written]) throws -> Step
    ) throws -> Step {
        let written: [WritePlan.Written]?
        do {
            written = try store.performIfCached(plan, bytes)
        } catch {
            store.discard(plan, of: file)
            throw error
        }
        if let written { return try next(written) }
        return .work(with: bytes) { (bytes) throws(CofferError) in
            try plan.perform(bytes)
        } ended: { failure in
            if failure != nil { store.discard(plan, of: file) }
        } then: { written in
            try next(written)
        }
    }

    /// Changes an open file once the request holds its content.
    private func change(_ handle: OpenHandle, _ call: Call, _ body: @escaping (FileStore) throws -> Step) -> Step {
        .claim(.content(of: handle.file)) { [self] in
            beginChange(of: handle.file, call)
            return try body(try checkUsable(handle, for: .write))
        }
    }

    /// Marks a file as being changed until the request ends.
    private func beginChange(of file: OpenFile, _ call: Call) {
        file.isBeingChanged = true
        call.atEnd { [self] in
            file.isBeingChanged = false
            // A lock that came meanwhile has skipped this file.
            if file.isRevoked { keepWhatWasWritten() }
        }
    }

    /// Truncates an open file, or extends it with zeros.
    package func fileTruncate(_ params: FileTruncateParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.writer(params.handle)
        call.isFor("can't truncate \(handle.file.subject)")
        return cut(handle, to: params.byteCount, call) { .done }
    }

    private func cut(_ handle: OpenHandle, to count: Int64, _ call: Call, then next: @escaping Step.Next) -> Step {
        let file = handle.file
        return change(handle, call) { [self] store in
            let finish: Step.Next = {
                store.truncate(file, to: count)
                file.noteChange(at: wallClockNanoseconds())
                self.announceLater(file, by: call)
                return try next()
            }
            guard let plan = try store.planCutting(to: count, of: file) else { return try finish() }
            return try carryOut(plan, with: nil, on: file, store) { written in
                store.apply(written, upTo: 0, to: file)
                return try finish()
            }
        }
    }

    /// Allocates disk space for a range.
    package func fileAllocate(_ params: FileAllocateParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.writer(params.handle)
        return change(handle, call) { [self] store in
            let end = params.offset + params.length
            let plan = try store.planAllocating(params.offset..<end, of: handle.file)
            return .work(with: ()) { (_) throws(CofferError) in
                try plan.perform()
            } then: { [self] _ in
                try checkUsable(handle, for: .write)
                if !params.keepsSize { store.extend(handle.file, to: end) }
                handle.file.noteChange(at: wallClockNanoseconds())
                announceLater(handle.file, by: call)
                return .done(Reply(FileByteCount(byteCount: handle.file.byteCount)))
            }
        }
    }

    /// Turns a range of an open file into zeros, as much of it as one request may.
    package func filePunch(_ params: FilePunchParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.writer(params.handle)
        let file = handle.file
        call.isFor("can't write \(file.subject)")
        return change(handle, call) { [self] store in
            let (plan, end) = try store.planZeroing(params.offset..<(params.offset + params.length), of: file)
            let zeros: SecretBytes
            do { zeros = try SecretBytes(zeros: plan.byteCount) } catch { throw CofferError.noSecretMemory }
            return try carryOut(plan, with: zeros, on: file, store) { [self] written in
                store.apply(written, upTo: 0, to: file)
                file.noteChange(at: wallClockNanoseconds())
                announceLater(file, by: call)
                let reply: Step.Next = { .done(Reply(FileByteCount(byteCount: end - params.offset))) }
                if file.pendingCount <= Limits.pendingChunks { return try reply() }
                return try synchronizeChanged(file, store, then: reply)
            }
        }
    }

    // MARK: Validity

    @discardableResult
    private func checkUsable(_ handle: OpenHandle, for operation: ItemOperation) throws(CofferError) -> FileStore {
        guard let store = handle.store, openCatalog?.files === store else { throw CofferError.vaultIsGone }
        if handle.file.isRevoked {
            throw .locked(handle.file.subject, in: openKeys?.state ?? .locked, for: operation)
        }
        return store
    }
}

extension CofferError {
    fileprivate static func noFile(_ entry: FileEntry) -> CofferError {
        if entry.isDirectory {
            return CofferError(
                .param,
                "\(entry.quoted) is a directory, and only files are opened",
                hint: "'file.list' returns its entries",
                reason: .isDirectory
            )
        }
        return CofferError(
            .param,
            "\(entry.quoted) is a symbolic link to \(quotedForDisplay(entry.metadata.target)), and none is followed",
            hint: "open the file that it leads to by its name",
            reason: .isSymbolicLink
        )
    }

    fileprivate static func replacedMeanwhile(_ name: ItemName) -> CofferError {
        CofferError(
            .notAvailable,
            "another item has taken the name \(name.quoted) while it was being opened",
            hint: "run the command again"
        )
    }
}
