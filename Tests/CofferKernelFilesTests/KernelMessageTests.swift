import CKernelFiles
import CofferCore
import CofferKernelFiles
import Glibc
import Testing

/// Messages of the kernel, as `/dev/fuse` gives them.
@Suite struct KernelMessageTests {
    /// A message with a head, and what follows it.
    private static func message(
        _ opcode: fuse_opcode,
        node: UInt64 = 7,
        unique: UInt64 = 42,
        _ body: [UInt8]
    ) -> [UInt8] {
        var head = fuse_in_header()
        head.len = UInt32(MemoryLayout<fuse_in_header>.size + body.count)
        (head.opcode, head.unique, head.nodeid) = (opcode.rawValue, unique, node)
        (head.uid, head.gid, head.pid) = (1000, 100, 4711)
        return bytes(of: head) + body
    }

    private static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private static func operation(_ opcode: fuse_opcode, _ body: [UInt8]) throws -> KernelOperation {
        try KernelMessage(message(opcode, body).span.bytes).operation.get()
    }

    private static func failure(_ opcode: fuse_opcode, _ body: [UInt8]) throws -> Int32? {
        if case .failure(let failure) = try KernelMessage(message(opcode, body).span.bytes).operation {
            return failure.code
        }
        return nil
    }

    /// One whole message of each kind that has a body.
    static let whole: [(fuse_opcode, [UInt8])] = {
        var written = fuse_write_in()
        written.size = 3
        var forgotten = fuse_batch_forget_in()
        forgotten.count = 2
        var file = fuse_mknod_in()
        file.mode = S_IFREG
        let two = bytes(of: fuse_forget_one(nodeid: 1, nlookup: 1)) + bytes(of: fuse_forget_one(nodeid: 2, nlookup: 5))
        return [
            (FUSE_LOOKUP, text("a")), (FUSE_SETATTR, bytes(of: fuse_setattr_in())),
            (FUSE_MKNOD, bytes(of: file) + text("a")), (FUSE_MKDIR, bytes(of: fuse_mkdir_in()) + text("a")),
            (FUSE_SYMLINK, text("a") + text("b")), (FUSE_LINK, bytes(of: fuse_link_in()) + text("a")),
            (FUSE_UNLINK, text("a")), (FUSE_RMDIR, text("a")),
            (FUSE_RENAME, bytes(of: fuse_rename_in()) + text("a") + text("b")),
            (FUSE_RENAME2, bytes(of: fuse_rename2_in()) + text("a") + text("b")),
            (FUSE_OPEN, bytes(of: fuse_open_in())), (FUSE_CREATE, bytes(of: fuse_create_in()) + text("a")),
            (FUSE_READ, bytes(of: fuse_read_in())), (FUSE_WRITE, bytes(of: written) + [1, 2, 3]),
            (FUSE_RELEASE, bytes(of: fuse_release_in())), (FUSE_FALLOCATE, bytes(of: fuse_fallocate_in())),
            (FUSE_LSEEK, bytes(of: fuse_lseek_in())), (FUSE_COPY_FILE_RANGE, bytes(of: fuse_copy_file_range_in())),
            (FUSE_READDIR, bytes(of: fuse_read_in())), (FUSE_READDIRPLUS, bytes(of: fuse_read_in())),
            (FUSE_GETXATTR, bytes(of: fuse_getxattr_in()) + text("user.a")),
            (FUSE_LISTXATTR, bytes(of: fuse_getxattr_in())),
            (FUSE_SETXATTR, bytes(of: UInt32(2)) + bytes(of: UInt32(0)) + text("user.a") + [1, 2]),
            (FUSE_REMOVEXATTR, text("user.a")), (FUSE_FORGET, bytes(of: fuse_forget_in())),
            (FUSE_BATCH_FORGET, bytes(of: forgotten) + two), (FUSE_INIT, bytes(of: fuse_init_in())),
        ]
    }()

    @Test(arguments: whole.indices)
    func `a message is read whole, and each shorter one is EINVAL`(_ index: Int) throws {
        let (opcode, body) = Self.whole[index]
        #expect(try Self.failure(opcode, body) == nil, "\(opcode.rawValue)")
        // INIT has grown: older kernels send less of it.
        let least = opcode == FUSE_INIT ? 16 : body.count
        for count in 0..<least {
            #expect(try Self.failure(opcode, Array(body.prefix(count))) == EINVAL, "\(opcode.rawValue), \(count) bytes")
        }
    }

