internal import CofferAudit
package import CofferCore
internal import CofferHandlers
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
    package let loop: EventLoop
    private let configuration: Configuration
    private let handlers: Handlers
    private var vault: Vault { handlers.shared.vault }
    private let connections: Connections
    private let hub: EventHub
    private let audit: AuditTrail
    private let locks: LockController
    private let turn: Turn
    private let acceptor: Acceptor
    private let units: UnitCredentials
    private let idleExit: IdleExit
    private let checkpointer: Checkpointer
    private let syncer: DeferredSyncer
    private let trash: TrashKeeper
    private let expiry: ExpiryKeeper
    private var carryOver: CarryOverKeeper?
    /// Begins a turn when something is due.
    private var timer: (any ClockTimer)?
    private var timerDeadline: UInt64?
    /// The state that ``Configuration/reportState`` last received.
    private var reportedState: VaultState?
    private var isToShutDown = false
    private var isStopped = false

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
        self.loop = loop
        self.configuration = configuration
        handlers = Handlers(
            of: Vault(
                configuration.vault,
                access: AccessPolicy(daemon: configuration.daemon, entitlements: configuration.entitlements),
                routing: configuration.routingPolicy
            )
        )
        do {
            let part = ServerPart(on: loop, configuration, handlers)
            connections = part.connections
            hub = EventHub(connections)
            audit = AuditTrail(beside: part, hub)
            locks = LockController(hub, audit, surroundings)
            turn = try Turn(hub, audit, locks)
            acceptor = Acceptor(audit)
            units = UnitCredentials(audit, turn, acceptor)
            idleExit = IdleExit(beside: part)
            checkpointer = Checkpointer(beside: part)
            syncer = DeferredSyncer(beside: part, hub)
            trash = TrashKeeper(beside: part)
            expiry = ExpiryKeeper(hub, beside: part)
            carryOver = configuration.carryOver.map { CarryOverKeeper($0, locks) }
            timer = try configuration.vault.clock.timer(on: loop) { [unowned self] in
                timerDeadline = nil
                // Due keys are wiped before the turn carries out requests.
                locks.settle()
            }
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
        acceptor.admitServiceManager = { [unowned units] socket in units.admitServiceManager(socket) }
        turn.responder.refuseCredential = { [unowned units] connection, error in units.refuse(connection, error) }
    }

    /// Opens the vault, if there is one, so that the first request does not wait for that.
    package func start() {
        locks.keysDidChange()
        carryOver?.restore()
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
        if !isStopped { takeTurn() }
        while !isStopped {
            loop.poll(milliseconds: turn.hasWork || isToShutDown ? 0 : -1)
            loop.dispatch()
            if !isStopped { takeTurn() }
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
        syncer.settle()
        trash.settle()
        expiry.settle()
        connections.sendAll()
        checkpointer.settle(hasLocked: locks.takeHasLocked())
        vault.openCatalog?.audit.moveAnchor()
        if connections.buffers.takeEmptied() { Heap.giveBack() }
        reportChangedState()
        isToShutDown || idleExit.isDue() ? shutDown() : setTimer()
    }

    /// Sets the timer to the earliest deadline of all parts; later ones are set when it fires.
    private func setTimer() {
        let next = connections.nextDeadline.earlier(acceptor.nextDeadline).earlier(audit.nextDeadline)
            .earlier(locks.nextDeadline).earlier(units.nextDeadline).earlier(idleExit.nextDeadline)
            .earlier(checkpointer.nextDeadline).earlier(syncer.nextDeadline).earlier(trash.nextDeadline)
            .earlier(expiry.nextDeadline)
        guard let next, next < timerDeadline ?? .max else { return }
        timerDeadline = next
        timer?.set(next)
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
        if !connection.isBusy { handlers.file.releaseHandles(of: connection.caller) }
        acceptor.resume()
        guard connections.all.isEmpty else { return }
        if configuration.locksOnLastDisconnect { locks.lock(because: .lastDisconnect) }
        if configuration.endsOnLastDisconnect { isToShutDown = true }
    }

    /// Stops at the end of the turn.
    package func shutDownSoon() { isToShutDown = true }

    /// Stops: ends running transfers, wipes every key, and closes the catalog.
    package func shutDown() {
        if isStopped { return }
        isStopped = true
        acceptor.close()
        for connection in connections.all.values {
            connection.stop()
            if connection.credential != nil { connection.refuseAtLast() }
        }
        connections.removeAll()
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
    package func openFileCounts(of tenant: Int) -> (held: Int, used: Int) { connections.openFileCounts(of: tenant) }
    package func commit() { turn.commit() }
    package var uses: [ConnectionUse] { connections.uses }
    package var unconfirmedMounts: [UnconfirmedMount] { hub.unconfirmedMounts }

    package func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer {
        units.answer(to: address, of: client)
    }
}
