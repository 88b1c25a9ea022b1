internal import CofferCore
internal import CofferSystem
internal import CofferVault

/// The tenants that are connected, or have state worth keeping.
struct Tenants {
    private var all: [Int: Tenant] = [:]
    private var lastNumber = 0
    /// The number of tenants that are connected.
    private(set) var connectedCount = 0
    /// The earliest time at which the throttling of a tenant ends; `nil` if none is throttled.
    private(set) var nextDeadline: UInt64?

    /// The tenant of a client.
    ///
    /// - Parameter isInUse: Whether a tenant without connections holds something that its quotas count.
    mutating func tenant(
        of client: ClientIdentity,
        _ rights: AccessRights,
        at now: UInt64,
        keeping isInUse: (Int) -> Bool
    ) -> Tenant {
        let key = Tenant.Key(principal: client.principal, limits: rights.limits)
        if let tenant = all.values.first(where: { $0.key == key }) { return tenant }
        all = all.filter { !$0.value.isForgettable(at: now) || isInUse($0.key) }
        lastNumber += 1
        let tenant = Tenant(lastNumber, key)
        all[tenant.number] = tenant
        return tenant
    }

    func isThrottled(_ number: Int) -> Bool { all[number]?.isThrottled == true }

    mutating func noteConnection(of tenant: Tenant) {
        tenant.connectionCount += 1
        if tenant.connectionCount == 1 { connectedCount += 1 }
    }

    mutating func noteEnd(ofConnectionOf tenant: Tenant) {
        tenant.connectionCount -= 1
        if tenant.connectionCount == 0 { connectedCount -= 1 }
    }

    /// Records that the limits of a tenant have counted something.
    mutating func noteThrottling(of tenant: Tenant) {
        if let end = tenant.throttleEnd { nextDeadline = min(nextDeadline ?? end, end) }
    }

    /// Ends the throttling of the tenants whose time is over.
    ///
    /// - Returns: These tenants.
    mutating func endThrottling(at clock: BootClock) -> [Tenant] {
        guard let end = nextDeadline else { return [] }
        let now = clock.now
        guard end <= now else { return [] }
        let ended = all.values.filter { $0.endThrottling(at: now) }
        nextDeadline = all.values.compactMap(\.throttleEnd).min()
        return ended
    }
}
