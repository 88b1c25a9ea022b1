internal import CKernelFiles
package import CofferCore
internal import CofferFiles
internal import CofferKeys
package import CofferHandlers
package import CofferMemory
internal import CofferSystem
package import CofferVault
internal import CofferWire
internal import Glibc

/// A mount that this daemon answers: requests of the kernel by the numbers of nodes, carried out by the handlers of the vault.
///
/// A node's number is that of its row, and 1 for the root of the mount. The kernel names a node in every request, and so no
/// number of an opening is needed: the next daemon goes on with the files that programs have open.
package final class KernelMount {
    /// The attribute that is a file's class, or a directory's default for new files.
    package static let classAttribute = "user.coffer.class"
    /// The number of the root.
    static let root = UInt64(FUSE_ROOT_ID)

    package let facts: MountFacts
    /// Whom its programs are, as far as rights go.
    package let caller: Caller
    package let device: KernelDevice
    package let notifier: MountNotifier
    let handlers: Handlers
    /// The nodes that the kernel knows.
    var nodes: KnownNodes
    /// The files that programs have open.
    var openFiles = MountedFiles()
    /// What the next daemon finds of it; `nil` if it ends with this one.
    package var memory: MountMemory?
    /// Whether an earlier daemon has answered it: then it is not known here what the kernel has.
    package var isResumed = false
    /// How many of its requests are being carried out.
    package var requestCount = 0
    /// What the kernel can; `nil` before its first message.
    package private(set) var abilities: KernelAbilities?
    /// Reports a line without secrets to the administrator.
    private let report: (String) -> Void

    /// - Parameters:
    ///   - facts: The facts that the mount keeps from one daemon to the next.
    ///   - caller: Whose it is.
    ///   - device: Its kernel's end.
    ///   - abilities: What an earlier daemon has agreed with the kernel; `nil` for a new mount.
    ///   - nodeLimit: How many nodes the kernel may know before the mount must end.
    ///   - handlers: The handlers of the vault.
    ///   - report: Reports a line without secrets to the administrator.
    ///   - confirm: As for ``MountNotifier``.
    package init(
        _ facts: MountFacts,
        of caller: Caller,
        on device: KernelDevice,
        agreed abilities: KernelAbilities? = nil,
        knowing nodeLimit: Int = Limits.nodesOfMount,
        _ handlers: Handlers,
        report: @escaping (String) -> Void,
        confirm: @escaping @Sendable (Int) -> Void
    ) {
        (self.facts, self.caller, self.device, self.abilities) = (facts, caller, device, abilities)
        (self.handlers, self.report) = (handlers, report)
        nodes = KnownNodes(limit: nodeLimit)
        notifier = MountNotifier(device, confirm: confirm)
        // Its programs sync what must not be lost.
        caller.choice.defersSyncs = true
    }

    /// Whether a notice waits for its kernel, or a request is being carried out.
    package var isBusy: Bool { notifier.isRunning || requestCount > 0 }

    /// Whether the mount must end: another process takes messages of the kernel away, or the kernel may show old contents.
    package var isOverfull: Bool { notifier.isOverfull || nodes.areTooMany }

    // MARK: Receiving

    /// What has come from the kernel.
    package enum Arrival {
        case request(KernelRequest)
        /// A message that needs nothing more.
        case handled
        case nothing
        /// The mount has ended.
        case ended
    }

    /// Takes the next message.
    ///
    /// - Parameter buffer: Memory of at least ``messageBytes``, which this wipes.
    package func receive(into buffer: inout SecretBytes) -> Arrival {
        switch unsafe buffer.withUnsafeMutableBytes({ unsafe device.read(into: $0) }) {
        case .ended: return .ended
        case .nothing: return .nothing
        case .message(let byteCount):
            defer { buffer.wipe(first: byteCount) }
            let message = buffer.withBytes { bytes in try? KernelMessage(bytes.extracting(first: byteCount)) }
            guard let message else { return .handled }
            return take(message)
        }
    }

    /// The longest message.
    package static let messageBytes = Limits.framePayloadBytes + 4096

    private func take(_ message: consuming KernelMessage) -> Arrival {
        let header = message.header
        switch message.operation {
        case .failure(let failure):
            if header.wantsAnswer { device.answer(header.unique, error: failure.code) }
            return .handled
        case .success(.nothing): return .handled
        case .success(.forget(let forgotten)):
            for (number, count) in forgotten where nodes.forget(number, count) { openFiles.forget(number) }
            return .handled
        case .success(.begin(let offer)): return begin(offer, header)
        case .success(let operation):
            if isResumed { nodes.noteUse(header.node) }
            return .request(KernelRequest(header, operation, message.payload, to: self))
        }
    }

    /// Answers the first message.
    private func begin(_ offer: KernelAbilities, _ header: KernelHeader) -> Arrival {
        guard offer.suffices else {
            device.answer(header.unique, error: EPROTO)
            return .ended
        }
        abilities = offer
        let answer = bytes(of: offer.answer)
        unsafe device.answer(header.unique, answer.span.bytes)
        return .handled
    }

    // MARK: Carrying out

    var group: String { facts.group }

    /// The store of files, whose existence the gate has checked.
    var store: FileStore {
        get throws { try handlers.shared.vault.catalog.files }
    }

    var state: VaultState {
        get throws { try handlers.shared.vault.keys.state }
    }

    /// Carries out a request that the gate has admitted.
    ///
    /// - Throws: An error of the vault.
    package func carryOut(_ request: KernelRequest, _ call: Call) throws -> Step {
        do {
            if facts.isReadOnly && request.operation.changes { throw Errno.readOnly }
            // A request that has ended two daemons must not end the next one.
            if request.header.isRepeated && memory?.begin(request.number) == false { throw Errno.readFailed }
            return try operate(request, call)
        } catch let failure as Errno {
            return request.end(.failure(failure))
        }
    }

    private func operate(_ request: KernelRequest, _ call: Call) throws -> Step {
        switch request.operation {
        case .lookUp(let name): try lookUp(name, request)
        case .getAttributes: try getAttributes(request)
        case .setAttributes(let change): try setAttributes(change, request, call)
        case .readLink: try readLink(request)
        case .makeFile(let name, let mode): try makeFile(name, mode, request, call)
        case .makeDirectory(let name, let mode): try makeDirectory(name, mode, request, call)
        case .makeLink(let name, let target): try makeLink(name, target, request, call)
        case .link(let node, let name): try link(node, name, request, call)
        case .removeFile(let name): try remove(name, isDirectory: false, request, call)
        case .removeDirectory(let name): try remove(name, isDirectory: true, request, call)
        case .rename(let name, let directory, let target, let flags):
            try rename(name, directory, target, flags, request, call)
        case .open(let mode): try open(mode, request, call)
        case .create(let name, let opening, let mode): try create(name, opening, mode, request, call)
        case .read(let range): try read(range, request, call)
        case .write(let offset, let kind): try write(offset, kind, request, call)
        case .release(let mode): try release(mode, request, call)
        case .sync: try sync(request, call)
        case .syncDirectory: try handlers.file.fileSyncTree(FileSyncTreeParameters(), call)
        case .allocate(let offset, let byteCount, let flags): try allocate(offset, byteCount, flags, request, call)
        case .seek(let offset, let whence): try seek(offset, whence, request, call)
        case .copy(let copy): try protect(copy, asCopyOf: request, call)
        case .list(let cookie, let byteCount, let isWhole): try list(cookie, byteCount, isWhole, request)
        case .getExtendedAttribute(let name, let limit): try getExtendedAttribute(name, limit, request, call)
        case .listExtendedAttributes(let limit): try listExtendedAttributes(limit, request, call)
        case .setExtendedAttribute(let name, let flags): try setExtendedAttribute(name, flags, request, call)
        case .removeExtendedAttribute(let name): try removeExtendedAttribute(name, request, call)
        case .space: try space(request)
        case .begin, .forget, .nothing: .done
        }
    }

    // MARK: Answering

    /// Answers a request that was carried out.
    ///
    /// - Parameter reply: What its handler has answered.
    package func answer(_ request: KernelRequest, _ reply: consuming Reply?) {
        let unique = request.header.unique
        if request.header.isRepeated { memory?.end() }
        if let removed = request.removed { nodes.remove(UInt64(clamping: removed.inode), removed) }
        switch request.answer {
        case .done: device.answer(unique)
        case .failure(let failure): device.answer(unique, error: failure.code)
        case .bytes(let bytes):
            unsafe device.answer(unique, bytes.span.bytes)
            if case .getAttributes = request.operation, request.node == Self.root { nodes.hasRoot = true }
        case .nodes(let numbers, let bytes):
            // Counted first: the kernel may forget a node as soon as it has it.
            for number in numbers { nodes.add(number) }
            if !(unsafe device.answer(unique, bytes.span.bytes)) { for number in numbers { nodes.forget(number, 1) } }
        case .payload:
            switch reply.takePayload() {
            case .none: device.answer(unique)
            case .some(let payload): payload.withBytes { _ = device.answer(unique, $0) }
            }
        }
    }

    /// Answers a request that has failed.
    package func refuse(_ request: KernelRequest, _ error: CofferError) {
        if request.header.isRepeated { memory?.end() }
        // The bits that it has dropped from the mode may be back.
        openFiles.noteSpecialBits(of: request.node)
        var failure = Errno(error)
        if case .write(_, let kind) = request.operation, kind.contains(.mapped), failure.code == EACCES {
            // Names of files are secret; `find -inum` finds it by the number.
            report(
                "what was written last to the file with inode \(request.node) is lost: it was in mapped memory when the vault"
                    + " was locked"
            )
            failure = .readFailed
        }
        device.answer(request.header.unique, error: failure.code)
    }
}

