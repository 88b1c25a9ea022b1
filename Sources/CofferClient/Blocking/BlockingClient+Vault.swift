public import CofferCore
package import CofferMemory
public import CofferWire

extension BlockingClient {
    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() throws(CofferError) -> VaultStatus {
        try call(.vaultStatus, Empty(), returning: VaultStatus.self).value
    }

    /// Makes a vault, unlocked.
    ///
    /// - Parameters:
    ///   - passcode: What protects the class keys; `nil` for a vault without a passcode.
    ///   - kdf: What a guess is to cost.
    ///   - hasNoRecoveryKey: Whether no recovery key is wanted.
    ///   - erasesData: Whether the vault is to erase itself when the attempts end.
    /// - Returns: The state of the vault; the payload is the recovery key, as a text of groups.
    /// - Throws: `duplicateItem` where there is one.
    package func initialize(
        passcode: borrowing SecretBytes?,
        kdf: PasscodeCost?,
        hasNoRecoveryKey: Bool = false,
        erasesData: Bool = false
    ) throws(CofferError) -> Returned<VaultStatus> {
        let params = VaultInitParameters(
            kdf: kdf,
            hasNoPasscode: passcode == nil,
            hasNoRecoveryKey: hasNoRecoveryKey,
            erasesData: erasesData
        )
        return try call(.vaultInit, params, payload: passcode, returning: VaultStatus.self)
    }

    /// Unlocks with the passcode.
    ///
    /// - Parameter passcode: What the person typed.
    /// - Throws: `authFailed` where it is wrong, or may not be tried now.
    package func unlock(passcode: borrowing SecretBytes?) throws(CofferError) -> VaultStatus {
        try call(.vaultUnlock, Empty(), payload: passcode, returning: VaultStatus.self).value
    }

    /// Unlocks with a recovery key, also where no passcode may be tried.
    ///
    /// - Parameter recoveryKey: The recovery key, as a text of groups.
    /// - Throws: `authFailed` where it is another vault's, `param` where it is mistyped.
    package func unlock(recoveryKey: borrowing SecretBytes?) throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: .recoveryKey)
        return try call(.vaultUnlock, params, payload: recoveryKey, returning: VaultStatus.self).value
    }

    /// Locks.
    ///
    /// - Parameter graceSeconds: Seconds for which everything still works; 0 locks at once, `nil` takes the daemon's
    ///   setting.
    /// - Throws: `notAvailable` for a vault without a passcode.
    public func lock(graceSeconds: Int? = nil) throws(CofferError) -> VaultStatus {
        let params = VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })
        return try call(.vaultLock, params, returning: VaultStatus.self).value
    }

    /// Destroys every key of the vault, and then the rest of it: nothing brings it back.
    ///
    /// - Parameter vaultID: The vault that is meant, from its ``status()``.
    /// - Throws: `param` where the daemon has another one.
    public func erase(vaultID: ItemID) throws(CofferError) {
        _ = try call(.vaultErase, VaultEraseParameters(vaultID: vaultID), returning: Empty.self)
    }

    /// Destroys every key of whatever vault there is, and then the rest of it: for one that can't be read any more.
    public func eraseWhateverIsThere() throws(CofferError) {
        _ = try call(.vaultErase, VaultEraseParameters(isWhatever: true), returning: Empty.self)
    }

    /// Asks for the events of the vault, which ``nextEvent()`` gives from here on.
    ///
    /// - Parameter selection: What else is to be told than locking and unlocking.
    /// - Throws: `notAvailable` where the daemon is gone.
    public func watch(_ selection: EventSelection = []) throws(CofferError) {
        _ = try call(.vaultWatch, VaultWatchParameters(selection), returning: Empty.self)
    }

    /// Waits for the next event, which may have come during another call on this connection.
    ///
    /// - Returns: The event.
    /// - Throws: `notAvailable` when the daemon goes.
    public func nextEvent() throws(CofferError) -> VaultEvent {
        while true {
            if let event = takeEvent() { return event }
            try receiveNews()
        }
    }
}
