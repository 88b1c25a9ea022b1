internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferHandlers
internal import CofferMemory
internal import CofferVault
internal import CofferWire
internal import Glibc

// Contents of files.
extension KernelMount {
    /// The answer to an opening: the kernel keeps the pages that it has, and sends no message for each close(2).
    static var opened: fuse_open_out {
        var answer = fuse_open_out()
        answer.open_flags = UInt32(FOPEN_KEEP_CACHE | FOPEN_NOFLUSH)
        return answer
    }

    // MARK: Opening

    func open(_ mode: OpenMode, _ request: KernelRequest, _ call: Call) throws -> Step {
        let node = request.node
        request.name = try? path(of: node)
        let isOpen = (mode.writes ? openFiles.writer(node) : openFiles.handle(node)) != nil && !isRevoked(node)
        guard isOpen, !mode.truncates else {
            return try openAnew(node, mode, request, call) { [self] in try finishOpening(mode, request, call) }
        }
        // A file of class completeUnlessOpen can be open, and not be opened again.
        let attributes = try attributes(of: node)
        guard try attributes.protectionClass?.permits(.read, in: state) ?? true else { throw Errno(EACCES) }
        openFiles.count(node, mode)
        return request.end(.bytes(bytes(of: Self.opened)))
    }

    private func finishOpening(_ mode: OpenMode, _ request: KernelRequest, _ call: Call) throws -> Step {
        let drops = mode.truncates && mode.writes && mode.dropsSpecialBits
        return try dropSpecialBits(of: request.node, if: drops, request, call) {
            request.end(.bytes(bytes(of: Self.opened)))
        }
    }

