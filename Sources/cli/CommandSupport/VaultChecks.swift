package import CofferClient
internal import CofferTerminal

/// Checks before a prompt, so that a person does not type in vain. The daemon checks again.
extension ConnectionOptions {
    /// Connects to a vault that a credential can open.
    ///
    /// - Parameters:
    ///   - consequence: What is impossible without a passcode; `nil` if the verb needs none.
    ///   - replacesDeviceKey: Whether the verb works without the device key if a recovery key exists.
    package func connectToVault(
        passcodeOrElse consequence: String? = nil,
        replacesDeviceKey: Bool = false
    ) throws(CofferError) -> (client: BlockingClient, status: VaultStatus) {
        let client = try connect()
        let status = try client.status()
        try status.requireVault()
        if let consequence, status.state == .noPasscode {
            throw CofferError(
                .notAvailable,
                "the vault has no passcode, so \(consequence)",
                hint: "give it one with 'coffer passcode set'"
            )
        }
        try status.requireDeviceKey(client, replacesDeviceKey)
        return (client, status)
    }
}

extension VaultStatus {
    /// Throws if there is no vault.
    package func requireVault() throws(CofferError) {
        if state == .noVault {
            throw CofferError(
                .notAvailable,
                "there is no vault yet",
                hint: "make one with 'coffer setup', or in a script with 'coffer init'"
            )
        }
    }

    /// Throws if the device key of the vault is missing, with a hint at a recovery key only if one exists.
    fileprivate func requireDeviceKey(_ client: BlockingClient, _ replacesDeviceKey: Bool) throws(CofferError) {
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

    /// The possible reasons of a missing device key.
    package static let deviceKeyMissing =
        "the file 'device.key', or the credential 'device-key' of the service manager, is not here, "
        + "or the vault comes from another machine"
    /// How a recovery key replaces the device key.
    package static let replacingDeviceKey = "'coffer passcode change --recovery-key', with a new passcode"
    /// The hint if there is no recovery key.
    package static let noReplacement = "the vault has no recovery key, so nothing else opens it"
}

extension VaultFault: Printable {
    /// The fault and its hint.
    package var text: [Line] { ["fault: \(what)", "hint: \(hint)"] }
}

extension BlockingClient {
    /// Whether the vault has a recovery key.
    package func hasRecoveryKey() throws(CofferError) -> Bool {
        try call(SlotListParameters()).value.slots.contains { $0.kind == .recoveryKey }
    }
}
