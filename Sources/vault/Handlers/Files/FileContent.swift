internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Open files: read and written in place, on worker threads, with one change of a file at a time.

extension FileHandlers {
    /// Reads a part of an open file.
    package func fileRead(_ params: FileReadParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.reader(params.handle)
        let file = handle.file
        let store = try checkUsable(handle, for: .read)
        call.isFor("can't read \(file.subject)")
        return try read(params.offset..<(params.offset + params.length), of: file, store, call) { content in
            let result = FileByteCount(byteCount: Int64(content.count))
            return .done(
                Reply(result, payload: content, protection: .file(store.openContents.protectionClass(of: file)))
            )
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
        let plan = try store.plans.reading(range, of: file)
        call.atEnd { file.endRead() }
        if let cached = try store.plans.collectIfCached(plan) { return try next(cached) }
        return .work(with: ()) { (_) throws(CofferError) in
            try plan.collect()
        } then: { content in
            try next(content)
        }
    }

    /// Says how far an open file is data, or a hole.
    package func fileExtent(_ params: FileExtentParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.reader(params.handle)
        let store = try checkUsable(handle, for: .read)
        call.isFor("can't read \(handle.file.subject)")
        let extent = try store.plans.extent(at: params.offset, of: handle.file)
        return .done(Reply(FileExtent(byteCount: extent.byteCount, isHole: extent.isHole)))
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
            let most = handle.isShared ? Limits.sharedChunkBytes : Limits.chunkBytes
            let plan = try store.plans.writing(bytes.count, at: offset, of: file, chunksAtMost: most)
            return try carryOut(plan, with: bytes, on: file, store) { [self] written in
                let change = FileChange(
                    written,
                    size: .atLeast(written.isEmpty ? 0 : end),
                    time: wallClockNanoseconds()
                )
                return try make(change, by: plan, in: file, store, call) {
                    .done(Reply(FileWriteResult(offset: offset, byteCount: file.byteCount)))
                }
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
            written = try store.plans.performIfCached(plan, bytes)
        } catch {
            file.giveBack(plan)
            throw error
        }
        if let written { return try next(written) }
        return .work(with: bytes) { (bytes) throws(CofferError) in
            try plan.perform(bytes)
        } ended: { failure in
            if failure != nil { file.giveBack(plan) }
        } then: { written in
            try next(written)
        }
    }

    /// Makes a change whose chunks were written by a plan, and continues, once it is synced if too much is not; if it can't be
    /// logged, the file is unchanged.
    private func make(
        _ change: FileChange,
        by plan: WritePlan? = nil,
        in file: OpenFile,
        _ store: FileStore,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        do {
            guard openCatalog?.files === store else { throw CofferError.vaultIsGone }
            try store.openFiles.make(change, in: file, isLogged: call.caller.choice.defersSyncs)
        } catch {
            if let plan { file.giveBack(plan) }
            throw error
        }
        announceLater(file, by: call)
        return store.openFiles.mustSync(file) ? try synchronizeChanged(file, store, then: next) : try next()
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
        file.use.isBeingChanged = true
        call.atEnd { [self] in
            file.use.isBeingChanged = false
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

    func cut(_ handle: OpenHandle, to count: Int64, _ call: Call, then next: @escaping Step.Next) -> Step {
        let file = handle.file
        return change(handle, call) { [self] store in
            func finish(_ written: [WritePlan.Written] = [], by plan: WritePlan? = nil) throws -> Step {
                let change = FileChange(written, size: .exactly(count), time: wallClockNanoseconds())
                return try make(change, by: plan, in: file, store, call, then: next)
            }
            guard let plan = try store.plans.cutting(to: count, of: file) else { return try finish() }
            return try carryOut(plan, with: nil, on: file, store) { try finish($0, by: plan) }
        }
    }

    /// Allocates disk space for a range.
    package func fileAllocate(_ params: FileAllocateParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.writer(params.handle)
        return change(handle, call) { [self] store in
            let end = params.offset + params.length
            let plan = try store.plans.allocating(params.offset..<end, of: handle.file)
            return .work(with: ()) { (_) throws(CofferError) in
                try plan.perform()
            } then: { [self] _ in
                try checkUsable(handle, for: .write)
                let size = FileChange.Size.atLeast(params.keepsSize ? 0 : end)
                let change = FileChange(size: size, time: wallClockNanoseconds())
                return try make(change, in: handle.file, store, call) {
                    .done(Reply(FileByteCount(byteCount: handle.file.byteCount)))
                }
            }
        }
    }

    /// Turns a range of an open file into zeros, as much of it as one request may.
    package func filePunch(_ params: FilePunchParameters, _ call: Call) throws -> Step {
        let handle = try call.caller.handles.writer(params.handle)
        let file = handle.file
        call.isFor("can't write \(file.subject)")
        return change(handle, call) { [self] store in
            let zeroing = try store.plans.zeroing(params.offset..<(params.offset + params.length), of: file)
            let zeros: SecretBytes
            do { zeros = try SecretBytes(zeros: zeroing.writes.byteCount) } catch { throw CofferError.noSecretMemory }
            return try carryOut(zeroing.writes, with: zeros, on: file, store) { [self] written in
                let change = FileChange(written, holes: zeroing.holes, time: wallClockNanoseconds())
                return try make(change, by: zeroing.writes, in: file, store, call) {
                    .done(Reply(FileByteCount(byteCount: zeroing.end - params.offset)))
                }
            }
        }
    }

    // MARK: Validity

    @discardableResult
    func checkUsable(_ handle: OpenHandle, for operation: ItemOperation) throws(CofferError) -> FileStore {
        guard let store = handle.store, openCatalog?.files === store else { throw CofferError.vaultIsGone }
        if handle.file.isRevoked {
            throw .locked(handle.file.subject, in: openKeys?.state ?? .locked, for: operation)
        }
        return store
    }
}
