internal import CofferCore
internal import CofferHandlers
internal import CofferKernelFiles
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// The mounts that this daemon answers: their requests are requests like all others.
final class Mounts {
    /// A mount, and its place among the others.
    private final class Mounted {
        let number: Int32
        let mount: KernelMount
        var watch: EventLoop.Watch?
        /// Its name in the store for the next daemon; `nil` while it is not there.
        var keptName: String?
        /// The rights of other users whose programs have asked.
        var others: [MountOwner: AccessRights] = [:]
        /// Whether the kernel may have requests.
        var isReady = false
        /// Whether the daemon does not listen to it, because it carries out so many requests.
        var isPaused = false
        /// How many locks the kernel has not confirmed: it may still have pages of before.
        var unconfirmedCount = 0

        init(_ number: Int32, _ mount: KernelMount) { (self.number, self.mount) = (number, mount) }
    }

    private let part: ServerPart
    private var all: [Int32: Mounted] = [:]
    private var lastNumber: Int32 = 0
    /// Mounts that have ended while a notice waits for their kernel, or a request is being carried out: a client may hold both
    /// up.
    private var ending: [KernelMount] = []
    /// The mounts that may have requests, each once, in the order in which they are asked.
    private var ready: [Mounted] = []
    /// The mounts whose kernel has dropped all contents of before a lock, and the number of these locks.
    private let confirmations: Mailbox<(mount: Int32, count: Int)>
    /// Whether requests of the kernel came before those of clients.
    private var hadPrecedence = false
    /// Where messages are read; wiped after each, and there while there are mounts.
    private var buffer: SecretBytes?

    init(beside part: ServerPart) throws(SystemError) {
        self.part = part
        confirmations = try Mailbox()
        try confirmations.deliver(on: part.loop) { [unowned self] in confirm($0.mount, $0.count) }
    }

    private func confirm(_ number: Int32, _ count: Int) {
        guard let mounted = all[number] else { return }
        mounted.unconfirmedCount = max(0, mounted.unconfirmedCount - count)
        endIfOverfull(mounted)
    }

    private func endIfOverfull(_ mounted: Mounted) {
        guard mounted.mount.isOverfull else { return }
        mounting.report("a mount ends: another process takes messages of its kernel away, or the vault can't be read")
        end(mounted)
    }

    private var mounting: Configuration.Mounting { part.configuration.mounting }

    var isEmpty: Bool { all.isEmpty }

    // MARK: Beginning and ending

    /// Answers a mount from now on.
    ///
    /// - Parameters:
    ///   - facts: What it is.
    ///   - client: Whose it is.
    ///   - descriptor: Its kernel's end.
    func add(_ facts: MountFacts, of client: Caller, _ descriptor: consuming OwnedDescriptor) throws(CofferError) {
        let used = counted
        let held = used.count { $0.caller.tenant == client.tenant }
        guard FairShare.left(holding: held, used: used.count, of: Limits.mounts) > 0 else {
            throw CofferError(
                .notAvailable,
                "the daemon answers \(held) mounts of yours, and \(Limits.mounts) of all users at most",
                hint: "'coffer umount' ends one",
                retry: .later
            )
        }
        let device: KernelDevice
        do throws(SystemError) { device = try KernelDevice(besides: descriptor) } catch {
            throw CofferError(
                .io,
                "can't open /dev/fuse for the mount: \(error.reason)",
                hint: "let cofferd open it; in a unit of your own, that is 'DeviceAllow=/dev/fuse rw'"
            )
        }
        do {
            try begin(facts, of: client, device)
        } catch {
            throw CofferError(mapping: error, "can't answer the mount")
        }
    }

