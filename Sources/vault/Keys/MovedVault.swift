package import CofferCore
internal import CofferSystem

/// A vault whose device key is not on this machine, because it was moved or the key was lost.
///
/// Without that device key the passcode is useless; a recovery key does not need it.
package struct MovedVault: Sendable {
    let keybag: Keybag
    let directory: Directory
    let deviceKeys: DeviceKeySource

    /// The id of the vault.
    package var vaultID: ItemID { keybag.vaultID }

    /// The keyslots of the vault, including those that need the lost device key.
    package var slots: [KeyslotInfo] { keybag.slots.map { KeyslotInfo(number: Int($0.id), kind: $0.kind) } }

    /// Opens the vault with a recovery key and binds it to this machine, with a new passcode; when this returns, that
    /// is on the disk.
    ///
    /// Stretches the passcode, so it is not for the event loop.
    ///
    /// - Parameters:
    ///   - recoveryKey: The recovery key as it was entered.
    ///   - change: Sets the new passcode.
    /// - Returns: The keys for ``VaultKeys/adopt(_:)``.
    /// - Throws: `authFailed` if the recovery key does not belong to this vault.
    package func recover(
        with recoveryKey: borrowing RecoveryKey,
        _ change: borrowing KeybagChange
    ) throws(CofferError) -> UnlockedKeys {
        let opened = try open(recoveryKey)
        let deviceKey = try deviceKeys.keyForNewKeybag()
        // Under this machine's device key, the copied count of attempts is invalid. It is replaced first. That does not
        // allow guesses at the old passcode: under its device key, the new file is invalid as well.
        try PasscodeAttempts.none.store(
            in: directory,
            of: vaultID,
            deviceKey,
            orSay: "can't clear the count of wrong passcodes, so the vault stays as it is"
        )
        let authentication = Authentication(
            keybag: keybag,
            deviceKey: deviceKey,
            attempts: .none,
            directory: directory
        )
        return try authentication.make(change, of: opened).takeKeys()
    }

    private func open(_ recoveryKey: borrowing RecoveryKey) throws(CofferError) -> OpenedKeybag {
        do throws(KeybagError) {
            return try keybag.open(recoveryKey)
        } catch {
            throw .init(error, "no keyslot of this vault is opened by this recovery key")
        }
    }
}
