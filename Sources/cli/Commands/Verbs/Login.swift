internal import ArgumentParser
internal import CofferVaultCommands
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Store logins, or have the password of your own login unlock the vault.",
        subcommands: [AddLogin.self, EnableLogin.self, DisableLogin.self, UnlockAtLogin.self, ChangeAtLogin.self]
    )
}

struct EnableLogin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have the login unlock the vault from now on, and unlock it now.",
        discussion: "The passcode has to be the password of the login. It follows when passwd(1) changes that."
    )

    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let mark = try LoginMark()
        let given = try passcode.readGiven()
        let (client, _) = try connection.connectToVault(passcodeOrElse: "there is nothing for the login to unlock")
        let typed =
            try given ?? Secret(SecretInput.ask("Passcode, as for the login: ", limit: Limits.passcodeBytes))
        guard let vaultID = try client.call(VaultUnlockParameters(), payload: typed).value.vaultID else {
            throw CofferError(.internal, "the daemon did not say which vault it has unlocked")
        }
        try mark.write(vaultID)
        Output.standardOutput.line("the login unlocks the vault from now on, where its password is this passcode")
    }
}

struct DisableLogin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop the login from unlocking the vault."
    )

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        try LoginMark().remove()
        Output.standardOutput.line("the login does not unlock the vault any more")
    }
}

struct UnlockAtLogin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock with the password of a login, where that is enabled.",
        discussion:
            "For pam_coffer(8). A wrong one is not tried again: the login leaves the vault as it is from then on."
    )

    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let mark = try LoginMark()
        let password = try passcode.readGiven()
        guard let vaultID = try mark.read() else { return }
        let client = try connection.connect()
        let status = try client.status()
        guard status.vaultID == vaultID, status.state != .unlocked, status.state != .noPasscode else { return }
        try status.requireFreeGuess()
        do throws(CofferError) {
            try client.call(VaultUnlockParameters(), payload: password)
        } catch {
            guard error.code == .authFailed else { throw error }
            throw try mark.remove(because: "the vault stays locked", error)
        }
    }
}

struct ChangeAtLogin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the passcode as the password of the login was changed, where that is enabled.",
        discussion: """
            For pam_coffer(8). Where it can't be changed, such as without the old password, the login leaves the vault as it \
            is from then on.
            """
    )

    @OptionGroup var passcode: PasscodeOptions

    @Option(help: ArgumentHelp("Read the new password from this descriptor.", valueName: "number"))
    var newPasscodeFd: Int32?

    @OptionGroup var strength: PasscodeStrengthOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let mark = try LoginMark()
        let given = try passcode.readGiven()
        let givenNew = try SecretInput.passcode(from: newPasscodeFd, "the new password")
        guard let vaultID = try mark.read() else { return }
        do throws(CofferError) {
            guard let old = given, let new = givenNew else {
                throw CofferError(.authFailed, "the old password is not known")
            }
            let client = try connection.connect()
            let status = try client.status()
            guard status.vaultID == vaultID, status.state != .noPasscode else { return }
            try status.requireFreeGuess()
            try strength.check(new)
            try client.call(PasscodeChangeParameters(credential: .passcode), payload: try Secret(given: old, new: new))
        } catch {
            throw try mark.remove(because: "the vault keeps its passcode", error)
        }
    }
}

extension VaultStatus {
    /// Throws if another wrong passcode would delay the right one.
    fileprivate func requireFreeGuess() throws(CofferError) {
        guard failedAttempts < Limits.freePasscodeAttempts else {
            throw CofferError(
                .authFailed,
                "the password of the login is not tried after \(failedAttempts) wrong passcodes",
                hint: "run 'coffer unlock'"
            )
        }
    }
}

extension LoginMark {
    /// Disables the unlock at login after an error.
    ///
    /// - Parameters:
    ///   - consequence: The consequence of the error.
    ///   - error: The error.
    fileprivate func remove(because consequence: String, _ error: CofferError) throws(CofferError) -> CofferError {
        try remove()
        return CofferError(
            error.code,
            "\(consequence), and the login does not unlock it any more: \(error.message)",
            hint: "give it the password of the login with 'coffer passcode change', then run 'coffer login enable'"
        )
    }
}
