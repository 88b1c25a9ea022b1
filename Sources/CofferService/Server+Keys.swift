internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

// Passcodes and keyslots. Whoever changes them shows a credential, also where the vault is unlocked: an unlocked machine that
// is left alone for a moment gives nobody a way in for later.

extension Server {
    // MARK: Credentials

    /// What a client has sent, as a credential.
    func given(
        _ payload: consuming SecretBytes?,
        as kind: Credential
    ) throws(CofferError) -> GivenCredential {
        guard let secret = payload else { throw CofferError(.param, "no \(kind.words) was given") }
        switch kind {
        case .passcode:
            try checkLength(secret)
            return .passcode(secret)
        case .recoveryKey: return .recoveryKey(try RecoveryKey(secret))
        }
    }

    /// What a client has sent, as a new passcode.
    func newPasscode(
        _ payload: consuming SecretBytes?,
        cost: PasscodeCost?
    ) throws(CofferError) -> NewPasscode {
        guard let passcode = payload else { throw CofferError(.param, "no new passcode was given") }
        try checkLength(passcode)
        return NewPasscode(passcode, cost: cost)
    }

    private func checkLength(_ passcode: borrowing SecretBytes) throws(CofferError) {
        guard (1...Limits.passcodeBytes).contains(passcode.count) else {
            throw CofferError(.param, "a passcode has 1 to \(Limits.passcodeBytes) bytes")
        }
    }

    /// Waits until no other operation with keys is under way, and decides anew: the one before may have changed the state.
    ///
    /// Whoever calls this calls `keyOperations.leave()` in the end, unless it throws.
    func takeTurn(of method: Method, _ transfer: Transfer) async throws(CofferError) {
        await keyOperations.enter(for: transfer.tenant)
        do throws(CofferError) {
            try checkWanted(transfer)
            if let refusal = Gate.refusal(of: method, in: try vaultState(for: method)) { throw refusal }
        } catch {
            keyOperations.leave()
            throw error
        }
    }

    /// Tries a credential on another thread, one at a time, and makes a change where it is right.
    ///
    /// - Parameters:
    ///   - method: The request's method, which the gate is asked about again.
    ///   - credential: What the client gave.
    ///   - kind: What it is said to be.
    ///   - transfer: The request.
    ///   - change: What is to become different; asked when it is this request's turn.
    /// - Throws: `authFailed` where it is wrong. The tenth wrong passcode erases the vault, if that is turned on.
    func authenticate(
        for method: Method,
        _ credential: Handoff<GivenCredential>,
        as kind: Credential,
        _ transfer: Transfer,
        change: (VaultKeys) throws(CofferError) -> KeybagChange? = { _ in nil }
    ) async throws(CofferError) -> Authentication.Granted {
        try await takeTurn(of: method, transfer)
        defer { keyOperations.leave() }
        return try await show(credential, as: kind, change: change)
    }

    /// Tries a credential, when it is its turn.
    private func show(
        _ credential: Handoff<GivenCredential>,
        as kind: Credential,
        change: (VaultKeys) throws(CofferError) -> KeybagChange?
    ) async throws(CofferError) -> Authentication.Granted {
        let keys = try vault.keys
        let change = try change(keys)
        guard let credential = credential.take() else { throw .carriedOutTwice }
        let authentication = try keys.authentication(with: kind, at: configuration.clock.now)
        let outcome = try await keyWorkers.run { () throws(CofferError) in authentication.perform(credential, change) }
        let hadEnded = keys.attemptsEnded
        do throws(CofferError) {
            return try keys.settle(outcome, at: configuration.clock.now)
        } catch {
            if error.code == .authFailed { tellFailedAttempt(at: keys) }
            guard error.code == .authFailed, keys.attemptsEnded, !hadEnded, keys.erasesData else { throw error }
            try eraseEverything()
            throw CofferError(
                .authFailed,
                "can't open the vault: it was the last wrong passcode, and the vault is erased"
            )
        }
    }

    // MARK: The passcode

