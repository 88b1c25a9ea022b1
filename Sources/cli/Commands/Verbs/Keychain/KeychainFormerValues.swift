internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport

struct ShowHistory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the former values of a secret, or fetch one.",
        discussion:
            "Prints the number, the date and the size of each, the newest first. Only --number prints a value."
    )

    @OptionGroup var query: KeychainQueryOptions

    @Option(help: ArgumentHelp("Write that value to standard output as it is.", valueName: "number"))
    var number: UInt32?

    @OptionGroup var values: FormerValueOptions

    func validate() throws { try values.validate(isValue: number != nil, "--number") }

    func run() throws {
        let wanted = try query.query()
        let session = try values.authentication.connect()
        guard let number else { return try values.list(wanted, session) { _, value in Int(value.number) } }
        try values.fetch(wanted, number: Int64(number), session)
    }
}

struct RestoreFormerValue: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a former value the secret again; the present one becomes a former value.",
        discussion: "For an item by its name, see 'coffer restore'; for a removed item, 'coffer trash restore'."
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
