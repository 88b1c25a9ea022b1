internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The verb `coffer passcode`, with the verbs below it.
struct Passcode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set, change or remove the passcode.",
        subcommands: [SetPasscode.self, ChangePasscode.self, RemovePasscode.self]
    )
}

/// The verb `coffer passcode set`, with its options.
struct SetPasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Give a vault without a passcode one."
    )

    @OptionGroup var passcode: NewPasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let given = try passcode.readGiven()
        let client = try connection.connect()
        let before = try client.status()
        try before.requireVault()
        guard before.state == .noPasscode else {
            throw CofferError(
                .duplicateItem,
                "the vault has a passcode already",
                hint: "change it with 'coffer passcode change'"
            )
        }
        let typed: SecretBytes? = try given.orAsked { () throws(CofferError) in try SecretInput.askNew() }
        let status = try client.setPasscode(typed, kdf: passcode.kdf, erasesData: passcode.eraseData)
        format.json
            ? Output.standardOutput.line(status.json)
            : Output.standardOutput.line("set the passcode; 'coffer lock' takes effect from now on")
    }
}

/// The verb `coffer passcode change`, with its options.
struct ChangePasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the passcode.",
        discussion: """
            With a recovery key it works where the passcode is forgotten, and where the vault has come from another machine,             which it belongs to no more then.
            """
    )

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var passcode: NewPasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if let new = passcode.newPasscodeFd, [credential.passcode.passcodeFd, credential.recoveryKeyFd].contains(new) {
            throw ValidationError("the new passcode needs a descriptor of its own")
        }
    }

    func run() throws {
        let given = try credential.readGiven()
        let givenNew = try passcode.readGiven()
        let client = try connection.connect()
        let before = try client.status()
        try before.requirePasscode(orElse: "there is none to change")
        if credential.kind == .passcode { try before.requireDeviceKey() }
        let typed = try given.orAsked { () throws(CofferError) in try credential.ask(before) }
        let typedNew = try givenNew.orAsked { () throws(CofferError) in try SecretInput.askNew() }
        let status = try client.changePasscode(
            with: typed,
            as: credential.kind,
            to: typedNew,
            kdf: passcode.kdf,
            erasesData: passcode.eraseData
        )
        if format.json { return Output.standardOutput.line(status.json) }
        Output.standardOutput.line(
            before.state == .deviceKeyMissing
                ? "changed the passcode; the vault is this machine's now" : "changed the passcode"
        )
    }
}

/// The verb `coffer passcode remove`, with its options.
struct RemovePasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the passcode, and the items that want one.",
        discussion: "Lists the items of WhenPasscodeSetThisDeviceOnly, which are destroyed, and asks."
    )

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let confirmation = try confirmation.prepare()
        let given = try credential.readGiven()
        let client = try connection.connect()
        let before = try client.status()
        try before.requirePasscode(orElse: "there is none to remove")
        try before.requireDeviceKey()
        let names = try Self.itemsThatWantPasscode(client)
        if !names.isEmpty {
            confirmation.say("removing the passcode destroys \(names.count == 1 ? "this item" : "these items"):")
            for name in names { confirmation.say(name: name) }
        }
        confirmation.say("without a passcode, whoever has this machine can read everything in the vault")
        try confirmation.ask(for: "yes", orElse: "the passcode was not removed")
        let typed: SecretBytes? = try given.orAsked { () throws(CofferError) in try credential.ask(before) }
        let status = try client.removePasscode(with: typed, as: credential.kind, destroying: names.count)
        if format.json { return Output.standardOutput.line(status.json) }
        Output.standardOutput.line(
            names.isEmpty ? "removed the passcode" : "removed the passcode, and \(names.count) items with it"
        )
    }

    private static func itemsThatWantPasscode(_ client: CofferClient) throws(CofferError) -> [String] {
        var names: [String] = []
        var after: String?
        repeat {
            let page = try client.list(store: .keychain, after: after)
            for item in page.items where item.protection == .keychain(.whenPasscodeSetThisDeviceOnly) {
                names.append(item.name)
            }
            after = page.next
        } while after != nil
        return names
    }
}
