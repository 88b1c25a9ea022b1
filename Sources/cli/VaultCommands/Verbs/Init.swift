internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault, unlocked.",
        discussion: """
            Prints the recovery key, which opens the vault if the passcode or the device key is lost, and on another machine. It is \
            not shown again.

            With --from-backup it restores the vault of a backup to this machine, opened by its passphrase or recovery key, and names what stays behind.
            """
    )

    @Flag(help: "A vault without a passcode: the device key alone protects it.")
    var noPasscode = false

    @Flag(
        help: """
            As root: the machine's vault, which its services can use after each start: without a passcode, its device key \
            sealed to the machine.
            """
    )
    var machine = false

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost = .moderate

    @Flag(help: "Erase the vault after the tenth wrong passcode.")
    var eraseData = false

    @Flag(help: "Make no recovery key.")
    var noRecoveryKey = false

    @OptionGroup var backup: FromBackupOptions
    @OptionGroup var recoveryKey: RecoveryKeyOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var strength: PasscodeStrengthOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        let noPasscodes: KeyValuePairs = ["--machine": machine, "--no-passcode": noPasscode]
        let hasKeyFile = recoveryKey.recoveryKeyFile != nil
        try exclude(["--machine": machine], ["--socket": connection.socket != nil], because: "the machine has its own")
        try exclude(noPasscodes, ["--passcode-fd": passcode.passcodeFd != nil])
        try exclude(noPasscodes, ["--erase-data": eraseData], because: "only wrong passcodes erase a vault")
        try exclude(["--no-recovery-key": noRecoveryKey], ["--recovery-key-file": hasKeyFile])
        try exclude(
            ["--from-backup": backup.fromBackup != nil],
            [
                "--machine": machine, "--no-passcode": noPasscode, "--no-recovery-key": noRecoveryKey,
                "--recovery-key-file": hasKeyFile,
            ],
            because: "a restored vault gets a passcode, and has its recovery keys already"
        )
        if backup.fromBackup != nil || noRecoveryKey { return }
        try recoveryKey.validate(with: format, declining: ", or --no-recovery-key")
    }

    func run() throws {
        if let repository = backup.fromBackup { return try restore(from: repository) }
        // A descriptor that is read after connecting may be the connection itself.
        let given = try passcode.readGiven()
        if let given { try strength.check(given) }
        let client = machine ? try MachineVault.connect(connection) : try connection.connect()
        // Checked before a person types a new passcode twice.
        try client.requireNoVault()
        let place = noRecoveryKey ? nil : try recoveryKey.open()
        let hasNoPasscode = noPasscode || machine
        let typed = hasNoPasscode ? nil : try given ?? SecretInput.askNew(check: strength.check)
        let params = VaultInitParameters(
            kdf: kdf,
            hasNoPasscode: hasNoPasscode,
            hasNoRecoveryKey: noRecoveryKey,
            erasesData: eraseData
        )
        let returned = try client.call(params, payload: typed)
        let status = returned.value
        let words = hasNoPasscode ? "made a vault without a passcode" : "made a vault; it is unlocked"
        let warning = hasNoPasscode ? ": anyone who has this machine can read everything in it" : ""
        if let place {
            try place.deliver(
                returned.payload,
                after: words,
                status.json,
                warning: warning,
                hasPasscode: !hasNoPasscode,
                format
            )
        } else {
            format.show(status.json, "\(words)\(warning)")
        }
        if machine { try MachineVault.seal(connection) }
    }
}

extension BlockingClient {
    /// Throws if there is a vault already.
    func requireNoVault() throws(CofferError) {
        guard try status().state == .noVault else {
            throw CofferError(.duplicateItem, "there is a vault already", hint: "unlock it with 'coffer unlock'")
        }
    }
}