    /// Opens a file for its first program, or anew after a lock.
    private func openAnew(
        _ node: UInt64,
        _ mode: OpenMode,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard let name = try name(of: node) else { throw Errno(EISDIR) }
        let params = FileOpenParameters(
            name: name,
            access: mode.writes ? .readWrite : .read,
            truncates: mode.truncates && mode.writes,
            isShared: mode.writes,
            group: group
        )
        return try dropRevoked(node, request, call) { [self] in
            try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
                guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
                try keep(opened.handle, writes: mode.writes, of: node, mode)
                return try next()
            }
        }
    }

    /// Keeps a handle for all programs that open the node.
    ///
    /// - Parameter mode: How a program opens it; `nil` if it has it open already.
    /// - Throws: `ESTALE` if the handle is of another file, to which the path of the node has led meanwhile.
    func keep(_ handle: Int64, writes: Bool, of node: UInt64, _ mode: OpenMode?) throws {
        guard try caller.handles[handle].file.inode == row(node) else {
            drop(handle)
            throw Errno.stale
        }
        if let surplus = openFiles.add(handle, writes: writes, to: node, asAskedFor: mode) { drop(surplus) }
    }

    /// Releases a handle through which nothing was written, unless it was closed.
    func drop(_ number: Int64) {
        guard let handle = try? caller.handles[number] else { return }
        caller.handles.remove(number)
        handlers.file.release(handle)
    }

    /// Whether a lock has ended the handles of a node.
    private func isRevoked(_ node: UInt64) -> Bool { openFiles.file(node, of: caller)?.isRevoked ?? false }

    /// Closes the handles that a lock has ended: as writers they would keep others out.
    private func dropRevoked(
        _ node: UInt64,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard isRevoked(node) else { return try next() }
        return try close(openFiles.takeRevoked(node)[...], request, call, then: next)
    }

    private func close(
        _ handles: ArraySlice<Int64>,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard let first = handles.first else { return try next() }
        return try handlers.file.fileClose(FileCloseParameters(handle: first), call).answering(request) { [self] _ in
            try close(handles.dropFirst(), request, call, then: next)
        }
    }

    /// Continues with a handle of a node that programs have open: after a lock, or in another daemon, it is opened again.
    private func withHandle(
        _ node: UInt64,
        writes: Bool,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping (Int64) throws -> Step
    ) throws -> Step {
        let handle = writes ? openFiles.writer(node) : openFiles.handle(node)
        if let handle, try !caller.handles[handle].file.isRevoked { return try next(handle) }
        guard let name = try name(of: node) else { throw Errno(EISDIR) }
        return try dropRevoked(node, request, call) { [self] in
            let params = FileOpenParameters(
                name: name,
                access: writes ? .readWrite : .read,
                isShared: writes,
                group: group
            )
            return try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
                guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
                try keep(opened.handle, writes: writes, of: node, nil)
                return try next(opened.handle)
            }
        }
    }

    // MARK: Closing

    func release(_ mode: OpenMode, _ request: KernelRequest, _ call: Call) throws -> Step {
        let node = request.node
        switch openFiles.release(node, mode) {
        case .used: return .done
        case .nothing: return try close(openFiles.takeHandles(node)[...], request, call) { .done }
        case .readers(let hasHandle):
            let closeWriter: Step.Next = { [self] in
                try close(openFiles.takeWriter(node)[...], request, call) { .done }
            }
            if hasHandle { return try closeWriter() }
            // They get a handle of their own first. If it can't be opened now, they go on with the one that writes.
            guard let name = try? name(of: node), let attributes = try? attributes(of: node),
                try attributes.protectionClass?.permits(.read, in: state) ?? false
            else { return .done }
            let params = FileOpenParameters(name: name, access: .read, group: group)
            return try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
                guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
                try keep(opened.handle, writes: false, of: node, nil)
                return try closeWriter()
            }
        }
    }

    // MARK: Reading and writing

    func read(_ range: Range<Int64>, _ request: KernelRequest, _ call: Call) throws -> Step {
        if range.lowerBound >= Limits.fileBytes { return request.end(.bytes([])) }
        request.answer = .payload
        return try withHandle(request.node, writes: false, request, call) { [self] handle in
            let length = min(range.upperBound - range.lowerBound, Int64(Limits.framePayloadBytes))
            let params = FileReadParameters(handle: handle, offset: range.lowerBound, length: length)
            return try handlers.file.fileRead(params, call)
        }
    }

    func write(_ offset: Int64, _ kind: WriteKind, _ request: KernelRequest, _ call: Call) throws -> Step {
        let count = request.payloadByteCount
        guard offset <= Limits.fileBytes - Int64(count) else { throw Errno.tooLarge }
        let node = request.node
        return try dropSpecialBits(of: node, if: kind.contains(.dropsSpecialBits), request, call) { [self] in
            try withHandle(node, writes: true, request, call) { [self] handle in
                let params = FileWriteParameters(handle: handle, offset: offset)
                var answer = fuse_write_out()
                answer.size = UInt32(count)
                request.answer = .bytes(bytes(of: answer))
                return try handlers.file.fileWrite(params, call)
            }
        }
    }

    func sync(_ request: KernelRequest, _ call: Call) throws -> Step {
        try withHandle(request.node, writes: false, request, call) { [self] handle in
            try handlers.file.fileSync(FileSyncParameters(handle: handle), call)
        }
    }

    /// Sets the size of a file.
    ///
    /// - Parameter isOpen: Whether the program has it open. If not, it needs what an opening needs, even if another program
    ///   has it open.
    func truncate(
        _ node: UInt64,
        to byteCount: Int64,
        isOpen: Bool,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        if byteCount > Limits.fileBytes { throw Errno.tooLarge }
        let cut: (Int64, @escaping Step.Next) throws -> Step = { [self] handle, next in
            let params = FileTruncateParameters(handle: handle, byteCount: byteCount)
            return try handlers.file.fileTruncate(params, call).answering(request) { _ in try next() }
        }
        if isOpen { return try withHandle(node, writes: true, request, call) { try cut($0, next) } }
        guard let name = try name(of: node) else { throw Errno(EISDIR) }
        let params = FileOpenParameters(name: name, access: .readWrite, isShared: true, group: group)
        return try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
            guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
            // A file that can't be cut must not stay open.
            call.atEnd { [self] in drop(opened.handle) }
            guard try caller.handles[opened.handle].file.inode == row(node) else { throw Errno.stale }
            return try cut(opened.handle) { [self] in try close([opened.handle], request, call, then: next) }
        }
    }

    // MARK: Space

    /// Reserves space, or makes a hole.
    ///
    /// - Parameter flags: Those of fallocate(2).
    func allocate(
        _ offset: Int64,
        _ count: Int64,
        _ flags: Int32,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        guard offset >= 0, count > 0 else { throw Errno.invalid }
        let (end, isOver) = offset.addingReportingOverflow(count)
        if isOver { throw Errno.tooLarge }
        let keepsSize = flags & FALLOC_FL_KEEP_SIZE != 0
        switch flags & ~FALLOC_FL_KEEP_SIZE {
        case 0 where end > Limits.fileBytes: throw Errno.tooLarge
        case 0: break
        case FALLOC_FL_PUNCH_HOLE where keepsSize: break
        default: throw Errno.notSupported
        }
        // The kernel does not say whether the bits of the mode go: they do, as after a write.
        return try dropSpecialBits(of: request.node, if: request.header.userID != 0, request, call) { [self] in
            try withHandle(request.node, writes: true, request, call) { [self] handle in
                if flags & FALLOC_FL_PUNCH_HOLE != 0 {
                    return try punch(offset..<min(end, max(offset, Limits.fileBytes)), handle, request, call)
                }
                let params = FileAllocateParameters(
                    handle: handle,
                    offset: offset,
                    length: count,
                    keepsSize: keepsSize
                )
                return try handlers.file.fileAllocate(params, call)
            }
        }
    }

    /// Makes a hole, step by step.
    private func punch(
        _ range: Range<Int64>,
        _ handle: Int64,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        if range.isEmpty { return .done }
        let length = range.upperBound - range.lowerBound
        let params = FilePunchParameters(handle: handle, offset: range.lowerBound, length: length)
        return try handlers.file.filePunch(params, call).answering(request) { [self] reply in
            guard let done = reply.value as? FileByteCount, done.byteCount > 0 else { throw Errno.readFailed }
            let next = range.lowerBound + min(done.byteCount, length)
            return .again { [self] in try punch(next..<range.upperBound, handle, request, call) }
        }
    }

    /// Finds the first data, or the first hole, from an offset on; the end of a file counts as a hole.
    ///
    /// - Throws: `ENXIO` if the offset is not in the file, or no data follows.
    func seek(_ offset: Int64, _ whence: Int32, _ request: KernelRequest, _ call: Call) throws -> Step {
        guard whence == SEEK_DATA || whence == SEEK_HOLE else { throw Errno.invalid }
        // An offset that no file has is refused as the end of one is, unless a lock refuses it.
        let start = offset < 0 ? Limits.fileBytes : min(offset, Limits.fileBytes)
        return try withHandle(request.node, writes: false, request, call) { [self] handle in
            try seek(from: start, start, wantsHole: whence == SEEK_HOLE, handle, request, call)
        }
    }

    private func seek(
        from place: Int64,
        _ start: Int64,
        wantsHole: Bool,
        _ handle: Int64,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        let params = FileExtentParameters(handle: handle, offset: place)
        return try handlers.file.fileExtent(params, call).answering(request) { [self] reply in
            guard let extent = reply.value as? FileExtent, extent.byteCount <= Limits.fileBytes - place else {
                throw Errno.readFailed
            }
            if extent.byteCount == 0 && (!wantsHole || place == start) { throw Errno.noSuchOffset }
            if extent.byteCount == 0 || extent.isHole == wantsHole {
                return request.end(.bytes(bytes(of: fuse_lseek_out(offset: UInt64(place)))))
            }
            let next = place + extent.byteCount
            return .again { [self] in try seek(from: next, start, wantsHole: wantsHole, handle, request, call) }
        }
    }
}
