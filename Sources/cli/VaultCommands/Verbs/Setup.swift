internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal

struct Setup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make your vault, step by step.",
        discussion: """
            Asks for a passcode, whether your login unlocks the vault, when it locks by itself, and whether programs may read \
            documents while it is locked. Shows the recovery key as text, and where 'qrencode' is installed as a QR code. For a script there is 'coffer init'.
            """
    )

    @Flag(
        inversion: .prefixedNo,
        help: "Have the login unlock the vault (default: ask, where pam_coffer is installed)."
    )
    var login: Bool?

    @Option(help: ArgumentHelp("Lock after this time without use; 0 for never (default: ask).", valueName: "minutes"))
    var lockAfter: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Let programs read new documents while the vault is locked (default: ask)."
    )
    var readableWhileLocked: Bool?

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost = .moderate

    @OptionGroup var strength: PasscodeStrengthOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let lockAfter, !LockSettings.minutes.contains(lockAfter) {
            throw ValidationError("--lock-after is 0 to \(LockSettings.minutes.upperBound) minutes")
        }
    }

    func run() throws {
        try connection.requireOwnVault()
        let terminal = try SecretInput.openTerminal(orElse: "'coffer init' makes a vault without questions")
        let (screen, question) = (Output(descriptor: terminal.number), Question(terminal: terminal.number))
        try connection.connect().requireNoVault()
        let settings = try LockSettings()
        if lockAfter != nil && settings.areGiven {
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(settings.path)) says already when the vault locks",
                hint: "change LockAfter there, or leave out --lock-after"
            )
        }

        screen.line("1. The passcode opens your vault. Four words that have nothing to do with each other are good.")
        let passcode = try SecretInput.askNew(check: strength.check)
        screen.line("\n2. Your login can unlock the vault, if the passcode is your login password.")
        let login = try login ?? askLogin(question, screen)
        screen.line("\n3. The vault locks when the machine sleeps, when its screen is locked, and when you log out.")
        if let minutes = try lockAfter ?? askMinutes(question, screen, settings) {
            try settings.write(minutes: minutes)
            if !ServiceManager.isUsersRunning { screen.line("   This counts from the next start of cofferd.") }
        }

        screen.line("\n4. A lock closes documents as well, unless programs shall read them meanwhile.")
        let staysReadable =
            try readableWhileLocked ?? question.decide("   May programs read documents while it is locked?")

        let (client, recoveryKey) = try makeVault(passcode)
        if !staysReadable { try client.call(FileProtectParameters(nil, .complete, .newFiles)) }
        if login, let vaultID = try client.status().vaultID { try LoginMark().write(vaultID) }
        screen.line(
            "\nYour vault is made, and unlocked. This is its recovery key, which opens it without the passcode:\n"
        )
        try screen.line(recoveryKey)
        if let code = try QRCode(of: recoveryKey) { try code.write(to: terminal.number) }
        screen.line(
            """

            Print it or write it down, and keep it apart from this machine: it is not shown again.

            Try:  coffer put github.com/token    stores a secret
                  coffer generate bank/anna      makes a password
                  coffer list                    shows the names
                  coffer lock                    locks, as your screen does
            """
        )
    }

    private func makeVault(_ passcode: Secret) throws -> (client: BlockingClient, recoveryKey: Secret) {
        // The daemon reads its settings when it starts.
        if ServiceManager.isUsersRunning { _ = ServiceManager.user.control("try-restart", "cofferd.service") }
        let client = try connection.connect()
        let params = VaultInitParameters(kdf: kdf, hasNoPasscode: false, hasNoRecoveryKey: false, erasesData: false)
        return (client, try client.call(params, payload: passcode).payload)
    }

    private func askLogin(_ question: Question, _ screen: Output) throws -> Bool {
        guard LoginMark.isModuleInstalled else {
            screen.line("   It does not now: the package libpam-coffer is not installed.")
            return false
        }
        return try question.decide("   Is the passcode your login password, and should the login unlock the vault?")
    }

    /// The minutes after which an unused vault locks; `nil` where that stays as it is.
    private func askMinutes(_ question: Question, _ screen: Output, _ settings: LockSettings) throws -> Int? {
        if settings.areGiven {
            screen.line("   \(quotedForDisplay(settings.path)) says when else.")
            return nil
        }
        while true {
            let answer = try question.ask("   Lock it also after how many minutes without use? [15; 0 for never] ")
            if answer.isEmpty { return Limits.defaultIdleLockSeconds / 60 }
            if let minutes = Int(answer), LockSettings.minutes.contains(minutes) { return minutes }
            screen.line("   A number from 0 to \(LockSettings.minutes.upperBound), please.")
        }
    }
}
