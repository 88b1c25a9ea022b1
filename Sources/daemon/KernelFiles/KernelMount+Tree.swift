internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferHandlers
internal import CofferVault
internal import CofferWire
internal import Glibc

// Changes of the tree. The kernel has looked each name up before, so that the tree itself tells whether a request that comes
// again was carried out.
extension KernelMount {
    /// With what an entry comes into being: the owner is kept if it is not that of the mount.
    private struct Birth {
        let mode: Int64
        let userID: Int64?
        let groupID: Int64?

        init(_ mode: UInt32, _ header: KernelHeader, _ owner: MountOwner) {
            self.mode = Int64(mode & 0o7777)
            userID = header.userID == owner.userID ? nil : Int64(header.userID)
            groupID = header.groupID == owner.groupID ? nil : Int64(header.groupID)
        }
    }

    private func birth(_ mode: UInt32, _ request: KernelRequest) -> Birth { Birth(mode, request.header, facts.owner) }

    // MARK: Making

    func makeDirectory(_ name: FileName, _ mode: UInt32, _ request: KernelRequest, _ call: Call) throws -> Step {
        if try isMade(name, request, { $0.type == .directory }) { return try answerMade(name, request) }
        let birth = birth(mode, request)
        let params = FileMkdirParameters(
            name: try target(name, request),
            mode: birth.mode,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
        return try handlers.file.fileMkdir(params, call).answering(request) { [self] _ in
            try answerMade(name, request)
        }
    }

    func makeLink(_ name: FileName, _ target: String, _ request: KernelRequest, _ call: Call) throws -> Step {
        if try isMade(name, request, { $0.target == target }) { return try answerMade(name, request) }
        let birth = birth(0o777, request)
        let params = FileSymlinkParameters(
            name: try self.target(name, request),
            target: target,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
        return try handlers.file.fileSymlink(params, call).answering(request) { [self] _ in
            try answerMade(name, request)
        }
    }

    func makeFile(_ name: FileName, _ mode: UInt32, _ request: KernelRequest, _ call: Call) throws -> Step {
        if try isMade(name, request, { $0.type == .file }) { return try answerMade(name, request) }
        let params = try creation(of: name, OpenMode(flags: UInt32(O_RDWR | O_EXCL)), mode, request)
        return try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
            guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
            return try handlers.file.fileClose(FileCloseParameters(handle: opened.handle), call).answering(request) {
                [self] _ in try answerMade(name, request)
            }
        }
    }

    /// Creates a file and opens it, or opens the one that another client has created just now.
    func create(
        _ name: FileName,
        _ opening: OpenMode,
        _ mode: UInt32,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        let params = try creation(of: name, opening, mode, request)
        return try handlers.file.fileOpen(params, call).answering(request) { [self] reply in
            guard let opened = reply.value as? FileOpenResult else { throw Errno.readFailed }
            // Not the file that has the name now: another client may have renamed one over it.
            let made: NodeAttributes
            do { made = try store.numbered.attributes(of: caller.handles[opened.handle].file) } catch {
                drop(opened.handle)
                throw error
            }
            let node = UInt64(clamping: made.inode)
            try keep(opened.handle, writes: true, of: node, opening)
            openFiles.set(node, mayHaveSpecialBits: UInt32(made.mode) & (S_ISUID | S_ISGID) != 0)
            return request.end(.nodes([node], bytes(of: entry(made)) + bytes(of: Self.opened)))
        }
    }

    private func creation(
        of name: FileName,
        _ opening: OpenMode,
        _ mode: UInt32,
        _ request: KernelRequest
    ) throws -> FileOpenParameters {
        let birth = birth(mode, request)
        return FileOpenParameters(
            name: try target(name, request),
            access: .readWrite,
            creates: true,
            isExclusive: opening.isExclusive && !request.isRepeated,
            truncates: opening.truncates && opening.writes,
            isShared: true,
            mode: birth.mode,
            uid: birth.userID,
            gid: birth.groupID,
            group: group
        )
    }

    /// Whether a request that comes again has made its entry.
    private func isMade(_ name: FileName, _ request: KernelRequest, _ fits: (NodeAttributes) -> Bool) throws -> Bool {
        guard request.isRepeated, let found = try find(name, in: request.node) else { return false }
        return fits(found)
    }

    /// The name of an entry that the request makes or removes.
    private func target(_ name: FileName, _ request: KernelRequest) throws -> ItemName {
        let target = try self.name(name, in: request.node)
        request.name = target.path
        return target
    }

    func link(_ node: UInt64, _ name: FileName, _ request: KernelRequest, _ call: Call) throws -> Step {
        if try isMade(name, request, { $0.inode == row(node) }) { return try answerMade(name, request) }
        guard let former = try self.name(of: node) else { throw Errno.notPermitted }
        let params = FileLinkParameters(name: former, target: try target(name, request), group: group)
        return try handlers.file.fileLink(params, call).answering(request) { [self] _ in
            try answerMade(name, request)
        }
    }

    // MARK: Removing and renaming

    /// Removes a file, which goes on for the programs that have it open, or an empty directory, which goes on for those that
    /// are in it.
    func remove(_ name: FileName, isDirectory: Bool, _ request: KernelRequest, _ call: Call) throws -> Step {
        let path = try target(name, request)
        if request.isRepeated, try find(name, in: request.node) == nil { return .done }
        guard let found = try? find(name, in: request.node) else {
            // What can't be read can be removed.
            return try remove(path, request, call) { .done }
        }
        if isDirectory != (found.type == .directory) { throw Errno(isDirectory ? ENOTDIR : EISDIR) }
        return try remove(path, request, call) {
            if isDirectory { request.removed = found.removed }
            return .done
        }
    }

    private func remove(
        _ path: ItemName,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        let params = FileRemoveParameters(name: path, keepsDirectories: true, group: group)
        return try handlers.file.fileRemove(params, call).answering(request) { _ in try next() }
    }

    /// Renames an entry.
    ///
    /// - Parameter flags: Those of renameat2(2).
    func rename(
        _ name: FileName,
        _ directory: UInt64,
        _ target: FileName,
        _ flags: UInt32,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        guard [0, UInt32(RENAME_NOREPLACE), UInt32(RENAME_EXCHANGE)].contains(flags) else { throw Errno.invalid }
        let exchanges = flags == UInt32(RENAME_EXCHANGE)
        if try isRenamed(name, directory, target, exchanges: exchanges, request) { return .done }
        let params = FileRenameParameters(
            name: try self.target(name, request),
            target: try self.name(target, in: directory),
            replaces: flags == 0,
            exchanges: exchanges,
            keepsDirectories: true,
            group: group
        )
        return try handlers.file.fileRename(params, call).answering(request) { [self] _ in
            nodes.forgetPaths()
            return .done
        }
    }

    /// Whether a request that comes again has renamed its entry.
    private func isRenamed(
        _ name: FileName,
        _ directory: UInt64,
        _ target: FileName,
        exchanges: Bool,
        _ request: KernelRequest
    ) throws -> Bool {
        guard exchanges else {
            return try request.isRepeated && find(name, in: request.node) == nil && find(target, in: directory) != nil
        }
        guard let memory, let found = try find(name, in: request.node) else { return false }
        if request.isRepeated, let former = memory.exchanged(request.number) { return former != found.inode }
        memory.noteExchange(request.number, of: found.inode)
        return false
    }
}

extension NodeAttributes {
    /// Its attributes once it has no name any more.
    fileprivate var removed: NodeAttributes {
        NodeAttributes(
            inode: inode,
            type: type,
            mode: mode,
            ownership: ownership,
            linkCount: 0,
            byteCount: byteCount,
            storedByteCount: storedByteCount,
            times: times,
            protectionClass: protectionClass,
            target: target
        )
    }
}
