internal import CofferCore

/// When a vault with a passcode locks, and goes on losing keys while it stays locked: a policy, and what has happened.
///
/// It has no clock, but is told the time, in nanoseconds of boot time. What comes next counts from when the last step was
/// due, and not from when somebody came to take it: a machine that slept past several wakes up with all of them due.
package struct LockSchedule: Equatable, Sendable {
    /// What the owner has set.
    package struct Policy: Equatable, Sendable {
        /// Seconds from a lock to the end of class A.
        package var graceSeconds: Int
        /// Seconds without a use of a key that the passcode protects, until a lock; `nil` for never.
        package var lockAfterSeconds: Int?
        /// Seconds from the end of the grace to the end of class CX.
        package var inactiveAfterSeconds: Int
        /// Seconds from the end of the grace to before the first unlock; `nil` for never.
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

    /// A step towards fewer keys.
    package enum Step: Equatable, Sendable {
        /// The grace begins: every key stays.
        case beginLocking
        /// Class A and its like go.
        case lock
        /// Class CX goes.
        case expireInactive
        /// Everything that the passcode protects goes.
        case forget
    }

    private enum Phase: Equatable {
        case throttled
        case unlocked(lastUse: UInt64)
        case lockRequested(at: UInt64, graceSeconds: Int)
        case locking(until: UInt64)
        case locked(since: UInt64)
        case lockedExpired(since: UInt64)
    }

    private let policy: Policy
    private var phase = Phase.throttled

    /// Makes the schedule of a vault that has nothing to lose.
    ///
    /// - Parameter policy: What the owner has set.
    package init(_ policy: Policy) { self.policy = policy }

    // MARK: What happens

    /// The vault was unlocked, or made: the idle time begins, a grace ends.
    package mutating func unlock(at now: UInt64) { phase = .unlocked(lastUse: now) }

    /// There is nothing to lose: no vault, no passcode, or no key before the first unlock.
    package mutating func rest() { phase = .throttled }

    /// The vault came up with the keys of an earlier daemon, which are there while locked.
    package mutating func restore(lockedSince: UInt64) { phase = .lockedExpired(since: lockedSince) }

    /// A key that the passcode protects was used: the idle time begins anew.
    package mutating func noteUse(at now: UInt64) {
        if case .unlocked(let lastUse) = phase { phase = .unlocked(lastUse: max(lastUse, now)) }
    }

    /// Somebody locks.
    ///
    /// A lock that is under way does not become a later one.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - graceSeconds: The grace; the owner's if nothing is said.
    package mutating func lock(at now: UInt64, graceSeconds: Int? = nil) {
        let grace = graceSeconds ?? policy.graceSeconds
        switch phase {
        case .unlocked: phase = .lockRequested(at: now, graceSeconds: grace)
        case .locking(let end): phase = .locking(until: min(end, now.adding(seconds: grace)))
        case .lockRequested, .locked, .lockedExpired, .throttled: break
        }
    }

    // MARK: What follows

    /// Whether a use would change anything: an idle time is counted.
    package var countsUse: Bool {
        if case .unlocked = phase { policy.lockAfterSeconds != nil } else { false }
    }

    /// Whether there are keys that a lock takes: unlocked, or in the grace.
    package var isUnlocked: Bool {
        switch phase {
        case .lockRequested, .locking, .unlocked: true
        case .locked, .lockedExpired, .throttled: false
        }
    }

    /// When the grace ends, while there is one.
    package var graceEnd: UInt64? {
        if case .locking(let end) = phase { end } else { nil }
    }

    /// When the vault was locked, while it is and has something to lose.
    package var lockedSince: UInt64? {
        switch phase {
        case .locked(let since), .lockedExpired(let since): since
        case .lockRequested, .locking, .throttled, .unlocked: nil
        }
    }

    /// When the next step is due; `nil` where none is to come by itself.
    package var nextDeadline: UInt64? { next?.deadline }

    /// Takes the next step that is due.
    ///
    /// - Parameter now: The time.
    /// - Returns: The step, now to be carried out; `nil` where none is due any more.
    package mutating func takeDue(at now: UInt64) -> Step? {
        guard let next, next.deadline <= now else { return nil }
        phase = next.phase
        return next.step
    }

    private var next: (deadline: UInt64, step: Step, phase: Phase)? {
        switch phase {
        case .throttled: return nil
        case .unlocked(let lastUse):
            guard let seconds = policy.lockAfterSeconds else { return nil }
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
        policy.forgetAfterSeconds.map { (since.adding(seconds: $0), .forget, .throttled) }
    }
}

extension UInt64 {
    /// A time that many seconds later.
    fileprivate func adding(seconds: Int) -> UInt64 { self + UInt64(seconds) * 1_000_000_000 }
}
