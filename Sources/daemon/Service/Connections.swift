internal import CofferCore
internal import CofferFiles
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// All connections and tenants, with their limits.
final class Connections {
    let loop: EventLoop
    let clock: BootClock
    /// The buffers of all connections.
    let buffers = BufferQuota()
    private(set) var all: [Int: Connection] = [:]
    private var nextNumber = 0
    private var tenants = Tenants()

    /// The connections that are to be read, or have bytes to decode.
    private var reading = FairQueue()
    /// The connections whose peer has disconnected; handled even if the tenant is throttled.
    private var hungUp: [Int] = []
    /// The connections whose answers are sent together.
    private var served: [Connection] = []
    /// The connections with frames to send.
    private var sending = FairQueue()

    /// Called with a connection that has ended, after its removal.
    var connectionDidEnd: (Connection) -> Void = { _ in }

    /// Whether something of a tenant that has no connection counts, such as a mount.
    var isInUse: (_ tenant: Int) -> Bool = { _ in false }

    init(on loop: EventLoop, _ clock: BootClock) {
        self.loop = loop
        self.clock = clock
    }

    subscript(number: Int) -> Connection? { all[number] }

    // MARK: Adding and removing

    /// The number of a new connection.
    func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Adds a connection, if it can be watched.
    func add(_ connection: Connection) throws(SystemError) {
        try connection.start { [unowned self] ready in note(ready, of: connection) }
        all[connection.number] = connection
        connection.place.isOpen = true
        tenants.noteConnection(of: connection.tenant)
    }

    /// Closes and removes a connection.
    func drop(_ connection: Connection) {
        if all.removeValue(forKey: connection.number) == nil { return }
        connection.place.isOpen = false
        connection.stop()
        tenants.noteEnd(ofConnectionOf: connection.tenant)
        connectionDidEnd(connection)
    }

    /// Whether a connection was not dropped yet.
    func has(_ connection: Connection) -> Bool { connection.place.isOpen }

    /// Removes all of them, before the daemon exits.
    func removeAll() {
        for connection in all.values { connection.place.isOpen = false }
        all = [:]
    }

    // MARK: Reading

    /// Records an event of the kernel, which may be delivered in the middle of a change.
    private func note(_ ready: EventLoop.Interest, of connection: Connection) {
        let wasHungUp = connection.place.ready.contains(.hungUp)
        if ready.contains(.hungUp) && !wasHungUp { hungUp.append(connection.number) }
        connection.place.ready.formUnion(ready)
        connection.tenant.isThrottled ? connection.updateInterest() : wantsToRead(connection)
    }

    /// Queues a connection for reading, in round robin over the tenants.
    func wantsToRead(_ connection: Connection) {
        guard has(connection), !connection.place.isWaitingToRead else { return }
        connection.place.isWaitingToRead = true
        reading.append(connection.number, for: connection.tenant.number)
    }

    /// The next connection to read, of a tenant that is not throttled.
    func nextToRead() -> Connection? {
        while let (number, _) = reading.removeFirst(where: { [tenants] in !tenants.isThrottled($0) }) {
            guard let connection = all[number] else { continue }
            connection.place.isWaitingToRead = false
            return connection
        }
        return nil
    }

    /// The connections that were hung up since the last call.
    func takeHungUp() -> [Connection] {
        defer { hungUp = [] }
        return hungUp.compactMap { all[$0] }
    }

    /// Whether more than one tenant is connected.
    var hasSeveralTenants: Bool { tenants.connectedCount > 1 }

    /// Whether a connection of another tenant is queued for reading.
    func othersWait(besides tenant: Int) -> Bool { reading.has(otherThan: tenant) }

    /// Whether a connection is queued for reading whose tenant is not throttled.
    var hasReadable: Bool { reading.contains { all[$0]?.tenant.isThrottled == false } }

    // MARK: Sending

    /// Sends the answers of a connection that was served: while its tenant is alone together with those of the next ones, or
    /// at the end of the turn if they depend on the commit.
    ///
    /// The first answer wakes the client up, which costs more than a get: the others find it awake. Where there are
    /// several tenants, each answer is sent at once, so that none waits for what another one has asked for.
    func noteServed(_ connection: Connection) {
        served.append(connection)
        if hasSeveralTenants || served.count == Limits.answersAtOnce { sendServed() }
    }

    /// Sends the answers of the connections that were served.
    func sendServed() {
        for connection in served { connection.place.sendsAtTurnEnd ? wantsToSend(connection) : send(connection) }
        served.removeAll(keepingCapacity: true)
    }

    /// Queues a connection for sending, at the end of the turn.
    func wantsToSend(_ connection: Connection) {
        guard has(connection), !connection.place.isToBeSent else { return }
        connection.place.isToBeSent = true
        sending.append(connection.number, for: connection.tenant.number)
    }

