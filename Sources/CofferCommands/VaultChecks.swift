internal import CofferCore

/// What a verb looks at before a person types for nothing. The daemon decides again.
extension VaultStatus {
    /// Refuses where there is no vault.
    func requireVault() throws(CofferError) {
        if state == .noVault {
            throw CofferError(.notAvailable, "there is no vault yet", hint: "make one with 'coffer init'")
        }
    }

    /// Refuses where the vault has come from another machine, but for the verb that makes it this one's.
    func requireDeviceKey() throws(CofferError) {
        if state == .deviceKeyMissing {
            throw CofferError(
                .notAvailable,
                "the device key of the vault is not here: the vault comes from another machine, or the key is lost",
                hint: "'coffer passcode change --recovery-key' makes it this machine's, with a new passcode"
            )
        }
    }

    /// Refuses where there is no passcode.
    ///
    /// - Parameter consequence: What can't be done then.
    func requirePasscode(orElse consequence: String) throws(CofferError) {
        try requireVault()
        if state == .noPasscode {
            throw CofferError(
                .notAvailable,
                "the vault has no passcode, so \(consequence)",
                hint: "give it one with 'coffer passcode set'"
            )
        }
    }
}
