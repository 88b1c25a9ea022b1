internal import CofferRights
internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Opening files, and creating them.

extension FileHandlers {
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
                // That the file is created or truncated is committed before a client gets a handle.
                let register: Step.Next = {
                    .committed { try self.register(handle, isNew: isNew, isVersion: params.version != nil, call) }
                }
                return try self.becomeWriter(handle, waits: params.waits, store, call, orElse: attempt) {
                    guard params.truncates && !isNew else { return try register() }
                    return self.cut(handle, to: 0, call, then: register)
                }
            }
        }
        return try attempt()
    }

    private func register(_ handle: OpenHandle, isNew: Bool, isVersion: Bool, _ call: Call) throws -> Step {
        let store = try checkUsable(handle, for: handle.access.writes ? .write : .read)
        let info = isVersion ? nil : try fileInfo(of: handle.file, store)
        if handle.isWriter && !handle.isShared { call.keep(.writer(of: handle.file)) }
        let result = FileOpenResult(
            handle: call.caller.handles.add(handle),
            byteCount: handle.file.byteCount,
            protectionClass: store.openContents.protectionClass(of: handle.file),
            isNew: isNew,
            file: info
        )
        return .done(Reply(result))
    }

    /// What is known of an open file; `nil` if that can be read after the first unlock only.
    private func fileInfo(of file: OpenFile, _ store: FileStore) throws -> FileInfo? {
        do {
            return try FileInfo(try store.openFiles.entry(of: file), store, in: try keys.state)
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
        if params.version != nil && access.writes {
            throw CofferError(
                .param,
                "parameter 'version' is for a handle that reads: a version is not changed any more",
                hint: "'file.restore' makes it the present content"
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
            ("atLeast", params.leastClass != nil),
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
        if let number = params.version {
            let item = try store.versions.version(number, of: try store.requireEntry(params.name, in: group))
            return try open(item, for: .read, store, call) { try next($0, false) }
        }
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
        let file = try make(params, in: group, store, call)
        // The writer's claim is taken before another client can find the file: only the commit can still fail.
        file.use.handleCount += 1
        return try next(file, true)
    }

    private func make(
        _ params: FileOpenParameters,
        in group: String,
        _ store: FileStore,
        _ call: Call
    ) throws -> OpenFile {
        let protectionClass =
            try params.protectionClass
            ?? vault.classOfNewFile(params.name, in: group, call).stricter(params.leastClass)
        let state = try keys.state
        guard protectionClass.permits(.create, in: state) else {
            throw CofferError.locked(params.name.quoted, in: state, for: .write)
        }
        return try catalog.change { changes in
            let file = try store.openFiles.create(
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
        var opening = try store.openFiles.beginOpening(item, for: operation)
        func resume() throws -> Step {
            try call.checkWanted()
            guard openCatalog?.files === store else { throw CofferError.vaultIsGone }
            if try store.openFiles.resume(opening, limit: Limits.openingRows) { return .again(resume) }
            let finished = try salvaging ? store.openFiles.finishSalvaging(opening) : store.openFiles.finish(opening)
            if let file = finished {
                file.use.handleCount += 1
                return try next(file)
            }
            if item.version != nil {
                throw CofferError(.itemNotFound, "a version of \(name.quoted) was removed meanwhile")
            }
            // The file was changed during the scan, which starts again. A rule may be for one particular item.
            let item = try find(name, in: item.group, again: store)
            if let rule = call.permit, vault.hasLostItem(rule) { throw CofferError.replacedMeanwhile(name) }
            opening = try store.openFiles.beginOpening(item, for: operation)
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
        if handle.isShared && file.use.hasWriter && file.use.isShared {
            try checkUsable(handle, for: .write)
            file.use.addWriter(isShared: true)
            handle.isWriter = true
            return try next()
        }
        if shared.claims.isTaken(.writer(of: file)) {
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
                    retry: .later,
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
                shared.claims.freed.append(.writer(of: file))
                return try retry()
            }
            file.use.addWriter(isShared: handle.isShared)
            handle.isWriter = true
            // Another handle may share it before this request ends.
            if handle.isShared { shared.claims.keep(.writer(of: file)) }
            try store.openFiles.prepareWriting(file)
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
            retry: .later,
            reason: .tooManyOpen
        )
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
            hint: "run the command again",
            retry: .later
        )
    }
}
