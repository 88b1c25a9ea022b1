internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

/// A number of bytes on the command line.
struct ByteArgument: ExpressibleByArgument {
    /// The number.
    let count: Int64

    init?(argument: String) {
        guard let count = Int64(argument), (0...Limits.fileBytes).contains(count) else { return nil }
        self.count = count
    }
}

struct ReadFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a file, or a part of it.",
        discussion: "It goes to standard output as it is; on a terminal, binary content is refused."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("Begin there, in bytes.", valueName: "bytes"))
    var offset: ByteArgument?

    @Option(help: ArgumentHelp("Read at most this many bytes.", valueName: "bytes"))
    var length: ByteArgument?

    @Option(help: ArgumentHelp("Read that version, as 'coffer file versions' numbers it.", valueName: "number"))
    var version: UInt32?

    @OptionGroup var access: GroupOptions
    @OptionGroup var output: BytesOutputOptions

    @OptionGroup var waiting: WaitOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let client = try connection.connect()
        let file = try waiting.repeating(on: client) { () throws(CofferError) in
            let number = try version.map { (ago) throws(CofferError) in
                try client.version(ago: ago, of: itemName, in: access.group)
            }
            return try client.openFile(itemName, in: access.group, version: number)
        }
        let start = offset?.count ?? 0
        let end = length.map { start + $0.count } ?? .max
        try output.write(
            { (number) throws(CofferError) in try copy(file, start, end, to: number) },
            orShow: { () throws(CofferError) in try show(file, start, end) }
        )
        try file.close()
    }

    private func copy(_ file: OpenedFile, _ start: Int64, _ end: Int64, to descriptor: Int32) throws(CofferError) {
        let bar = ProgressBar()
        defer { bar?.finish() }
        let total = max(0, min(end, file.byteCount) - start)
        var offset = start
        while offset < end {
            let piece = try Self.piece(of: file, offset, end)
            if piece.count == 0 { return }
            try piece.write(to: descriptor)
            offset += Int64(piece.count)
            bar?.update(offset - start, of: total)
        }
    }

    /// The next bytes; empty at the end.
    private static func piece(of file: OpenedFile, _ offset: Int64, _ end: Int64) throws(CofferError) -> Secret {
        guard offset <= Limits.fileBytes else { return Secret(nil) }
        return try file.read(at: offset, count: Int(min(end - offset, Int64(Limits.framePayloadBytes))))
    }

    /// Prints text to a terminal, with everything escaped that the terminal would interpret.
    private func show(_ file: OpenedFile, _ start: Int64, _ end: Int64) throws(CofferError) {
        guard min(end, file.byteCount) - start <= Int64(Limits.framePayloadBytes) else {
            throw CofferError(
                .dataTooLarge,
                "\(file.name.quoted) has more than the \(Limits.framePayloadBytes) bytes that are shown on a terminal",
                hint: "use --output FILE, or a pipe"
            )
        }
        try BytesOutputOptions.show(try Self.piece(of: file, start, end), file.name.quoted)
    }
}
