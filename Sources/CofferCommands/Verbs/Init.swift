internal import ArgumentParser
internal import CofferClient

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault, unlocked.",
        discussion: """
            Prints the recovery key, which opens the vault without the passcode and on another machine. It is not shown again.
            """
    )

    @Flag(help: "A vault without a passcode: the device key alone protects it.")
    var noPasscode = false

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost = .moderate

    @Flag(help: "Erase the vault after the tenth wrong passcode.")
    var eraseData = false

    @Flag(help: "Make no recovery key.")
    var noRecoveryKey = false

    @OptionGroup var recoveryKey: RecoveryKeyOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var strength: PasscodeStrengthOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if noPasscode && passcode.passcodeFd != nil { throw ValidationError("give either a passcode or --no-passcode") }
        if noPasscode && eraseData { throw ValidationError("--erase-data has no sense without a passcode") }
        if noRecoveryKey {
            guard recoveryKey.recoveryKeyFile == nil else {
                throw ValidationError("give either --recovery-key-file or --no-recovery-key")
            }
        } else {
            try recoveryKey.validate(with: format, declining: ", or --no-recovery-key")
        }
    }

    func run() throws {
        // A descriptor that is read after connecting may be the connection itself.
        let given = try passcode.readGiven()
        if let given { try strength.check(given) }
        let client = try connection.connect()
        // Checked before a person types a new passcode twice.
        guard try client.status().state == .noVault else {
            throw CofferError(.duplicateItem, "there is a vault already", hint: "unlock it with 'coffer unlock'")
        }
        let place = noRecoveryKey ? nil : try recoveryKey.open()
        let typed = noPasscode ? nil : try given ?? SecretInput.askNew(check: strength.check)
        let params = VaultInitParameters(
            kdf: kdf,
            hasNoPasscode: noPasscode,
            hasNoRecoveryKey: noRecoveryKey,
            erasesData: eraseData
        )
        let returned = try client.call(params, payload: typed)
        let status = returned.value
        let words = noPasscode ? "made a vault without a passcode" : "made a vault; it is unlocked"
        let warning = noPasscode ? ": anyone who has this machine can read everything in it" : ""
        guard let place else { return format.show(status.json, "\(words)\(warning)") }
        try place.deliver(returned.payload, after: words, status.json, warning: warning, format)
    }
}
