public import CofferCore
package import CofferMemory
internal import CofferWire

extension CofferClient {
    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() throws(CofferError) -> VaultStatus {
        try call(.vaultStatus, Nothing(), returning: VaultStatus.self).value
    }

    /// Makes a vault, unlocked.
    ///
    /// - Parameters:
    ///   - passcode: What protects the class keys; `nil` for a vault without a passcode.
    ///   - kdf: What a guess is to cost.
    /// - Throws: `duplicateItem` where there is one.
    package func initialize(
        passcode: borrowing SecretBytes?,
        kdf: PasscodeCost?
    ) throws(CofferError) -> VaultStatus {
        let params = InitParameters(kdf: kdf, hasNoPasscode: passcode == nil)
        return try call(.vaultInit, params, payload: passcode, returning: VaultStatus.self).value
    }

    /// Unlocks.
    ///
    /// - Parameter passcode: What the person typed.
    /// - Throws: `authFailed` where it is wrong.
    package func unlock(passcode: borrowing SecretBytes?) throws(CofferError) -> VaultStatus {
        try call(.vaultUnlock, Nothing(), payload: passcode, returning: VaultStatus.self).value
    }

    /// Locks.
    ///
    /// - Parameter graceSeconds: Seconds for which everything still works; 0 locks at once, `nil` takes the daemon's
    ///   setting.
    /// - Throws: `notAvailable` for a vault without a passcode.
    public func lock(graceSeconds: Int? = nil) throws(CofferError) -> VaultStatus {
        let params = LockParameters(graceSeconds: graceSeconds.map { Int64($0) })
        return try call(.vaultLock, params, returning: VaultStatus.self).value
    }
}
