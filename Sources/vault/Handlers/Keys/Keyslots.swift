internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Passcodes and keyslots. Every change requires a credential even while the vault is unlocked: an unattended unlocked
// machine must not give an intruder a way in for later.

/// A credential to try on another thread, and the change to make if it is right.
private struct Attempt: ~Copyable, Sendable {
    let credential: GivenCredential
    let change: KeybagChange?
}

extension KeyHandlers {
    // MARK: Credentials

    func given(_ payload: consuming SecretBytes?, as kind: Credential) throws(CofferError) -> GivenCredential {
        guard let secret = payload else {
            throw CofferError(.param, "no \(kind == .passcode ? "passcode" : "recovery key") was given")
        }
        switch kind {
        case .passcode:
            try checkLength(secret)
            return .passcode(secret)
        case .recoveryKey: return .recoveryKey(try RecoveryKey(secret))
        }
    }

    func newPasscode(_ payload: consuming SecretBytes?, cost: PasscodeCost?) throws(CofferError) -> NewPasscode {
        guard let passcode = payload else { throw CofferError(.param, "no new passcode was given") }
        try checkLength(passcode)
        return NewPasscode(passcode, cost: cost)
    }

    private func checkLength(_ passcode: borrowing SecretBytes) throws(CofferError) {
        guard (1...Limits.passcodeBytes).contains(passcode.count) else {
            throw CofferError(.param, "a passcode has 1 to \(Limits.passcodeBytes) bytes")
        }
    }

    /// Tries a credential on the thread for keys.
    ///
    /// The request must have claimed the keys. The tenth wrong passcode erases the vault, if that is turned on.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - kind: Its kind.
    ///   - change: The change to make if it is right.
    ///   - next: Gets the keys that it opens.
    func authenticate(
        _ credential: consuming GivenCredential,
        as kind: Credential,
        _ change: consuming KeybagChange? = nil,
        then next: @escaping (consuming Authentication.Granted) throws -> Step
    ) throws -> Step {
        let keys = try keys
        let authentication = try keys.authentication(with: kind, at: settings.clock.now)
        return .work(with: Attempt(credential: credential, change: change), on: .keys) {
            (attempt) throws(CofferError) in
            authentication.perform(attempt.credential, attempt.change)
        } then: { [self] outcome in
            let hadEnded = keys.attemptsEnded
            let granted: Authentication.Granted
            do throws(CofferError) { granted = try keys.settle(outcome, at: settings.clock.now) } catch {
                if error.code == .authFailed { observer?.attemptDidFail(failedAttempts(of: keys)) }
                guard error.code == .authFailed, keys.attemptsEnded, !hadEnded, keys.erasesData else { throw error }
                try handlers.vault.eraseEverything()
                throw CofferError(
                    .authFailed,
                    "can't open the vault: it was the last wrong passcode, and the vault is erased"
                )
            }
            return try next(granted)
        }
    }

    private func failedAttempts(of keys: VaultKeys) -> FailedAttempts {
        FailedAttempts(
            count: keys.failedAttempts,
            retrySeconds: keys.secondsToNextAttempt(at: settings.clock.now),
            isEnded: keys.attemptsEnded
        )
    }

    // MARK: The passcode

    package func passcodeSet(_ params: PasscodeSetParameters, _ call: Call) throws -> Step {
        let new = try newPasscode(call.attachments.takePayload(), cost: params.kdf)
        let lockCount = shared.lockCount
        let change = KeybagChange.passcode(new, erasesData: params.erasesData)
        return try authenticate(.nothing, as: .passcode, change) { [self] granted in
            try keys.adopt(granted.takeKeys())
            observer?.keysDidChange(by: call.caller)
            // A lock that came meanwhile had no effect on a vault without a passcode, so it is repeated.
            if lockCount != shared.lockCount { observer?.lock(graceSeconds: 0) }
            return .done(Reply(try handlers.vault.status()))
        }
    }

    package func passcodeChange(_ params: PasscodeChangeParameters, _ call: Call) throws -> Step {
        var secrets = CountedPayload(call.attachments.takePayload())
        let kind = params.credential ?? .passcode
        let credential = try given(try secrets.next("the credential"), as: kind)
        let new = try newPasscode(try secrets.next("the new passcode"), cost: params.kdf)
        try secrets.finish()
        let change = KeybagChange.passcode(new, erasesData: params.erasesData)
        if let moved = try vault.moved { return try recover(moved, credential, change, call) }
        return try authenticate(credential, as: kind, change) { [self] _ in .done(Reply(try handlers.vault.status())) }
    }

    private func recover(
        _ moved: MovedVault,
        _ credential: consuming GivenCredential,
        _ change: consuming KeybagChange,
        _ call: Call
    ) throws -> Step {
        guard case .recoveryKey(let recoveryKey) = consume credential else {
            throw CofferError(
                .notAvailable,
                "the passcode is of no use without the device key, which is not on this machine",
                hint: "open the vault with a recovery key: 'coffer passcode change --recovery-key'"
            )
        }
        let lockCount = shared.lockCount
        return .work(with: Recovery(recoveryKey: recoveryKey, change: change), on: .keys) {
            (recovery) throws(CofferError) in
            try moved.recover(with: recovery.recoveryKey, recovery.change)
        } then: { [self] unlocked in
            let opened = try keys
            if lockCount == shared.lockCount { opened.adopt(unlocked) }
            observer?.keysDidChange(by: call.caller)
            return .done(Reply(try handlers.vault.status()))
        }
    }

