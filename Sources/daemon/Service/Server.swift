internal import CofferAudit
package import CofferCore
internal import CofferHandlers
internal import CofferKernelFiles
internal import CofferKeys
internal import CofferRouting
package import CofferSystem
package import CofferVault
package import CofferWire

/// The daemon without its `main`: serves one vault on listening sockets, on one event loop.
///
/// All of it lives on the thread that made it. A turn of the loop reads the ready connections, carries out requests,
/// commits their changes together, and sends the answers. Long work runs on worker threads: only requests that depend
/// on it wait.
package final class Server {
    /// The event loop.
    package var loop: EventLoop { part.loop }
    private let part: ServerPart
    private var configuration: Configuration { part.configuration }
    private var handlers: Handlers { part.handlers }
    private var vault: Vault { part.vault }
    private var connections: Connections { part.connections }
    private let hub: EventHub
    private var mounts: Mounts { hub.mounts }
    private let audit: AuditTrail
    private let locks: LockController
    private let turn: Turn
    private let acceptor: Acceptor
    private let units: UnitCredentials
    private let housekeeping: Housekeeping
    private var carryOver: CarryOverKeeper?
    private let timer: TurnTimer
    /// The state that ``Configuration/reportState`` last received.
    private var reportedState: VaultState?
    private var stage = Stage.running

    private enum Stage { case running, ending, stopped }

    /// Whether requests are recorded.
    ///
    /// Only a benchmark turns this off, to measure the cost.
    package var keepsAudit: Bool {
        get { audit.keepsRecords }
        set { audit.keepsRecords = newValue }
    }

    /// Makes a server that belongs to the calling thread.
    ///
    /// - Parameters:
    ///   - loop: Its event loop.
    ///   - configuration: Its configuration.
    ///   - surroundings: The sessions of the machine; `nil` if they are unknown.
    /// - Throws: `internal` if memory for secrets can't be locked, or a timer can't be made.
    package init(
        loop: EventLoop,
        configuration: Configuration,
        surroundings: Surroundings? = nil
    ) throws(CofferError) {
        let handlers = Handlers(
            of: Vault(
                configuration.vault,
                access: AccessPolicy(daemon: configuration.daemon, entitlements: configuration.entitlements),
                routing: configuration.routingPolicy
            )
        )
        do {
            part = ServerPart(on: loop, configuration, handlers)
            let mounts = try Mounts(beside: part)
            hub = EventHub(part.connections, mounts)
            audit = AuditTrail(beside: part, hub)
            locks = LockController(hub, audit, surroundings)
            turn = try Turn(hub, audit, locks, mounts)
            acceptor = Acceptor(audit)
            units = UnitCredentials(audit, turn, acceptor)
            housekeeping = Housekeeping(beside: part, hub, mounts)
            if let stored = configuration.carryOver { carryOver = CarryOverKeeper(stored, locks) }
            // Due keys are wiped before the turn carries out requests.
            timer = try TurnTimer(on: loop, configuration.vault.clock) { [unowned locks] in locks.settle() }
        } catch let error as SystemError {
            throw error.cofferError("can't make a timer")
        } catch {
            throw .noSecretMemory
        }
        connect()
    }

    private func connect() {
        handlers.shared.observer = self
        connections.connectionDidEnd = { [unowned self] connection in connectionDidEnd(connection) }
        connections.isInUse = { [unowned self] tenant in
            mounts.areUsed(by: tenant) || openFileCounts(of: tenant).held > 0
        }
        acceptor.admitServiceManager = { [unowned units] socket in units.admitServiceManager(socket) }
        turn.responder.refuseCredential = { [unowned units] connection, error in units.refuse(connection, error) }
    }

    /// Opens the vault, if there is one, so that the first request does not wait for that.
    package func start() {
        locks.keysDidChange()
        carryOver?.restore()
        mounts.resume()
        subscriptionsDidChange()
        handlers.vault.removeRemains()
        configuration.reportState(try? vault.state())
        reportedState = vault.openKeys?.state
    }

    /// Accepts connections from a listening socket.
    ///
    /// - Parameters:
    ///   - socket: A non-blocking listening socket.
    ///   - peers: The peers that connect to it.
    package func serve(_ socket: consuming OwnedDescriptor, for peers: Peers = .clients) throws(CofferError) {
        try acceptor.listen(on: socket, for: peers)
    }

    // MARK: Running

    /// Serves until ``shutDownSoon()`` or ``shutDown()``.
    package func run() {
        // What came up may be due to end, or have something to record.
        if stage != .stopped { takeTurn() }
        while stage != .stopped {
            loop.poll(milliseconds: turn.hasWork || stage == .ending ? 0 : -1)
            loop.dispatch()
            if stage != .stopped { takeTurn() }
        }
    }

    private func takeTurn() {
        connections.endThrottling()
        acceptor.resumeIfDue()
        turn.carryOut()
        locks.noteUse()
        locks.settle()
        units.settle()
        carryOver?.settle()
        turn.settle()
        housekeeping.settle()
        connections.sendAll()
        housekeeping.checkpoint(hasLocked: locks.takeHasLocked())
        vault.openCatalog?.audit.moveAnchor()
        if connections.buffers.takeEmptied() { Heap.giveBack() }
        reportChangedState()
        stage == .ending || housekeeping.isExitDue() ? shutDown() : setTimer()
    }

    /// Sets the timer to the earliest deadline of all parts; later ones are set when it fires.
    private func setTimer() {
        timer.set(
            connections.nextDeadline.earlier(acceptor.nextDeadline).earlier(audit.nextDeadline)
                .earlier(locks.nextDeadline).earlier(units.nextDeadline).earlier(housekeeping.nextDeadline)
        )
    }

    private func reportChangedState() {
        let state = vault.openKeys?.state
        guard state != reportedState else { return }
        reportedState = state
        configuration.reportState(try? vault.state())
    }

    private func connectionDidEnd(_ connection: Connection) {
        if connection.caller.subscription.selection != nil { subscriptionsDidChange() }
        // If a request is being carried out, it may use the handles: then they are released at its end.
        if !connection.requests.isBusy { handlers.file.releaseHandles(of: connection.caller) }
        acceptor.resume()
        guard connections.all.isEmpty else { return }
        if configuration.locking.isOnLastDisconnect { locks.lock(because: .lastDisconnect) }
        if configuration.endsOnLastDisconnect { shutDownSoon() }
    }

    /// Stops at the end of the turn.
    package func shutDownSoon() {
        if stage == .running { stage = .ending }
    }

    /// Stops: ends running transfers, wipes every key, and closes the catalog.
    package func shutDown() {
        if stage == .stopped { return }
        stage = .stopped
        acceptor.close()
        for connection in connections.all.values {
            connection.stop()
            if connection.credential != nil { connection.refuseAtLast() }
        }
        connections.removeAll()
        mounts.stop()
        handlers.file.synchronizeForShutDown()
        // Later steps must not open the vault again, and the keys that are carried over are for the next daemon.
        locks.rest()
        carryOver = nil
        if let catalog = vault.openCatalog {
            turn.commit()
            catalog.audit.close()
        }
        handlers.shared.close()
    }

    // MARK: Surroundings

    /// Handles an event of the machine or of a session.
    package func take(_ occurrence: Occurrence) { locks.take(occurrence) }

    /// Reads the configuration file again; if it has an error, the previous settings stay.
    ///
    /// - Parameter read: Reads it; returns `nil` if there is none.
    /// - Returns: The error, if there is one.
    package func reload(_ read: () throws(CofferError) -> ConfigurationFile?) -> CofferError? {
        do throws(CofferError) {
            vault.routing = try read().map { (file) throws(CofferError) in try RoutingPolicy(file) } ?? .standard
            vault.configurationTrouble = nil
            return nil
        } catch {
            vault.configurationTrouble = error.message
            return error
        }
    }

    /// Reads the entitlements again; if one has an error, the previous ones stay.
    ///
    /// Connected clients whose rights have changed are disconnected: their open files and requests depend on the old
    /// rights.
    ///
    /// - Returns: The error, if there is one.
    package func reloadEntitlements(_ read: () throws(CofferError) -> [Entitlement]) -> CofferError? {
        do throws(CofferError) {
            vault.access.entitlements = try read()
            vault.entitlementTrouble = nil
        } catch {
            vault.entitlementTrouble = error.message
            return error
        }
        for connection in connections.all.values {
            let rights = try? vault.rights(of: connection.caller.identity)
            if rights?.isSame(as: connection.caller.rights) == true { continue }
            connection.revoke(
                CofferError(
                    .missingEntitlement,
                    "the entitlements have changed, and with them what you may do",
                    hint: "connect again"
                )
            )
        }
        mounts.reviewRights()
        return nil
    }
}

