package import CofferCore
internal import CofferCrypto
internal import CofferMemory
package import CofferSystem

/// The keys of a vault: which are in memory, and operations with them.
///
/// It lives on the daemon's thread.
package final class VaultKeys {
    private var keybag: Keybag { didSet { noteState() } }
    /// Stored separately, because keybag and keys would be copied whenever a request asks for the state.
    private var knownState: VaultState
    let deviceKey: DeviceKey
    let directory: Directory
    private var attempts: PasscodeAttempts
    /// When the delay after wrong passcodes began, in nanoseconds of boot time.
    private var delayStart: UInt64
    private let deviceKeys: DeviceClassKeys
    var lockState: LockState { didSet { noteState() } }
    /// Whether a key that the passcode protects was used since the last ``takeUse()``.
    var wasUsed = false
    /// The keys of the catalog: in memory in every state, so that what is there can be searched.
    package let catalog: CatalogKeys

    private init(_ keybag: Keybag, _ deviceKey: DeviceKey, in directory: Directory, at now: UInt64) throws(KeyError) {
        self.keybag = keybag
        knownState = keybag.hasPasscode ? .beforeFirstUnlock : .noPasscode
        self.deviceKey = deviceKey
        self.directory = directory
        delayStart = now
        attempts = PasscodeAttempts.load(from: directory, of: keybag.vaultID, deviceKey)
        do throws(CryptoError) {
            deviceKeys = try keybag.deviceClassKeys(deviceKey)
            catalog = try CatalogKeys(from: deviceKeys.store)
        } catch {
            throw KeyError(error)
        }
        lockState = .beforeFirstUnlock
    }

    /// Whether the catalog has recorded the end of its audit ever since the keybag was created.
    package var isWitnessed: Bool { keybag.settings.isWitnessed }

    /// How often the vault lost its device key: what is ThisDeviceOnly and older is left behind.
    package var moveCount: UInt32 { keybag.settings.moveCount }

    /// The id of the vault, which is also in the catalog.
    package var vaultID: ItemID { keybag.vaultID }

    /// The state that clients see.
    package var state: VaultState { knownState }

    private func noteState() { knownState = keybag.hasPasscode ? lockState.name : .noPasscode }

    // MARK: Coming up

    /// The content of a state directory.
    package enum Opening {
        /// No keybag.
        case noVault
        /// A keybag whose device key is not on this machine: a recovery key opens it.
        case deviceKeyMissing(MovedVault)
        /// A vault: before first unlock unless there is no passcode.
        case vault(VaultKeys)
    }

    /// Opens the keys of the vault in a state directory.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - deviceKeys: The places of the device key.
    ///   - now: Nanoseconds of boot time, at which a delay after wrong passcodes starts again.
    /// - Throws: `decode` if the keybag is damaged, `io`.
    package static func open(
        in directory: Directory,
        _ deviceKeys: DeviceKeySource,
        at now: UInt64
    ) throws(CofferError) -> Opening {
        guard let stored = try Keybag.load(from: directory) else { return .noVault }
        guard let deviceKey = try deviceKeys.key(of: stored.keybag) else {
            return .deviceKeyMissing(MovedVault(keybag: stored.keybag, directory: directory, deviceKeys: deviceKeys))
        }
        let keybag = try stored.verified(with: deviceKey)
        do throws(SystemError) { try directory.requireOwner(of: PasscodeAttempts.fileName) } catch {
            throw error.cofferError("can't read the count of wrong passcodes")
        }
        // Removes what an interrupted change left of an older keybag, before anything is opened.
        try? directory.shredLeftovers(of: Keybag.fileName)
        let keys: VaultKeys
        do throws(KeyError) {
            keys = try VaultKeys(keybag, deviceKey, in: directory, at: now)
        } catch {
            throw error == .noMemory ? .noSecretMemory : .damagedKeybag("a wrapped key in it is not authentic")
        }
        keys.attempts.prepareFile(in: directory, of: keybag.vaultID, deviceKey)
        if !keybag.hasPasscode { try keys.unlockWithoutPasscode(at: now) }
        return .vault(keys)
    }

    private func unlockWithoutPasscode(at now: UInt64) throws(CofferError) {
        let authentication = Authentication(
            keybag: keybag,
            deviceKey: deviceKey,
            attempts: attempts,
            directory: directory
        )
        do {
            adopt(try settle(authentication.perform(.nothing), at: now).takeKeys())
        } catch {
            // The device key belongs to the keybag, so that its slot was tampered with.
            throw error.code == .authFailed ? .damagedKeybag("a wrapped key in it is not authentic") : error
        }
    }

    // MARK: Credentials and keyslots

    /// Prepares the check of a credential on another thread.
    ///
    /// - Parameters:
    ///   - credential: Its kind: only passcodes are throttled.
    ///   - now: Nanoseconds of boot time.
    /// - Throws: `authFailed` if passcodes are throttled now.
    package func authentication(
        with credential: Credential,
        at now: UInt64
    ) throws(CofferError) -> Authentication {
        if credential == .passcode {
            let delay = passcodeDelay(at: now)
            if delay != .none { throw .passcodeRefused(attempts.refusal, delay, hasRecoveryKey: keybag.hasRecoveryKey) }
        }
        return Authentication(keybag: keybag, deviceKey: deviceKey, attempts: attempts, directory: directory)
    }

    /// Applies the result of checking a credential.
    ///
    /// - Parameters:
    ///   - outcome: The result.
    ///   - now: Nanoseconds of boot time.
    /// - Returns: What the credential unlocked.
    /// - Throws: The reason if the credential was refused.
    package func settle(
        _ outcome: consuming Authentication.Outcome,
        at now: UInt64
    ) throws(CofferError) -> Authentication.Granted {
        if failedAttempts < outcome.attempts.failures { delayStart = now }
        attempts = outcome.attempts
        let granted = try outcome.takeGranted()
        keybag = granted.keybag
        return granted
    }

    /// The wrong passcodes since the last right one; nine if their count is damaged.
    package var failedAttempts: Int { attempts.failures }

    /// Whether no more passcodes are accepted.
    package var attemptsEnded: Bool { PasscodeAttempts.delay(afterFailures: failedAttempts) == .never }

    /// Whether the tenth wrong passcode erases the vault.
    package var erasesData: Bool { keybag.settings.erasesData }

    /// Whether the tenth wrong passcode was to erase the vault, and the erase was not completed.
    package var hasErasureDue: Bool { erasesData && keybag.hasPasscode && attempts.areUsedUp }

    /// Seconds until the next passcode is accepted; `nil` if it is accepted now, or never.
    ///
    /// - Parameter now: Nanoseconds of boot time.
    package func secondsToNextAttempt(at now: UInt64) -> Int? {
        guard case .seconds(let seconds) = passcodeDelay(at: now) else { return nil }
        return seconds
    }

    private func passcodeDelay(at now: UInt64) -> PasscodeAttempts.Delay {
        let delay = PasscodeAttempts.delay(afterFailures: failedAttempts)
        guard case .seconds(let seconds) = delay else { return delay }
        let end = delayStart + UInt64(seconds) * 1_000_000_000
        return end > now ? .seconds(Int((end - now + 999_999_999) / 1_000_000_000)) : .none
    }

    /// The keyslots of the vault.
    package var slots: [KeyslotInfo] { keybag.slots.map { KeyslotInfo(number: Int($0.id), kind: $0.kind) } }

    /// The change that adds a slot for a new recovery key.
    ///
    /// - Throws: `param` if the maximum number of slots is reached.
    package func addingSlot(_ recoveryKey: borrowing NewRecoveryKey) throws(CofferError) -> KeybagChange {
        let taken = Set(keybag.slots.map(\.id))
        guard taken.count < Limits.keyslots, let free = (UInt8(1)...UInt8.max).first(where: { !taken.contains($0) })
        else {
            throw CofferError(
                .param,
                "there are \(Limits.keyslots) keyslots already, which is the maximum",
                hint: "remove one with 'coffer slot remove'"
            )
        }
        return .adding(RecoverySlot(id: free, publicKey: recoveryKey.publicKey))
    }

    /// The change that removes the slot of a recovery key.
    ///
    /// - Parameter number: The slot's number.
    /// - Throws: `itemNotFound` if there is none, `param` if it is the slot of the device key or of the passcode.
    package func removingSlot(_ number: Int) throws(CofferError) -> KeybagChange {
        guard let slot = keybag.slots.first(where: { Int($0.id) == number }) else {
            throw CofferError(
                .itemNotFound,
                "there is no keyslot \(number)",
                hint: "'coffer slot list' shows the keyslots"
            )
        }
        switch slot.kind {
        case .recoveryKey: return .removing(slot.id)
        case .passcode:
            throw CofferError(
                .param,
                "keyslot \(number) is that of the passcode and can't be removed",
                hint: "change or remove the passcode with 'coffer passcode change' or 'coffer passcode remove'"
            )
        case .device:
            throw CofferError(
                .param,
                "keyslot \(number) is that of the device key and can't be removed",
                hint: "'coffer passcode set' replaces it by a passcode"
            )
        }
    }

    // MARK: Class keys

    /// The keys to which items and metadata are sealed in every state.
    var publicKeys: Keybag.PublicKeys { keybag.publicKeys }

    /// Calls a closure with a class key.
    func withKey<Result: ~Copyable>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(CryptoError) -> Result
    ) throws(KeyError) -> Result {
        let result: Result?
        do {
            if name.isHeldByDeviceKey {
                result = try deviceKeys.withKey(name, body)
            } else {
                result = try lockState.withKey(name, body)
                if result != nil { wasUsed = true }
            }
        } catch {
            throw KeyError(error)
        }
        guard let result else { throw .locked }
        return result
    }
}
