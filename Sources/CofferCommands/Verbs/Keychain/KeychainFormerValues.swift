internal import ArgumentParser
internal import CofferClient

struct ShowHistory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the former values of a secret, or fetch one.",
        discussion: FormerValueOptions.discussion
    )

    @OptionGroup var query: KeychainQueryOptions
    @OptionGroup var values: FormerValueOptions

    func run() throws {
        let wanted = try query.query()
        try values.run { (_) throws(CofferError) in wanted }
    }
}

struct RestoreFormerValue: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a former value the secret again; the present one becomes a former value."
    )

    @Argument(help: "The number of the value, as 'coffer keychain history' has it.")
    var number: UInt32

    @OptionGroup var query: KeychainQueryOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let params = KeychainRestoreParameters(try query.query(), number: Int64(number))
        _ = try authentication.connect().call(params)
    }
}