extension Server: VaultObserver {
    package var graceEnd: UInt64? { locks.schedule.graceEnd }
    package var idleLock: IdleLock { locks.idleLock }
    package func keysDidChange(by caller: Caller?) { locks.keysDidChange(by: caller) }
    package func lock(graceSeconds: Int?) { locks.lock(graceSeconds: graceSeconds) }
    package func withholdPayloads(in state: VaultState) { locks.withholdPayloads(in: state) }
    package func attemptDidFail(_ attempts: FailedAttempts) { hub.notify(of: .attemptDidFail(attempts), to: .attempts) }
    package func subscriptionsDidChange() {
        hub.subscriptionsDidChange()
        vault.openCatalog?.changes.isWanted = hub.wantsItems
    }
    package func cancelRequest(_ id: RequestID, besides call: Call) { turn.cancelRequest(id, besides: call) }
    package func openFileCounts(of tenant: Int) -> (held: Int, used: Int) {
        let (clients, programs) = (connections.openFileCounts(of: tenant), mounts.openFileCounts(of: tenant))
        // They have ended, and their files wait for a sync.
        let orphans = handlers.shared.filesInUse.orphanCounts(of: tenant)
        return (clients.held + programs.held + orphans.held, clients.used + programs.used + orphans.used)
    }
    package func commit() { turn.commit() }
    package var uses: [ConnectionUse] { connections.uses + mounts.uses }

    package func serveMount(_ mount: NewMount, of caller: Caller) throws(CofferError) {
        let facts = MountFacts(
            at: mount.place,
            of: mount.group,
            directory: mount.directory,
            isReadOnly: mount.isReadOnly,
            time: wallClockNanoseconds(),
            owner: MountOwner(userID: caller.identity.userID, groupID: caller.identity.groupID),
            namesUsers: UserNumbers.areShared(with: caller.identity.processID)
        )
        try mounts.add(facts, of: caller, mount.takeDescriptor())
        subscriptionsDidChange()
    }
    package var unconfirmedMounts: [UnconfirmedMount] { hub.unconfirmedMounts }

    package func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer {
        units.answer(to: address, of: client)
    }
}
