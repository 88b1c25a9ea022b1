internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock the vault with its passcode or a recovery key."
    )

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let given = try credential.readGiven()
        let (client, before) = try connection.connectToVault(passcodeOrElse: "it can't be locked or unlocked")
        let typed = try given ?? credential.ask(before)
        let params = VaultUnlockParameters(credential: credential.kind == .passcode ? nil : credential.kind)
        let status = try client.call(params, payload: typed).value
        format.show(status.json, "unlocked")
        guard !format.json, Output.standardError.isTerminal else { return }
        // The vault is unlocked, whether they can be listed or not.
        (try? ExpiringItems(client, status))?.warnOncePerDay()
    }
}
