internal import CKernelFiles
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import Glibc

/// A message of the kernel that is shorter than its kind must be.
package struct MalformedMessage: Error {}

/// The head of a message of the kernel.
package struct KernelHeader: Sendable {
    /// The number of the request, which its answer repeats.
    package let unique: UInt64
    package let node: UInt64
    /// The user, the group and the process that ask, in the numbers of the mount's namespaces.
    package let userID: UInt32
    package let groupID: UInt32
    package let processID: Int32
    let opcode: UInt32

    /// Whether the kernel asks again, because a process that had read the request has ended.
    package var isRepeated: Bool { unique & UInt64(COFFER_FUSE_UNIQUE_RESEND) != 0 }

    /// The number of the request, however often the kernel asks.
    var number: UInt64 { unique & ~UInt64(COFFER_FUSE_UNIQUE_RESEND) }

    /// Whether it waits for an answer.
    var wantsAnswer: Bool {
        ![FUSE_FORGET.rawValue, FUSE_BATCH_FORGET.rawValue, FUSE_INTERRUPT.rawValue].contains(opcode)
    }

    static let byteCount = MemoryLayout<fuse_in_header>.size

    /// Reads the head.
    init(_ message: inout MessageReader, _ bytes: RawSpan) throws(MalformedMessage) {
        let head = try message.take(fuse_in_header.self, of: bytes)
        guard Int(head.len) == bytes.byteCount else { throw MalformedMessage() }
        (unique, node, opcode) = (head.unique, head.nodeid, head.opcode)
        (userID, groupID, processID) = (head.uid, head.gid, Int32(bitPattern: head.pid))
    }
}

/// Reads a message from its beginning to its end.
struct MessageReader {
    private(set) var offset = 0

    /// Takes a value; a shorter one of an older kernel is completed with zeros.
    ///
    /// - Parameter least: The bytes that there must be; `nil` for all of it.
    mutating func take<Value: BitwiseCopyable>(
        _ type: Value.Type,
        of bytes: RawSpan,
        atLeast least: Int? = nil
    ) throws(MalformedMessage) -> Value {
        let count = min(MemoryLayout<Value>.size, bytes.byteCount - offset)
        guard count >= least ?? MemoryLayout<Value>.size else { throw MalformedMessage() }
        let part = bytes.extracting(offset..<(offset + count))
        offset += count
        return unsafe withUnsafeTemporaryAllocation(
            byteCount: MemoryLayout<Value>.size,
            alignment: MemoryLayout<Value>.alignment
        ) { buffer in
            unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe part.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            return unsafe buffer.load(as: Value.self)
        }
    }

    /// Takes the bytes before the next zero byte, and that.
    mutating func takeText(of bytes: RawSpan) throws(MalformedMessage) -> Range<Int> {
        var end = offset
        while end < bytes.byteCount, unsafe bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self) != 0 { end += 1 }
        guard end < bytes.byteCount else { throw MalformedMessage() }
        defer { offset = end + 1 }
        return offset..<end
    }

    /// Takes all that is left.
    mutating func takeRest(of bytes: RawSpan) -> Range<Int> {
        defer { offset = bytes.byteCount }
        return offset..<bytes.byteCount
    }
}

/// A message of the kernel, as it was read.
package struct KernelMessage: ~Copyable {
    package let header: KernelHeader
    package let operation: Result<KernelOperation, Errno>
    /// What is written.
    let payload: SecretBytes?

    /// Parses a message.
    ///
    /// - Parameter bytes: All that one read of the device has given.
    /// - Throws: ``MalformedMessage`` if it has no whole head: no answer is possible.
    package init(_ bytes: RawSpan) throws(MalformedMessage) {
        var reader = MessageReader()
        header = try KernelHeader(&reader, bytes)
        var parser = OperationParser(header, reader)
        do throws(Errno) {
            let operation = try parser.parse(bytes)
            payload = try parser.payload.map { (range) throws(Errno) in
                do throws(SecretMemoryError) { return try SecretBytes(copying: bytes.extracting(range)) } catch {
                    throw Errno(ENOMEM)
                }
            }
            self.operation = .success(operation)
        } catch {
            operation = .failure(error)
            payload = nil
        }
    }
}

