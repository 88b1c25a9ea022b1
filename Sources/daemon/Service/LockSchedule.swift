internal import CofferCore

/// The schedule by which a vault with a passcode locks and then wipes further keys: a policy, and a state.
///
/// It reads no clock: callers pass the time, in nanoseconds of boot time. A step counts from the due time of the one
/// before, not from when that was carried out. After a long suspend, several steps are due at once.
package struct LockSchedule: Equatable, Sendable {
    /// The configured times.
    package struct Policy: Equatable, Sendable {
        /// Seconds from a lock to the wiping of class A.
        package var graceSeconds: Int
        /// Seconds without a use of a protected key until a lock; 0 for never, `nil` if it depends on the machine.
        package var lockAfterSeconds: Int?
        /// Seconds from the end of the grace to the wiping of class CX.
        package var inactiveAfterSeconds: Int
        /// Seconds from the end of the grace to the state before the first unlock; `nil` for never.
        package var forgetAfterSeconds: Int?

        /// Makes a policy.
        package init(
            graceSeconds: Int = Limits.defaultGraceSeconds,
            lockAfterSeconds: Int? = nil,
            inactiveAfterSeconds: Int = Limits.defaultInactiveSeconds,
            forgetAfterSeconds: Int? = Limits.defaultForgetSeconds
        ) {
            self.graceSeconds = graceSeconds
            self.lockAfterSeconds = lockAfterSeconds
            self.inactiveAfterSeconds = inactiveAfterSeconds
            self.forgetAfterSeconds = forgetAfterSeconds
        }
    }

    /// A step that wipes keys, or prepares for it.
    package enum Step: Equatable, Sendable {
        /// The grace begins; no key is wiped.
        case beginLocking
        /// Class A and the others that need an unlocked vault are wiped.
        case lock
        /// Class CX is wiped.
        case expireInactive
        /// Every key that the passcode protects is wiped.
        case forget
    }

    private enum Phase: Equatable {
        case inactive
        case unlocked(lastUse: UInt64)
        case lockRequested(at: UInt64, graceSeconds: Int)
        case locking(until: UInt64)
        case locked(since: UInt64)
        case lockedExpired(since: UInt64)
    }

    private let policy: Policy
    /// Seconds without a use of a protected key until a lock; `nil` for never.
    package var lockAfterSeconds: Int?
    private var phase = Phase.inactive

    /// Makes the schedule of a vault without keys to wipe.
    ///
    /// - Parameter policy: The configured times.
    package init(_ policy: Policy) {
        self.policy = policy
        lockAfterSeconds = policy.lockAfterSeconds
    }

    // MARK: Events

    /// The vault was unlocked or made: the idle time begins, and a grace ends.
    package mutating func unlock(at now: UInt64) { phase = .unlocked(lastUse: now) }

    /// There are no keys to wipe: no vault, no passcode, or before the first unlock.
    package mutating func rest() { phase = .inactive }

    /// The vault was opened with carried-over keys, in the locked state.
    package mutating func restore(lockedSince: UInt64) { phase = .lockedExpired(since: lockedSince) }

    /// A protected key was used: the idle time begins again.
    package mutating func noteUse(at now: UInt64) {
        if case .unlocked(let lastUse) = phase { phase = .unlocked(lastUse: max(lastUse, now)) }
    }

    /// A lock was requested.
    ///
    /// A lock in progress is never delayed by it.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - graceSeconds: The grace; `nil` for the configured one.
    package mutating func lock(at now: UInt64, graceSeconds: Int? = nil) {
        let grace = graceSeconds ?? policy.graceSeconds
        switch phase {
        case .unlocked: phase = .lockRequested(at: now, graceSeconds: grace)
        case .locking(let end): phase = .locking(until: min(end, now.adding(seconds: grace)))
        case .lockRequested, .locked, .lockedExpired, .inactive: break
        }
    }

    // MARK: Steps

    /// Whether uses have to be recorded, for an idle time.
    package var countsUse: Bool {
        if case .unlocked = phase { lockAfterSeconds != nil } else { false }
    }

    /// Whether there are keys that a lock wipes: unlocked, or in the grace.
    package var isUnlocked: Bool {
        switch phase {
        case .lockRequested, .locking, .unlocked: true
        case .locked, .lockedExpired, .inactive: false
        }
    }

    /// The end of the grace; `nil` if there is none.
    package var graceEnd: UInt64? {
        if case .locking(let end) = phase { end } else { nil }
    }

    /// The time of the lock, while locked with keys that can still be wiped.
    package var lockedSince: UInt64? {
        switch phase {
        case .locked(let since), .lockedExpired(let since): since
        case .lockRequested, .locking, .inactive, .unlocked: nil
        }
    }

    /// The time of the next step; `nil` if there is none.
    package var nextDeadline: UInt64? { next?.deadline }

    /// Takes the next due step.
    ///
    /// - Parameter now: The time.
    /// - Returns: The step, which the caller carries out; `nil` if none is due.
    package mutating func takeDue(at now: UInt64) -> Step? {
        guard let next, next.deadline <= now else { return nil }
        phase = next.phase
        return next.step
    }

    private var next: (deadline: UInt64, step: Step, phase: Phase)? {
        switch phase {
        case .inactive: return nil
        case .unlocked(let lastUse):
            guard let seconds = lockAfterSeconds else { return nil }
            return beginning(at: lastUse.adding(seconds: seconds), policy.graceSeconds)
        case .lockRequested(let time, let grace): return beginning(at: time, grace)
        case .locking(let end): return (end, .lock, .locked(since: end))
        case .locked(let since):
            let expiry = since.adding(seconds: policy.inactiveAfterSeconds)
            if let end = forgetting(since), end.deadline <= expiry { return end }
            return (expiry, .expireInactive, .lockedExpired(since: since))
        case .lockedExpired(let since): return forgetting(since)
        }
    }

    private func beginning(at time: UInt64, _ grace: Int) -> (deadline: UInt64, step: Step, phase: Phase) {
        (time, .beginLocking, .locking(until: time.adding(seconds: grace)))
    }

    private func forgetting(_ since: UInt64) -> (deadline: UInt64, step: Step, phase: Phase)? {
        policy.forgetAfterSeconds.map { (since.adding(seconds: $0), .forget, .inactive) }
    }
}

extension UInt64 {
    /// A time in nanoseconds, some seconds later.
    func adding(seconds: Int) -> UInt64 { self + UInt64(seconds) * 1_000_000_000 }
}
