internal import ArgumentParser
internal import CofferClient

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a former value of a secret its value again. The present value becomes a former one."
    )

    @Argument(help: "The name.")
    var name: String

    @Option(help: ArgumentHelp("The value, as 'coffer history NAME' numbers it.", valueName: "number"))
    var number: UInt32

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let session = try authentication.connect()
        let query = try KeychainQuery(of: itemName, in: access.group, session.client)
        _ = try session.call(KeychainRestoreParameters(query, number: Int64(number)))
    }
}