    /// Sends for all queued connections, in round robin over the tenants.
    func sendAll() {
        while let (number, _) = sending.removeFirst() {
            if let connection = all[number], connection.place.isToBeSent { send(connection) }
        }
    }

    /// Sends what a connection has queued before the end of the turn, unless an answer of it waits for that.
    ///
    /// A connection that has to be dropped, or read from again, stays queued: this is called while a request is admitted.
    func sendEarly(_ connection: Connection) {
        guard has(connection), !connection.place.sendsAtTurnEnd, connection.flush() else { return }
        connection.place.isToBeSent = connection.hasBacklog
    }

    /// Sends the frames of a connection.
    func send(_ connection: Connection) {
        guard has(connection) else { return }
        connection.place.isToBeSent = false
        connection.place.sendsAtTurnEnd = false
        guard connection.flush() else { return drop(connection) }
        // The answers may have freed the limits that stopped its backlog.
        if connection.hasBacklog && connection.acceptsRequests { wantsToRead(connection) }
    }

    // MARK: Tenants

    /// The tenant of a client.
    func tenant(of client: ClientIdentity, _ rights: AccessRights) -> Tenant {
        tenants.tenant(of: client, rights, at: clock.now, keeping: isInUse)
    }

    /// Checks that a tenant may connect once more; if not, closes its longest idle connection, or refuses.
    func checkRoom(for tenant: Tenant) throws(CofferError) {
        if tenant.mayConnect(besides: all.count) || dropLongestIdle(for: tenant) { return }
        throw CofferError(
            .notAvailable,
            "too many connections: '\(tenant.key.principal)' has \(tenant.connectionCount)",
            hint: "close some and try again",
            retry: .later
        )
    }

    private func dropLongestIdle(for tenant: Tenant) -> Bool {
        let idle = all.values.filter { tenant.connectionCount == 0 || $0.tenant === tenant }
            .compactMap { connection in connection.idleStart.map { (connection: connection, start: $0) } }
        guard let longest = idle.min(by: { $0.start < $1.start }),
            longest.start.adding(seconds: Limits.stallSeconds) <= clock.now
        else { return false }
        drop(longest.connection)
        return true
    }

    /// Closes stalled connections if the buffers are short.
    func dropStalled(but one: Connection) {
        let now = clock.now
        guard buffers.isScanDue(at: now) else { return }
        let stalled = all.values.filter { other in
            guard other !== one, let start = other.debtStart else { return false }
            return start.adding(seconds: Limits.stallSeconds) <= now
        }
        for other in stalled { drop(other) }
    }

    /// Whether an answer fits into the quota, if necessary after stalled connections were closed.
    func hasRoom(head: Int, payload: Int, to connection: Connection) -> Bool {
        if buffers.hasRoom(head: head, payload: payload, to: connection.tenant) { return true }
        dropStalled(but: connection)
        return buffers.hasRoom(head: head, payload: payload, to: connection.tenant)
    }

    /// The number of files that a tenant has open, and that of all tenants.
    func openFileCounts(of tenant: Int) -> (held: Int, used: Int) {
        var (held, used) = (0, 0)
        for caller in all.values.map(\.caller) {
            used += caller.handles.count
            if caller.tenant == tenant { held += caller.handles.count }
        }
        return (held, used)
    }

    /// What the connections use of the vault, in the order of their numbers.
    var uses: [ConnectionUse] {
        all.sorted { $0.key < $1.key }.map { ConnectionUse($0, $1.caller, transfers: $1.requests.transfers) }
    }

    // MARK: Throttling

    /// The earliest time at which the throttling of a tenant ends; `nil` if none is throttled.
    var nextDeadline: UInt64? { tenants.nextDeadline }

    /// Counts a request, and throttles the tenant if it exceeds its limit.
    func noteRequest(of connection: Connection) {
        connection.tenant.noteRequest(at: clock)
        tenants.noteThrottling(of: connection.tenant)
    }

    /// Counts a refusal, which costs a client nothing to cause, and throttles the tenant if there are too many.
    func noteRefusal(of connection: Connection, _ error: CofferError) {
        guard [.missingEntitlement, .param, .unimplemented].contains(error.code) else { return }
        connection.tenant.noteRefusal(at: clock)
        tenants.noteThrottling(of: connection.tenant)
    }

    /// Ends the throttling of the tenants whose time is over.
    func endThrottling() {
        for tenant in tenants.endThrottling(at: clock) {
            for connection in all.values where connection.tenant === tenant {
                connection.updateInterest()
                if connection.hasBacklog { wantsToRead(connection) }
            }
        }
    }
}
