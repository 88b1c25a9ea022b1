internal import CFuse
internal import CofferCore
internal import Glibc

/// What the kernel asks for, as calls of ``Filesystem``.
enum Operations {
    /// The table of the operations.
    static var table: fuse_lowlevel_ops {
        var table = fuse_lowlevel_ops()
        addSession(to: &table)
        addNames(to: &table)
        addTree(to: &table)
        addContents(to: &table)
        addDirectories(to: &table)
        addExtendedAttributes(to: &table)
        return table
    }

    private static func addSession(to table: inout fuse_lowlevel_ops) {
        unsafe table.`init` = { _, connection in
            guard let connection = unsafe connection else { return }
            // What is passed through pipes can't be wiped.
            let pipes = FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE
            // The second version of HANDLE_KILLPRIV is asked for in Session: libfuse does not know it.
            //
            // With AUTO_INVAL_DATA, the kernel would drop what it has cached at each new time of change, also of its own
            // writes. While one is in flight it would then read, and keep, the content before. The Watcher reports the
            // changes of other clients instead.
            unsafe connection.pointee.want &= ~UInt32(pipes | FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_AUTO_INVAL_DATA)
            unsafe connection.pointee.want |= connection.pointee.capable & UInt32(FUSE_CAP_EXPLICIT_INVAL_DATA)
            unsafe connection.pointee.max_write = UInt32(Limits.framePayloadBytes)
            unsafe connection.pointee.max_readahead = UInt32(Limits.framePayloadBytes)
            unsafe connection.pointee.time_gran = 1
        }
        unsafe table.statfs = { request, number in
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                request.reply(try filesystem.space())
            }
        }
    }

    private static func addNames(to table: inout fuse_lowlevel_ops) {
        unsafe table.lookup = { request, parent, name in
            let name = unsafe result(of: name)
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let found = try filesystem.lookUp(try name.get(), in: parent)
                if !request.reply(entry: found.attributes, validity: found.validity) {
                    filesystem.forget(found.attributes.number, 1)
                }
            }
        }
        unsafe table.forget = { request, number, count in
            let request = unsafe Request(request)
            request.filesystem.forget(number, count)
            request.replyNothing()
        }
        unsafe table.forget_multi = { request, count, list in
            let request = unsafe Request(request)
            let list = unsafe UnsafeBufferPointer(start: list, count: count)
            for index in list.indices { unsafe request.filesystem.forget(list[index].ino, list[index].nlookup) }
            request.replyNothing()
        }
        unsafe table.getattr = { request, number, _ in
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let found = try filesystem.found(number)
                request.reply(found.attributes, validity: found.validity)
            }
        }
        unsafe table.setattr = { request, number, status, fields, info in
            var change = unsafe AttributeChange(status, fields)
            change.isByDescriptor = unsafe info != nil
            let wanted = change
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let isOwned = wanted.userID != nil || wanted.groupID != nil
                if isOwned && wanted.mode == nil || wanted.byteCount != nil && !request.isOfRoot {
                    try filesystem.dropSpecialBits(of: number)
                }
                let found = try filesystem.setAttributes(of: number, wanted)
                request.reply(found.attributes, validity: found.validity)
            }
        }
    }

    private static func addTree(to table: inout fuse_lowlevel_ops) {
        unsafe table.mkdir = { request, parent, name, mode in
            let name = unsafe result(of: name)
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let attributes = try filesystem.makeDirectory(try name.get(), in: parent, request.birth(mode))
                if !request.reply(entry: attributes) { filesystem.forget(attributes.number, 1) }
            }
        }
        unsafe table.symlink = { request, target, parent, name in
            let name = unsafe result(of: name)
            guard let target = unsafe target, let target = unsafe String(validatingCString: target) else {
                return unsafe Request(request).reply(.notUTF8)
            }
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let birth = request.birth(0o777)
                let attributes = try filesystem.makeSymbolicLink(to: target, try name.get(), in: parent, birth)
                if !request.reply(entry: attributes) { filesystem.forget(attributes.number, 1) }
            }
        }
        unsafe table.readlink = { request, number in
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                request.reply(target: try filesystem.target(of: number))
            }
        }
        unsafe table.link = { request, number, parent, name in
            let name = unsafe result(of: name)
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let attributes = try filesystem.link(number, as: try name.get(), in: parent)
                if !request.reply(entry: attributes) { filesystem.forget(attributes.number, 1) }
            }
        }
        // The vault keeps no special files.
        unsafe table.mknod = { request, parent, name, mode, _ in
            let name = unsafe result(of: name)
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                guard mode & S_IFMT == S_IFREG else { throw .notPermitted }
                let opening = Filesystem.OpenMode(flags: O_RDONLY | O_EXCL)
                let (attributes, number) =
                    try filesystem.create(try name.get(), in: parent, opening, request.birth(mode))
                filesystem.release(attributes.number, number, opening)
                if !request.reply(entry: attributes) { filesystem.forget(attributes.number, 1) }
            }
        }
        unsafe table.unlink = { request, parent, name in
            let name = unsafe result(of: name)
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                try filesystem.removeFile(try name.get(), in: parent)
            }
        }
        unsafe table.rmdir = { request, parent, name in
            let name = unsafe result(of: name)
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                try filesystem.removeDirectory(try name.get(), in: parent)
            }
        }
        unsafe table.rename = { request, parent, name, newParent, newName, flags in
            let (name, newName) = unsafe (result(of: name), result(of: newName))
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                try filesystem.rename(
                    try name.get(),
                    in: parent,
                    to: try newName.get(),
                    in: newParent,
                    flags: flags
                )
            }
        }
    }

    private static func addContents(to table: inout fuse_lowlevel_ops) {
        unsafe table.create = { request, parent, name, mode, info in
            let name = unsafe result(of: name)
            guard var info = unsafe info?.pointee else { return unsafe Request(request).reply(.invalid) }
            let birth = unsafe Request(request).birth(mode)
            let mode = Filesystem.OpenMode(flags: info.flags)
            unsafe Request(request).describe { (request, filesystem) throws(Errno) in
                let (attributes, opening) = try filesystem.create(try name.get(), in: parent, mode, birth)
                info.keep_cache = 0
                info.fh = opening
                if request.reply(created: attributes, info) { return }
                filesystem.release(attributes.number, opening, mode)
                filesystem.forget(attributes.number, 1)
            }
        }
        unsafe table.open = { request, number, info in
            guard var info = unsafe info?.pointee else { return unsafe Request(request).reply(.invalid) }
            let mode = Filesystem.OpenMode(flags: info.flags)
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                let (opening, wasOpen) = try filesystem.open(number, mode)
                if mode.truncates && mode.isWriting && !request.isOfRoot { try? filesystem.dropSpecialBits(of: number) }
                info.keep_cache = wasOpen ? 1 : 0
                info.fh = opening
                if !request.reply(opened: info) { filesystem.release(number, opening, mode) }
            }
        }
        unsafe table.read = { request, number, count, offset, _ in
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                try filesystem.reads.pass { () throws(Errno) in
                    request.reply(try filesystem.read(number, at: Int64(offset), count: count))
                }
            }
        }
        unsafe table.lseek = { request, number, offset, whence, _ in
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                request.reply(offset: try filesystem.seek(number, from: Int64(offset), whence: whence))
            }
        }
        unsafe table.write = { request, number, bytes, count, offset, info in
            let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
            let isMapped = unsafe info?.pointee.writepage == 1
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                if !request.isOfRoot { try filesystem.dropSpecialBits(of: number) }
                let write = isMapped ? filesystem.writeBack : filesystem.write
                try write(number, Int64(offset), unsafe buffer.bytes)
                request.reply(written: count)
            }
        }
        unsafe table.flush = { request, number, info in
            let opening = unsafe info?.pointee.fh ?? 0
            unsafe Request(request).confirm { (filesystem) throws(Errno) in try filesystem.flush(number, opening) }
        }
        unsafe table.release = { request, number, info in
            let (flags, opening) = unsafe (info?.pointee.flags ?? O_RDONLY, info?.pointee.fh ?? 0)
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                filesystem.release(number, opening, Filesystem.OpenMode(flags: flags))
            }
        }
        unsafe table.fsync = { request, number, _, info in
            let opening = unsafe info?.pointee.fh ?? 0
            unsafe Request(request).confirm { (filesystem) throws(Errno) in try filesystem.sync(number, opening) }
        }
        unsafe table.copy_file_range = { request, original, _, _, copy, _, _, _, _ in
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                try filesystem.protect(copy, asCopyOf: original)
                // The kernel copies the content itself then.
                throw .notSupported
            }
        }
        unsafe table.fallocate = { request, number, flags, offset, count, _ in
            let isOfRoot = unsafe Request(request).isOfRoot
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                if !isOfRoot { try filesystem.dropSpecialBits(of: number) }
                try filesystem.allocate(number, at: Int64(offset), count: Int64(count), flags: flags)
            }
        }
    }

    private static func addDirectories(to table: inout fuse_lowlevel_ops) {
        unsafe table.opendir = { request, number, info in
            guard var info = unsafe info?.pointee else { return unsafe Request(request).reply(.invalid) }
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                info.fh = filesystem.listings.keep(try filesystem.list(number))
                if !request.reply(opened: info) { filesystem.listings.drop(info.fh) }
            }
        }
        unsafe table.readdir = { request, number, count, offset, info in
            unsafe list(request, number, count, offset, info, withAttributes: false)
        }
        unsafe table.readdirplus = { request, number, count, offset, info in
            unsafe list(request, number, count, offset, info, withAttributes: true)
        }
        unsafe table.releasedir = { request, _, info in
            let handle = unsafe info?.pointee.fh ?? 0
            unsafe Request(request).confirm { (filesystem) throws(Errno) in filesystem.listings.drop(handle) }
        }
        unsafe table.fsyncdir = { request, _, _, _ in
            unsafe Request(request).confirm { (filesystem) throws(Errno) in try filesystem.syncTree() }
        }
    }

    private static func addExtendedAttributes(to table: inout fuse_lowlevel_ops) {
        unsafe table.getxattr = { request, number, name, count in
            guard let name = unsafe name else { return unsafe Request(request).reply(.invalid) }
            guard let text = unsafe String(validatingCString: name) else {
                return unsafe Request(request).reply(.notUTF8)
            }
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                try request.reply(attribute: try filesystem.extendedAttribute(text, of: number), upTo: count)
            }
        }
        unsafe table.listxattr = { request, number, count in
            unsafe Request(request).answer { (request, filesystem) throws(Errno) in
                try request.reply(attribute: try filesystem.extendedAttributeList(of: number), upTo: count)
            }
        }
        unsafe table.setxattr = { request, number, name, value, count, flags in
            guard let name = unsafe name else { return unsafe Request(request).reply(.invalid) }
            guard let text = unsafe String(validatingCString: name) else {
                return unsafe Request(request).reply(.notUTF8)
            }
            let value = unsafe UnsafeRawBufferPointer(start: value, count: count)
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                let condition = Filesystem.AttributeCondition(flags)
                try filesystem.setExtendedAttribute(text, of: number, to: unsafe value.bytes, condition)
            }
        }
        unsafe table.removexattr = { request, number, name in
            guard let name = unsafe name else { return unsafe Request(request).reply(.invalid) }
            guard let text = unsafe String(validatingCString: name) else {
                return unsafe Request(request).reply(.notUTF8)
            }
            unsafe Request(request).confirm { (filesystem) throws(Errno) in
                try filesystem.removeExtendedAttribute(text, of: number)
            }
        }
    }
}

