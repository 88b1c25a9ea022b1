internal import CFuse
internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc

/// A request of the kernel, which gets exactly one reply.
@safe
struct Request {
    private let pointer: fuse_req_t

    init(_ pointer: fuse_req_t?) {
        guard let pointer = unsafe pointer else { preconditionFailure("libfuse passes a request") }
        unsafe self.pointer = pointer
    }

    /// The file system of the session.
    var filesystem: Filesystem {
        let context = unsafe fuse_req_userdata(pointer)
        guard let context = unsafe context else { preconditionFailure("a session has a file system") }
        return unsafe Unmanaged<Filesystem>.fromOpaque(context).takeUnretainedValue()
    }

    /// With what a file comes into being that the program creates.
    func birth(_ mode: mode_t) -> Birth {
        let own = Owner(userID: geteuid(), groupID: getegid())
        let context = unsafe fuse_req_ctx(pointer)
        guard let context = unsafe context else { return Birth(mode: mode, owner: own, own: own) }
        let owner = unsafe Owner(userID: context.pointee.uid, groupID: context.pointee.gid)
        return Birth(mode: mode, owner: owner, own: own)
    }

    /// Whether root asks, whose changes of a content leave its mode as it is.
    var isOfRoot: Bool {
        let context = unsafe fuse_req_ctx(pointer)
        return unsafe context?.pointee.uid == 0
    }

    /// Runs an operation that replies by itself, or fails.
    func answer(_ operation: (Request, Filesystem) throws(Errno) -> Void) {
        do throws(Errno) {
            try operation(self, filesystem)
        } catch {
            reply(error)
        }
    }

    /// Runs an operation that tells the kernel of files: an event that comes meanwhile waits for the reply, so that the
    /// kernel drops what it says.
    func describe(_ operation: (Request, Filesystem) throws(Errno) -> Void) {
        answer { (request, filesystem) throws(Errno) in
            try filesystem.knowledge.describe { () throws(Errno) in try operation(request, filesystem) }
        }
    }

    /// Runs an operation that has no result.
    func confirm(_ operation: (Filesystem) throws(Errno) -> Void) {
        answer { (request, filesystem) throws(Errno) in
            try operation(filesystem)
            request.replyDone()
        }
    }

    // MARK: Replies

    func reply(_ error: Errno) { _ = unsafe fuse_reply_err(pointer, error.code) }

    func replyDone() { _ = unsafe fuse_reply_err(pointer, 0) }

    func replyNothing() { unsafe fuse_reply_none(pointer) }

    /// - Parameters:
    ///   - attributes: Those of the entry.
    ///   - validity: How long the kernel may believe them, in seconds; `nil` for as long as it may believe any.
    /// - Returns: Whether the kernel still wanted the reply; if not, it has not counted the look-up.
    @discardableResult func reply(entry attributes: Attributes, validity: Double? = nil) -> Bool {
        var entry = fuse_entry_param(attributes, validity: validity ?? filesystem.validity)
        return unsafe fuse_reply_entry(pointer, &entry) == 0
    }

    /// - Parameters:
    ///   - attributes: Those of a file.
    ///   - validity: How long the kernel may believe them, in seconds; `nil` for as long as it may believe any.
    func reply(_ attributes: Attributes, validity: Double? = nil) {
        var status = stat(attributes)
        _ = unsafe fuse_reply_attr(pointer, &status, validity ?? filesystem.validity)
    }

    func reply(opened: fuse_file_info) -> Bool {
        var opened = opened
        return unsafe fuse_reply_open(pointer, &opened) == 0
    }

    func reply(created attributes: Attributes, _ opened: fuse_file_info) -> Bool {
        var entry = fuse_entry_param(attributes, validity: filesystem.validity)
        var opened = opened
        return unsafe fuse_reply_create(pointer, &entry, &opened) == 0
    }

    func reply(offset: Int64) { _ = unsafe fuse_reply_lseek(pointer, off_t(offset)) }