/// Parses what follows the head of a message.
private struct OperationParser {
    private let header: KernelHeader
    private var reader: MessageReader
    /// Where the bytes are that are to be written.
    private(set) var payload: Range<Int>?

    init(_ header: KernelHeader, _ reader: MessageReader) {
        self.header = header
        self.reader = reader
    }

    /// - Throws: What the kernel gets for a message that is malformed, or not known: an operation that the kernel then does
    ///   itself, or leaves out.
    mutating func parse(_ bytes: RawSpan) throws(Errno) -> KernelOperation {
        let operation: Result<KernelOperation, Errno>
        do throws(MalformedMessage) {
            switch fuse_opcode(header.opcode) {
            case FUSE_LOOKUP, FUSE_GETATTR, FUSE_SETATTR, FUSE_READLINK, FUSE_STATFS, FUSE_FORGET, FUSE_BATCH_FORGET,
                FUSE_INIT, FUSE_INTERRUPT, FUSE_DESTROY:
                operation = try node(bytes)
            case FUSE_MKNOD, FUSE_MKDIR, FUSE_SYMLINK, FUSE_LINK, FUSE_UNLINK, FUSE_RMDIR, FUSE_RENAME, FUSE_RENAME2,
                FUSE_READDIR, FUSE_READDIRPLUS, FUSE_FSYNCDIR:
                operation = try tree(bytes)
            case FUSE_GETXATTR, FUSE_LISTXATTR, FUSE_SETXATTR, FUSE_REMOVEXATTR: operation = try extended(bytes)
            default: operation = try content(bytes)
            }
        } catch {
            throw .invalid
        }
        return try operation.get()
    }

    private mutating func name(_ bytes: RawSpan) throws(MalformedMessage) -> Result<FileName, Errno> {
        let range = try reader.takeText(of: bytes)
        let text = bytes.extracting(range)
        return Result { () throws(Errno) in try FileName(Span<UInt8>(_bytes: text)) }
    }

    private mutating func text(_ bytes: RawSpan) throws(MalformedMessage) -> Result<String, Errno> {
        let range = try reader.takeText(of: bytes)
        guard let text = String(checking: Span<UInt8>(_bytes: bytes.extracting(range))) else {
            return .failure(.notUTF8)
        }
        return .success(text)
    }

    // MARK: Nodes

    private mutating func node(_ bytes: RawSpan) throws(MalformedMessage) -> Result<KernelOperation, Errno> {
        switch fuse_opcode(header.opcode) {
        case FUSE_LOOKUP: return try name(bytes).map { .lookUp($0) }
        case FUSE_GETATTR: return .success(.getAttributes)
        case FUSE_SETATTR:
            return .success(.setAttributes(AttributeChange(try reader.take(fuse_setattr_in.self, of: bytes))))
        case FUSE_READLINK: return .success(.readLink)
        case FUSE_STATFS: return .success(.space)
        case FUSE_FORGET:
            let forgotten = try reader.take(fuse_forget_in.self, of: bytes)
            return .success(.forget([(header.node, forgotten.nlookup)]))
        case FUSE_BATCH_FORGET:
            let head = try reader.take(fuse_batch_forget_in.self, of: bytes)
            var all: [(node: UInt64, count: UInt64)] = []
            for _ in 0..<head.count {
                let one = try reader.take(fuse_forget_one.self, of: bytes)
                all.append((one.nodeid, one.nlookup))
            }
            return .success(.forget(all))
        case FUSE_INIT:
            // Before version 7.36 it has no more than sixteen bytes.
            let offer = try reader.take(fuse_init_in.self, of: bytes, atLeast: 16)
            return .success(.begin(KernelAbilities(offer)))
        // A request that a signal interrupts goes on: none takes long.
        case FUSE_INTERRUPT, FUSE_DESTROY: return .success(.nothing)
        default: return .failure(.unknown)
        }
    }