extension Reply? {
    fileprivate consuming func takePayload() -> SecretBytes? {
        switch consume self {
        case .none: nil
        case .some(let reply): reply.takePayload()
        }
    }
}

/// The nodes that the kernel knows, each with how often it has looked it up.
///
/// It may forget one after it has looked it up again: so the counts decide, not the order.
struct KnownNodes {
    private let limit: Int
    private var counts: [UInt64: UInt64] = [:]
    /// The nodes that the kernel has used since an earlier daemon has ended, to which it may have looked them up.
    private var used: Set<UInt64> = []
    /// Directories that were removed, and that programs may be in; beyond a bound, some are missing.
    private var removed: [UInt64: NodeAttributes] = [:]
    /// The paths of directories in which something was looked for or changed last.
    private var paths: [UInt64: String] = [:]

    /// Whether the kernel was told to drop the contents that an earlier daemon has given it.
    var hasDroppedFormer = false
    /// Whether the kernel has the attributes of the root, which it does not look up.
    var hasRoot = false

    /// - Parameter limit: How many there may be.
    init(limit: Int) { self.limit = limit }

    /// Whether there are more than a kernel has memory for: another process takes its `FORGET` messages away.
    var areTooMany: Bool { counts.count + used.count > limit }

    /// All of them, without the root.
    var all: [UInt64] { Array(used.union(counts.keys)) }

