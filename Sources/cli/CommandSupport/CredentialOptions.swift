package import ArgumentParser
package import CofferClient
package import CofferTerminal

/// The credential that opens the vault: the passcode or a recovery key.
package struct CredentialOptions: ParsableArguments {
    @OptionGroup package var passcode: PasscodeOptions

    @Flag(help: "Give a recovery key in place of the passcode.")
    package var recoveryKey = false

    @Option(help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "number"))
    package var recoveryKeyFd: Int32?

    package init() {}

    package func validate() throws {
        try exclude(["--passcode-fd": passcode.passcodeFd != nil], givenRecoveryKey)
    }

    /// The options for a recovery key, with whether they were given.
    package var givenRecoveryKey: KeyValuePairs<String, Bool> {
        ["--recovery-key": recoveryKey, "--recovery-key-fd": recoveryKeyFd != nil]
    }

    /// The kind of the credential.
    package var kind: Credential { recoveryKey || recoveryKeyFd != nil ? .recoveryKey : .passcode }

    /// Reads the credential from its descriptor; `nil` if the verb has to prompt.
    ///
    /// This happens before connecting: a descriptor that is read later may be the connection itself.
    package func readGiven() throws(CofferError) -> Secret? {
        guard let recoveryKeyFd else { return try passcode.readGiven() }
        return try SecretInput.recoveryKey(from: recoveryKeyFd)
    }

    /// Prompts for the credential.
    ///
    /// - Parameter status: Says whether a passcode may be tried at all; if not, there is no prompt.
    package func ask(_ status: VaultStatus) throws(CofferError) -> Secret {
        kind == .passcode ? try Self.askPasscode(status) : try SecretInput.askRecoveryKey()
    }

    /// Prompts for the passcode.
    ///
    /// - Parameter status: Says whether a passcode may be tried at all; if not, there is no prompt.
    package static func askPasscode(_ status: VaultStatus) throws(CofferError) -> Secret {
        try status.requirePasscodeAttempt()
        return Secret(try SecretInput.ask("Passcode: ", limit: Limits.passcodeBytes))
    }
}

extension VaultStatus {
    /// Throws if no passcode may be tried now.
    package func requirePasscodeAttempt() throws(CofferError) {
        if attemptsEnded {
            throw CofferError(
                .authFailed,
                "no more passcodes are accepted: ten wrong ones were given",
                hint: "a recovery key opens the vault: say --recovery-key"
            )
        }
        if let seconds = retrySeconds {
            throw CofferError(
                .authFailed,
                "no passcode is accepted now, after \(failedAttempts) wrong ones",
                hint: "try again in \(durationForDisplay(seconds: seconds)), or give a recovery key: --recovery-key",
                retry: .afterDelay(seconds: seconds)
            )
        }
    }
}

/// The source of a new passcode, and the cost of its key derivation.
package struct NewPasscodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passcode from this descriptor.", valueName: "number"))
    package var newPasscodeFd: Int32?

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    package var kdf: PasscodeCost?

    @Flag(inversion: .prefixedNo, help: "Erase the vault after the tenth wrong passcode.")
    package var eraseData: Bool?

    @OptionGroup package var strength: PasscodeStrengthOptions

    package init() {}

    /// Reads the passcode from its descriptor; `nil` if the verb has to prompt.
    package func readGiven() throws(CofferError) -> Secret? {
        let given = try SecretInput.passcode(from: newPasscodeFd, "the new passcode")
        if let given { try strength.check(given) }
        return given
    }

    /// Prompts for the passcode.
    package func ask() throws(CofferError) -> Secret { try SecretInput.askNew(check: strength.check) }
}

extension SecretInput {
    /// Reads a recovery key to the end of a descriptor.
    package static func recoveryKey(from number: Int32) throws(CofferError) -> Secret {
        Secret(try readAll(from: number, limit: Limits.recoveryKeyBytes, "the recovery key"))
    }

    /// Prompts for a recovery key without echo; its checksum distinguishes a mistyped one from a wrong one.
    package static func askRecoveryKey() throws(CofferError) -> Secret {
        Secret(try ask("Recovery key (not shown): ", limit: Limits.recoveryKeyBytes))
    }
}
