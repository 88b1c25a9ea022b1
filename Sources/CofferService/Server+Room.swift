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

    /// Closes the connection that has been idle for longest, and has nothing that its client would lose.
    ///
    /// - Returns: Whether there is one, idle for long enough.
    func dropLongestIdle() -> Bool {
        let idle = sessions.compactMap { number, session in session.idleStart.map { (number, session, $0) } }
        guard let longest = idle.min(by: { $0.2 < $1.2 }),
            longest.2 + TransitRoom.stallNanoseconds <= configuration.clock.now
        else { return false }
        drop(longest.1, longest.0)
        return true
    }

    /// Refuses one more open file than all connections together may have.
    func checkRoomForOpenFile() throws(CofferError) {
        let count = sessions.values.reduce(0) { $0 + $1.caller.handles.count }
        if count < Limits.openFiles { return }
        throw CofferError(.notAvailable, "\(count) files are open, which is the most", hint: "close some and try again")
    }
}
