internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the former values of a secret, or fetch one.",
        discussion: """
            Prints the number, the date and the size of each, the newest first: 1 is the value before the present one. Only \
            --ago prints a value.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("Write that value to standard output as it is.", valueName: "number"))
    var ago: UInt32?

    @OptionGroup var access: GroupOptions
    @OptionGroup var values: FormerValueOptions

    func validate() throws { try values.validate(isValue: ago != nil, "--ago") }

    func run() throws {
        let itemName = try ItemName(argument: name)
        let session = try values.authentication.connect()
        let query = try KeychainQuery(of: itemName, in: access.group, session.client)
        guard let ago else { return try values.list(query, session) { place, _ in place } }
        try values.fetch(query, number: session.client.number(of: query, ago: ago, itemName), session)
    }
}

extension BlockingClient {
    /// The number in the vault of a former value.
    ///
    /// - Parameter ago: Its place among the values of the item: 1 is the newest.
    /// - Throws: `itemNotFound` if the item has fewer.
    func number(of query: KeychainQuery, ago: UInt32, _ name: ItemName) throws(CofferError) -> Int64 {
        let values = try call(KeychainHistoryParameters(query)).value.values
        guard ago > 0, ago <= values.count else {
            throw CofferError(
                .itemNotFound,
                "\(name.quoted) has \(values.count) former values, and none with the number \(ago)",
                hint: "'coffer history \(name.path)' lists them"
            )
        }
        return Int64(values[Int(ago) - 1].number)
    }
}

/// How former values are printed.
struct FormerValueOptions: ParsableArguments {
    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    /// Refuses options that do not go together.
    ///
    /// - Parameters:
    ///   - isValue: Whether a value is to be printed.
    ///   - option: The option that says so.
    func validate(isValue: Bool, _ option: String) throws {
        if isValue && format.json { throw ValidationError("a value is never inside JSON") }
        if !isValue && output.output != nil { throw ValidationError("--output is for the value of \(option)") }
    }

    /// Prints which former values an item has.
    ///
    /// - Parameter number: Returns the number that a person sees, for a value and its place, which begins with 1.
    func list(
        _ query: KeychainQuery,
        _ session: Session,
        number: (_ place: Int, _ value: KeychainFormerValue) -> Int
    ) throws(CofferError) {
        let found = try session.client.call(KeychainHistoryParameters(query)).value
        for (index, value) in found.values.enumerated() {
            var json = value.json
            json.set("ago", .integer(Int64(index + 1)))
            let shown = number(index + 1, value)
            let size = ByteCount.text(Int64(value.byteCount))
            format.show(json, "\(shown)  \(Timestamp.text(value.replaced))  \(size)")
        }
        if found.damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "\(found.damaged.count) of the former values can't be read: damaged or tampered with",
            hint:
                "they go when newer ones take their place; 'coffer keychain update' with '--history 0' destroys all at once"
        )
    }

    /// Writes a former value.
    ///
    /// - Parameter number: Its number in the vault.
    func fetch(_ query: KeychainQuery, number: Int64, _ session: Session) throws(CofferError) {
        let params = KeychainHistoryParameters(query, number: number, returns: [.data])
        let found = try waiting.repeating(on: session.client) { () throws(CofferError) in try session.call(params) }
        try output.write(found.payload, "the value")
    }
}
