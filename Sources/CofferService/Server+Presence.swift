internal import CofferCore

// Who has unlocked the vault, and what happens to the machine and to them.

extension Server {
    /// Takes what has happened around the daemon.
    ///
    /// - Parameter occurrence: What has happened.
    package func take(_ occurrence: Occurrence) {
        guard let cause = presence.cause(for: occurrence, isLoggedIn: isLoggedIn) else { return }
        lock(graceSeconds: cause == .sleep ? 0 : nil, because: cause)
    }

    /// Remembers who has unlocked the vault.
    func noteUnlock(by caller: Caller) {
        guard schedule.isUnlocked else { return }
        let identity = caller.identity
        presence.noteUnlock(
            by: Set([identity.userID, identity.loginUserID].compactMap(\.self)),
            isLoggedIn: isLoggedIn
        )
    }

    /// Tells the surroundings whether there are keys to lose, as far as it is news.
    func tellSurroundings() {
        let isUnlocked = schedule.isUnlocked
        guard isUnlocked != hasToldUnlocked else { return }
        hasToldUnlocked = isUnlocked
        if !isUnlocked { presence.leave() }
        guard configuration.presencePolicy.locksAtAll else { return }
        configuration.surroundings?.unlockedDidChange(isUnlocked)
    }

    private func isLoggedIn(_ userID: UInt32) -> Bool { configuration.surroundings?.isLoggedIn(userID) ?? false }
}