    @discardableResult
    private func begin(
        _ facts: MountFacts,
        of client: Caller,
        _ device: KernelDevice,
        agreed abilities: KernelAbilities? = nil
    ) throws -> Mounted {
        if buffer == nil { buffer = try SecretBytes(zeros: KernelMount.messageBytes) }
        repeat { lastNumber = lastNumber == .max ? 1 : lastNumber + 1 } while all[lastNumber] != nil
        let caller = Caller(client.identity, client.rights, of: client.tenant, mount: lastNumber)
        let (number, confirmations) = (lastNumber, confirmations)
        let mount = KernelMount(facts, of: caller, on: device, agreed: abilities, part.handlers) { [part] line in
            part.configuration.mounting.report(line)
        } confirm: {
            confirmations.post((number, $0))
        }
        let mounted = Mounted(lastNumber, mount)
        mounted.watch = try part.loop.watch(device.descriptor, for: .readable, .noted) {
            [unowned self, unowned mounted] _ in note(mounted)
        }
        all[lastNumber] = mounted
        return mounted
    }

    /// Ends a mount, whose programs get `ENOTCONN`.
    private func end(_ mounted: Mounted) {
        if let watch = mounted.watch { part.loop.unwatch(watch) }
        mounted.watch = nil
        all[mounted.number] = nil
        if mounted.mount.isBusy { ending.append(mounted.mount) }
        if let name = mounted.keptName { removeKept(name) }
        // A request that is being carried out may use the handles: then they are released at its end.
        if mounted.mount.requestCount == 0 { part.handlers.file.releaseHandles(of: mounted.mount.caller) }
        if all.isEmpty { buffer = nil }
    }

    /// Notes that a request was answered.
    func didAnswer(_ mount: KernelMount) {
        mount.requestCount -= 1
        if let mounted = all.values.first(where: { $0.mount === mount }) {
            endIfOverfull(mounted)
        } else if mount.requestCount == 0 {
            part.handlers.file.releaseHandles(of: mount.caller)
        }
        for mounted in all.values where mounted.isPaused && mayAsk(mounted) {
            mounted.isPaused = false
            if let watch = mounted.watch { try? part.loop.change(watch, to: .readable) }
            note(mounted)
        }
    }

    /// Whether another request of a mount may be taken: each holds what it reads or writes in locked memory.
    private func mayAsk(_ mounted: Mounted) -> Bool {
        let own = mounted.mount.requestCount
        if own == 0 { return true }
        let sum = all.values.reduce(0) { $0 + $1.mount.requestCount }
        return own < Limits.kernelRequestsAtOnce && sum < Limits.kernelRequestsOfMounts
    }

    /// Ends the mounts whose clients have other rights now.
    func reviewRights() {
        for mounted in all.values {
            let caller = mounted.mount.caller
            let rights = try? part.vault.rights(of: caller.identity)
            mounted.others = [:]
            if rights?.isSame(as: caller.rights) != true { end(mounted) }
        }
    }

    /// Stops, before the daemon exits.
    func stop() {
        for mounted in all.values {
            if let watch = mounted.watch { part.loop.unwatch(watch) }
            mounted.watch = nil
        }
        (all, ready) = ([:], [])
    }

    // MARK: For the next daemon

    /// Goes on with the mounts that an earlier daemon has left, if they are of this vault and their clients may still.
    func resume() {
        for found in mounting.store?.found ?? [] {
            let device = KernelDevice(OwnedDescriptor(owning: found.device))
            let memory = MountMemory(OwnedDescriptor(owning: found.memory))
            guard let kept = memory.contents(), kept.vaultID == part.vault.openKeys?.vaultID, all.count < Limits.mounts,
                let rights = try? part.vault.rights(of: kept.client)
            else {
                mounting.report(
                    "a mount that an earlier cofferd has left ends: its vault, or its client's right, is gone"
                )
                removeKept(found.name)
                continue
            }
            let tenant = part.connections.tenant(of: kept.client, rights)
            let client = Caller(kept.client, rights, of: tenant.number)
            guard let mounted = try? begin(kept.facts, of: client, device, agreed: kept.abilities) else {
                removeKept(found.name)
                continue
            }
            (mounted.mount.memory, mounted.keptName) = (memory, found.name)
            mounted.mount.isResumed = true
            // Asked first: to drop pages waits for the requests that hold them, which the earlier daemon had read.
            _ = device.askAgain()
            // Keys may have gone with the earlier daemon.
            dropAll(of: mounted, isLock: part.vault.openKeys?.state != .noPasscode, withNames: true)
        }
    }