    // MARK: The tree

    private mutating func tree(_ bytes: RawSpan) throws(MalformedMessage) -> Result<KernelOperation, Errno> {
        switch fuse_opcode(header.opcode) {
        case FUSE_MKNOD:
            let made = try reader.take(fuse_mknod_in.self, of: bytes)
            let name = try name(bytes)
            // The vault keeps no special files.
            guard made.mode & S_IFMT == S_IFREG else { return .failure(.notPermitted) }
            return name.map { .makeFile($0, mode: made.mode) }
        case FUSE_MKDIR:
            let made = try reader.take(fuse_mkdir_in.self, of: bytes)
            return try name(bytes).map { .makeDirectory($0, mode: made.mode) }
        case FUSE_SYMLINK:
            let (name, target) = (try name(bytes), try text(bytes))
            return name.flatMap { name in target.map { .makeLink(name, target: $0) } }
        case FUSE_LINK:
            let link = try reader.take(fuse_link_in.self, of: bytes)
            return try name(bytes).map { .link(link.oldnodeid, $0) }
        case FUSE_UNLINK: return try name(bytes).map { .removeFile($0) }
        case FUSE_RMDIR: return try name(bytes).map { .removeDirectory($0) }
        case FUSE_RENAME:
            return try rename(to: try reader.take(fuse_rename_in.self, of: bytes).newdir, flags: 0, bytes)
        case FUSE_RENAME2:
            let renamed = try reader.take(fuse_rename2_in.self, of: bytes)
            return try rename(to: renamed.newdir, flags: renamed.flags, bytes)
        case FUSE_READDIR, FUSE_READDIRPLUS:
            let read = try reader.take(fuse_read_in.self, of: bytes)
            let isWhole = header.opcode == FUSE_READDIRPLUS.rawValue
            return .success(.list(cookie: read.offset, byteCount: Int(read.size), isWhole: isWhole))
        case FUSE_FSYNCDIR: return .success(.syncDirectory)
        default: return .failure(.unknown)
        }
    }

    private mutating func rename(
        to directory: UInt64,
        flags: UInt32,
        _ bytes: RawSpan
    ) throws(MalformedMessage) -> Result<KernelOperation, Errno> {
        let (name, target) = (try name(bytes), try name(bytes))
        return name.flatMap { name in
            target.map { .rename(name, directory: directory, $0, flags: flags) }
        }
    }

    // MARK: Extended attributes

    private mutating func extended(_ bytes: RawSpan) throws(MalformedMessage) -> Result<KernelOperation, Errno> {
        switch fuse_opcode(header.opcode) {
        case FUSE_GETXATTR:
            let read = try reader.take(fuse_getxattr_in.self, of: bytes)
            return try text(bytes).map { .getExtendedAttribute($0, limit: Int(read.size)) }
        case FUSE_LISTXATTR:
            return .success(.listExtendedAttributes(limit: Int(try reader.take(fuse_getxattr_in.self, of: bytes).size)))
        case FUSE_SETXATTR:
            // Its head has grown; the kernel uses the long one only if the file system asks for that.
            let size = try reader.take(UInt32.self, of: bytes)
            let flags = try reader.take(UInt32.self, of: bytes)
            let name = try text(bytes)
            let value = reader.takeRest(of: bytes)
            guard value.count == Int(size) else { throw MalformedMessage() }
            payload = value
            return name.map { .setExtendedAttribute($0, flags: flags) }
        case FUSE_REMOVEXATTR: return try text(bytes).map { .removeExtendedAttribute($0) }
        default: return .failure(.unknown)
        }
    }

