internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferPast
package import CofferVault
package import CofferWire

extension VaultHandlers {
    package func vaultStatus(_ params: VaultStatusParameters, _ call: Call) throws -> Step {
        .done(Reply(try status(for: call.caller)))
    }

    /// - Parameter caller: The client, if it is to know of mounts that have not confirmed a lock.
    func status(for caller: Caller? = nil) throws(CofferError) -> VaultStatus {
        let state = try vault.state()
        let now = settings.clock.now
        let keys = openKeys
        // The state is reported even if the items can't be counted: it is needed most when something is wrong.
        let catalog = openCatalog
        let failure = keys.flatMap { catalog?.backupFailure($0) }
        let trash = try? catalog?.past.total()
        let idleLock = [.noVault, .noPasscode, .deviceKeyMissing].contains(state) ? nil : observer?.idleLock
        return VaultStatus(
            state: state,
            keychainCount: try? catalog?.keychain.count(),
            fileCount: try? catalog?.files.count(),
            graceMilliseconds: observer?.graceEnd.map { deadline in
                deadline > now ? Int64((deadline - now) / 1_000_000) : 0
            },
            defaultClass: keys.flatMap { keys in
                (try? catalog?.defaultClass(of: AccessGroup.owners, keys)) ?? nil
            },
            lockAfterSeconds: idleLock?.seconds,
            lockAfterIsDefault: idleLock?.isDefault ?? false,
            vaultID: try vault.id,
            failedAttempts: keys?.failedAttempts ?? 0,
            retrySeconds: keys?.secondsToNextAttempt(at: now),
            attemptsEnded: keys?.attemptsEnded ?? false,
            erasesData: keys?.erasesData ?? false,
            passcodeItemCount: try? catalog?.keychain.countWantingPasscode(),
            backupDueSeconds: keys.flatMap { catalog?.backupDueSeconds($0) },
            backupFailed: failure?.failed,
            backupCompleted: failure?.completed,
            sealedCount: (try? catalog.map { try $0.keychain.sealedCount() + $0.files.sealedCount() }) ?? 0,
            trashCount: trash?.count ?? 0,
            trashByteCount: trash?.byteCount ?? 0,
            configurationTrouble: vault.trouble,
            unconfirmed: unconfirmedMounts(in: state, for: caller),
            faults: catalog?.faults ?? []
        )
    }

    private func unconfirmedMounts(in state: VaultState, for caller: Caller?) -> [UnconfirmedMount] {
        guard let caller, caller.rights.verbs.contains(.lock) else { return [] }
        switch state {
        case .locked, .lockedExpired, .beforeFirstUnlock: return observer?.unconfirmedMounts ?? []
        case .noVault, .deviceKeyMissing, .noPasscode, .unlocked, .locking: return []
        }
    }

    package func vaultInit(_ params: VaultInitParameters, _ call: Call) throws -> Step {
        let passcode = call.attachments.takePayload()
        let hasPasscode = passcode.byteCount > 0
        guard hasPasscode || params.hasNoPasscode else {
            throw CofferError(.param, "no passcode was given", hint: "give one, or ask for a vault without a passcode")
        }
        guard !hasPasscode || !params.hasNoPasscode else {
            throw CofferError(.param, "a passcode was given for a vault without one")
        }
        guard hasPasscode || !params.erasesData else {
            throw CofferError(.param, "without a passcode there are no wrong ones to erase the vault after")
        }
        var publicKey: [UInt8]?
        var text: SecretBytes?
        if !params.hasNoRecoveryKey {
            let recoveryKey = try NewRecoveryKey()
            publicKey = recoveryKey.publicKey
            text = recoveryKey.takeText()
        }
        let recoveryKeyText = Held<SecretBytes>(text)
        let plan = VaultPlan(
            passcode: hasPasscode ? try handlers.passcode.newPasscode(passcode, cost: params.kdf) : nil,
            recoveryPublicKey: publicKey,
            erasesData: params.erasesData
        )
        let directory = try vault.stateDirectory()
        let deviceKeys = try vault.deviceKeySource()
        let lockCount = shared.lockCount
        try vault.beginMaking()
        var isMade = false
        call.atEnd { [self] in if !isMade { vault.takeBackMaking() } }
        return .work(with: plan, on: .keys) { (plan) throws(CofferError) in
            try VaultKeys.create(in: directory, deviceKeys, plan)
        } then: { [self] unlocked in
            let opened = try vault.endMaking()
            if opened.state != .noPasscode && lockCount == shared.lockCount { opened.adopt(unlocked) }
            isMade = true
            if let slot = opened.slots.first(where: { $0.kind == .recoveryKey }) {
                // With a commit of its own: the recovery key is delivered even if its date can't be stored.
                try? handlers.passcode.changeLabels { $0.set(nil, for: slot.number) }
                observer?.commit()
            }
            observer?.keysDidChange(by: call.caller)
            return .done(Reply(try status(), payload: recoveryKeyText.take()))
        }
    }

    package func vaultUnlock(_ params: VaultUnlockParameters, _ call: Call) throws -> Step {
        let kind = params.credential ?? .passcode
        let credential = try handlers.passcode.given(call.attachments.takePayload(), as: kind)
        let lockCount = shared.lockCount
        return try handlers.passcode.authenticate(credential, as: kind) { [self] granted in
            guard lockCount == shared.lockCount else {
                throw CofferError(
                    .interactionNotAllowed,
                    "the vault was locked while it was being unlocked",
                    hint: "run 'coffer unlock' again",
                    retry: .afterUnlock
                )
            }
            try keys.adopt(granted.takeKeys())
            observer?.keysDidChange(by: call.caller)
            return .done(Reply(try status()))
        }
    }

    package func vaultErase(_ params: VaultEraseParameters, _ call: Call) throws -> Step {
        if let vaultID = params.vaultID, try vault.id != vaultID {
            throw CofferError(
                .param,
                "parameter 'vaultID' is not the id of this vault",
                hint: "'coffer status --json' shows it"
            )
        }
        try eraseEverything()
        return .done
    }

    func eraseEverything() throws(CofferError) {
        // Changes of this turn are committed and acknowledged before the erasure.
        observer?.commit()
        shared.lockCount += 1
        shared.authentications.endAll()
        defer { observer?.keysDidChange(by: nil) }
        try shared.erase()
        observer?.withholdPayloads(in: .noVault)
        removeRemains()
    }

    /// Removes the contents of erased vaults, on another thread.
    package func removeRemains() {
        guard let directory = try? vault.stateDirectory(), Erasure.hasRemains(in: directory) else { return }
        // What can't be removed now is unreadable without its keys, and is removed at the next start of the daemon.
        shared.chores.append(
            Chore(tenant: 0) { _ in
                .work(with: ()) { (_) throws(CofferError) in
                    try Erasure.removeRemains(in: directory)
                } then: { _ in
                    .done
                }
            }
        )
    }

    package func vaultLock(_ params: VaultLockParameters, _ call: Call) throws -> Step {
        observer?.lock(graceSeconds: params.graceSeconds.map { Int($0) })
        return .done(Reply(try status(for: call.caller)))
    }
}
