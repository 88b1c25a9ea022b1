internal import CofferClient
internal import CofferCommandSupport
internal import Glibc

/// The units of a service manager that are active while keys are in memory: the machine's for root, and otherwise the user's.
struct LockTargets {
    private static let unlocked = "coffer-unlocked.target"
    private static let firstUnlock = "coffer-first-unlock.target"

    private let manager: ServiceManager

    /// - Throws: `notAvailable` if there is no such service manager.
    init() throws(CofferError) {
        manager = geteuid() == 0 ? .system : .user
        guard manager == .system || ServiceManager.isUsersRunning else {
            throw CofferError(
                .notAvailable,
                "there is no service manager of yours, which has the units",
                hint: "'coffer watch' without --units prints the state"
            )
        }
    }

    /// Starts and stops them as a state demands.
    ///
    /// What is in use ends when a lock begins, while its grace still lets it read.
    func follow(_ state: VaultState) throws(CofferError) {
        switch state {
        case .noPasscode, .unlocked:
            try set(Self.firstUnlock, to: true)
            try set(Self.unlocked, to: true)
        case .locking, .locked, .lockedExpired:
            try set(Self.unlocked, to: false)
            try set(Self.firstUnlock, to: true)
        case .noVault, .beforeFirstUnlock, .deviceKeyMissing:
            try set(Self.unlocked, to: false)
            try set(Self.firstUnlock, to: false)
        }
    }

    /// Starts or stops a unit, which does nothing if it is so, and does not wait for what depends on it.
    private func set(_ unit: String, to isActive: Bool) throws(CofferError) {
        let verb = isActive ? "start" : "stop"
        guard manager.control(verb, "--no-block", unit) else {
            throw CofferError(
                .notAvailable,
                "the service manager can't \(verb) \(unit)",
                hint: "'systemctl --\(manager.rawValue) status \(unit)' says why"
            )
        }
    }
}
