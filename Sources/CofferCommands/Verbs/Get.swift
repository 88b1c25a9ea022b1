internal import ArgumentParser
internal import CofferClient
internal import CofferContents
internal import CofferSession
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

    func validate() throws {
        if key.keyFormat != nil && (range != nil || field != nil) {
            throw ValidationError("--format is for the whole key, without --field and --range")
        }
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
        let params = ItemGetParameters(
            name: itemName,
            offset: part?.offset,
            length: part?.length,
            wantsProgress: Output.standardError.isTerminal,
            group: group
        )
        let session = try source.connect(authentication)
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
                    try fetch(params, of: found, from: session.client, to: number)
                }
            },
            orShow: { () throws(CofferError) in
                let returned = try session.call(params)
                Output.warnOfExpiry(of: params.name, returned.value)
                try BytesOutputOptions.show(key.format(returned.payload, of: found), params.name.quoted)
            }
        )
    }

    /// The daemon writes a file to the descriptor; a secret is in the answer.
    private func fetch(
        _ params: ItemGetParameters,
        of found: PrivateKey?,
        from client: BlockingClient,
        to descriptor: Int32
    ) throws(CofferError) {
        let bar = ProgressBar()
        defer { bar?.finish() }
        let returned = try client.call(
            params,
            passing: descriptor,
            progress: bar.map { bar in { bar.update($0.done, of: $0.total) } }
        )
        Output.warnOfExpiry(of: params.name, returned.value)
        if returned.value.delivery == .payload { try key.format(returned.payload, of: found).write(to: descriptor) }
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