    package func passcodeRemove(_ params: PasscodeRemoveParameters, _ call: Call) throws -> Step {
        let kind = params.credential ?? .passcode
        let credential = try given(call.attachments.takePayload(), as: kind)
        call.isFor("can't count the items that want a passcode")
        let catalog = try catalog
        try checkAgreed(to: params.destroyedCount)
        // No such item may be added meanwhile: the client has not agreed to lose it.
        catalog.keychain.isLosingPasscode = true
        call.atEnd { catalog.keychain.isLosingPasscode = false }
        return try authenticate(credential, as: kind, .removingPasscode()) { [self] granted in
            try keys.adopt(granted.takeKeys())
            observer?.keysDidChange(by: nil)
            call.isFor("the passcode is removed, but not the rows of the items that went with it")
            try catalog.change { changes in
                changes.noteUntold(try catalog.keychain.countWantingPasscode())
                try catalog.keychain.removeWantingPasscode()
            }
            return .committed { [self] in .done(Reply(try handlers.vault.status())) }
        }
    }

    private func checkAgreed(to count: Int64) throws {
        let found = try catalog.keychain.countWantingPasscode()
        guard count == Int64(found) else {
            throw CofferError(
                .param,
                "removing the passcode destroys \(found) items that require it, and \(count) were agreed to",
                hint: "check what would be lost, and agree to that: 'status' has the number in 'passcodeItems'"
            )
        }
    }

    // MARK: Keyslots

    package func slotList(_ params: SlotListParameters, _ call: Call) throws -> Step {
        if let moved = try vault.moved { return .done(Reply(SlotList(slots: moved.slots))) }
        let keys = try keys
        let labels = try openCatalog?.keyslotLabels(keys)
        return .done(Reply(SlotList(slots: labels?.described(keys.slots) ?? keys.slots)))
    }

    package func slotAdd(_ params: SlotAddParameters, _ call: Call) throws -> Step {
        let credential = try givenForSlots(call.attachments.takePayload(), params.credential)
        guard params.label?.utf8.count ?? 0 <= Limits.slotLabelBytes else {
            throw CofferError(.param, "parameter 'label': it has more than \(Limits.slotLabelBytes) bytes")
        }
        let recoveryKey = try NewRecoveryKey()
        let change = try keys.addingSlot(recoveryKey)
        let number = Int64(change.addedSlot ?? 0)
        let text = Held<SecretBytes>(recoveryKey.takeText())
        return try authenticate(credential, as: .passcode, change) { [self] granted in
            try adoptWithoutPasscode(granted)
            try changeLabels { $0.set(params.label, for: Int(number)) }
            return .committed { .done(Reply(SlotResult(number: number), payload: text.take())) }
        }
    }

    package func slotRemove(_ params: SlotRemoveParameters, _ call: Call) throws -> Step {
        let credential = try givenForSlots(call.attachments.takePayload(), params.credential)
        let change = try keys.removingSlot(Int(params.number))
        return try authenticate(credential, as: .passcode, change) { [self] granted in
            try adoptWithoutPasscode(granted)
            try changeLabels { $0.remove(Int(params.number)) }
            return .committed { .done }
        }
    }

    func changeLabels(_ change: (inout KeyslotLabels) -> Void) throws {
        let (catalog, keys) = (try catalog, try keys)
        var labels = try catalog.keyslotLabels(keys)
        change(&labels)
        try catalog.change { _ in try catalog.store(labels, keys) }
    }

    package func slotTest(_ params: SlotTestParameters, _ call: Call) throws -> Step {
        let kind = params.credential ?? .recoveryKey
        let credential = try given(call.attachments.takePayload(), as: kind)
        return try authenticate(credential, as: kind) { granted in
            .done(Reply(SlotResult(number: Int64(granted.slot))))
        }
    }

    /// The credential for changing keyslots: it must open the first one, since every new keybag wraps the keys for it.
    private func givenForSlots(
        _ payload: consuming SecretBytes?,
        _ kind: Credential?
    ) throws(CofferError) -> GivenCredential {
        guard kind != .recoveryKey else {
            throw CofferError(
                .param,
                "keyslots are changed with the passcode, and not with a recovery key",
                hint: "'coffer passcode change --recovery-key' sets a new passcode"
            )
        }
        // A vault without a passcode has no credential to present.
        guard let secret = payload else { return .nothing }
        return try given(secret, as: .passcode)
    }

    /// Takes over the new key for items that require a passcode, which a vault without a passcode keeps in memory.
    private func adoptWithoutPasscode(_ granted: consuming Authentication.Granted) throws(CofferError) {
        let keys = try keys
        if keys.state == .noPasscode { keys.adopt(granted.takeKeys()) }
    }
}

/// A recovery key to try on another thread, and the change to make if it is right.
private struct Recovery: ~Copyable, Sendable {
    let recoveryKey: RecoveryKey
    let change: KeybagChange
}
