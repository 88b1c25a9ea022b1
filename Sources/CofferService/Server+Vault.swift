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
        // A catalog that can't be counted does not hide the state, which is what somebody in need asks for.
        let catalog = vault.openCatalog
        return VaultStatus(
            state: state,
            keychainCount: try? catalog?.keychain.count(),
            fileCount: try? catalog?.files.count(),
            graceMilliseconds: schedule.graceEnd.map { deadline in
                let now = configuration.clock.now
                return deadline > now ? Int64((deadline - now) / 1_000_000) : 0
            }
        )
    }

    /// Makes a vault, unlocked.
    func initVault(_ params: InitParameters, _ attachments: Attachments) throws(CofferError) -> Work {
        let passcode = attachments.takePayload()
        try attachments.refuseLeftovers(of: .vaultInit)
        switch passcode {
        case .none where !params.hasNoPasscode:
            throw CofferError(.param, "no passcode was given", hint: "give one, or ask for a vault without a passcode")
        case .some where params.hasNoPasscode:
            throw CofferError(.param, "a passcode was given for a vault without one")
        case .some: try checkPasscode(passcode)
        case .none: break
        }
        let cost = params.kdf ?? .moderate
        let directory = try vault.stateDirectory()
        return { (transfer) async throws(CofferError) in
            await self.keyOperations.enter()
            defer { self.keyOperations.leave() }
            try self.checkWanted(transfer)
            // Another client may have made one while this one waited.
            if let refusal = Gate.refusal(of: .vaultInit, in: try self.vault.state()) { throw refusal }
            try self.vault.prepareCatalog()
            let lockCount = self.lockCount
            let keys = try await self.keyWorkers.run { () throws(CofferError) in
                try VaultKeys.create(in: directory, passcode: passcode, cost: cost)
            }
            let opened = try self.vault.keys
            if opened.state != .noPasscode && lockCount == self.lockCount { opened.adopt(keys) }
            self.keysHaveChanged()
            return Reply(try self.vaultStatus())
        }
    }

    /// Unlocks, if the passcode is right and no lock comes in between.
    func unlockVault(_ attachments: Attachments) throws(CofferError) -> Work {
        let passcode = attachments.takePayload()
        try attachments.refuseLeftovers(of: .vaultUnlock)
        try checkPasscode(passcode)
        return { (transfer) async throws(CofferError) in
            await self.keyOperations.enter()
            defer { self.keyOperations.leave() }
            try self.checkWanted(transfer)
            let attempt = try self.vault.keys.unlockAttempt()
            let lockCount = self.lockCount
            let keys = try await self.keyWorkers.run { () throws(CofferError) in try attempt.perform(passcode) }
            guard lockCount == self.lockCount else {
                throw CofferError(
                    .interactionNotAllowed,
                    "the vault was locked while it was being unlocked",
                    hint: "run 'coffer unlock' again",
                    retry: .afterUnlock
                )
            }
            try self.vault.keys.adopt(keys)
            self.keysHaveChanged()
            return Reply(try self.vaultStatus())
        }
    }

    private func checkPasscode(_ passcode: borrowing SecretBytes?) throws(CofferError) {
        guard (1...Limits.passcodeBytes).contains(passcode.byteCount) else {
            throw CofferError(.param, "a passcode has 1 to \(Limits.passcodeBytes) bytes")
        }
    }

    /// Locks, at once or when the grace is over.
    func lockVault(_ params: LockParameters) throws(CofferError) -> VaultStatus {
        lock(graceSeconds: params.graceSeconds.map { Int($0) })
        return try vaultStatus()
    }
}
