internal import ArgumentParser
internal import CofferClient

struct ShowHistory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the former values of a secret, or fetch one.",
        discussion:
            "Prints number, date of the change and bytes of each, the newest first; never a value but with --number."
    )

    @OptionGroup var query: KeychainQueryOptions

    @Option(help: ArgumentHelp("Write that value to standard output as it is.", valueName: "number"))
    var number: Int?

    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if let number, number < 0 { throw ValidationError("--number is 0 or more") }
        if number != nil && format.json { throw ValidationError("a value is never inside JSON") }
        if number == nil && output.output != nil { throw ValidationError("--output is for the value of --number") }
    }

    func run() throws {
        let wanted = try query.query()
        let session = try authentication.connect()
        if let number {
            let params = KeychainHistoryParameters(wanted, number: Int64(number), returns: [.data])
            let found = try waiting.repeating(on: session.client) { () throws(CofferError) in try session.call(params) }
            return try output.write(found.payload, "the value")
        }
        for value in try session.client.call(KeychainHistoryParameters(wanted)).value.values {
            let size = ByteCount.text(Int64(value.byteCount))
            format.show(value.json, "\(value.number)  \(Timestamp.text(value.replaced))  \(size)")
        }
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
