internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferVault

/// Ends a daemon that is started by its first request when it is not needed any more.
final class IdleExit {
    private let configuration: Configuration
    private let vault: Vault
    private let connections: Connections
    /// Since when it is not needed.
    private var idleSince: UInt64?
    private var timer: (any ClockTimer)?

    init(
        _ configuration: Configuration,
        _ vault: Vault,
        _ connections: Connections,
        on loop: EventLoop
    ) throws(SystemError) {
        self.configuration = configuration
        self.vault = vault
        self.connections = connections
        // Its turn looks at the time.
        timer = try configuration.clock.timer(on: loop) {}
    }

    /// Whether the daemon is to end.
    ///
    /// Asked at the end of each turn.
    func isDue() -> Bool {
        guard let seconds = configuration.idleExitSeconds else { return false }
        guard connections.all.isEmpty, vault.orphanCount == 0, holdsNoKey else {
            idleSince = nil
            return false
        }
        let now = configuration.clock.now
        // The delay after wrong passcodes would begin anew with each start, and never end.
        let delay = vault.openKeys?.secondsToNextAttempt(at: now) ?? 0
        guard let since = idleSince else {
            idleSince = now
            timer?.set(now + UInt64(max(seconds, delay)) * 1_000_000_000)
            return false
        }
        return delay == 0 && now - since >= UInt64(seconds) * 1_000_000_000
    }

    /// Whether nothing is lost by ending: what is in memory is on the disk, too.
    private var holdsNoKey: Bool {
        switch vault.openKeys?.state {
        case nil, .noVault, .noPasscode, .beforeFirstUnlock, .deviceKeyMissing: true
        case .unlocked, .locking, .locked, .lockedExpired: false
        }
    }
}
