internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferVault

/// Ends a socket-activated daemon that has been idle.
final class IdleExit {
    private let configuration: Configuration
    private let vault: Vault
    private let connections: Connections
    /// The time since which it is idle.
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
        // The timer only begins a turn, at whose end the time is checked.
        timer = try configuration.clock.timer(on: loop) {}
    }

    /// Whether the daemon has to exit.
    ///
    /// Called at the end of each turn.
    func isDue() -> Bool {
        guard let seconds = configuration.idleExitSeconds else { return false }
        guard connections.all.isEmpty, vault.orphanCount == 0, holdsNoKey else {
            idleSince = nil
            return false
        }
        let now = configuration.clock.now
        // A restart would begin the delay after wrong passcodes again, so that it would never end.
        let delay = vault.openKeys?.secondsToNextAttempt(at: now) ?? 0
        guard let since = idleSince else {
            idleSince = now
            timer?.set(now + UInt64(max(seconds, delay)) * 1_000_000_000)
            return false
        }
        return delay == 0 && now - since >= UInt64(seconds) * 1_000_000_000
    }

    /// Whether an exit loses nothing: every key in memory can be loaded from the disk again.
    private var holdsNoKey: Bool {
        switch vault.openKeys?.state {
        case nil, .noVault, .noPasscode, .beforeFirstUnlock, .deviceKeyMissing: true
        case .unlocked, .locking, .locked, .lockedExpired: false
        }
    }
}
