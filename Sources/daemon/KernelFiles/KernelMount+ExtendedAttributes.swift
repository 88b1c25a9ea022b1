internal import CKernelFiles
internal import CofferCore
internal import CofferFiles
internal import CofferHandlers
internal import CofferMemory
internal import CofferVault
internal import CofferWire
internal import Glibc

// Extended attributes: the class of a file is one of them.
extension KernelMount {
    // MARK: Reading

    func getExtendedAttribute(_ name: String, _ limit: Int, _ request: KernelRequest, _ call: Call) throws -> Step {
        if name == Self.classAttribute {
            guard let found = try protectionClass(of: request.node) else { throw Errno.noAttribute }
            return try answer(Array(found.rawValue.utf8), upTo: limit, request)
        }
        // After this answer for one file, ls(1) does not ask for the others.
        guard name.hasPrefix("user.") else { throw Errno.notSupported }
        let subject = try subject(of: request.node)
        if subject.isRoot { throw Errno.noAttribute }
        let params = FileGetExtendedAttributeParameters(
            name: subject.name,
            handle: subject.handle,
            attribute: name,
            group: subject.name == nil ? nil : group
        )
        return try handlers.file.fileGetExtendedAttribute(params, call).answering(request) { reply in
            let count = reply.payload.byteCount
            if limit == 0 { return request.end(.bytes(bytes(of: fuse_getxattr_out(size: UInt32(count), padding: 0)))) }
            if count > limit { throw Errno.noRoom }
            request.answer = .payload
            return .done(reply)
        }
    }

    /// The names, each with a zero byte after it.
    ///
    /// The class is not among them: programs that copy attributes would set it elsewhere, or remove it here.
    func listExtendedAttributes(_ limit: Int, _ request: KernelRequest, _ call: Call) throws -> Step {
        let subject = try subject(of: request.node)
        if subject.isRoot { return try answer([], upTo: limit, request) }
        let params = FileListExtendedAttributesParameters(
            name: subject.name,
            handle: subject.handle,
            group: subject.name == nil ? nil : group
        )
        return try handlers.file.fileListExtendedAttributes(params, call).answering(request) { [self] reply in
            guard let list = reply.value as? ExtendedAttributeList else { throw Errno.readFailed }
            return try answer(list.attributes.flatMap { Array($0.name.utf8) + [0] }, upTo: limit, request)
        }
    }

    /// Answers with a value, or with its size if the program asks for that.
    private func answer(_ value: [UInt8], upTo limit: Int, _ request: KernelRequest) throws(Errno) -> Step {
        if limit == 0 {
            return request.end(.bytes(bytes(of: fuse_getxattr_out(size: UInt32(value.count), padding: 0))))
        }
        if value.count > limit { throw .noRoom }
        return request.end(.bytes(value))
    }

    // MARK: Changing

    func setExtendedAttribute(_ name: String, _ flags: UInt32, _ request: KernelRequest, _ call: Call) throws -> Step {
        let (mustBeNew, mustExist) = (flags == UInt32(XATTR_CREATE), flags == UInt32(XATTR_REPLACE))
        if name == Self.classAttribute {
            let type = try attributes(of: request.node).type
            let former = try protectionClass(of: request.node)
            if mustBeNew && former != nil { throw Errno(EEXIST) }
            if mustExist && former == nil { throw Errno.noAttribute }
            guard let wanted = try protectionClass(request.attachments.takePayload()) else { throw Errno.invalid }
            return try protect(request.node, as: wanted, isDirectory: type == .directory, request, call)
        }
        let subject = try subject(of: request.node)
        if subject.isRoot { throw Errno.notSupported }
        let params = FileSetExtendedAttributeParameters(
            name: subject.name,
            handle: subject.handle,
            attribute: name,
            creates: mustBeNew && !request.isRepeated,
            replaces: mustExist,
            group: subject.name == nil ? nil : group
        )
        return try handlers.file.fileSetExtendedAttribute(params, call).answering(request) { _ in .done }
    }

    private func protectionClass(_ value: consuming SecretBytes?) throws -> ProtectionClass? {
        let word = try value.orEmpty().exposeBytes()
        return String(checking: word.span).flatMap { ProtectionClass(rawValue: $0) }
    }

    /// Removes an attribute; without its class, a file has that of a new one in its directory.
    func removeExtendedAttribute(_ name: String, _ request: KernelRequest, _ call: Call) throws -> Step {
        if name == Self.classAttribute { return try inheritClass(request, call) }
        guard name.hasPrefix("user.") else { throw Errno.notSupported }
        let subject = try subject(of: request.node)
        if subject.isRoot { throw Errno.noAttribute }
        let params = FileRemoveExtendedAttributeParameters(
            name: subject.name,
            handle: subject.handle,
            attribute: name,
            group: subject.name == nil ? nil : group
        )
        do {
            return try handlers.file.fileRemoveExtendedAttribute(params, call).answering(request) { _ in .done }
        } catch let error as CofferError where error.reason == .noAttribute && request.isRepeated {
            // A daemon that has ended since has removed it.
            return .done
        }
    }

    // MARK: Classes

    /// The class of a file, or that of new files in a directory; the root of the vault, which has no row, has that of the group.
    private func protectionClass(of node: UInt64) throws -> ProtectionClass? {
        guard row(node) == FileStore.rootNumber else { return try attributes(of: node).protectionClass }
        let vault = handlers.shared.vault
        return try vault.catalog.defaultClass(of: group, vault.keys)
    }

    private func protect(
        _ node: UInt64,
        as wanted: ProtectionClass,
        isDirectory: Bool,
        _ request: KernelRequest,
        _ call: Call
    ) throws -> Step {
        // Only the root of the vault is a directory without a name.
        let name = try name(of: node)
        guard name != nil || isDirectory else { throw Errno.notPermitted }
        request.name = name?.path
        let params = FileProtectParameters(
            name: name,
            protectionClass: wanted,
            isDefaultOnly: isDirectory,
            group: group
        )
        return try handlers.file.fileProtect(params, call).answering(request) { _ in .done }
    }

    /// Gives a file at least the class of the one of which it becomes a copy; the kernel copies the content itself then.
    func protect(_ copy: UInt64, asCopyOf request: KernelRequest, _ call: Call) throws -> Step {
        let own = try attributes(of: copy).protectionClass
        guard let least = try attributes(of: request.node).protectionClass, let own, own.stricter(least) != own,
            // What has no name any more ends with its handles.
            (try? name(of: copy)) != nil
        else { throw Errno.notSupported }
        return try protect(copy, as: least, isDirectory: false, request, call).answering(request) { _ in
            throw Errno.notSupported
        }
    }

    /// Gives a file the class of a new one in its directory, a directory the default class of the one above it, or the root
    /// the usual class.
    private func inheritClass(_ request: KernelRequest, _ call: Call) throws -> Step {
        let type = try attributes(of: request.node).type
        let name = try name(of: request.node)
        if try type == .symbolicLink || protectionClass(of: request.node) == nil { throw Errno.noAttribute }
        let inherited = try name.map { try handlers.shared.vault.classOfNewFile($0, in: group, call) }
        let wanted = inherited ?? .completeUntilFirstUserAuthentication
        return try protect(request.node, as: wanted, isDirectory: type == .directory, request, call)
    }
}