    @Test func `what has no whole head, or another length than it says, is no message`() {
        let whole = Self.message(FUSE_GETATTR, Self.bytes(of: fuse_getattr_in()))
        for count in 0..<whole.count {
            #expect(throws: MalformedMessage.self) { _ = try KernelMessage(Array(whole.prefix(count)).span.bytes) }
        }
        #expect(throws: MalformedMessage.self) { _ = try KernelMessage((whole + [0]).span.bytes) }
    }

    @Test func `the head says who asks about what`() throws {
        let message = try KernelMessage(Self.message(FUSE_READLINK, node: 9, unique: 1 << 63 | 5, []).span.bytes)
        let header = message.header
        #expect(header.node == 9 && header.userID == 1000 && header.groupID == 100 && header.processID == 4711)
        #expect(header.isRepeated)
    }

    @Test func `names that are no names are refused`() throws {
        for name in ["", ".", "..", "a/b"] {
            #expect(try Self.failure(FUSE_LOOKUP, Self.text(name)) == EINVAL, "\(name)")
        }
        #expect(try Self.failure(FUSE_LOOKUP, [0xff, 0]) == EILSEQ)
        #expect(try Self.failure(FUSE_LOOKUP, Self.text(String(repeating: "a", count: 256))) == ENAMETOOLONG)
        #expect(try Self.failure(FUSE_LOOKUP, Self.text(String(repeating: "a", count: 255))) == nil)
        #expect(try Self.failure(FUSE_LOOKUP, [0x61]) == EINVAL)
    }

    @Test func `special files are EPERM`() throws {
        for type in [S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK] {
            var file = fuse_mknod_in()
            file.mode = type
            #expect(try Self.failure(FUSE_MKNOD, Self.bytes(of: file) + Self.text("a")) == EPERM)
        }
    }

    @Test func `what the kernel does by itself is ENOSYS, so that it asks no more`() throws {
        for opcode in [FUSE_FLUSH, FUSE_OPENDIR, FUSE_RELEASEDIR, FUSE_ACCESS, FUSE_GETLK, FUSE_IOCTL, FUSE_POLL] {
            #expect(try Self.failure(opcode, [UInt8](repeating: 0, count: 64)) == ENOSYS)
        }
        #expect(try Self.failure(fuse_opcode(4711), []) == ENOSYS)
    }

    @Test func `a write whose bytes are more or fewer than it says is EINVAL`() throws {
        for size in [0, 2, 4, UInt32.max] {
            var written = fuse_write_in()
            written.size = size
            #expect(try Self.failure(FUSE_WRITE, Self.bytes(of: written) + [1, 2, 3]) == EINVAL)
        }
    }

    @Test func `extreme numbers stay numbers`() throws {
        var read = fuse_read_in()
        (read.offset, read.size) = (.max, .max)
        guard case .read(let range) = try Self.operation(FUSE_READ, Self.bytes(of: read)) else {
            Issue.record("no read")
            return
        }
        #expect(range == .max ..< .max)
        var change = fuse_setattr_in()
        (change.valid, change.size, change.atime, change.atimensec) = (.max, .max, 1 << 63, .max)
        guard case .setAttributes(let wanted) = try Self.operation(FUSE_SETATTR, Self.bytes(of: change)) else {
            Issue.record("no change")
            return
        }
        #expect(wanted.byteCount == .max && wanted.mode == 0)
        var forgotten = fuse_batch_forget_in()
        forgotten.count = .max
        #expect(try Self.failure(FUSE_BATCH_FORGET, Self.bytes(of: forgotten)) == EINVAL)
    }

    @Test func `what a daemon leaves of a mount is read as it was, and nothing shorter`() throws {
        var client = ClientIdentity(userID: 1000, groupID: 100, supplementaryGroupIDs: [7, 8], unit: "a.service")
        client.isContained = true
        let facts = MountFacts(
            at: "/home/a/Vault",
            of: "owners",
            directory: 5,
            isReadOnly: true,
            time: -1,
            owner: MountOwner(userID: 1000, groupID: 100),
            namesUsers: true
        )
        guard case .begin(let abilities) = try Self.operation(FUSE_INIT, Self.bytes(of: fuse_init_in())) else {
            Issue.record("no beginning")
            return
        }
        let bytes = KeptMount(of: ItemID(), facts, of: client, abilities).encoded
        let found = try KeptMount(decoding: bytes)
        #expect(found.facts == facts && found.client == client)
        for count in 0..<bytes.count {
            #expect(throws: ByteReader.Malformed.self) { try KeptMount(decoding: Array(bytes.prefix(count))) }
        }
    }
}
