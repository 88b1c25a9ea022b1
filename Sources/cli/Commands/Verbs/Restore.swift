internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a former value of a secret its value again. The present value becomes a former one.",
        discussion: """
            Other verbs restore other things: 'coffer trash restore' a removed item, 'coffer file restore' a version of a \
            file, 'coffer keychain restore' a former value by a query, 'coffer backup restore' items of a snapshot.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("The value, as 'coffer history NAME' numbers it: 1 is the newest.", valueName: "number"))
    var ago: UInt32 = 1

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let session = try authentication.connect()
        let query = try KeychainQuery(of: itemName, in: access.group, session.client)
        let number = try session.client.number(of: query, ago: ago, itemName)
        let former = session.login(itemName, in: access.group)
        _ = try session.call(KeychainRestoreParameters(query, number: number))
        if let former { session.note(former) }
    }
}
