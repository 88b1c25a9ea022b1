internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Passcode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Set, change or remove the passcode.",
        subcommands: [SetPasscode.self, ChangePasscode.self, RemovePasscode.self]
    )
}

struct SetPasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set a passcode in a vault that has none."
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
        let typed = try given ?? passcode.ask()
        let params = PasscodeSetParameters(kdf: passcode.kdf, erasesData: passcode.eraseData)
        let status = try client.call(params, payload: typed).value
        format.show(status.json, "set the passcode; 'coffer lock' takes effect from now on")
    }
}

struct ChangePasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the passcode.",
        discussion: """
            With a recovery key it works if the passcode is forgotten, and if the vault was moved from another machine, to which it does not belong any more then.
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
        let (client, before) = try connection.connectToVault(
            passcodeOrElse: "there is none to change",
            replacesDeviceKey: credential.kind == .recoveryKey
        )
        let typed = try given ?? credential.ask(before)
        if givenNew == nil && before.state != .deviceKeyMissing {
            // A wrong one is told before a person thinks of a new one.
            _ = try client.call(SlotTestParameters(credential: credential.kind), payload: typed)
        }
        let typedNew = try givenNew ?? passcode.ask()
        let params = PasscodeChangeParameters(
            credential: credential.kind,
            kdf: passcode.kdf,
            erasesData: passcode.eraseData
        )
        let status = try client.call(params, payload: try Secret(given: typed, new: typedNew)).value
        let hasMoved = before.state == .deviceKeyMissing
        format.show(status.json, "changed the passcode\(hasMoved ? "; the vault is this machine's now" : "")")
        if hasMoved { try client.tellLeftBehind() }
    }
}

extension BlockingClient {
    /// Names the ThisDeviceOnly items, which only the machine before can open.
    func tellLeftBehind() throws(CofferError) {
        var names: [String] = []
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try call(ItemListParameters(store: .keychain, after: after)).value
            names += page.items.filter(\.isLeftBehind).map(\.name)
            return page.next
        }
        names.sortByName(\.self)
        guard !names.isEmpty else { return }
        Output.standardError.line("\(items(names.count)) can never be opened again without the device key before:")
        for name in names { Output.standardError.line("  \(name: name)") }
        Output.standardError.line("hint: remove them with 'coffer remove', or store new secrets in their place")
    }
}

struct RemovePasscode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the passcode, and the items that want one.",
        discussion: "Lists the items that require a passcode, which are destroyed with it, and asks."
    )

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let confirmation = try confirmation.prepare()
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault(passcodeOrElse: "there is none to remove")
        let lost = try LostItems(client, before)
        lost.tell(confirmation)
        confirmation.say("without a passcode, anyone who has this machine can read everything in the vault")
        try confirmation.ask(for: "yes", orElse: "the passcode was not removed")
        let typed = try given ?? credential.ask(before)
        let status = try remove(typed, lost.count, client)
        let loss = lost.count == 0 ? "" : ", and \(items(lost.count)) with it"
        format.show(status.json, "removed the passcode\(loss)")
    }

    private func remove(
        _ secret: Secret,
        _ count: Int,
        _ client: BlockingClient
    ) throws(CofferError) -> VaultStatus {
        do {
            let params = PasscodeRemoveParameters(credential: credential.kind, destroyedCount: Int64(count))
            return try client.call(params, payload: secret).value
        } catch {
            guard error.code == .param, try client.status().passcodeItemCount != count else { throw error }
            throw CofferError(
                .param,
                "the passcode was not removed: the items that it would take with it have changed meanwhile",
                hint: "run the command again, and check what would be lost"
            )
        }
    }
}

/// The items that are deleted with the passcode.
private struct LostItems {
    /// The daemon's count, which includes items without a name in the listing.
    let count: Int
    private let names: [String]
    private let areOthersDamaged: Bool
    private let areOthersSealed: Bool

    init(_ client: BlockingClient, _ status: VaultStatus) throws(CofferError) {
        var names: [String] = []
        var knownCount = 0
        var sealedCount = 0
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try client.call(ItemListParameters(store: .keychain, after: after)).value
            let lost = page.items.filter { $0.protection == .keychain(.whenPasscodeSetThisDeviceOnly) }
            names += lost.map(\.name)
            knownCount += page.items.count + page.damagedCount
            sealedCount += page.sealedCount
            return page.next
        }
        names.sortByName(\.self)
        self.names = names
        count = status.passcodeItemCount ?? names.count
        areOthersDamaged = status.keychainCount == knownCount
        areOthersSealed = sealedCount > 0
    }

    /// Prints the items.
    func tell(_ confirmation: Confirmation) {
        guard count > 0 else { return }
        confirmation.say("removing the passcode destroys \(items(count)):")
        for name in names { confirmation.say("  \(name: name)") }
        let others = count - names.count
        guard others > 0 else { return }
        let reason =
            areOthersSealed
            ? "'coffer list' names after 'coffer unlock' only"
            : areOthersDamaged ? (others == 1 ? "is damaged" : "are damaged") : "'coffer list' does not name"
        confirmation.say("  and \(others) that \(reason)")
    }
}

/// A number of items, in words.
private func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }
