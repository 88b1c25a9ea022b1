internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferHandlers
internal import CofferSystem
internal import CofferVault
internal import CofferWire
internal import Glibc

// Nodes: finding them, and their attributes.
extension KernelMount {
    // MARK: Numbers and names

    /// The vault's number of a node.
    func row(_ node: UInt64) -> Int64 { node == Self.root ? facts.directory : Int64(clamping: node) }

    /// The path of a node in the vault; empty for the root of the vault.
    ///
    /// - Throws: `ESTALE` if no name leads to it, as for a file that was removed while it is open.
    func path(of node: UInt64) throws -> String {
        let row = row(node)
        if row == FileStore.rootNumber { return "" }
        guard let path = try store.numbered.path(ofNumber: row) else { throw Errno.stale }
        return path
    }

    /// The name of a node in the vault; `nil` for the root of the vault.
    func name(of node: UInt64) throws -> ItemName? {
        let path = try path(of: node)
        return path.isEmpty ? nil : try itemName(path)
    }

    /// The name of an entry of the request's directory, or of another one.
    func name(_ name: FileName, in directory: UInt64) throws -> ItemName {
        let path = try directoryPath(directory)
        return try itemName(path.isEmpty ? name.text : "\(path)/\(name.text)")
    }

    /// The path of a directory, which is remembered until something is renamed.
    ///
    /// While a change waits for its commit, no path is remembered, and none is believed: a directory may have just been renamed,
    /// and the commit may fail.
    private func directoryPath(_ node: UInt64) throws -> String {
        let isSettled = handlers.shared.vault.openCatalog?.hasChanges == false
        if isSettled, let known = nodes.path(of: node) { return known }
        let path = try path(of: node)
        if !isSettled { return path }
        nodes.keep(path, of: node)
        return path
    }

    private func itemName(_ path: String) throws(Errno) -> ItemName {
        do { return try ItemName(path) } catch { throw .nameTooLong }
    }

    // MARK: Attributes

    /// The attributes of a node that the kernel knows.
    ///
    /// - Throws: `ESTALE` if it is gone.
    func attributes(of node: UInt64) throws -> NodeAttributes {
        if row(node) == FileStore.rootNumber { return rootAttributes }
        if let found = try store.numbered.attributes(ofNumber: row(node), in: group) { return found }
        if let file = openFiles.file(node, of: caller) { return try store.numbered.attributes(of: file) }
        guard let removed = nodes.removedDirectory(node) else { throw Errno.stale }
        return removed
    }

    /// The attributes of the root of the vault, which has no row.
    private var rootAttributes: NodeAttributes {
        NodeAttributes(
            inode: FileStore.rootNumber,
            type: .directory,
            mode: 0o700,
            ownership: Ownership(),
            linkCount: 1,
            byteCount: 0,
            storedByteCount: 0,
            times: NodeTimes(accessed: facts.time, modified: facts.time, changed: facts.time),
            protectionClass: nil,
            target: ""
        )
    }

    func getAttributes(_ request: KernelRequest) throws -> Step {
        request.end(attributesAnswer(request.node, try attributes(of: request.node)))
    }

    func attributesAnswer(_ node: UInt64, _ attributes: NodeAttributes) -> KernelAnswer {
        var answer = fuse_attr_out()
        answer.attr_valid = Limits.kernelBelievesSeconds
        answer.attr = attributes.kernel(node, facts.owner)
        return .bytes(bytes(of: answer))
    }

    func readLink(_ request: KernelRequest) throws -> Step {
        let attributes = try attributes(of: request.node)
        guard attributes.type == .symbolicLink else { throw Errno.invalid }
        return request.end(.bytes(Array(attributes.target.utf8)))
    }

    // MARK: Looking up

    func lookUp(_ name: FileName, _ request: KernelRequest) throws -> Step {
        guard let found = try find(name, in: request.node) else {
            // What is not there is believed for a moment only: the vault may make a directory together with what is in it.
            var answer = fuse_entry_out()
            answer.entry_valid = Limits.kernelBelievesMissingSeconds
            return request.end(.bytes(bytes(of: answer)))
        }
        request.name = try? self.name(name, in: request.node).path
        return request.end(entryAnswer(found))
    }

    func find(_ name: FileName, in directory: UInt64) throws -> NodeAttributes? {
        try store.numbered.attributes(named: name.text, inDirectory: row(directory), of: group)
    }

    /// An entry of a directory, as the kernel reads it.
    ///
    /// The kernel believes it until a notice: only the daemon changes it.
    func entry(_ attributes: NodeAttributes) -> fuse_entry_out {
        let number = UInt64(clamping: attributes.inode)
        var entry = fuse_entry_out()
        entry.nodeid = number
        entry.entry_valid =
            abilities?.dropsEntries == true ? Limits.kernelBelievesSeconds : Limits.kernelBelievesNamesSeconds
        entry.attr_valid = Limits.kernelBelievesSeconds
        entry.attr = attributes.kernel(number, facts.owner)
        return entry
    }

    private func entryAnswer(_ attributes: NodeAttributes) -> KernelAnswer {
        .nodes([UInt64(clamping: attributes.inode)], bytes(of: entry(attributes)))
    }

    /// Answers with an entry that was made just now.
    func answerMade(_ name: FileName, _ request: KernelRequest) throws -> Step {
        guard let made = try find(name, in: request.node) else { throw Errno.stale }
        return request.end(entryAnswer(made))
    }

    // MARK: Changing attributes

    func setAttributes(_ change: AttributeChange, _ request: KernelRequest, _ call: Call) throws -> Step {
        let node = request.node
        let isOwned = change.userID != nil || change.groupID != nil
        let drops = change.dropsSpecialBits && change.byteCount != nil || isOwned && change.mode == nil
        return try dropSpecialBits(of: node, if: drops, request, call) { [self] in
            guard let byteCount = change.byteCount else { return try setOtherAttributes(change, request, call) }
            return try truncate(node, to: byteCount, isOpen: change.isByDescriptor, request, call) { [self] in
                try setOtherAttributes(change, request, call)
            }
        }
    }

    private func setOtherAttributes(
        _ change: AttributeChange,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        let node = request.node
        guard change.changesMore else { return try getAttributes(request) }
        if let mode = change.mode, mode & (S_ISUID | S_ISGID) != 0 { openFiles.noteSpecialBits(of: node) }
        let subject = try subject(of: node)
        if subject.isRoot { throw Errno.notPermitted }
        let params = FileSetAttributesParameters(
            name: subject.name,
            handle: subject.handle,
            mode: change.mode.map { Int64($0) },
            uid: change.userID.map { Int64($0) },
            gid: change.groupID.map { Int64($0) },
            accessedNanoseconds: change.accessed,
            modifiedNanoseconds: change.modified,
            group: subject.name == nil ? nil : group
        )
        return try handlers.file.fileSetAttributes(params, call).answering(request) { [self] _ in
            try getAttributes(request)
        }
    }

    /// By what a request names a node: a handle, for which no path is looked up, or its name; neither for the root of the vault.
    struct Subject {
        var name: ItemName?
        var handle: Int64?
        var isRoot: Bool { name == nil && handle == nil }
    }

    func subject(of node: UInt64) throws -> Subject {
        if row(node) == FileStore.rootNumber { return Subject() }
        let handle = openFiles.handle(node)
        let isRevoked = openFiles.file(node, of: caller)?.isRevoked ?? true
        if isRevoked, let name = try? name(of: node) { return Subject(name: name) }
        guard let handle else { throw Errno.stale }
        return Subject(handle: handle)
    }

    /// Drops the bits of a mode by which a program would run with the rights of the owner, because the content or the owner
    /// changes: the kernel leaves that to the file system.
    ///
    /// As on other file systems, the bit of the group means something else if the group can't run the file.
    func dropSpecialBits(
        of node: UInt64,
        if isDue: Bool,
        _ request: KernelRequest,
        _ call: Call,
        then next: @escaping Step.Next
    ) throws -> Step {
        guard isDue, openFiles.mayHaveSpecialBits(node) else { return try next() }
        let attributes = try attributes(of: node)
        let mode = UInt32(attributes.mode)
        let dropped = S_ISUID | (mode & S_IXGRP == 0 ? 0 : S_ISGID)
        guard attributes.type == .file, mode & dropped != 0 else {
            openFiles.noteNoSpecialBits(of: node)
            return try next()
        }
        let subject = try subject(of: node)
        let params = FileSetAttributesParameters(
            name: subject.name,
            handle: subject.handle,
            mode: Int64(mode & ~dropped),
            group: subject.name == nil ? nil : group
        )
        return try handlers.file.fileSetAttributes(params, call).answering(request) { [self] _ in
            openFiles.noteNoSpecialBits(of: node)
            return try next()
        }
    }

    // MARK: The disk

    func space(_ request: KernelRequest) throws -> Step {
        let store = try store
        let space = try store.space()
        var answer = fuse_statfs_out()
        let blockBytes: Int64 = 4096
        answer.st.bsize = UInt32(Limits.chunkBytes)
        answer.st.frsize = UInt32(blockBytes)
        answer.st.blocks = UInt64(clamping: space.totalByteCount / blockBytes)
        answer.st.bfree = UInt64(clamping: space.freeByteCount / blockBytes)
        answer.st.bavail = UInt64(clamping: space.availableByteCount / blockBytes)
        answer.st.files = UInt64(try store.count()) &+ answer.st.bfree
        answer.st.ffree = answer.st.bfree
        answer.st.namelen = UInt32(Limits.nameComponentBytes)
        return request.end(.bytes(bytes(of: answer)))
    }
}
