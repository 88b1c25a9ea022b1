internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

extension Server {
    func vaultStatus() throws(CofferError) -> VaultStatus {
        let state = try vault.state()
        let now = configuration.clock.now
        let keys = vault.openKeys
        // A catalog that can't be counted does not hide the state, which is what somebody in need asks for.
        let catalog = vault.openCatalog
        return VaultStatus(
            state: state,
            keychainCount: try? catalog?.keychain.count(),
            fileCount: try? catalog?.files.count(),
            graceMilliseconds: schedule.graceEnd.map { deadline in
                deadline > now ? Int64((deadline - now) / 1_000_000) : 0
            },
            vaultID: try vault.id,
            failedAttempts: keys?.failedAttempts ?? 0,
            retrySeconds: keys?.secondsToNextAttempt(at: now),
            attemptsEnded: keys?.attemptsEnded ?? false,
            erasesData: keys?.erasesData ?? false,
            passcodeItemCount: try? catalog?.keychain.countWantingPasscode(),
            configurationTrouble: trouble,
            faults: catalog?.faults ?? []
        )
    }

    /// Makes a vault, unlocked, and gives its recovery key out.
    func initVault(
        _ params: VaultInitParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        let passcode = attachments.takePayload()
        try attachments.refuseLeftovers(of: .vaultInit)
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
        let recoveryKeyText = Handoff(text)
        let plan = VaultPlan(
            passcode: hasPasscode ? try newPasscode(passcode, cost: params.kdf) : nil,
            recoveryPublicKey: publicKey,
            erasesData: params.erasesData
        )
        let directory = try vault.stateDirectory()
        let deviceKeys = try vault.deviceKeySource()
        return { (transfer) async throws(CofferError) in
            // Another client may have made one while this one waited.
            try await self.takeTurn(of: .vaultInit, transfer)
            defer { self.keyOperations.leave() }
            try self.vault.beginMaking()
            let lockCount = self.lockCount
            do throws(CofferError) {
                let keys = try await self.keyWorkers.run { () throws(CofferError) in
                    try VaultKeys.create(in: directory, deviceKeys, plan)
                }
                let opened = try self.vault.endMaking()
                if opened.state != .noPasscode && lockCount == self.lockCount { opened.adopt(keys) }
            } catch {
                self.vault.takeBackMaking()
                throw error
            }
            self.keysHaveChanged(by: caller)
            return Reply(try self.vaultStatus(), payload: recoveryKeyText.take())
        }
    }

    /// Unlocks, if the credential is right and no lock comes in between.
    func unlockVault(
        _ params: VaultUnlockParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        let kind = params.credential ?? .passcode
        let credential = Handoff(try given(attachments.takePayload(), as: kind))
        try attachments.refuseLeftovers(of: .vaultUnlock)
        return { (transfer) async throws(CofferError) in
            let lockCount = self.lockCount
            let granted = try await self.authenticate(for: .vaultUnlock, credential, as: kind, transfer)
            guard lockCount == self.lockCount else {
                throw CofferError(
                    .interactionNotAllowed,
                    "the vault was locked while it was being unlocked",
                    hint: "run 'coffer unlock' again",
                    retry: .afterUnlock
                )
            }
            try self.vault.keys.adopt(granted.takeKeys())
            self.keysHaveChanged(by: caller)
            return Reply(try self.vaultStatus())
        }
    }

    /// Erases the vault that the client names, and everything in it.
    func eraseVault(_ params: VaultEraseParameters) -> Work {
        { (transfer) async throws(CofferError) in
            try await self.takeTurn(of: .vaultErase, transfer)
            defer { self.keyOperations.leave() }
            if let vaultID = params.vaultID, try self.vault.id != vaultID {
                throw CofferError(
                    .param,
                    "parameter 'vaultID' is not the id of this vault",
                    hint: "'coffer status --json' shows it"
                )
            }
            try self.eraseEverything()
            return Reply(Empty())
        }
    }

    /// Destroys the keys and what they sealed; the caller has to have passed the turnstile of keys.
    func eraseEverything() throws(CofferError) {
        // Those who changed something in this turn get their answers: it was done, and then erased.
        try? vault.openCatalog?.commit()
        lockCount += 1
        endContexts()
        defer { keysHaveChanged() }
        try vault.erase()
        withholdPayloads(in: .noVault)
        wipeUnfinishedPayloads()
        removeRemains()
    }

    /// Removes, on another thread, what erased vaults have left.
    func removeRemains() {
        guard let directory = try? vault.stateDirectory(), Erasure.hasRemains(in: directory) else { return }
        // What can't be removed now has no key, and is tried again when a daemon comes up.
        workers.start { try? Erasure.removeRemains(in: directory) }
    }

    /// Locks, at once or when the grace is over.
    func lockVault(_ params: VaultLockParameters) throws(CofferError) -> VaultStatus {
        lock(graceSeconds: params.graceSeconds.map { Int($0) })
        return try vaultStatus()
    }
}
