internal import CofferCore
internal import CofferSystem

extension Server {
    /// Cuts off the peers that have owed the rest of a frame, or the reading of an answer, for long: others need the room.
    func dropStalled(but number: Int) {
        let now = configuration.clock.now
        guard transit.isLookDue(at: now) else { return }
        let stalled = sessions.filter { other, session in
            guard other != number, let start = session.debtStart else { return false }
            return start + TransitRoom.stallNanoseconds <= now
        }
        for (other, session) in stalled { drop(session, other) }
    }

    /// Refuses a tenant one more connection than it may have, unless one gives way.
    func checkRoom(for tenant: Tenant) throws(CofferError) {
        if tenant.mayConnect(besides: sessions.count) || dropLongestIdle(for: tenant) { return }
        throw CofferError(
            .notAvailable,
            "too many connections: '\(tenant.key.principal)' has \(tenant.connectionCount)",
            hint: "close some and try again"
        )
    }

    /// Closes the connection that has been idle for longest, and has nothing that its client would lose: one of the tenant's
    /// own where it has any.
    ///
    /// - Returns: Whether there is one, idle for long enough.
    private func dropLongestIdle(for tenant: Tenant) -> Bool {
        let idle = sessions.filter { tenant.connectionCount == 0 || $0.value.tenant === tenant }
            .compactMap { number, session in session.idleStart.map { (number, session, $0) } }
        guard let longest = idle.min(by: { $0.2 < $1.2 }),
            longest.2 + TransitRoom.stallNanoseconds <= configuration.clock.now
        else { return false }
        drop(longest.1, longest.0)
        return true
    }

    /// Refuses one more open file than a caller's tenant may have.
    func checkRoomForOpenFile(of caller: Caller) throws(CofferError) {
        var (held, used) = (0, 0)
        for other in sessions.values.map(\.caller) {
            used += other.handles.count
            if other.tenant == caller.tenant { held += other.handles.count }
        }
        if FairShare.left(holding: held, used: used, of: Limits.openFiles) > 0 { return }
        throw CofferError(
            .notAvailable,
            "too many files are open: '\(caller.identity.principal)' has \(held) of \(used)",
            hint: "close some and try again"
        )
    }
}