    /// Keeps a mount for the next daemon, once the kernel has said that it would ask that again.
    private func keep(_ mounted: Mounted) {
        guard mounted.keptName == nil, let store = mounting.store,
            let abilities = mounted.mount.abilities, abilities.isResendable, let vaultID = part.vault.openKeys?.vaultID
        else { return }
        let mount = mounted.mount
        let name = freeName(in: store)
        do throws(SystemError) {
            let memory = try MountMemory(KeptMount(of: vaultID, mount.facts, of: mount.caller.identity, abilities))
            try store.keep(name, memory.descriptor)
            try store.keep(name, mount.device.descriptor)
            (mount.memory, mounted.keptName) = (memory, name)
        } catch {
            mounting.report("a mount will end with this cofferd, as it can't be kept for the next: \(error.reason)")
        }
    }

    private func freeName(in store: MountStore) -> String {
        let used = Set(all.values.compactMap(\.keptName) + store.found.map(\.name))
        var number = 1
        while used.contains("\(MountStore.namePrefix)\(number)") { number += 1 }
        return "\(MountStore.namePrefix)\(number)"
    }

    private func removeKept(_ name: String) {
        do throws(SystemError) { try mounting.store?.remove(name) } catch {
            mounting.report("can't remove a mount from the service manager: \(error.reason)")
        }
    }

    // MARK: Receiving

    /// Records that a mount has requests, possibly in the middle of a change.
    private func note(_ mounted: Mounted) {
        if mounted.isReady { return }
        mounted.isReady = true
        ready.append(mounted)
    }

    /// Whether a mount may have requests.
    var hasReady: Bool { !ready.isEmpty }

    /// Whether requests of the kernel come before those of clients now: every second time.
    func takePrecedence() -> Bool {
        hadPrecedence.toggle()
        return hadPrecedence
    }

    /// Takes the next request, of one mount after the other.
    func nextRequest() -> KernelRequest? {
        var messageCount = 0
        while !ready.isEmpty, messageCount < Limits.kernelMessagesAtOnce {
            let mounted = ready.removeFirst()
            mounted.isReady = false
            guard let watch = mounted.watch else { continue }
            guard mayAsk(mounted) else {
                // The others wait in the kernel.
                mounted.isPaused = true
                try? part.loop.change(watch, to: [])
                continue
            }
            messageCount += 1
            switch receive(mounted) {
            case .request(let request):
                note(mounted)
                return request
            case .handled:
                note(mounted)
                keep(mounted)
            case .nothing: break
            case .ended: end(mounted)
            }
        }
        return nil
    }

    private func receive(_ mounted: Mounted) -> KernelMount.Arrival {
        guard var memory = buffer.take() else { return .ended }
        let arrival = mounted.mount.receive(into: &memory)
        buffer = .some(memory)
        return arrival
    }

    // MARK: The gate

    /// Refuses a request beyond the rights of the mount's client, or of another user whose program asks.
    ///
    /// - Parameter state: The state of the vault for a method.
    func check(
        _ request: KernelRequest,
        in state: (Method) throws(CofferError) -> VaultState
    ) throws(CofferError) {
        guard let method = request.operation.method else { return }
        let (mount, params) = (request.mount, request.operation.gateParameters)
        try Gate.check(method, params, for: mount.caller.rights, and: .somethingElse) { () throws(CofferError) in
            try state(method)
        }
        guard let rights = try rights(ofOther: request) else { return }
        if let refusal = Gate.refusal(of: method, params, to: rights, and: .somethingElse) { throw refusal }
        _ = try Caller(mount.caller.identity, rights).group(mount.facts.group)
    }