// The functions below are outside of the type: a function of C can't capture it.

private func list(
    _ request: fuse_req_t?,
    _ number: fuse_ino_t,
    _ count: Int,
    _ offset: off_t,
    _ info: UnsafeMutablePointer<fuse_file_info>?,
    withAttributes: Bool
) {
    let handle = unsafe info?.pointee.fh ?? 0
    unsafe Request(request).describe { (request, filesystem) throws(Errno) in
        let listing = try filesystem.listings.listing(handle)
        guard offset >= 0 else { throw .invalid }
        if offset == 0 { try listing.begin() }
        let page = try DirectoryPage(
            of: listing,
            in: number,
            from: Int(offset),
            byteCount: count,
            withAttributes: withAttributes,
            for: request
        ) { filesystem.learn($0, in: number) }
        request.reply(page)
    }
}

/// Checks a name that the kernel passes.
private func result(of name: UnsafePointer<CChar>?) -> Result<FileName, Errno> {
    guard let name = unsafe name else { return .failure(.invalid) }
    let bytes = unsafe UnsafeBufferPointer(start: name, count: strlen(name))
    return unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        Result { () throws(Errno) in try unsafe FileName(bytes.span) }
    }
}

extension Filesystem.AttributeCondition {
    /// - Parameter flags: Those of setxattr(2).
    fileprivate init(_ flags: Int32) {
        switch flags {
        case Int32(XATTR_CREATE): self = .mustBeNew
        case Int32(XATTR_REPLACE): self = .mustExist
        default: self = .none
        }
    }
}

extension AttributeChange {
    init(_ status: UnsafeMutablePointer<stat>?, _ fields: Int32) {
        self.init()
        guard let status = unsafe status?.pointee else { return }
        if fields & FUSE_SET_ATTR_MODE != 0 { mode = status.st_mode & 0o7777 }
        if fields & FUSE_SET_ATTR_UID != 0 { userID = status.st_uid }
        if fields & FUSE_SET_ATTR_GID != 0 { groupID = status.st_gid }
        if fields & FUSE_SET_ATTR_SIZE != 0 { byteCount = Int64(status.st_size) }
        if fields & FUSE_SET_ATTR_ATIME != 0 { accessed = status.st_atim.nanoseconds }
        if fields & FUSE_SET_ATTR_ATIME_NOW != 0 { accessed = timespec.now }
        if fields & FUSE_SET_ATTR_MTIME != 0 { modified = status.st_mtim.nanoseconds }
        if fields & FUSE_SET_ATTR_MTIME_NOW != 0 { modified = timespec.now }
    }
}
