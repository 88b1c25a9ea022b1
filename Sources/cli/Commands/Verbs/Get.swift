internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the content of an item.",
        discussion: """
            It goes to standard output as it is; on a terminal, binary content is refused. Where NAME is no item, --output \
            writes the items below it to files below a directory, and replaces none.
            """,
        aliases: ["cat"]
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: "The value of that field only.")
    var field: String?

    @OptionGroup var source: SourceOptions
    @OptionGroup var output: BytesOutputOptions

    @Option(help: ArgumentHelp("That part of the content only, in bytes.", valueName: "offset:length"))
    var range: String?

    @OptionGroup var key: KeyFormatOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    /// What was asked for before the arguments were parsed.
    var attempt: PlainGet.Attempt?

    private enum CodingKeys: String, CodingKey {
        case name, field, source, output, range, key, waiting, authentication
    }

    func validate() throws {
        try exclude(["--format": key.keyFormat != nil], ["--field": field != nil, "--range": range != nil])
    }

    func run() throws {
        let itemName = try ItemName(argument: name)
        try source.reading(itemName, authentication) { try get(itemName) }
    }

    private func get(_ itemName: ItemName) throws {
        let part = try Self.parse(range)
        let group = try source.group()
        if let field {
            guard part == nil else { throw CofferError(.param, "--field and --range can't be combined") }
            let session = try source.connect(authentication)
            try waiting.untilReadable(itemName, in: group, session.client)
            let value = try session.secret(itemName, in: group).value(of: field)
            return try output.write(value, "the field \(quotedForDisplay(field))")
        }
        let params = Self.parameters(of: itemName, part, in: group)
        let session = try attempt?.client.map { Session(client: $0, given: [:]) } ?? source.connect(authentication)
        let file = output.output.flatMap { $0 == "-" ? nil : $0 }
        if let file, DirectoryWalk.isDirectory(file), let items = try itemsBelow(itemName, session.client) {
            return try getDirectory(items, below: itemName, to: file, session)
        }
        try waiting.untilReadable(itemName, in: group, session.client)
        do throws(CofferError) {
            try write(params, session)
        } catch {
            guard error.code == .itemNotFound, let items = try itemsBelow(itemName, session.client) else { throw error }
            guard let file else { throw CofferError.isFolder(itemName, count: items.count) }
            try getDirectory(items, below: itemName, to: file, session)
        }
    }

    private func write(_ params: ItemGetParameters, _ session: Session) throws(CofferError) {
        // A part is one of the stored bytes.
        let found = range == nil ? try key.key(of: params.name, in: params.group, session.client) : nil
        try output.write(
            { (number) throws(CofferError) in
                try session.satisfy { () throws(CofferError) in
                    try attempt?.rethrow()
                    try Self.fetch(params, from: session.client, to: number) { (content) throws(CofferError) in
                        try key.format(content, of: found)
                    }
                }
            },
            orShow: { () throws(CofferError) in
                let returned = try session.call(params)
                Output.warnOfExpiry(of: params.name, returned.value)
                try BytesOutputOptions.show(key.format(returned.payload, of: found), params.name.quoted)
            }
        )
    }

    /// The parameters of a request for an item, or a part of it.
    static func parameters(
        of name: ItemName,
        _ part: (offset: Int64, length: Int64)? = nil,
        in group: String? = nil
    ) -> ItemGetParameters {
        ItemGetParameters(
            name: name,
            offset: part?.offset,
            length: part?.length,
            wantsProgress: Output.standardError.isTerminal,
            group: group
        )
    }

    /// Fetches an item: the daemon writes a file to the descriptor; a secret is in the answer.
    ///
    /// - Parameter format: Formats a secret.
    static func fetch(
        _ params: ItemGetParameters,
        from client: BlockingClient,
        to descriptor: Int32,
        formattedBy format: (Secret) throws(CofferError) -> Secret = { $0 }
    ) throws(CofferError) {
        let bar = ProgressBar()
        defer { bar?.finish() }
        let returned = try client.call(
            params,
            passing: descriptor,
            progress: bar.map { bar in { bar.update($0.done, of: $0.total) } }
        )
        Output.warnOfExpiry(of: params.name, returned.value)
        if returned.value.delivery == .payload { try format(returned.payload).write(to: descriptor) }
    }

    private static func parse(_ range: String?) throws(CofferError) -> (offset: Int64, length: Int64)? {
        guard let range else { return nil }
        let parts = range.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let offset = parts[0], let length = parts[1], offset >= 0, length >= 0 else {
            throw CofferError(.param, "--range \(quotedForDisplay(range)): expected OFFSET:LENGTH in bytes")
        }
        return (offset, length)
    }
}
