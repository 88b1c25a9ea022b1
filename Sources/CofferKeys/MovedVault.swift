package import CofferCore
internal import CofferSystem

/// A vault whose device key is not on this machine: it was moved, or the key was lost.
///
/// The passcode is of no use without that device key. A recovery key needs none.
package struct MovedVault: Sendable {
    let keybag: Keybag
    let directory: Directory
    let deviceKeys: DeviceKeySource

    /// Identifies the vault.
    package var vaultID: ItemID { keybag.vaultID }

    /// The ways to open the vault, those that need the lost device key among them.
    package var slots: [KeyslotInfo] { keybag.slots.map { KeyslotInfo(number: Int($0.id), kind: $0.kind) } }

    /// Opens the vault with a recovery key and makes it one of this machine, with a new passcode; when this returns, that is on
    /// the disk.
    ///
    /// Stretches the passcode, so it is not for the event loop.
    ///
    /// - Parameters:
    ///   - recoveryKey: What the person has written down.
    ///   - change: Sets the new passcode.
    /// - Returns: The keys for ``VaultKeys/adopt(_:)``.
    /// - Throws: `authFailed` where the recovery key is not one of this vault.
    package func recover(
        with recoveryKey: borrowing RecoveryKey,
        _ change: borrowing KeybagChange
    ) throws(CofferError) -> UnlockedKeys {
        let opened = try open(recoveryKey)
        let deviceKey = try deviceKeys.keyForNewKeybag()
        // Under this machine's device key, the count that came along would be a damaged one. It goes first, which gives nobody a
        // guess at the passcode before: under the device key of that one, what is stored here is damaged.
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
