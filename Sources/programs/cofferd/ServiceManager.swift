import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// Notifies the service manager, if there is one.
enum ServiceManager {
    static func notifyReady() { unsafe sd_notify(0, "READY=1") }

    static func notifyStopping() { unsafe sd_notify(0, "STOPPING=1") }

    /// Reports the beginning of a reload, which ``notifyReady()`` ends.
    static func notifyReloading() {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        unsafe sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
    }

    /// Reports the state of the vault, for the status line of `systemctl status`.
    ///
    /// - Parameter state: The state; `nil` if the vault can't be used.
    @Sendable static func reportState(_ state: VaultState?) {
        unsafe sd_notify(0, "STATUS=\(words(for: state))")
    }

    private static func words(for state: VaultState?) -> String {
        switch state {
        case nil: "The vault can't be used: 'coffer status' says why."
        case .noVault: "There is no vault yet."
        case .noPasscode: "Open: the vault has no passcode."
        case .beforeFirstUnlock: "Before first unlock."
        case .unlocked: "Unlocked."
        case .locking: "Locking: the keys go when the grace is over."
        case .locked: "Locked."
        case .lockedExpired: "Locked, inactive keys wiped."
        case .deviceKeyMissing: "The device key is missing."
        }
    }
}

/// Notifies the service manager's watchdog that the loop runs, twice in each of its periods.
///
/// A daemon that hangs is killed and restarted.
final class Watchdog {
    private let interval: UInt64
    private var timer: LoopTimer?

    /// Starts the notifications; `nil` if the service manager has no watchdog for this daemon.
    init?(on loop: EventLoop) throws(SystemError) {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        interval = (microseconds / 2).nearestProduct(1000)
        timer = try LoopTimer(on: loop) { [unowned self] in ping() }
        ping()
    }

    private func ping() {
        unsafe sd_notify(0, "WATCHDOG=1")
        timer?.set(BootClock.system.now.nearestSum(interval))
    }
}
