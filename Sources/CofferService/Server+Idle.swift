internal import CofferCore
internal import CofferKeys
internal import CofferSystem

// A daemon that is started by its first request may end when nobody needs it.

extension Server {
    /// Tells whoever runs the daemon in which state the vault is, if it is another one than before.
    func tellChangedState() {
        let state = vault.openKeys?.state
        guard state != toldState else { return }
        toldState = state
        configuration.tellState(try? vault.state())
    }

    /// Shuts down when nobody was connected for as long as is configured, and nothing is lost by it.
    func shutDownIfIdle() {
        guard let seconds = configuration.idleExitSeconds else { return }
        guard sessions.isEmpty, orphanedHandles.isEmpty, holdsNoKey else { return idleSince = nil }
        let now = configuration.clock.now
        // The delay after wrong passcodes would begin anew with each start, and never end.
        let delay = vault.openKeys?.secondsToNextAttempt(at: now) ?? 0
        guard let since = idleSince else {
            idleSince = now
            idleTimer?.set(now + UInt64(max(seconds, delay)) * 1_000_000_000)
            return
        }
        if delay == 0, now - since >= UInt64(seconds) * 1_000_000_000 { shutDown() }
    }

    /// Whether no key is there that it takes the passcode to have again.
    private var holdsNoKey: Bool {
        switch vault.openKeys?.state {
        case nil, .noVault, .noPasscode, .beforeFirstUnlock, .deviceKeyMissing: true
        case .unlocked, .locking, .locked, .lockedExpired: false
        }
    }
}
