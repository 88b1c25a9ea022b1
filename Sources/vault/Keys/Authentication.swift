internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// A check of a credential, and of the change that it authorizes, on another thread.
///
/// Only one may be performed at a time for a vault, because its result depends on the count of attempts.
package struct Authentication: Sendable {
    let keybag: Keybag
    let deviceKey: DeviceKey
    let attempts: PasscodeAttempts
    let directory: Directory

    /// The result, for ``VaultKeys/settle(_:at:)``.
    package struct Outcome: ~Copyable, Sendable {
        let attempts: PasscodeAttempts
        fileprivate let access: Access

        consuming func takeGranted() throws(CofferError) -> Granted {
            switch consume access {
            case .granted(let granted): return granted
            case .refused(let error): throw error
            }
        }
    }

    /// Whether the credential was right, and what it unlocked.
    fileprivate enum Access: ~Copyable, Sendable {
        case granted(Granted)
        case refused(CofferError)
    }

    /// The result of a right credential.
    package struct Granted: ~Copyable, Sendable {
        fileprivate let keys: UnlockedKeys
        /// The current keybag.
        let keybag: Keybag
        /// The number of the slot that was opened.
        package let slot: Int

        /// Takes the keys, for ``VaultKeys/adopt(_:)``.
        package consuming func takeKeys() -> UnlockedKeys { keys }
    }

    /// Checks a credential, and changes the keybag if it is right; when this returns, the change is on the disk.
    ///
    /// Stretches passcodes, so it is not for the event loop.
    ///
    /// - Parameters:
    ///   - credential: The presented credential.
    ///   - change: The change to be made; empty to unlock, or only to check the credential.
    package func perform(
        _ credential: borrowing GivenCredential,
        _ change: borrowing KeybagChange? = nil
    ) -> Outcome {
        var attempts = attempts
        do {
            let opened = try open(credential, &attempts)
            let granted: Granted
            switch change {
            case .none: granted = try grant(opened)
            case .some(let change):
                granted = try make(change, of: opened)
                if change.replacesPasscode { attempts = .none }
            }
            return Outcome(attempts: attempts, access: .granted(granted))
        } catch {
            return Outcome(attempts: attempts, access: .refused(error))
        }
    }

    private func grant(_ opened: borrowing OpenedKeybag, slot: UInt8? = nil) throws(CofferError) -> Granted {
        do throws(KeybagError) {
            return Granted(
                keys: try opened.keys(deviceKey),
                keybag: opened.keybag,
                slot: Int(slot ?? opened.slot)
            )
        } catch {
            throw .init(error, "")
        }
    }

    /// Makes the change to an opened keybag, and stores it.
    func make(
        _ change: borrowing KeybagChange,
        of opened: borrowing OpenedKeybag
    ) throws(CofferError) -> Granted {
        let next = try opened.changed(change, deviceKey: deviceKey)
        // With a keybag that erases, ten wrong passcodes on record would make the daemon erase the vault.
        if change.replacesPasscode && attempts.areUsedUp {
            try store(
                attempts.withoutTags,
                orSay: "can't store the count of wrong passcodes, so the keybag stays as it is"
            )
        }
        try next.keybag.store(in: directory, deviceKey: deviceKey)
        // The wrong passcodes were guesses at the old passcode, and are cleared once it is replaced. The change has
        // been made, so a full disk is not an error here.
        if change.replacesPasscode { try? store(.none, orSay: "") }
        return try grant(next, slot: opened.slot)
    }

    // MARK: Opening

    private func open(
        _ credential: borrowing GivenCredential,
        _ attempts: inout PasscodeAttempts
    ) throws(CofferError) -> OpenedKeybag {
        switch credential {
        case .nothing:
            do throws(KeybagError) {
                return try keybag.open(try deviceKEK())
            } catch {
                throw .init(error, "the vault has a passcode, and none was given")
            }
        case .recoveryKey(let recoveryKey):
            do throws(KeybagError) {
                return try keybag.open(recoveryKey)
            } catch {
                throw .init(error, "no keyslot of this vault is opened by this recovery key")
            }
        case .passcode(let passcode):
            return try open(passcode, &attempts)
        }
    }

    private func deviceKEK() throws(KeybagError) -> SymmetricKey {
        do { return try deviceKey.deviceKEK() } catch { throw .noMemory }
    }

    /// Tries a passcode.
    ///
    /// It is counted before it is stretched, so that killing the daemon gains nothing.
    private func open(
        _ passcode: borrowing SecretBytes,
        _ attempts: inout PasscodeAttempts
    ) throws(CofferError) -> OpenedKeybag {
        guard case .passcode(let stretching) = keybag.primarySlot.lock else {
            throw CofferError(.notAvailable, "the vault has no passcode")
        }
        let before = attempts
        try store(before.withOneMore, orSay: "can't count the attempt, so it is not made")
        attempts = before.withOneMore
        let guess: Guess
        do {
            guess = try self.guess(passcode, stretching)
        } catch {
            takeBack(before, &attempts)
            throw error
        }
        let tag = guess.tag
        do throws(KeybagError) {
            let opened = try keybag.open(guess.takeKEK())
            attempts = .none
            // A user who knows the passcode is admitted, even if the disk is full.
            try? store(.none, orSay: "")
            return opened
        } catch .wrongCredential {
            attempts = before.after(wrong: tag)
            // The attempt is counted on the disk already; if this fails, only a repeated wrong passcode is not
            // recognised.
            try? store(attempts, orSay: "")
            throw .wrongPasscode(attempts, hasRecoveryKey: keybag.hasRecoveryKey)
        } catch {
            takeBack(before, &attempts)
            throw .init(error, "")
        }
    }

    /// Does not count a guess that was not answered; if that can't be stored, it counts.
    private func takeBack(_ before: PasscodeAttempts, _ attempts: inout PasscodeAttempts) {
        if (try? store(before, orSay: "")) != nil { attempts = before }
    }

    /// A stretched passcode.
    private struct Guess: ~Copyable {
        let kek: SymmetricKey
        /// Identifies the same passcode without revealing it.
        let tag: [UInt8]

        consuming func takeKEK() -> SymmetricKey { kek }
    }

    private func guess(
        _ passcode: borrowing SecretBytes,
        _ stretching: Keyslot.Stretching
    ) throws(CofferError) -> Guess {
        let stretched: SymmetricKey? = try stretching.stretch(passcode)
        do {
            let tag = try deviceKey.subkey(for: "coffer guess tag v1", mixing: stretched).bytes.exposeBytes()
            return Guess(kek: try deviceKey.passcodeKEK(stretched), tag: tag)
        } catch {
            throw .noSecretMemory
        }
    }

    private func store(_ attempts: PasscodeAttempts, orSay subject: String) throws(CofferError) {
        try attempts.store(in: directory, of: keybag.vaultID, deviceKey, orSay: subject)
    }
}

