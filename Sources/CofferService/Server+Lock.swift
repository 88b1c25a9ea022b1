internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// The schedule says what is due, and this carries it out: before a request is decided, at the end of each turn, and when the
// timer wakes the loop for it.

extension Server {
    /// Counts anew: the vault has come up, was made, unlocked or erased, or has got or lost its passcode.
    ///
    /// - Parameter caller: Who has done it, unless it was the daemon.
    func keysHaveChanged(by caller: Caller? = nil) {
        let now = configuration.clock.now
        let state = (try? vault.state()) ?? .noVault
        switch state {
        case .unlocked:
            schedule.unlock(at: now)
            lockCause = .idle
        case .lockedExpired: schedule.restore(lockedSince: now)
        default: schedule.rest()
        }
        if let caller { noteUnlock(by: caller) }
        updateChangeLog()
        noteState(state)
        tellSurroundings()
        announce(state == .unlocked || state == .noPasscode ? .available : .gone)
        setLockTimer()
    }

    /// Locks, at once or when the grace is over.
    ///
    /// - Parameters:
    ///   - graceSeconds: The grace; the configured one if nothing is said.
    ///   - cause: Why, where no client has asked for it.
    func lock(graceSeconds: Int? = nil, because cause: LockCause? = nil) {
        lockCount += 1
        endContexts()
        let before = schedule
        schedule.lock(at: configuration.clock.now, graceSeconds: graceSeconds)
        if schedule != before { lockCause = cause }
        settleLocks()
    }

    /// Nobody is connected any more.
    func lastConnectionHasGone() {
        if configuration.locksOnLastDisconnect { lock(because: .lastDisconnect) }
    }

    // MARK: Following the clock

    /// Carries out what is due: after a sleep of the machine, requests come as early as the timer does.
    func settleLocks() {
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
        if !steps.isEmpty { announce(steps == [.beginLocking] ? .going : .gone) }
        setLockTimer()
    }

    /// Notes whether the turn has used a key that the passcode protects.
    func noteUse() {
        guard schedule.countsUse, vault.openKeys?.takeUse() == true else { return }
        schedule.noteUse(at: configuration.clock.now)
    }

    private func carryOut(_ step: LockSchedule.Step, on keys: VaultKeys) {
        endContexts()
        switch step {
        case .beginLocking:
            keys.beginLocking()
            return noteState(keys.state, because: lockCause)
        case .lock: keys.lock()
        case .expireInactive: keys.expireInactive()
        case .forget: keys.forget()
        }
        noteState(keys.state, because: step == .lock ? lockCause : nil)
        vault.openCatalog?.files.revokeOpenKeys(in: keys.state)
        withholdPayloads(in: keys.state)
        wipeUnfinishedPayloads()
        keepWhatWasWritten()
        logIsDue = true
    }

    /// A deadline that has moved away is found out when the timer goes off: a system call with each use would cost more.
    private func setLockTimer() {
        guard let next = schedule.nextDeadline, next < lockTimerDeadline ?? .max else { return }
        lockTimerDeadline = next
        lockTimer?.set(next)
    }

    func lockTimerFired() {
        lockTimerDeadline = nil
        settleLocks()
    }

    // MARK: What is in flight

    /// Wipes what has come of payloads that are not complete: the rest may never come.
    func wipeUnfinishedPayloads() {
        for session in sessions.values { session.wipeUnfinishedPayload() }
    }

    /// Takes back what waits to be sent and may not outlive its key.
    func withholdPayloads(in state: VaultState) {
        let error = CofferError.locked("the item", in: state, for: .read)
        for (number, session) in sessions where session.hasPayloadToWithhold(in: state) {
            queueAnswers(of: session, number)
            if !session.withholdPayloads(in: state, with: error) { drop(session, number) }
        }
    }
}