    /// Gives a passcode to a vault without one.
    func setPasscode(
        _ params: PasscodeSetParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        let new = Handoff(try newPasscode(attachments.takePayload(), cost: params.kdf))
        try attachments.refuseLeftovers(of: .passcodeSet)
        return { (transfer) async throws(CofferError) in
            let lockCount = self.lockCount
            let granted = try await self.authenticate(
                for: .passcodeSet,
                Handoff(.nothing),
                as: .passcode,
                transfer
            ) { (_) throws(CofferError) in
                guard let new = new.take() else { throw .carriedOutTwice }
                return .passcode(new, erasesData: params.erasesData)
            }
            try self.vault.keys.adopt(granted.takeKeys())
            self.keysHaveChanged(by: caller)
            // There was nothing that a lock could take when it came; there is now.
            if lockCount != self.lockCount { self.lock(graceSeconds: 0) }
            return Reply(try self.vaultStatus())
        }
    }

    /// Replaces the passcode; with a recovery key, also that of a vault whose device key is lost.
    func changePasscode(
        _ params: PasscodeChangeParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        var secrets = CountedPayload(attachments.takePayload())
        try attachments.refuseLeftovers(of: .passcodeChange)
        let kind = params.credential ?? .passcode
        let credential = Handoff(try given(try secrets.next("the credential"), as: kind))
        let new = Handoff(try newPasscode(try secrets.next("the new passcode"), cost: params.kdf))
        try secrets.finish()
        return { (transfer) async throws(CofferError) in
            try await self.takeTurn(of: .passcodeChange, transfer)
            defer { self.keyOperations.leave() }
            if let moved = try self.vault.moved {
                try await self.recover(moved, credential, new, params.erasesData, by: caller)
            } else {
                _ = try await self.show(credential, as: kind) { (_) throws(CofferError) in
                    guard let new = new.take() else { throw .carriedOutTwice }
                    return .passcode(new, erasesData: params.erasesData)
                }
            }
            return Reply(try self.vaultStatus())
        }
    }

    /// Makes a vault whose device key is lost one of this machine, unlocked.
    private func recover(
        _ moved: MovedVault,
        _ credential: Handoff<GivenCredential>,
        _ new: Handoff<NewPasscode>,
        _ erasesData: Bool?,
        by caller: Caller
    ) async throws(CofferError) {
        guard let new = new.take(), let given = credential.take() else { throw .carriedOutTwice }
        guard case .recoveryKey(let recoveryKey) = consume given else {
            throw CofferError(
                .notAvailable,
                "the passcode is of no use without the device key, which is not on this machine",
                hint: "open the vault with a recovery key: 'coffer passcode change --recovery-key'"
            )
        }
        let change = KeybagChange.passcode(new, erasesData: erasesData)
        let lockCount = lockCount
        let keys = try await keyWorkers.run { () throws(CofferError) in try moved.recover(with: recoveryKey, change) }
        let opened = try vault.keys
        if lockCount == self.lockCount { opened.adopt(keys) }
        keysHaveChanged(by: caller)
    }

    /// Takes the passcode away, and with it the items that must not be without one.
    func removePasscode(_ params: PasscodeRemoveParameters, _ attachments: Attachments) throws(CofferError) -> Work {
        let kind = params.credential ?? .passcode
        let credential = Handoff(try given(attachments.takePayload(), as: kind))
        try attachments.refuseLeftovers(of: .passcodeRemove)
        return { (transfer) async throws(CofferError) in
            let catalog = try self.vault.catalog
            // None may come to be that nobody has agreed to lose.
            defer { catalog.keychain.isLosingPasscode = false }
            let granted = try await self.authenticate(
                for: .passcodeRemove,
                credential,
                as: kind,
                transfer
            ) { (_) throws(CofferError) in
                try self.checkAgreed(to: params.destroyedCount)
                catalog.keychain.isLosingPasscode = true
                return .removingPasscode()
            }
            try self.vault.keys.adopt(granted.takeKeys())
            self.keysHaveChanged()
            do {
                try catalog.change { changes in
                    changes.noteUntold(try catalog.keychain.countWantingPasscode())
                    try catalog.keychain.removeWantingPasscode()
                }
                try await catalog.pendingCommit?.wait()
            } catch {
                throw .init(mapping: error, "the passcode is removed, but not the rows of the items that went with it")
            }
            return Reply(try self.vaultStatus())
        }
    }

    private func checkAgreed(to count: Int64) throws(CofferError) {
        let found: Int
        do {
            found = try vault.catalog.keychain.countWantingPasscode()
        } catch {
            throw .init(mapping: error, "can't count the items that want a passcode")
        }
        guard count == Int64(found) else {
            throw CofferError(
                .param,
                "removing the passcode destroys \(found) items of WhenPasscodeSetThisDeviceOnly, and \(count) were agreed to",
                hint: "look again at what is lost, and agree to that: 'status' has the number in 'passcodeItems'"
            )
        }
    }

    // MARK: Keyslots

    /// The ways to open the vault.
    func listSlots() throws(CofferError) -> SlotList {
        if let moved = try vault.moved { return SlotList(slots: moved.slots) }
        return SlotList(slots: try vault.keys.slots)
    }

    /// Makes a recovery key, and gives it out.
    func addSlot(_ params: SlotAddParameters, _ attachments: Attachments) throws(CofferError) -> Work {
        let credential = Handoff(try givenForSlots(attachments.takePayload(), params.credential))
        try attachments.refuseLeftovers(of: .slotAdd)
        let recoveryKey = Handoff(try NewRecoveryKey())
        return { (transfer) async throws(CofferError) in
            guard let recoveryKey = recoveryKey.take() else { throw .carriedOutTwice }
            var number = 0
            let granted = try await self.authenticate(for: .slotAdd, credential, as: .passcode, transfer) {
                (keys) throws(CofferError) in
                let change = try keys.addingSlot(recoveryKey)
                number = change.addedSlot ?? number
                return change
            }
            try self.adoptWithoutPasscode(granted)
            return Reply(SlotResult(number: Int64(number)), payload: recoveryKey.takeText())
        }
    }

    /// Removes the slot of a recovery key, which opens nothing from then on.
    func removeSlot(_ params: SlotRemoveParameters, _ attachments: Attachments) throws(CofferError) -> Work {
        let credential = Handoff(try givenForSlots(attachments.takePayload(), params.credential))
        try attachments.refuseLeftovers(of: .slotRemove)
        return { (transfer) async throws(CofferError) in
            let granted = try await self.authenticate(for: .slotRemove, credential, as: .passcode, transfer) {
                (keys) throws(CofferError) in
                try keys.removingSlot(Int(params.number))
            }
            try self.adoptWithoutPasscode(granted)
            return Reply(Empty())
        }
    }

    /// Says which slot a credential opens; nothing changes by it, the count of wrong passcodes aside.
    func testSlot(_ params: SlotTestParameters, _ attachments: Attachments) throws(CofferError) -> Work {
        let kind = params.credential ?? .recoveryKey
        let credential = Handoff(try given(attachments.takePayload(), as: kind))
        try attachments.refuseLeftovers(of: .slotTest)
        return { (transfer) async throws(CofferError) in
            let granted = try await self.authenticate(for: .slotTest, credential, as: kind, transfer)
            return Reply(SlotResult(number: Int64(granted.slot)))
        }
    }

    /// The keyslots are changed with what opens the first of them, for which each keybag is wrapped anew.
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
        // A vault without a passcode has nothing to show.
        guard let secret = payload else { return .nothing }
        return try given(secret, as: .passcode)
    }

    /// Without a passcode each keybag has a new key for what wants one, which the vault has in memory, too.
    private func adoptWithoutPasscode(_ granted: consuming Authentication.Granted) throws(CofferError) {
        let keys = try vault.keys
        if keys.state == .noPasscode { keys.adopt(granted.takeKeys()) }
    }
}

extension Credential {
    fileprivate var words: String {
        switch self {
        case .passcode: "passcode"
        case .recoveryKey: "recovery key"
        }
    }
}

extension CofferError {
    /// A handler took what it had taken before: a fault of ours.
    static let carriedOutTwice = CofferError(.internal, "a request was carried out twice")
}
