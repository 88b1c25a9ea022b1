package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
package import CofferSystem
internal import CofferWire

/// The daemon without its `main`: takes listening sockets, serves one vault on one event loop.
///
/// A turn of the loop reads from every connection that has something, carries small requests out on the spot, commits their
/// changes together, and sends the answers. What takes long goes to a worker thread and comes back; of its own connection
/// waits what depends on it, of the others nothing.
package actor Server {
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: Configuration
    let vault: Vault
    /// The threads for the bodies of files.
    let workers = WorkerPool()
    /// The thread for making and unlocking a vault: no transfer, however stuck, is in its way.
    let keyWorkers = WorkerPool(limit: 1, lingering: 0)
    /// Making and unlocking a vault: one at a time.
    let keyOperations = Turnstile()
    /// Opening files: one at a time, so that a file is never open twice.
    let fileOpenings = Turnstile()
    /// Those who wait for a writer to close.
    let writers = WriterQueue()
    /// The handles of connections that have ended, until they are let go of.
    var orphanedHandles: [FileHandle] = []
    /// Counts locks, so that an unlock that was overtaken by one is noticed.
    var lockCount = 0
    /// Counts how often all that was shown was ended, so that what is being tried meanwhile is not shown afterwards.
    var contextEndCount = 0
    /// When the vault locks, and what follows.
    var schedule: LockSchedule
    /// Why it locks, or would if it did now; `nil` where a client has asked for it.
    var lockCause: LockCause?
    /// Who has unlocked the vault.
    var presence: Presence
    /// Whether the surroundings were told that there are keys to lose.
    var hasToldUnlocked = false
    var lockTimer: (any ClockTimer)?
    /// Wakes listeners that could not accept.
    private var acceptTimer: (any ClockTimer)?
    /// Whether requests are recorded: no, only to measure what that costs.
    package var keepsAudit = true
    /// Wakes the loop to write what waits for the audit.
    var auditTimer: (any ClockTimer)?
    /// Whether it is set.
    var auditTimerIsSet = false
    /// Whether what waits for the audit is to be written with this turn.
    var auditIsDue = false
    /// Wakes the loop to write the catalog's log back.
    var logTimer: (any ClockTimer)?
    /// Whether it is set.
    var logTimerIsSet = false
    /// When there was a commit last.
    var lastCommit: UInt64 = 0
    /// Whether the log is to be written back with this turn, and emptied.
    var logIsDue = false
    /// What the timer is set to; later ones come after that one.
    var lockTimerDeadline: UInt64?
    /// When nobody needed the server any more, if it is to shut down then.
    var idleSince: UInt64?
    var idleTimer: (any ClockTimer)?
    private var isToShutDown = false
    /// The state of the vault's keys that was told last.
    var toldState: VaultState?
    /// What those who watch were told last.
    var protectedData = ProtectedData.gone
    /// The time for work on the catalog that takes several turns.
    let slices = SliceBudget()
    /// Who may do what.
    var accessPolicy: AccessPolicy
    /// What the matrix decides by.
    var routingPolicy: RoutingPolicy
    /// What is wrong with the configuration file, of which the last good state is used.
    var configurationTrouble: String?
    /// What is wrong with the entitlements, of which the last good ones are used.
    var entitlementTrouble: String?

    /// Where keys are kept while no daemon runs.
    var carryOver: CarryOver?
    /// The keys that are kept there.
    var carried: CarriedMark?

    /// The connections of service managers that wait for the vault to be unlocked, and what wakes them.
    var waitingUnits: Set<Int> = []
    var unitTimer: (any ClockTimer)?

    private var listeners: [OwnedListener] = []
    private(set) var sessions: [Int: Session] = [:]
    private var nextSessionNumber = 0
    /// Those who share the daemon, by number.
    var tenants: [Int: Tenant] = [:]
    var nextTenantNumber = 0
    /// The tenants that have something to do, in the order of their turns.
    var ready: [Tenant] = []
    /// The one whose turn it is.
    var serving: Tenant?
    /// Counts the rounds in which each of them gets one helping at most.
    var round: UInt64 = 0
    /// The tenants that have something to be sent, in the order of their turns.
    var sending: [Tenant] = []
    /// The tenants that wait because they have asked for too much, and what wakes them.
    var resting: [Tenant] = []
    private(set) var restTimer: (any ClockTimer)?
    private var receiveBuffer: SecretBytes
    /// What all connections hold of frames on their way.
    let transit = TransitRoom()
    /// The requests that take long, until their tasks begin.
    var underWay: [LongRequest] = []

    /// Makes a server that belongs to the loop's thread.
    ///
    /// - Parameters:
    ///   - loop: The loop that it lives on.
    ///   - configuration: What it is told.
    /// - Throws: `internal` where memory for secrets can't be locked.
    package init(loop: EventLoop, configuration: Configuration) throws(CofferError) {
        self.loop = loop
        self.configuration = configuration
        vault = Vault(configuration)
        schedule = LockSchedule(configuration.lockPolicy)
        presence = Presence(configuration.presencePolicy)
        carryOver = configuration.carryOver
        accessPolicy = AccessPolicy(daemon: configuration.daemon, entitlements: configuration.entitlements)
        routingPolicy = configuration.routingPolicy
        do { receiveBuffer = try SecretBytes(zeros: 64 << 10) } catch { throw .noSecretMemory }
    }

    /// Comes up: opens the vault, if there is one, so that the first request does not wait for it.
    package func start() throws(CofferError) {
        loop.atEndOfTurn { [unowned self] in assumeIsolated { $0.endTurn() } }
        do {
            lockTimer = try configuration.clock.timer(on: loop) { [unowned self] in
                assumeIsolated { $0.lockTimerFired() }
            }
            acceptTimer = try configuration.clock.timer(on: loop) { [unowned self] in
                assumeIsolated { $0.resumeListeners() }
            }
            auditTimer = try configuration.clock.timer(on: loop) { [unowned self] in
                assumeIsolated { $0.auditTimerFired() }
            }
            logTimer = try configuration.clock.timer(on: loop) { [unowned self] in
                assumeIsolated { $0.logTimerFired() }
            }
            restTimer = try configuration.clock.timer(on: loop) { [unowned self] in
                assumeIsolated { $0.endRests() }
            }
            // Its turn looks at the time.
            idleTimer = try configuration.clock.timer(on: loop) {}
            unitTimer = try configuration.clock.timer(on: loop) {}
        } catch {
            throw error.cofferError("can't make a timer")
        }
        keysHaveChanged()
        restoreCarriedKeys()
        removeRemains()
        configuration.tellState(try? vault.state())
        toldState = vault.openKeys?.state
    }

    /// Takes connections from a listening socket.
    ///
    /// - Parameters:
    ///   - socket: Listening and non-blocking.
    ///   - peers: Who connects to it.
    package func serve(_ socket: consuming OwnedDescriptor, for peers: Peers = .clients) throws(CofferError) {
        let listener = OwnedListener(socket, peers)
        do {
            // Before the first is accepted: what is sent to those that wait is told of as well.
            try UnixSocket.tellSenders(on: listener.socket)
            listener.watch = try loop.watch(listener.socket, for: .readable) { [unowned self] _ in
                assumeIsolated { $0.accept(from: listener) }
            }
        } catch {
            throw error.cofferError("can't watch the socket")
        }
        listeners.append(listener)
    }

    /// Stops at the end of the turn: what is looked for within one may come in the middle of a change.
    package func shutDownSoon() {
        isToShutDown = true
        loop.goOn()
    }

    /// Stops: running transfers end, every key is wiped, and the catalog is closed in good order.
    package func shutDown() {
        for listener in listeners {
            if let watch = listener.watch { loop.unwatch(watch) }
        }
        listeners = []
        for session in sessions.values {
            session.stop()
            if session.credential != nil { session.refuseAtLast() }
        }
        sessions = [:]
        for tenant in tenants.values { loop.unwatch(tenant.crowd) }
        synchronizeForShutDown()
        // What is due after this must not open the vault again.
        schedule.rest()
        // What is kept there is for the next daemon.
        carryOver = nil
        if let catalog = vault.openCatalog {
            writeAudit(of: catalog)
            moveAnchor(isLast: true)
        }
        vault.close()
        loop.stop()
    }

    // MARK: Connections

    private static let acceptDelayNanoseconds: UInt64 = 100_000_000

    /// Takes one connection; others have their turn before the next.
    private func accept(from listener: OwnedListener) {
        do {
            guard let socket = try UnixSocket.accept(from: listener.socket) else { return }
            switch listener.peers {
            case .clients: admit(socket)
            case .serviceManagers: admitServiceManager(socket)
            }
        } catch {
            // Out of descriptors or memory, ours or the system's: who waits to be accepted waits until a connection ends, or
            // a moment. Asking again at once would spin.
            listener.isPaused = true
            if let watch = listener.watch { try? loop.change(watch, to: []) }
            acceptTimer?.set(configuration.clock.now + Self.acceptDelayNanoseconds)
        }
    }

    private func resumeListeners() {
        for listener in listeners where listener.isPaused {
            listener.isPaused = false
            if let watch = listener.watch { try? loop.change(watch, to: .readable) }
        }
    }

    /// Decides who may speak, before a byte is read.
    private func admit(_ socket: consuming OwnedDescriptor) {
        let (caller, tenant, peer): (Caller, Tenant, PeerIdentity)
        do {
            try UnixSocket.tellSenders(on: socket)
            (caller, tenant, peer) = try identify(socket) { identity in
                do { return try rights(of: identity) } catch {
                    noteTurnedAway(identity, error)
                    throw error
                }
            }
        } catch {
            // A kernel that does not know the peer any more has nobody to tell, either.
            return turnAway(socket, CofferError(mapping: error, "can't tell who is calling"))
        }
        let session = Session(
            socket,
            caller,
            peer.credentials,
            tenant,
            on: loop,
            clock: configuration.clock,
            transit: transit
        )
        _ = add(session)
    }

    /// Takes a connection in.
    ///
    /// - Returns: Its number; `nil` where it can't be watched.
    func add(_ session: Session) -> Int? {
        let number = nextSessionNumber
        nextSessionNumber += 1
        let isWatched: Void? = try? session.start { [unowned self] ready in
            assumeIsolated { $0.react(to: ready, of: number) }
        }
        if isWatched == nil { return nil }
        sessions[number] = session
        session.tenant.addConnection()
        return number
    }

    /// Tells who has connected, and whose share of the daemon it gets a part of.
    ///
    /// - Parameter decide: Says what it may do.
    func identify(
        _ socket: borrowing OwnedDescriptor,
        _ decide: (ClientIdentity) throws -> AccessRights
    ) throws -> (Caller, Tenant, PeerIdentity) {
        let peer = try PeerIdentity(of: socket)
        guard let process = try HeldProcess(of: socket, peer) else { throw CofferError.callerIsGone }
        let identity = try identity(of: process, peer)
        let rights = try decide(identity)
        let program = rights.restOnProgram ? HeldProgram(process, identity.executableFile) : nil
        let tenant = try tenant(of: identity, rights)
        try checkRoom(for: tenant)
        return (Caller(identity, rights, of: tenant.number, program: program), tenant, peer)
    }

    /// Tells who a process is.
    func identity(of process: borrowing HeldProcess, _ peer: PeerIdentity) throws -> ClientIdentity {
        let outcome: Result<ClientIdentity, any Error>
        do { outcome = .success(try configuration.identify(peer, process)) } catch { outcome = .failure(error) }
        // What was read of a process that has ended meanwhile may be another's, which has got its number.
        guard try process.isRunning else { throw CofferError.callerIsGone }
        return try outcome.get()
    }

    private func turnAway(_ socket: consuming OwnedDescriptor, _ error: CofferError) {
        let json = Response.failureBytes(id: nil, error: error)
        let header = FrameHeader.encode(jsonCount: json.count, payloadCount: 0)
        _ = unsafe try? socket.send(header.span.bytes, json.span.bytes)
    }

    private func react(to ready: EventLoop.Interest, of number: Int) {
        guard let session = sessions[number] else { return }
        if ready.contains(.writable) { queueAnswers(of: session, number) }
        // Nobody waits for the answers any more. Without requests, what was sent before is still to be read.
        if !ready.isDisjoint(with: .hungUp) && !session.requests.isEmpty { return session.hangUp() }
        if session.credential != nil {
            // It never sends anything, so nothing of it is read.
            if !ready.isDisjoint(with: .hungUp) { drop(session, number) }
            return
        }
        guard !ready.isDisjoint(with: .readable), session.hasRoom, !session.isEnding else { return }
        read(from: session, number)
    }

    private func read(from session: Session, _ number: Int) {
        queueAnswers(of: session, number)
        if transit.isShort { dropStalled(but: number) }
        let arrival = unsafe receiveBuffer.withUnsafeMutableBytes { unsafe session.receive(into: $0) }
        switch arrival {
        case .nothing: return
        case .end: session.end()
        case .refused(let error, let count):
            noteTurnedAway(session.caller.identity, error)
            session.revoke(error)
            receiveBuffer.wipe(first: count)
        case .bytes(let count):
            receiveBuffer.withBytes { take($0.extracting(first: count), from: session, number) }
            receiveBuffer.wipe(first: count)
        }
    }

    private func take(_ bytes: RawSpan, from session: Session, _ number: Int) {
        var offset = 0
        var count = 0
        do throws(FrameError) {
            while session.hasRoom, !session.isEnding, !session.isFull, count < Limits.requestsPerTurn,
                count == 0 || offset == bytes.byteCount || !mustGiveWay,
                let frame = try session.nextFrame(bytes, at: &offset)
            {
                count += 1
                let descriptor = session.takeDescriptor(isLast: offset == bytes.byteCount)
                handle(frame, descriptor, from: session, number)
            }
        } catch {
            return session.fail(error.cofferError)
        }
        if session.isEnding { return }
        if offset == bytes.byteCount { return session.finishArrival() }
        do { try session.postpone(bytes.extracting(droppingFirst: offset)) } catch { session.fail(.noSecretMemory) }
        if session.hasRoom && !session.isFull { queue(session, number) }
    }

    /// Goes on with what waited: for its turn, for the end of a request, or for room in the outbox.
    func resume(_ number: Int) {
        guard let session = sessions[number] else { return }
        startRequests(of: session, number)
        guard session.hasRoom, !session.isFull, let backlog = session.takeBacklog() else { return }
        queueAnswers(of: session, number)
        backlog.withBytes { take($0, from: session, number) }
    }

    // MARK: The end of a turn

    private func endTurn() {
        serveTenants()
        noteUse()
        settleLocks()
        settleWaitingUnits()
        writers.wakeThoseInVain()
        carryKeysOver()
        if let catalog = vault.openCatalog {
            if catalog.hasChanges { commit(catalog) } else { settleAudit(of: catalog) }
        }
        sendAnswers()
        settleLog()
        moveAnchor()
        if transit.takeEmptied() { Heap.giveBack() }
        tellChangedState()
        if isToShutDown { shutDown() } else { shutDownIfIdle() }
    }

    private func commit(_ catalog: Catalog) {
        // Whoever waits for an answer that tells of what is undone gets the error instead.
        try? catalog.commit()
        tellChanges(of: catalog)
        tellRecords(of: catalog)
    }

    /// Ends a connection; whoever waits for its descriptor is let in.
    func drop(_ session: Session, _ number: Int) {
        session.stop()
        if sessions.removeValue(forKey: number) != nil { session.tenant.removeConnection() }
        if session.caller.subscription.selection != nil { updateChangeLog() }
        // Where a request is being carried out, at its end: it may be using them.
        if !session.isBusy { releaseHandles(of: session.caller) }
        resumeListeners()
        if sessions.isEmpty { lastConnectionHasGone() }
    }
}

/// A listening socket that a handler can hold.
private final class OwnedListener: @unchecked Sendable {
    // Sendable: changed on the server's actor only; the handler that captures it enters the actor first.
    let socket: OwnedDescriptor
    let peers: Server.Peers
    var watch: EventLoop.Watch?
    var isPaused = false

    init(_ socket: consuming OwnedDescriptor, _ peers: Server.Peers) {
        self.socket = socket
        self.peers = peers
    }
}
