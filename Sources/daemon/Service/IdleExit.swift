internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferVault

/// Ends a socket-activated daemon that has been idle.
final class IdleExit: ServerPart {
    /// The time since which it is idle.
    private var idleSince: UInt64?
    /// The time at which it exits if it stays idle.
    private(set) var nextDeadline: UInt64?
    private let mounts: Mounts

    init(_ mounts: Mounts, beside part: ServerPart) {
        self.mounts = mounts
        super.init(beside: part)
    }

    /// Whether the daemon has to exit.
    ///
    /// Called at the end of each turn.
    func isDue() -> Bool {
        guard let seconds = configuration.idleExitSeconds else { return false }
        guard connections.all.isEmpty, mounts.isEmpty, !shared.filesInUse.hasOrphans, holdsNoKey else {
            (idleSince, nextDeadline) = (nil, nil)
            return false
        }
        let now = clock.now
        let since = idleSince ?? now
        // A restart would begin the delay after wrong passcodes again, so that it would never end.
        let delay = vault.openKeys?.secondsToNextAttempt(at: now) ?? 0
        let end = max(since.adding(seconds: seconds), now.adding(seconds: delay))
        (idleSince, nextDeadline) = (since, end)
        return end <= now
    }

    /// Whether an exit loses nothing: every key in memory can be loaded from the disk again.
    private var holdsNoKey: Bool {
        switch vault.openKeys?.state {
        case nil, .noVault, .noPasscode, .beforeFirstUnlock, .deviceKeyMissing: true
        case .unlocked, .locking, .locked, .lockedExpired: false
        }
    }
}