    // MARK: Contents

    private mutating func content(_ bytes: RawSpan) throws(MalformedMessage) -> Result<KernelOperation, Errno> {
        switch fuse_opcode(header.opcode) {
        case FUSE_OPEN:
            let opened = try reader.take(fuse_open_in.self, of: bytes)
            return .success(.open(OpenMode(flags: opened.flags, opened.open_flags)))
        case FUSE_CREATE:
            let made = try reader.take(fuse_create_in.self, of: bytes)
            let mode = OpenMode(flags: made.flags, made.open_flags)
            return try name(bytes).map { .create($0, mode, mode: made.mode) }
        case FUSE_READ:
            let read = try reader.take(fuse_read_in.self, of: bytes)
            // Behind the end of what a file can have, there is nothing.
            let start = Int64(clamping: read.offset)
            return .success(.read(start..<start.nearestSum(Int64(read.size))))
        case FUSE_WRITE:
            let written = try reader.take(fuse_write_in.self, of: bytes)
            let content = reader.takeRest(of: bytes)
            guard content.count == Int(written.size) else { throw MalformedMessage() }
            payload = content
            let kind = WriteKind(rawValue: written.write_flags)
            return .success(.write(offset: Int64(clamping: written.offset), kind))
        case FUSE_RELEASE:
            return .success(.release(OpenMode(flags: try reader.take(fuse_release_in.self, of: bytes).flags)))
        case FUSE_FSYNC: return .success(.sync)
        case FUSE_FALLOCATE:
            let allocated = try reader.take(fuse_fallocate_in.self, of: bytes)
            return .success(
                .allocate(
                    offset: Int64(bitPattern: allocated.offset),
                    byteCount: Int64(bitPattern: allocated.length),
                    flags: Int32(bitPattern: allocated.mode)
                )
            )
        case FUSE_LSEEK:
            let sought = try reader.take(fuse_lseek_in.self, of: bytes)
            return .success(.seek(offset: Int64(bitPattern: sought.offset), whence: Int32(bitPattern: sought.whence)))
        case FUSE_COPY_FILE_RANGE:
            return .success(.copy(to: try reader.take(fuse_copy_file_range_in.self, of: bytes).nodeid_out))
        // FLUSH, OPENDIR, ACCESS, locks: the kernel does these by itself then, and asks no more.
        default: return .failure(.unknown)
        }
    }
}

extension AttributeChange {
    /// - Parameter wanted: The kernel's words.
    init(_ wanted: fuse_setattr_in) {
        self.init()
        func isSet(_ bit: Int32) -> Bool { wanted.valid & UInt32(bitPattern: bit) != 0 }
        if isSet(FATTR_MODE) { mode = wanted.mode & 0o7777 }
        if isSet(FATTR_UID) { userID = wanted.uid }
        if isSet(FATTR_GID) { groupID = wanted.gid }
        if isSet(FATTR_SIZE) { byteCount = Int64(clamping: wanted.size) }
        if isSet(FATTR_ATIME) { accessed = nanoseconds(wanted.atime, wanted.atimensec) }
        if isSet(FATTR_ATIME_NOW) { accessed = wallClockNanoseconds() }
        if isSet(FATTR_MTIME) { modified = nanoseconds(wanted.mtime, wanted.mtimensec) }
        if isSet(FATTR_MTIME_NOW) { modified = wallClockNanoseconds() }
        isByDescriptor = isSet(FATTR_FH)
        dropsSpecialBits = isSet(FATTR_KILL_SUIDGID)
    }
}

/// A time in nanoseconds since 1970: the first or the last that 64 bits hold, for a date before 1677 or after 2262.
private func nanoseconds(_ seconds: UInt64, _ rest: UInt32) -> Int64 {
    Int64(clamping: Int128(Int64(bitPattern: seconds)) * 1_000_000_000 + Int128(rest))
}
