internal import CofferCore
internal import CofferFiles
internal import CofferHandlers
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Locks the vault: carries out the due steps of the schedule.
///
/// It does so before each decision about a request, at the end of each turn, and when the server's timer fires.
final class LockController: ServerPart {
    private let hub: EventHub
    private let audit: AuditTrail
    /// The due times.
    private(set) var schedule: LockSchedule
    /// The cause of a lock now; `nil` if a client asks for it.
    private var cause: LockCause?
    /// The users who have unlocked the vault.
    private var presence: Presence
    /// The sessions of the machine; `nil` if they are unknown.
    private let surroundings: Surroundings?
    /// Whether the surroundings were notified that there are keys to wipe.
    private var hasNotifiedUnlocked = false
    /// Whether keys were wiped since the last call of ``takeHasLocked()``.
    private var hasLocked = false
    /// The idle time after which the vault is locked.
    private(set) var idleLock: IdleLock

    init(_ hub: EventHub, _ audit: AuditTrail, _ surroundings: Surroundings?) {
        self.hub = hub
        self.audit = audit
        self.surroundings = surroundings
        schedule = LockSchedule(audit.configuration.locking.times)
        presence = Presence(audit.configuration.locking.presence)
        idleLock = Self.idleLock(audit.configuration, surroundings)
        super.init(beside: audit)
    }

    private static func idleLock(_ configuration: Configuration, _ surroundings: Surroundings?) -> IdleLock {
        IdleLock(configured: configuration.locking.times.lockAfterSeconds, hasSeat: surroundings?.hasSeat() ?? true)
    }

    /// The time of the next step of the schedule; `nil` if there is none.
    var nextDeadline: UInt64? { vault.openKeys == nil ? nil : schedule.nextDeadline }

    /// Updates the schedule after a request has loaded or wiped keys.
    ///
    /// - Parameter caller: The client that presented the credential.
    func keysDidChange(by caller: Caller? = nil) {
        let now = clock.now
        let state = (try? vault.state()) ?? .noVault
        switch state {
        case .unlocked:
            // A seat may have come since the start.
            idleLock = Self.idleLock(configuration, surroundings)
            schedule.lockAfterSeconds = idleLock.seconds
            schedule.unlock(at: now)
            cause = .idle
        case .lockedExpired: schedule.restore(lockedSince: now)
        default: schedule.rest()
        }
        if let caller { noteUnlock(by: caller) }
        vault.openCatalog?.changes.isWanted = hub.wantsItems
        handlers.vault.settleFirstUnlock()
        audit.noteState(state)
        notifySurroundings()
        hub.announce(state == .unlocked || state == .noPasscode ? .available : .gone)
    }

    /// Locks.
    ///
    /// - Parameters:
    ///   - graceSeconds: The grace; `nil` for the configured one.
    ///   - cause: The cause, if no client asks for it.
    func lock(graceSeconds: Int? = nil, because cause: LockCause? = nil) {
        shared.lockCount += 1
        let before = schedule
        schedule.lock(at: clock.now, graceSeconds: graceSeconds)
        if schedule != before { self.cause = cause }
        // The keys come first.
        if !settle() { shared.authentications.endAll() }
    }

    /// Begins the schedule of keys that were carried over.
    func restore(lockedSince: UInt64) {
        schedule.restore(lockedSince: lockedSince)
        handlers.vault.settleFirstUnlock()
        settle()
    }

    /// Stops the schedule, before the daemon exits.
    func rest() { schedule.rest() }

    // MARK: Schedule

    /// Carries out the due steps.
    ///
    /// - Returns: Whether there were any.
    @discardableResult func settle() -> Bool {
        guard schedule.nextDeadline != nil, let keys = vault.openKeys else { return false }
        let now = clock.now
        if schedule.countsUse, vault.openCatalog?.files.openContents.takeUse() == true { schedule.noteUse(at: now) }
        var steps: [LockSchedule.Step] = []
        while let step = schedule.takeDue(at: now) {
            steps.append(step)
            carryOut(step, on: keys)
        }
        notifySurroundings()
        // Clients are notified before the turn sends anything else, but after the wiping, which they must not delay.
        if steps.isEmpty { return false }
        hub.announce(steps == [.beginLocking] ? .going : .gone)
        if steps.contains(.expireInactive) { hub.notify(of: .inactiveDataDidBecomeUnavailable) }
        if steps.contains(.forget) { hub.notify(of: .firstUnlockDataDidBecomeUnavailable) }
        return true
    }

    /// The state of the vault that the gate checks: a due lock comes before the decision.
    func state(for method: Method) throws(CofferError) -> VaultState {
        settle()
        return try handlers.state(for: method)
    }

    /// Records that the vault was used in this turn.
    func noteUse() {
        guard schedule.countsUse, vault.openKeys?.takeUse() == true else { return }
        schedule.noteUse(at: clock.now)
    }

    /// Whether keys were wiped since the last call.
    func takeHasLocked() -> Bool {
        defer { hasLocked = false }
        return hasLocked
    }

    private func carryOut(_ step: LockSchedule.Step, on keys: VaultKeys) {
        switch step {
        case .beginLocking:
            keys.beginLocking()
            shared.authentications.endAll()
            return audit.noteState(keys.state, because: cause)
        case .lock: keys.lock()
        case .expireInactive: keys.expireInactive()
        case .forget:
            vault.openCatalog?.files.openFiles.keepMetadata()
            keys.forget()
        }
        shared.authentications.endAll()
        vault.openCatalog?.changes.names.forget()
        audit.noteState(keys.state, because: step == .lock ? cause : nil)
        vault.openCatalog?.files.openContents.revoke(in: keys.state)
        withholdPayloads(in: keys.state)
        handlers.file.keepWhatWasWritten()
        hasLocked = true
    }

    // MARK: Data in flight

    /// Withholds payloads, in both directions, whose keys are gone.
    func withholdPayloads(in state: VaultState) {
        if connections.buffers.held.contentCount == 0 { return }
        let error = CofferError.locked("the item", in: state, for: .read)
        for connection in connections.all.values {
            connection.wipeUnfinishedPayload()
            guard connection.hasPayloadToWithhold(in: state) else { continue }
            if !connection.withholdPayloads(in: state, with: error) { connections.drop(connection) }
        }
    }

    // MARK: Presence

    /// Handles an event of the machine or of a session.
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

    /// Notifies the surroundings whether there are keys to wipe.
    private func notifySurroundings() {
        let isUnlocked = schedule.isUnlocked
        guard isUnlocked != hasNotifiedUnlocked else { return }
        hasNotifiedUnlocked = isUnlocked
        if !isUnlocked { presence.leave() }
        guard configuration.locking.presence.locksAtAll else { return }
        surroundings?.unlockedDidChange(isUnlocked)
    }

    private func isLoggedIn(_ userID: UInt32) -> Bool { surroundings?.isLoggedIn(userID) ?? false }
}
