internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Take in an item that was sent to this vault, or print the vault's recipient.",
        discussion: """
            An item gets the name that it had, below 'received/'. While the vault is locked it waits, sealed, and 'coffer \
            receive' without a file takes in what waits. A parcel does not prove who has sent it: look at what it is before \
            you use it.
            """
    )

    @Argument(help: ArgumentHelp("The parcel; '-' is standard input.", valueName: "file"), completion: .file())
    var file: String?

    @Flag(help: "Print the recipient of this vault, for 'coffer send --to' on the other side.")
    var recipient = false

    @Option(name: .customLong("as"), help: ArgumentHelp("Another name for it.", valueName: "name"))
    var target: String?

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--recipient": recipient], ["FILE": file != nil, "--as": target != nil])
        try require("FILE", file != nil, for: ["--as": target != nil])
    }

    func run() throws {
        let bytes = try file.map { file in
            Secret(
                try SecretInput.content(
                    of: file == "-" ? nil : file,
                    prompt: "Parcel: ",
                    limit: Parcel.greatestByteCount
                )
            )
        }
        let target = try target.map { try ItemName(argument: $0) }
        let session = try authentication.connect()
        let key = RecipientKey(session: session, group: access.group)
        if recipient {
            let text = try key.recipient().text()
            return format.show(["recipient": .string(text)], "\(text)")
        }
        let mailbox = Mailbox(key: key, group: access.group)
        guard let bytes, let file else { return try mailbox.open { show($0) } }
        let subject = file == "-" ? "standard input" : quotedForDisplay(file)
        let parcel = try Parcel(bytes.exposeBytes(), subject)
        switch try mailbox.take(parcel, as: target, subject) {
        case .received(let received): show(received)
        case .waiting(let name):
            format.show(["waiting": .string(name.path)], "it waits for an unlock: then 'coffer receive' takes it in")
        }
    }

    private func show(_ received: Mailbox.Received) {
        let said = received.description
        let json: JSONObject = [
            "name": .string(received.name.path), "sentName": .string(said.name.path),
            "sentCreated": .integer(said.created), "sentModified": .integer(said.modified),
        ]
        format.show(json, "received \(name: received.name.path)")
    }
}
