package import CofferCore
internal import CofferCrypto
package import CofferMemory
package import CofferSystem

/// A vault's keys: which are in memory, and what they are used for.
///
/// Lives on one actor.
package final class VaultKeys {
    private let keybag: Keybag
    private let deviceKey: DeviceKey
    private let deviceKeys: DeviceClassKeys
    var lockState: LockState
    /// Whether a key that the passcode protects was used since somebody asked.
    var wasUsed = false
    /// The keys of the catalog's own data: there in every state, so that names can be searched while locked.
    package let catalog: CatalogKeys

    private init(_ keybag: Keybag, _ deviceKey: DeviceKey) throws(KeyError) {
        self.keybag = keybag
        self.deviceKey = deviceKey
        do throws(CryptoError) {
            let wrapping = try deviceKey.subkey(for: "coffer device wrap v1")
            deviceKeys = try DeviceClassKeys { (name) throws(CryptoError) in
                try keybag.unwrap(name, under: wrapping)
            }
            catalog = try CatalogKeys(from: deviceKeys.store)
            lockState = .beforeFirstUnlock
            if !keybag.hasPasscode {
                lockState = .unlocked(try keybag.open(deviceKey: deviceKey, passcode: nil))
            }
        } catch {
            throw KeyError(error)
        }
    }

    /// Identifies the vault: the catalog carries the same.
    package var vaultID: ItemID { keybag.vaultID }

    /// The state that clients see.
    package var state: VaultState { keybag.hasPasscode ? lockState.name : .noPasscode }

    // MARK: Coming up

    /// Opens the keys of the vault in a state directory.
    ///
    /// - Parameter directory: The state directory.
    /// - Returns: The keys, before first unlock unless there is no passcode; `nil` where there is no vault.
    /// - Throws: `decode` where the keybag is damaged, `notAvailable` where its device key is missing, `io`.
    package static func open(in directory: Directory) throws(CofferError) -> VaultKeys? {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try directory.contents(of: Keybag.fileName, limit: Keybag.maximumBytes)
        } catch {
            throw error.cofferError("can't read the keybag")
        }
        guard let bytes else { return nil }
        guard let deviceKey = try DeviceKey.load(from: directory) else {
            throw CofferError(
                .notAvailable,
                "the device key of this vault is missing",
                hint: "put the vault's own 'device.key' back into the state directory"
            )
        }
        let keybag = try Keybag(decoding: bytes, deviceKey: deviceKey)
        do throws(KeyError) {
            return try VaultKeys(keybag, deviceKey)
        } catch {
            throw error == .noMemory ? .noSecretMemory : .damagedKeybag("a wrapped key in it is not authentic")
        }
    }

    /// Makes a vault's keys and stores them, synced.
    ///
    /// Stretches the passcode, so it is not for the event loop.
    ///
    /// - Parameters:
    ///   - directory: The state directory, without a vault.
    ///   - passcode: What protects the class keys; `nil` for a vault without a passcode.
    ///   - cost: The cost of a guess.
    /// - Returns: The keys for ``adopt(_:)``: whoever makes a vault has unlocked it.
    package static func create(
        in directory: Directory,
        passcode: borrowing SecretBytes?,
        cost: PasscodeCost
    ) throws(CofferError) -> UnlockedKeys {
        let deviceKey = try DeviceKey.loadOrCreate(in: directory)
        let new: NewKeybag
        do {
            new = try NewKeybag(deviceKey: deviceKey, passcode: passcode, cost: cost)
        } catch {
            throw .noSecretMemory
        }
        let bytes = new.keybag.encoded(deviceKey: deviceKey)
        do {
            unsafe try directory.replace(Keybag.fileName, with: bytes.span.bytes)
        } catch {
            throw error.cofferError("can't store the keybag")
        }
        return new.takeKeys()
    }

    // MARK: Changing state

    /// What another thread needs to try a passcode.
    package struct UnlockAttempt: Sendable {
        fileprivate let keybag: Keybag
        fileprivate let deviceKey: DeviceKey

        /// Tries a passcode.
        ///
        /// Stretches it, so it is not for the event loop.
        ///
        /// - Parameter passcode: What the person typed.
        /// - Returns: The keys for ``VaultKeys/adopt(_:)``.
        /// - Throws: `authFailed` where it is wrong.
        package func perform(_ passcode: borrowing SecretBytes?) throws(CofferError) -> UnlockedKeys {
            do {
                return try keybag.open(deviceKey: deviceKey, passcode: passcode)
            } catch {
                guard error == .unauthentic else { throw .noSecretMemory }
                throw CofferError(
                    .authFailed,
                    "can't unlock the vault: wrong passcode",
                    hint: "repeat the command and try again"
                )
            }
        }
    }

    /// A new attempt to unlock.
    package func unlockAttempt() -> UnlockAttempt { UnlockAttempt(keybag: keybag, deviceKey: deviceKey) }

    // MARK: Class keys

    /// The public half of class B.
    var classBPublicKey: [UInt8] { keybag.classBPublicKey }

    /// Uses a class key where it lies.
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
