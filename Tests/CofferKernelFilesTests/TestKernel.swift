import CKernelFiles
import CofferCore
import CofferHandlers
import CofferKernelFiles
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferVault
import CofferWire
import Dispatch
import Glibc
import Testing

/// A kernel whose programs are a test, and a mount that answers it: a vault without a daemon, a step at a time.
final class TestKernel {
    let stepper: Stepper
    private(set) var mount: KernelMount
    private let memory: MountMemory
    private let nodeLimit: Int
    /// The other end of what the mount reads, which the kernel has.
    private var kernel: KernelDevice
    private var buffer: SecretBytes
    private var unique: UInt64 = 0
    /// Signalled at the end of ``waitForDrops()``.
    private let dropped: DispatchSemaphore

    init(_ stepper: Stepper? = nil, isReadOnly: Bool = false, nodeLimit: Int = Limits.nodesOfMount) throws {
        self.stepper = try stepper ?? Stepper(passcode: nil)
        self.nodeLimit = nodeLimit
        buffer = try SecretBytes(zeros: KernelMount.messageBytes)
        let facts = MountFacts(
            at: "/vault",
            of: self.stepper.owner.groups[0],
            directory: 0,
            isReadOnly: isReadOnly,
            time: 1,
            owner: MountOwner(userID: 1000, groupID: 1000),
            namesUsers: true
        )
        memory = try MountMemory(KeptMount(of: ItemID(), facts, of: self.stepper.owner.identity, Self.abilities))
        dropped = DispatchSemaphore(value: 0)
        (mount, kernel) = try Self.begin(facts, self.stepper, nodeLimit, memory, dropped)
    }

    private static let abilities = KernelAbilities(version: 41, isResendable: true)

    private static func begin(
        _ facts: MountFacts,
        _ stepper: Stepper,
        _ nodeLimit: Int,
        _ memory: MountMemory,
        _ dropped: DispatchSemaphore
    ) throws -> (KernelMount, KernelDevice) {
        var ends: [Int32] = [-1, -1]
        // As with /dev/fuse, each read gives one message.
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair")
        }
        let kernel = KernelDevice(OwnedDescriptor(owning: ends[0]))
        let device = KernelDevice(OwnedDescriptor(owning: ends[1]))
        for end in ends {
            // More than the largest message of both.
            var count = Int32(4 << 20)
            _ = unsafe setsockopt(end, SOL_SOCKET, SO_SNDBUF, &count, 4)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let identity = stepper.owner.identity
        let caller = Caller(identity, try stepper.vault.rights(of: identity), of: 1, mount: 1)
        let mount = KernelMount(facts, of: caller, on: device, knowing: nodeLimit, stepper.handlers) { _ in
        } confirm: { _ in
            dropped.signal()
        }
        mount.memory = memory
        return (mount, kernel)
    }

    /// Has another daemon go on with the mount, of which it knows nothing.
    func restartDaemon() throws {
        stepper.handlers.file.releaseHandles(of: mount.caller)
        while let chore = stepper.beginChore() { chore.finish() }
        try stepper.commit()
        (mount, kernel) = try Self.begin(mount.facts, stepper, nodeLimit, memory, dropped)
    }

    // MARK: Asking

    /// What the kernel gets.
    struct Answer {
        var error: Int32
        var body: [UInt8]