    func reply(written count: Int) { _ = unsafe fuse_reply_write(pointer, count) }

    func reply(_ bytes: Secret) {
        bytes.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { buffer in
                _ = unsafe fuse_reply_buf(
                    pointer,
                    buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                    buffer.count
                )
            }
        }
    }

    func reply(_ page: DirectoryPage) {
        unsafe page.bytes.withUnsafeBytes { buffer in
            _ = unsafe fuse_reply_buf(pointer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), page.count)
        }
    }

    func reply(_ space: FileSpace) {
        var status = statvfs()
        status.f_bsize = UInt(Limits.chunkBytes)
        status.f_frsize = 4096
        status.f_blocks = UInt(clamping: space.totalByteCount / 4096)
        status.f_bfree = UInt(clamping: space.freeByteCount / 4096)
        status.f_bavail = UInt(clamping: space.availableByteCount / 4096)
        status.f_files = UInt(clamping: space.fileCount) &+ status.f_bfree
        status.f_ffree = status.f_bfree
        status.f_favail = status.f_bavail
        status.f_namemax = UInt(Limits.nameComponentBytes)
        _ = unsafe fuse_reply_statfs(pointer, &status)
    }

    func reply(target: String) { _ = unsafe fuse_reply_readlink(pointer, target) }

    /// Replies with the value of an attribute, or with its size if the program asks for that.
    ///
    /// - Throws: `ERANGE` if it is longer than the program permits.
    func reply(attribute value: Secret, upTo count: Int) throws(Errno) {
        if count == 0 { _ = unsafe fuse_reply_xattr(pointer, value.count) }
        if count == 0 { return }
        guard value.count <= count else { throw Errno(ERANGE) }
        reply(value)
    }

    // MARK: Directories

    /// Adds an entry to a page of a listing.
    ///
    /// - Parameter validity: How long the kernel may believe the attributes, in seconds; `nil` if it wants none.
    /// - Returns: The bytes that it takes; more than there are if it was not added.
    func add(
        _ name: String,
        _ attributes: Attributes,
        cookie: Int,
        validity: Double?,
        to buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        let place = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        if let validity {
            var entry = fuse_entry_param(attributes, validity: validity)
            return unsafe fuse_add_direntry_plus(pointer, place, buffer.count, name, &entry, off_t(cookie))
        }
        var status = stat(attributes)
        return unsafe fuse_add_direntry(pointer, place, buffer.count, name, &status, off_t(cookie))
    }
}

extension fuse_entry_param {
    init(_ attributes: Attributes, validity: Double) {
        self.init()
        ino = attributes.number
        attr = stat(attributes)
        attr_timeout = validity
        entry_timeout = validity
    }
}

extension stat {
    private static let ownUser = geteuid()
    private static let ownGroup = getegid()

    init(_ attributes: Attributes) {
        self.init()
        st_ino = UInt(attributes.number)
        st_mode = attributes.mode | attributes.kind.typeBits
        st_nlink = nlink_t(clamping: attributes.linkCount)
        st_uid = attributes.userID ?? Self.ownUser
        st_gid = attributes.groupID ?? Self.ownGroup
        st_size = off_t(attributes.byteCount)
        st_blksize = blksize_t(Limits.chunkBytes)
        let stored = attributes.storedByteCount ?? attributes.byteCount
        st_blocks = blkcnt_t(stored / 512 + (stored % 512 > 0 ? 1 : 0))
        st_atim = timespec(nanoseconds: attributes.times.accessed)
        st_mtim = timespec(nanoseconds: attributes.times.modified)
        st_ctim = timespec(nanoseconds: attributes.times.changed)
    }
}

extension Attributes.Kind {
    fileprivate var typeBits: UInt32 {
        switch self {
        case .file: S_IFREG
        case .directory: S_IFDIR
        case .symbolicLink: S_IFLNK
        }
    }
}
