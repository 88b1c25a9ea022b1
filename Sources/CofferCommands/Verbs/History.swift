internal import ArgumentParser
internal import CofferClient

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List the former values of a secret, or fetch one.",
        discussion: FormerValueOptions.discussion
    )

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var access: GroupOptions
    @OptionGroup var values: FormerValueOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        try values.run { (client) throws(CofferError) in try .init(of: itemName, in: access.group, client) }
    }
}

extension KeychainQuery {
    /// A query for the one keychain item of a name.
    ///
    /// - Throws: `param` if it is a file.
    init(of name: ItemName, in group: String?, _ client: BlockingClient) throws(CofferError) {
        let item = try client.call(ItemShowParameters(name: name, group: group)).value
        guard let query = KeychainQuery(for: item) else {
            throw CofferError(.param, "\(name.quoted) is a file, and files keep no former values")
        }
        self = query
    }

    /// A query for an item that was shown, by its primary key: a reference is looked for in the caller's own groups only.
    ///
    /// - Returns: `nil` if it is a file.
    init?(for item: ItemInfo) {
        guard let itemClass = item.itemClass else { return nil }
        self.init(itemClass, [.accessGroup: .text(item.group)])
        for attribute in KeychainAttribute.primaryKey(of: itemClass) {
            attributes[attribute] = item.attributes?[attribute] ?? .empty(attribute.form)
        }
    }
}

/// What 'history' prints of the former values of a secret.
struct FormerValueOptions: ParsableArguments {
    static let discussion =
        "Prints the number, the date and the size of each, the newest first. Only --number prints a value."

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

    /// Prints the former values, or one of them.
    ///
    /// - Parameter query: Makes the query for the item.
    func run(_ query: (BlockingClient) throws(CofferError) -> KeychainQuery) throws(CofferError) {
        let session = try authentication.connect()
        let wanted = try query(session.client)
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