        /// A structure at the beginning of the body.
        func read<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int = 0) throws -> Value {
            guard body.count >= offset + MemoryLayout<Value>.size else { throw Errno(error == 0 ? EPROTO : error) }
            return unsafe body.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
        }
    }

    /// How far a request comes before its daemon ends.
    enum Fate {
        case answered
        /// It is carried out, and not answered.
        case carriedOut
        /// It ends the daemon.
        case begun
    }

    /// The number of the last request.
    var last: UInt64 { unique }

    /// Asks, and takes the answer.
    ///
    /// - Parameters:
    ///   - repeated: The number of a request that is sent again; `nil` for a new one.
    ///   - fate: How far it comes.
    @discardableResult
    func ask(
        _ opcode: fuse_opcode,
        _ node: UInt64 = 1,
        _ body: [UInt8] = [],
        repeating repeated: UInt64? = nil,
        _ fate: Fate = .answered,
        user: UInt32 = 1000
    ) throws -> Answer {
        unique += repeated == nil ? 2 : 0
        var head = fuse_in_header()
        head.len = UInt32(MemoryLayout<fuse_in_header>.size + body.count)
        (head.opcode, head.nodeid, head.uid, head.gid) = (opcode.rawValue, node, user, user)
        head.unique = repeated.map { $0 | 1 << 63 } ?? unique
        let message = Self.bytes(of: head) + body
        unsafe try kernel.descriptor.write(all: message.span.bytes)
        if case .request(let request) = mount.receive(into: &buffer) { try carryOut(request, fate) }
        return fate == .answered ? try takeAnswer() : Answer(error: 0, body: [])
    }

    private func carryOut(_ request: KernelRequest, _ fate: Fate) throws {
        let call = Call(from: mount.caller, request.attachments)
        let begun = Begun(Int(unique) + 1_000_000, stepper.shared, call) { [mount] in try mount.carryOut(request, $0) }
        if fate == .begun { return }
        begun.finish()
        try stepper.commit()
        if fate == .carriedOut { return }
        if let failure = begun.failure { return mount.refuse(request, failure) }
        mount.answer(request, Reply(Empty(), payload: try SecretBytes(copying: begun.payload.span.bytes)))
    }

    private func takeAnswer() throws -> Answer {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(kernel.descriptor.number, $0.baseAddress, $0.count, 0)
        }
        guard count >= MemoryLayout<fuse_out_header>.size else { throw SystemError("read") }
        let answer = Answer(error: 0, body: Array(bytes.prefix(count)))
        let head = try answer.read(fuse_out_header.self)
        return Answer(error: -head.error, body: Array(bytes[MemoryLayout<fuse_out_header>.size..<count]))
    }

    /// Tells the mount of changes by another client.
    func note(_ changes: [ItemChange]) {
        var directories = FoundDirectories()
        mount.note(changes, &directories)
    }

    /// Has notices wait for the kernel.
    func blockNotices() { _ = fcntl(mount.device.descriptor.number, F_SETFL, 0) }

    /// Lets notices go on.
    func unblockNotices() {
        _ = fcntl(mount.device.descriptor.number, F_SETFL, O_NONBLOCK)
        while (try? takeAnswer()) != nil {}
    }

    /// Waits until everything was dropped that was to be, or the mount is to end.
    func waitForDrops() { dropped.wait() }

    /// The nodes whose pages and attributes the kernel was told to drop.
    func takeDroppedNodes() throws -> [UInt64] {
        mount.notifier.confirmDrops()
        waitForDrops()
        var nodes: [UInt64] = []
        while let notice = try? takeAnswer() {
            try #require(notice.error == -Int32(FUSE_NOTIFY_INVAL_INODE.rawValue))
            nodes.append(try notice.read(fuse_notify_inval_inode_out.self).ino)
        }
        return nodes
    }

    // MARK: What programs do

    static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        unsafe withUnsafeBytes(of: value) { unsafe Array($0) }
    }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    /// Looks an entry up.
    ///
    /// - Returns: Its number; `nil` if there is none.
    func find(_ name: String, in node: UInt64 = 1) throws -> UInt64? {
        let answer = try ask(FUSE_LOOKUP, node, Self.text(name))
        if answer.error != 0 { throw Errno(answer.error) }
        let number = try answer.read(fuse_entry_out.self).nodeid
        return number == 0 ? nil : number
    }

    /// Takes look-ups back, which is not answered.
    func forget(_ node: UInt64, _ count: UInt64) throws {
        try ask(FUSE_FORGET, node, Self.bytes(of: fuse_forget_in(nlookup: count)), .carriedOut)
    }

    func mkdir(_ name: String, in node: UInt64 = 1) throws -> UInt64 {
        let body = Self.bytes(of: fuse_mkdir_in(mode: 0o755, umask: 0)) + Self.text(name)
        return try ask(FUSE_MKDIR, node, body).read(fuse_entry_out.self).nodeid
    }

    static func creation(_ name: String, flags: Int32 = O_RDWR | O_EXCL) -> [UInt8] {
        bytes(of: fuse_create_in(flags: UInt32(flags), mode: 0o100644, umask: 0, open_flags: 0)) + text(name)
    }

    /// Creates a file, which is open then.
    func create(_ name: String, in node: UInt64 = 1) throws -> UInt64 {
        try ask(FUSE_CREATE, node, Self.creation(name)).read(fuse_entry_out.self).nodeid
    }

    func open(_ node: UInt64, _ flags: Int32 = O_RDONLY) throws -> Int32 {
        try ask(FUSE_OPEN, node, Self.bytes(of: fuse_open_in(flags: UInt32(flags), open_flags: 0))).error
    }

    func release(_ node: UInt64, _ flags: Int32 = O_RDONLY) throws {
        var released = fuse_release_in()
        released.flags = UInt32(flags)
        let error = try ask(FUSE_RELEASE, node, Self.bytes(of: released)).error
        if error != 0 { throw Errno(error) }
    }

    func write(_ text: String, to node: UInt64, at offset: UInt64 = 0) throws -> Int32 {
        var written = fuse_write_in()
        (written.offset, written.size) = (offset, UInt32(text.utf8.count))
        return try ask(FUSE_WRITE, node, Self.bytes(of: written) + text.utf8).error
    }

    func read(_ node: UInt64, count: UInt32 = 4096) throws -> String {
        var wanted = fuse_read_in()
        wanted.size = count
        let answer = try ask(FUSE_READ, node, Self.bytes(of: wanted))
        if answer.error != 0 { throw Errno(answer.error) }
        return String(decoding: answer.body, as: UTF8.self)
    }

    func attributes(_ node: UInt64) throws -> fuse_attr {
        try ask(FUSE_GETATTR, node, Self.bytes(of: fuse_getattr_in())).read(fuse_attr_out.self).attr
    }

    func rename(_ name: String, to target: String, flags: UInt32 = 0, repeating: UInt64? = nil) throws -> Int32 {
        var renamed = fuse_rename2_in()
        (renamed.newdir, renamed.flags) = (1, flags)
        let body = Self.bytes(of: renamed) + Self.text(name) + Self.text(target)
        return try ask(FUSE_RENAME2, 1, body, repeating: repeating).error
    }
}
