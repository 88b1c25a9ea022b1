internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock the vault with its passcode or a recovery key.",
        discussion: "--prompt is for a panel or a key of the desktop: it asks as other programs do, by a pinentry."
    )

    @Flag(help: "Ask for the passcode by a window, and not on the terminal.")
    var prompt = false

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--prompt": prompt], ["--passcode-fd": credential.passcode.passcodeFd != nil])
        try exclude(["--prompt": prompt], credential.givenRecoveryKey)
    }

    func run() throws {
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault(passcodeOrElse: "it can't be locked or unlocked")
        let status = try prompt ? PromptedUnlock(client).run() : unlock(client, before, given)
        format.show(status.json, "unlocked")
        guard !format.json, Output.standardError.isTerminal else { return }
        // The vault is unlocked, whether they can be listed or not.
        (try? ExpiringItems(client, status))?.warnOncePerDay()
    }

    private func unlock(_ client: BlockingClient, _ before: VaultStatus, _ given: Secret?) throws -> VaultStatus {
        let typed = try given ?? credential.ask(before)
        let params = VaultUnlockParameters(credential: credential.kind == .passcode ? nil : credential.kind)
        return try client.call(params, payload: typed).value
    }
}