extension CofferError {
    init(_ error: KeybagError, _ refusal: String) {
        switch error {
        case .wrongCredential: self.init(.authFailed, refusal, hint: "coffer slot list shows what opens the vault")
        case .damaged: self = .damagedKeybag("the content of its slot is wrong")
        case .noMemory: self = .noSecretMemory
        }
    }

    fileprivate static func wrongPasscode(_ attempts: PasscodeAttempts, hasRecoveryKey: Bool) -> CofferError {
        let delay = PasscodeAttempts.delay(afterFailures: attempts.failures)
        return .passcodeRefused("wrong passcode", delay, hasRecoveryKey: hasRecoveryKey)
    }

    /// The error for a passcode that was wrong, or presented too early.
    static func passcodeRefused(
        _ reason: String,
        _ delay: PasscodeAttempts.Delay,
        hasRecoveryKey: Bool
    ) -> CofferError {
        let subject = "can't open the vault: \(reason)"
        switch delay {
        case .none: return CofferError(.authFailed, subject, hint: "repeat the command and try again")
        case .seconds(let seconds):
            let wait = "the next passcode is accepted in \(durationForDisplay(seconds: seconds))"
            return CofferError(
                .authFailed,
                subject,
                hint: hasRecoveryKey ? wait + "; a recovery key at any time" : wait,
                retry: .afterDelay(seconds: seconds)
            )
        case .never:
            return CofferError(
                .authFailed,
                "\(subject), and no more passcodes are accepted",
                hint: hasRecoveryKey
                    ? "a recovery key still opens it: 'coffer passcode change --recovery-key'"
                    : "it can't be opened any more, because it has no recovery key: 'coffer erase' removes it"
            )
        }
    }
}
