internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// What lets a person in: the passcode, or a recovery key in its place.
package struct CredentialOptions: ParsableArguments {
    @OptionGroup var passcode: PasscodeOptions

    @Flag(help: "Give a recovery key in place of the passcode.")
    var recoveryKey = false

    @Option(help: ArgumentHelp("Read the recovery key from this descriptor.", valueName: "number"))
    var recoveryKeyFd: Int32?

    package init() {}

    package func validate() throws {
        if passcode.passcodeFd != nil && kind == .recoveryKey {
            throw ValidationError("give either the passcode or a recovery key")
        }
    }

    /// Which of the two it is.
    var kind: Credential { recoveryKey || recoveryKeyFd != nil ? .recoveryKey : .passcode }

    /// Reads what was given by a descriptor; `nil` where it is to be asked for.
    ///
    /// Before connecting: a descriptor that is read later may be the connection itself.
    func readGiven() throws(CofferError) -> SecretBytes? {
        guard let recoveryKeyFd else { return try passcode.readGiven() }
        return try SecretInput.recoveryKey(from: recoveryKeyFd)
    }

    /// Asks for it.
    ///
    /// - Parameter status: Tells whether a passcode would be looked at: nobody types one for nothing.
    func ask(_ status: VaultStatus) throws(CofferError) -> SecretBytes {
        guard kind == .passcode else { return try SecretInput.askRecoveryKey() }
        if status.attemptsEnded {
            throw CofferError(
                .authFailed,
                "no passcode is looked at any more: ten wrong ones were given",
                hint: "a recovery key opens the vault: say --recovery-key"
            )
        }
        if let seconds = status.retrySeconds {
            throw CofferError(
                .authFailed,
                "no passcode is looked at now, after \(status.failedAttempts) wrong ones",
                hint: "try again in \(durationForDisplay(seconds: seconds)), or give a recovery key: --recovery-key",
                retry: .afterDelay(seconds: seconds)
            )
        }
        return try SecretInput.ask("Passcode: ", limit: Limits.passcodeBytes)
    }
}

/// Where a new passcode comes from, and what it is to cost.
package struct NewPasscodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the new passcode from this descriptor.", valueName: "number"))
    var newPasscodeFd: Int32?

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost?

    @Flag(inversion: .prefixedNo, help: "Erase the vault after the tenth wrong passcode.")
    var eraseData: Bool?

    package init() {}

    /// Reads what was given by a descriptor; `nil` where it is to be asked for.
    func readGiven() throws(CofferError) -> SecretBytes? {
        guard let newPasscodeFd else { return nil }
        return try SecretInput.passcode(from: newPasscodeFd, "the new passcode")
    }
}

extension SecretInput {
    /// More than groups, spaces and line ends make of a recovery key.
    private static let recoveryKeyLimit = 256

    /// A recovery key up to the end of a descriptor.
    static func recoveryKey(from number: Int32) throws(CofferError) -> SecretBytes {
        try readAll(from: number, limit: recoveryKeyLimit, "the recovery key")
    }

    /// Asks for a recovery key, without echo: a mistyped one is told from a wrong one.
    static func askRecoveryKey() throws(CofferError) -> SecretBytes {
        try ask("Recovery key (not shown): ", limit: recoveryKeyLimit)
    }
}
