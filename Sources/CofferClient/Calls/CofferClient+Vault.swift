public import CofferCore
internal import CofferMemory
public import CofferWire

extension CofferClient {
    /// The state of the vault and what is in it.
    ///
    /// - Throws: `io` or `decode` where the vault can't be used.
    public func status() async throws(CofferError) -> VaultStatus {
        try await call(.vaultStatus, Empty(), returning: VaultStatus.self).value
    }

    /// Makes a vault, unlocked.
    ///
    /// - Parameters:
    ///   - passcode: What protects the class keys; `nil` for a vault without a passcode.
    ///   - kdf: What a guess is to cost; moderate if nothing is said.
    ///   - hasRecoveryKey: Whether a recovery key is made.
    ///   - erasesData: Whether the vault is to erase itself when the attempts end.
    /// - Returns: The state of the vault, and the recovery key as a text of groups.
    /// - Throws: `duplicateItem` where there is one.
    public func initialize(
        passcode: Secret?,
        kdf: PasscodeCost? = nil,
        hasRecoveryKey: Bool = true,
        erasesData: Bool = false
    ) async throws(CofferError) -> (status: VaultStatus, recoveryKey: Secret?) {
        let params = VaultInitParameters(
            kdf: kdf,
            hasNoPasscode: passcode == nil,
            hasNoRecoveryKey: !hasRecoveryKey,
            erasesData: erasesData
        )
        let returned = try await call(.vaultInit, params, payload: passcode, returning: VaultStatus.self)
        return (returned.value, hasRecoveryKey ? returned.payload : nil)
    }

    /// Unlocks.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups, which also opens where no passcode may be tried.
    ///   - credential: Which of the two it is.
    /// - Throws: `authFailed` where it is wrong, or may not be tried now; `param` where a recovery key is mistyped.
    @discardableResult
    public func unlock(
        with secret: Secret,
        as credential: Credential = .passcode
    ) async throws(CofferError) -> VaultStatus {
        let params = VaultUnlockParameters(credential: credential == .passcode ? nil : credential)
        return try await call(.vaultUnlock, params, payload: secret, returning: VaultStatus.self).value
    }

    /// Locks.
    ///
    /// - Parameter graceSeconds: Seconds for which everything still works; 0 locks at once, `nil` takes the daemon's
    ///   setting.
    /// - Throws: `notAvailable` for a vault without a passcode.
    @discardableResult
    public func lock(graceSeconds: Int? = nil) async throws(CofferError) -> VaultStatus {
        let params = VaultLockParameters(graceSeconds: graceSeconds.map { Int64($0) })
        return try await call(.vaultLock, params, returning: VaultStatus.self).value
    }

    /// Destroys every key of the vault, and then the rest of it: nothing brings it back.
    ///
    /// - Parameter vaultID: The vault that is meant, from its ``status()``; `nil` for whatever vault there is, which may not
    ///   be readable any more.
    /// - Throws: `param` where the daemon has another one.
    public func erase(vaultID: ItemID?) async throws(CofferError) {
        let params = VaultEraseParameters(vaultID: vaultID, isWhatever: vaultID == nil)
        _ = try await call(.vaultErase, params, returning: Empty.self)
    }

    // MARK: What is shown of a person

    /// Shows something of the person behind this program, for items whose access control asks for it.
    ///
    /// It is good on this connection only, until the vault is locked, and opens nothing by itself. When the connection breaks
    /// it is gone, and what needs it fails with `interactionRequired`.
    ///
    /// - Parameters:
    ///   - factor: What is shown.
    ///   - secret: The passcode, or the application password.
    ///   - reuseSeconds: For how long it can be reused, ``CofferCore/Limits/contextSeconds`` at most; for the next request only
    ///     by default, so nothing else may be under way then.
    /// - Throws: `authFailed` where the passcode is wrong, which counts; `notAvailable` where the vault has none.
    public func authenticate(
        _ factor: AuthenticationFactor,
        _ secret: Secret,
        reuseSeconds: Int = 0
    ) async throws(CofferError) {
        let params = ContextAuthenticateParameters(factor: factor, reuseSeconds: Int64(reuseSeconds))
        _ = try await call(.contextAuthenticate, params, payload: secret, returning: Empty.self)
    }

    /// Takes back what was shown on this connection.
    public func endContext() async throws(CofferError) {
        _ = try await call(.contextEnd, Empty(), returning: Empty.self)
    }
}
