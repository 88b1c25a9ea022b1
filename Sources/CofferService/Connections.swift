internal import CofferCore
internal import CofferSystem
internal import CofferVault

/// All connections, by number, those who share the daemon, and what both may hold and ask for.
final class Connections {
    private let loop: EventLoop
    private let clock: BootClock
    /// What all connections hold of frames on their way.
    let buffers = BufferQuota()
    private(set) var all: [Int: Connection] = [:]
    private var nextNumber = 0
    private var tenants: [Int: Tenant] = [:]
    private var nextTenantNumber = 0
    /// The tenants that wait because they have asked for too much, and what wakes them.
    private var throttled: [Tenant] = []
    private var throttleTimer: (any ClockTimer)?

    /// The connections whose turn it is to read, or to go on with what was read.
    private var reading = FairQueue<Int>()
    /// Those that have ended on the other side, whoever rests.
    private var hungUp: [Int] = []
    /// Those with something to send.
    private var sending = FairQueue<Int>()

    /// Is told of a connection that has ended, when it is out of the table.
    var connectionDidEnd: (Connection) -> Void = { _ in }

    init(on loop: EventLoop, _ clock: BootClock) throws(SystemError) {
        self.loop = loop
        self.clock = clock
        throttleTimer = try clock.timer(on: loop) { [unowned self] in endThrottling() }
    }

    subscript(number: Int) -> Connection? { all[number] }

    // MARK: Coming and going

    /// Takes a connection in.
    ///
    /// - Returns: Its number; `nil` where it can't be watched.
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

    /// Ends a connection.
    func drop(_ number: Int) {
        guard let connection = all.removeValue(forKey: number) else { return }
        connection.stop()
        connection.tenant.removeConnection()
        connectionDidEnd(connection)
    }

    /// Forgets all of them, before the daemon ends.
    func removeAll() { all = [:] }

    // MARK: Who goes on

    /// Takes a note of what the kernel says, which may be in the middle of a change.
    private func note(_ ready: EventLoop.Interest, of connection: Connection, _ number: Int) {
        if !ready.isDisjoint(with: .hungUp) && connection.ready.isDisjoint(with: .hungUp) { hungUp.append(number) }
        connection.ready.formUnion(ready)
        if connection.tenant.isThrottled { return connection.pauseReading() }
        wantsToRead(number)
    }

    /// Lets a connection go on when it is its tenant's turn.
    func wantsToRead(_ number: Int) {
        guard let connection = all[number], !connection.isWaitingToRead else { return }
        connection.isWaitingToRead = true
        reading.append(number, for: connection.tenant.number)
    }

    /// The next connection that goes on.
    func nextToRead() -> (Connection, Int)? {
        while let (number, _) = reading.removeFirst(where: { [tenants] in tenants[$0]?.isThrottled != true }) {
            guard let connection = all[number] else { continue }
            connection.isWaitingToRead = false
            return (connection, number)
        }
        return nil
    }

    /// Those that have ended on the other side since this was asked last.
    func takeHungUp() -> [Int] {
        defer { hungUp = [] }
        return hungUp
    }

    /// Whether a connection of another tenant waits for its turn.
    func othersWait(besides tenant: Int) -> Bool { reading.has(otherThan: tenant) }

    /// Whether a connection waits for its turn.
    var somebodyWaits: Bool { reading.elements.contains { all[$0]?.tenant.isThrottled == false } }

    // MARK: Sending

    /// Lets a connection send when this turn's changes are on the disk.
    func wantsToSend(_ number: Int) {
        guard let connection = all[number], !connection.isToBeSent else { return }
        connection.isToBeSent = true
        sending.append(number, for: connection.tenant.number)
    }

    /// Sends what all have to send; the tenants take turns.
    func sendAll() {
        while let (number, _) = sending.removeFirst() { send(number) }
    }

    /// Sends what one has to send.
    func send(_ number: Int) {
        guard let connection = all[number] else { return }
        connection.isToBeSent = false
        connection.waitsForTurn = false
        guard connection.flush() else { return drop(number) }
        // Room again for what waited for it.
        if connection.hasBacklog && connection.hasRoom && !connection.isFull { wantsToRead(number) }
    }

    // MARK: Tenants

    /// The tenant that a client belongs to.
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

    /// Makes room for one more connection of a tenant, or refuses it.
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

    /// Ends connections that have not moved for a while, where room for frames has become short.
    func dropStalled(but number: Int) {
        let now = clock.now
        guard buffers.isLookDue(at: now) else { return }
        let stalled = all.filter { other, connection in
            guard other != number, let start = connection.debtStart else { return false }
            return start + BufferQuota.stallNanoseconds <= now
        }
        for other in stalled.keys { drop(other) }
    }

    /// How many files the connections of a tenant have open, and those of all.
    func openFileCounts(of tenant: Int) -> (held: Int, used: Int) {
        var (held, used) = (0, 0)
        for caller in all.values.map(\.caller) {
            used += caller.handles.count
            if caller.tenant == tenant { held += caller.handles.count }
        }
        return (held, used)
    }

    // MARK: Throttling

    /// Takes note of a request.
    func noteRequest(of connection: Connection) {
        connection.tenant.noteRequest(at: clock)
        beginThrottling(of: connection.tenant)
    }

    /// Takes note of an answer that costs the client nothing to ask for.
    func noteRefusal(of connection: Connection, _ error: CofferError) {
        guard [.missingEntitlement, .param, .unimplemented].contains(error.code) else { return }
        connection.tenant.noteRefusal(at: clock)
        beginThrottling(of: connection.tenant)
    }

    private func beginThrottling(of tenant: Tenant) {
        if !tenant.isThrottled || throttled.contains(where: { $0 === tenant }) { return }
        throttled.append(tenant)
        setThrottleTimer()
    }

    private func endThrottling() {
        let now = clock.now
        for tenant in throttled where tenant.endThrottling(at: now) {
            for (number, connection) in all where connection.tenant === tenant {
                if connection.isPaused { connection.resumeReading() }
                if connection.hasBacklog { wantsToRead(number) }
            }
        }
        throttled.removeAll { !$0.isThrottled }
        setThrottleTimer()
    }

    private func setThrottleTimer() { throttleTimer?.set(throttled.compactMap(\.throttleEnd).min()) }
}
