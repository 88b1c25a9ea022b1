internal import CofferCore
internal import CofferSystem
internal import CofferVault

/// All connections and tenants, with their limits.
final class Connections {
    private let loop: EventLoop
    private let clock: BootClock
    /// The buffers of all connections.
    let buffers = BufferQuota()
    private(set) var all: [Int: Connection] = [:]
    private var nextNumber = 0
    private var tenants: [Int: Tenant] = [:]
    private var nextTenantNumber = 0
    /// The tenants that are throttled.
    private var throttled: [Tenant] = []

    /// The connections that are to be read, or have bytes to decode.
    private var reading = FairQueue<Int>()
    /// The connections whose peer has disconnected; handled even if the tenant is throttled.
    private var hungUp: [Int] = []
    /// The connections with frames to send.
    private var sending = FairQueue<Int>()

    /// Called with a connection that has ended, after its removal.
    var connectionDidEnd: (Connection) -> Void = { _ in }

    init(on loop: EventLoop, _ clock: BootClock) {
        self.loop = loop
        self.clock = clock
    }

    subscript(number: Int) -> Connection? { all[number] }

    // MARK: Adding and removing

    /// Adds a connection.
    ///
    /// - Returns: Its number; `nil` if it can't be watched.
    func add(_ connection: Connection) -> Int? {
        let number = nextNumber
        nextNumber += 1
        let isWatched: Void? = try? connection.start { [unowned self] ready in
            note(ready, of: connection, number)
        }
        if isWatched == nil { return nil }
        all[number] = connection
        connection.tenant.addConnection()
        return number
    }

    /// Closes and removes a connection.
    func drop(_ number: Int) {
        guard let connection = all.removeValue(forKey: number) else { return }
        connection.stop()
        connection.tenant.removeConnection()
        connectionDidEnd(connection)
    }

    /// Removes all of them, before the daemon exits.
    func removeAll() { all = [:] }

    // MARK: Reading

    /// Records an event of the kernel, which may be delivered in the middle of a change.
    private func note(_ ready: EventLoop.Interest, of connection: Connection, _ number: Int) {
        if !ready.isDisjoint(with: .hungUp) && connection.ready.isDisjoint(with: .hungUp) { hungUp.append(number) }
        connection.ready.formUnion(ready)
        if connection.tenant.isThrottled { return connection.pauseReading() }
        wantsToRead(number)
    }

    /// Queues a connection for reading, in round robin over the tenants.
    func wantsToRead(_ number: Int) {
        guard let connection = all[number], !connection.isWaitingToRead else { return }
        connection.isWaitingToRead = true
        reading.append(number, for: connection.tenant.number)
    }

    /// The next connection to read, of a tenant that is not throttled.
    func nextToRead() -> (Connection, Int)? {
        while let (number, _) = reading.removeFirst(where: { [tenants] in tenants[$0]?.isThrottled != true }) {
            guard let connection = all[number] else { continue }
            connection.isWaitingToRead = false
            return (connection, number)
        }
        return nil
    }

    /// The connections that were hung up since the last call.
    func takeHungUp() -> [Int] {
        defer { hungUp = [] }
        return hungUp
    }

    /// Whether a connection of another tenant is queued for reading.
    func othersWait(besides tenant: Int) -> Bool { reading.has(otherThan: tenant) }

    /// Whether a connection is queued for reading whose tenant is not throttled.
    var somebodyWaits: Bool { reading.elements.contains { all[$0]?.tenant.isThrottled == false } }

    // MARK: Sending

    /// Queues a connection for sending, at the end of the turn.
    func wantsToSend(_ number: Int) {
        guard let connection = all[number], !connection.isToBeSent else { return }
        connection.isToBeSent = true
        sending.append(number, for: connection.tenant.number)
    }

    /// Sends for all queued connections, in round robin over the tenants.
    func sendAll() {
        while let (number, _) = sending.removeFirst() { send(number) }
    }

    /// Sends the frames of a connection.
    func send(_ number: Int) {
        guard let connection = all[number] else { return }
        connection.isToBeSent = false
        connection.waitsForTurn = false
        guard connection.flush() else { return drop(number) }
        // The answers may have freed the limits that stopped its backlog.
        if connection.hasBacklog && connection.hasRoom && !connection.isFull { wantsToRead(number) }
    }

    // MARK: Tenants

    /// The tenant of a client.
    func tenant(of client: ClientIdentity, _ rights: AccessRights) -> Tenant {
        let key = Tenant.Key(principal: client.principal, limits: rights.limits)
        if let tenant = tenants.values.first(where: { $0.key == key }) { return tenant }
        let now = clock.now
        tenants = tenants.filter { !$0.value.isForgettable(at: now) }
        nextTenantNumber += 1
        let tenant = Tenant(nextTenantNumber, key)
        tenants[tenant.number] = tenant
        return tenant
    }

    /// Checks that a tenant may connect once more; if not, closes its longest idle connection, or refuses.
    func checkRoom(for tenant: Tenant) throws(CofferError) {
        if tenant.mayConnect(besides: all.count) || dropLongestIdle(for: tenant) { return }
        throw CofferError(
            .notAvailable,
            "too many connections: '\(tenant.key.principal)' has \(tenant.connectionCount)",
            hint: "close some and try again"
        )
    }

    private func dropLongestIdle(for tenant: Tenant) -> Bool {
        let idle = all.filter { tenant.connectionCount == 0 || $0.value.tenant === tenant }
            .compactMap { number, connection in connection.idleStart.map { (number: number, start: $0) } }
        guard let longest = idle.min(by: { $0.start < $1.start }),
            longest.start + BufferQuota.stallNanoseconds <= clock.now
        else { return false }
        drop(longest.number)
        return true
    }

    /// Closes stalled connections if the buffers are short.
    func dropStalled(but number: Int) {
        let now = clock.now
        guard buffers.isLookDue(at: now) else { return }
        let stalled = all.filter { other, connection in
            guard other != number, let start = connection.debtStart else { return false }
            return start + BufferQuota.stallNanoseconds <= now
        }
        for other in stalled.keys { drop(other) }
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

    // MARK: Throttling

    /// Counts a request, and throttles the tenant if it exceeds its limit.
    func noteRequest(of connection: Connection) {
        connection.tenant.noteRequest(at: clock)
        beginThrottling(of: connection.tenant)
    }

    /// Counts a refusal, which costs a client nothing to cause, and throttles the tenant if there are too many.
    func noteRefusal(of connection: Connection, _ error: CofferError) {
        guard [.missingEntitlement, .param, .unimplemented].contains(error.code) else { return }
        connection.tenant.noteRefusal(at: clock)
        beginThrottling(of: connection.tenant)
    }

    private func beginThrottling(of tenant: Tenant) {
        if !tenant.isThrottled || throttled.contains(where: { $0 === tenant }) { return }
        throttled.append(tenant)
    }

    /// The time at which the next tenant's throttling ends; `nil` if none is throttled.
    var nextDeadline: UInt64? { throttled.compactMap(\.throttleEnd).min() }

    /// Ends the throttling of the tenants whose time is over.
    func endThrottling() {
        if throttled.isEmpty { return }
        let now = clock.now
        for tenant in throttled where tenant.endThrottling(at: now) {
            for (number, connection) in all where connection.tenant === tenant {
                if connection.isPaused { connection.resumeReading() }
                if connection.hasBacklog { wantsToRead(number) }
            }
        }
        throttled.removeAll { !$0.isThrottled }
    }
}
