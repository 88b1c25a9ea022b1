internal import CofferClient
internal import CofferCore
internal import CofferWire

/// What a verb looks at before a person types for nothing. The daemon decides again.
extension VaultStatus {
    /// Refuses where there is no vault.
    func requireVault() throws(CofferError) {
        if state == .noVault {
            throw CofferError(.notAvailable, "there is no vault yet", hint: "make one with 'coffer init'")
        }
    }

    /// Refuses where the device key of the vault is missing.
    ///
    /// - Parameters:
    ///   - client: Asked whether a recovery key opens the vault: nobody is sent to look for one that never was.
    ///   - replacesDeviceKey: Whether the verb does without the device key where there is a recovery key.
    func requireDeviceKey(_ client: BlockingClient, replacesDeviceKey: Bool = false) throws(CofferError) {
        guard state == .deviceKeyMissing else { return }
        let hasRecoveryKey = try client.hasRecoveryKey()
        if hasRecoveryKey && replacesDeviceKey { return }
        throw CofferError(
            .notAvailable,
            "the device key of the vault is missing: \(Self.deviceKeyMissing)",
            hint: hasRecoveryKey
                ? "bring it back, or give the vault one of this machine: \(Self.replacingDeviceKey)"
                : "bring it back: \(Self.noReplacement)"
        )
    }

    /// What may be the matter where the device key is missing.
    static let deviceKeyMissing =
        "the file 'device.key', or the credential 'device-key' of the service manager, is not here, "
        + "or the vault comes from another machine"
    /// How a vault with a recovery key gets another device key.
    static let replacingDeviceKey = "'coffer passcode change --recovery-key' does that, with a new passcode"
    /// What a vault without a recovery key is without its device key.
    static let noReplacement = "the vault has no recovery key, so nothing else opens it"

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

extension VaultFault: Printable {
    /// What is wrong, and what to do.
    var text: [Line] { ["fault: \(what)", "hint: \(hint)"] }
}

extension BlockingClient {
    /// Whether a recovery key opens the vault.
    func hasRecoveryKey() throws(CofferError) -> Bool {
        try call(SlotListParameters()).value.slots.contains { $0.kind == .recoveryKey }
    }
}
