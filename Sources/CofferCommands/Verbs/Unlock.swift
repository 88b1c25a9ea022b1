internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The verb `coffer unlock`, with its options.
struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Unlock the vault with its passcode or a recovery key.")

    @OptionGroup var credential: CredentialOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let given = try credential.readGiven()
        let client = try connection.connect()
        let before = try client.status()
        try before.requirePasscode(orElse: "it can't be locked or unlocked")
        try before.requireDeviceKey(client)
        let typed: SecretBytes? = try given.orAsked { () throws(CofferError) in try credential.ask(before) }
        let status = try client.unlock(with: typed, as: credential.kind)
        format.show(status.json, "unlocked")
    }
}