    mutating func noteUse(_ number: UInt64) { used.insert(number) }

    mutating func add(_ number: UInt64) { counts[number, default: 0] += 1 }

    /// Takes look-ups back.
    ///
    /// - Returns: Whether the kernel does not know it any more.
    @discardableResult
    mutating func forget(_ number: UInt64, _ count: UInt64) -> Bool {
        guard let known = counts[number], known > count else {
            counts[number] = nil
            used.remove(number)
            removed[number] = nil
            paths[number] = nil
            return true
        }
        counts[number] = known - count
        return false
    }

    /// The path of a directory, if it is remembered.
    func path(of number: UInt64) -> String? { paths[number] }

    mutating func keep(_ path: String, of number: UInt64) {
        if paths.count == Limits.pathsOfMount { forgetPaths() }
        paths[number] = path
    }

    /// Something was renamed, or names were sealed.
    mutating func forgetPaths() { paths = [:] }

    /// Notes that a directory was removed.
    mutating func remove(_ number: UInt64, _ attributes: NodeAttributes) {
        paths[number] = nil
        guard counts[number] != nil else { return }
        if removed.count >= Limits.removedDirectoriesOfMount, let one = removed.keys.first { removed[one] = nil }
        removed[number] = attributes
    }

    /// A directory that was removed, and that the kernel still knows.
    func removedDirectory(_ number: UInt64) -> NodeAttributes? { removed[number] }
}
