package import CofferCore
internal import CofferCrypto
package import CofferMemory
package import CofferSystem

/// A new recovery key, for a keyslot and to be printed once.
package struct NewRecoveryKey: ~Copyable, Sendable {
    /// The public key, which is all that the vault stores.
    package let publicKey: [UInt8]
    private let text: SecretBytes

    /// Creates a recovery key.
    package init() throws(CofferError) {
        do {
            let key = try RecoveryKey()
            let text = try key.text()
            publicKey = KeyAgreement.publicKey(of: try key.privateKey())
            self.text = text
        } catch {
            throw .noSecretMemory
        }
    }

    /// Takes the text for printing.
    package consuming func takeText() -> SecretBytes { text }
}

/// The parameters of a new vault.
package struct VaultPlan: ~Copyable, Sendable {
    /// The passcode; `nil` for a vault without one.
    let passcode: NewPasscode?
    /// The public key of the recovery key, if there is one.
    let recoveryPublicKey: [UInt8]?
    /// Whether the tenth wrong passcode erases the vault.
    let erasesData: Bool

    package init(
        passcode: consuming NewPasscode?,
        recoveryPublicKey: [UInt8]? = nil,
        erasesData: Bool = false
    ) {
        self.passcode = passcode
        self.recoveryPublicKey = recoveryPublicKey
        self.erasesData = erasesData
    }
}

extension VaultKeys {
    /// Creates a vault's keys, random and never derived, and stores them, synced.
    ///
    /// Stretches the passcode, so it is not for the event loop.
    ///
    /// - Parameters:
    ///   - directory: The state directory, without a vault.
    ///   - deviceKeys: The places of the device key.
    ///   - plan: The parameters of the vault.
    /// - Returns: The keys for ``adopt(_:)``: a new vault is unlocked.
    /// - Throws: `duplicateItem` if there is a keybag already.
    package static func create(
        in directory: Directory,
        _ deviceKeys: DeviceKeySource,
        _ plan: borrowing VaultPlan
    ) throws(CofferError) -> UnlockedKeys {
        guard !directory.contains(Keybag.fileName) else {
            throw CofferError(.duplicateItem, "there is a vault already", hint: "unlock it with 'coffer unlock'")
        }
        let deviceKey = try deviceKeys.keyForNewKeybag()
        let opened = try NewVault.keybag(plan, deviceKey)
        // The count of attempts of an earlier vault does not apply.
        try PasscodeAttempts.none.store(
            in: directory,
            of: opened.keybag.vaultID,
            deviceKey,
            orSay: "can't store the count of wrong passcodes, so no vault is created"
        )
        try opened.keybag.store(in: directory, deviceKey: deviceKey)
        do { return try opened.keys(deviceKey) } catch { throw .noSecretMemory }
    }
}

private enum NewVault {
    static func keybag(_ plan: borrowing VaultPlan, _ deviceKey: DeviceKey) throws(CofferError) -> OpenedKeybag {
        let primary = try primary(plan, deviceKey)
        do throws(CryptoError) { return try make(plan, primary, deviceKey) } catch { throw .noSecretMemory }
    }

    private static func make(
        _ plan: borrowing VaultPlan,
        _ primary: borrowing PrimaryLock,
        _ deviceKey: DeviceKey
    ) throws(CryptoError) -> OpenedKeybag {
        try Keybag.make(
            of: ItemID(),
            deviceKey: deviceKey,
            primary: primary,
            recoverySlots: plan.recoveryPublicKey.map { publicKey in
                [RecoverySlot(id: Keybag.primarySlotID + 1, publicKey: publicKey)]
            } ?? [],
            settings: Keybag.Settings(erasesData: plan.erasesData)
        ) { (_) throws(CryptoError) in try Keybag.randomKey() }
    }

    private static func primary(
        _ plan: borrowing VaultPlan,
        _ deviceKey: DeviceKey
    ) throws(CofferError) -> PrimaryLock {
        switch plan.passcode {
        case .some(let new): try PrimaryLock(new.passcode, Keyslot.Stretching(new.cost, replacing: nil), deviceKey)
        case .none: try PrimaryLock(deviceKey)
        }
    }
}
