internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Locks the vault when it is due: the schedule says when, and this carries it out, before a request is decided, at the end of
/// each turn, and when the timer wakes the loop for it.
final class LockController {
    private let configuration: Configuration
    private let vault: Vault
    private let connections: Connections
    private let hub: EventHub
    private let audit: AuditTrail
    /// When the vault locks, and what follows.
    private(set) var schedule: LockSchedule
    /// Why it locks, or would if it did now; `nil` where a client has asked for it.
    private var cause: LockCause?
    /// Who has unlocked the vault.
    private var presence: Presence
    /// What happens around the daemon; `nil` where that can't be known.
    private let surroundings: Surroundings?
    /// Whether the surroundings were told that there are keys to lose.
    private var hasToldUnlocked = false
    private var timer: (any ClockTimer)?
    /// What the timer is set to; later ones come after that one.
    private var timerDeadline: UInt64?
    /// Whether keys went since this was asked last.
    private var hasLocked = false

    init(
        _ configuration: Configuration,
        _ vault: Vault,
        _ connections: Connections,
        _ hub: EventHub,
        _ audit: AuditTrail,
        _ surroundings: Surroundings?,
        on loop: EventLoop
    ) throws(SystemError) {
        self.configuration = configuration
        self.vault = vault
        self.connections = connections
        self.hub = hub
        self.audit = audit
        self.surroundings = surroundings
        schedule = LockSchedule(configuration.lockPolicy)
        presence = Presence(configuration.presencePolicy)
        timer = try configuration.clock.timer(on: loop) { [unowned self] in
            timerDeadline = nil
            settle()
        }
    }

    /// Takes note of keys that came or went by a request.
    ///
    /// - Parameter caller: Who has shown what opens them.
    func keysDidChange(by caller: Caller? = nil) {
        let now = configuration.clock.now
        let state = (try? vault.state()) ?? .noVault
        switch state {
        case .unlocked:
            schedule.unlock(at: now)
            cause = .idle
        case .lockedExpired: schedule.restore(lockedSince: now)
        default: schedule.rest()
        }
        if let caller { noteUnlock(by: caller) }
        vault.openCatalog?.changes.isWanted = hub.wantsItems
        audit.noteState(state)
        tellSurroundings()
        hub.announce(state == .unlocked || state == .noPasscode ? .available : .gone)
        setTimer()
    }

    /// Locks.
    ///
    /// - Parameters:
    ///   - graceSeconds: The grace; the one that is configured if none is given.
    ///   - cause: Why, if no client has asked for it.
    func lock(graceSeconds: Int? = nil, because cause: LockCause? = nil) {
        vault.lockCount += 1
        endContexts()
        let before = schedule
        schedule.lock(at: configuration.clock.now, graceSeconds: graceSeconds)
        if schedule != before { self.cause = cause }
        settle()
    }

    /// Follows the keys that an earlier daemon has left.
    func restore(lockedSince: UInt64) {
        schedule.restore(lockedSince: lockedSince)
        settle()
    }

    /// Locks no more: the daemon ends.
    func rest() { schedule.rest() }

    // MARK: Following the clock

    /// Carries out what is due.
    func settle() {
        guard schedule.nextDeadline != nil, let keys = vault.openKeys else { return }
        let now = configuration.clock.now
        if schedule.countsUse, vault.openCatalog?.files.takeTransferUse() == true { schedule.noteUse(at: now) }
        var steps: [LockSchedule.Step] = []
        while let step = schedule.takeDue(at: now) {
            steps.append(step)
            carryOut(step, on: keys)
        }
        tellSurroundings()
        // Said before the turn sends anything, and after the keys that are due have gone: a thousand watchers don't delay it.
        if !steps.isEmpty { hub.announce(steps == [.beginLocking] ? .going : .gone) }
        setTimer()
    }

    /// Takes note that the vault was used in this turn.
    func noteUse() {
        guard schedule.countsUse, vault.openKeys?.takeUse() == true else { return }
        schedule.noteUse(at: configuration.clock.now)
    }

    /// Whether keys went since this was asked last.
    func takeHasLocked() -> Bool {
        defer { hasLocked = false }
        return hasLocked
    }

    private func carryOut(_ step: LockSchedule.Step, on keys: VaultKeys) {
        endContexts()
        switch step {
        case .beginLocking:
            keys.beginLocking()
            return audit.noteState(keys.state, because: cause)
        case .lock: keys.lock()
        case .expireInactive: keys.expireInactive()
        case .forget: keys.forget()
        }
        audit.noteState(keys.state, because: step == .lock ? cause : nil)
        vault.openCatalog?.files.revokeOpenKeys(in: keys.state)
        withholdPayloads(in: keys.state)
        vault.keepWhatWasWritten()
        hasLocked = true
    }

    private func setTimer() {
        guard let next = schedule.nextDeadline, next < timerDeadline ?? .max else { return }
        timerDeadline = next
        timer?.set(next)
    }

    // MARK: What is in flight

    /// What was shown of persons on connections is good for nothing more, also what is being tried.
    func endContexts() {
        vault.contextEndCount += 1
        for connection in connections.all.values { connection.caller.context.end() }
    }

    /// Takes back what is on its way to clients and from them, and may not outlive its key.
    func withholdPayloads(in state: VaultState) {
        let error = CofferError.locked("the item", in: state, for: .read)
        for (number, connection) in connections.all {
            connection.wipeUnfinishedPayload()
            guard connection.hasPayloadToWithhold(in: state) else { continue }
            connections.wantsToSend(number)
            if !connection.withholdPayloads(in: state, with: error) { connections.drop(number) }
        }
    }

    // MARK: Presence

    /// Takes note of what happens to the machine and to those who have unlocked the vault.
    func take(_ occurrence: Occurrence) {
        guard let cause = presence.cause(for: occurrence, isLoggedIn: isLoggedIn) else { return }
        lock(graceSeconds: cause == .sleep ? 0 : nil, because: cause)
    }

    private func noteUnlock(by caller: Caller) {
        guard schedule.isUnlocked else { return }
        let identity = caller.identity
        presence.noteUnlock(
            by: Set([identity.userID, identity.loginUserID].compactMap(\.self)),
            isLoggedIn: isLoggedIn
        )
    }

    /// Says whether there are keys that a lock would take.
    private func tellSurroundings() {
        let isUnlocked = schedule.isUnlocked
        guard isUnlocked != hasToldUnlocked else { return }
        hasToldUnlocked = isUnlocked
        if !isUnlocked { presence.leave() }
        guard configuration.presencePolicy.locksAtAll else { return }
        surroundings?.unlockedDidChange(isUnlocked)
    }

    private func isLoggedIn(_ userID: UInt32) -> Bool { surroundings?.isLoggedIn(userID) ?? false }
}