    /// The rights of the user whose program asks; `nil` if it is that of the mount.
    private func rights(ofOther request: KernelRequest) throws(CofferError) -> AccessRights? {
        let (facts, header) = (request.mount.facts, request.header)
        guard facts.namesUsers, !request.operation.namesNoUser, header.userID != facts.owner.userID else { return nil }
        let user = MountOwner(userID: header.userID, groupID: header.groupID)
        let mounted = all.values.first { $0.mount === request.mount }
        if let known = mounted?.others[user] { return known }
        // Its further groups are not known: what they alone permit is refused.
        let rights = try part.vault.rights(of: ClientIdentity(userID: user.userID, groupID: user.groupID))
        if mounted?.others.count ?? 0 >= Limits.usersOfMount { mounted?.others = [:] }
        mounted?.others[user] = rights
        return rights
    }

    // MARK: Notices

    /// Has kernels write what programs have changed in mapped memory: the keys will go.
    func noteLocking() { for mounted in all.values { mounted.mount.writeBack() } }

    /// When notices are tried again that could not be given for want of a thread.
    private(set) var nextDeadline: UInt64?

    /// Handles the end of a turn.
    func settle() {
        // The kernel has their programs go on once nothing holds their devices.
        ending.removeAll { !$0.isBusy }
        let stalled = all.values.filter { $0.mount.notifier.startIfStalled() }
        nextDeadline = stalled.isEmpty ? nil : part.clock.now + Limits.threadRetryNanoseconds
    }

    /// Has kernels drop what they have: keys have gone, or what was sealed can be read.
    ///
    /// - Parameters:
    ///   - isLock: Whether the pages must be gone, which the kernels confirm.
    ///   - withNames: Whether names are sealed as well.
    func dropAll(isLock: Bool, withNames: Bool = false) {
        for mounted in all.values { dropAll(of: mounted, isLock: isLock, withNames: withNames) }
    }

    private func dropAll(of mounted: Mounted, isLock: Bool, withNames: Bool) {
        mounted.mount.dropAll(withNames: withNames)
        guard isLock else { return }
        mounted.unconfirmedCount += 1
        mounted.mount.notifier.confirmDrops()
    }

    /// Tells kernels of changes by others.
    ///
    /// - Parameter origin: Who has made them.
    func notify(of changes: [ItemChange], by origin: Int32?) {
        var directories = FoundDirectories()
        for mounted in all.values where mounted.mount.caller.origin != origin {
            mounted.mount.note(changes, &directories)
        }
    }

    // MARK: In use

    /// The mounts whose kernel has not confirmed that it has dropped what a lock ended.
    var unconfirmed: [UnconfirmedMount] {
        all.values.filter { $0.unconfirmedCount > 0 }.map { UnconfirmedMount(place: $0.mount.facts.place) }
    }

    /// The mounts that count, those that are ending included.
    private var counted: [KernelMount] { all.values.map(\.mount) + ending.filter(\.isBusy) }

    /// Whether one of them is a tenant's.
    func areUsed(by tenant: Int) -> Bool { counted.contains { $0.caller.tenant == tenant } }

    /// The number of files that programs of a tenant's mounts have open, and that of all mounts.
    func openFileCounts(of tenant: Int) -> (held: Int, used: Int) {
        var (held, used) = (0, 0)
        for mount in counted {
            used += mount.openFileCount
            if mount.caller.tenant == tenant { held += mount.openFileCount }
        }
        return (held, used)
    }

    /// What the mounts use of the vault, in the order of their numbers, which follow those of connections.
    var uses: [ConnectionUse] {
        all.sorted { $0.key < $1.key }.map { ConnectionUse(1 << 40 | Int($0), $1.mount.caller, transfers: []) }
    }
}
