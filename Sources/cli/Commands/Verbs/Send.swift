internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Seal an item to the recipient of another vault.",
        discussion: """
            The other side prints its recipient with 'coffer receive --recipient', and takes the item in with 'coffer \
            receive'. Only that vault can open what is written here. It does not prove who has sent it.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(
        help: ArgumentHelp("A file with the recipient; '-' is standard input.", valueName: "file"),
        completion: .file()
    )
    var to: String

    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let text = Secret(
            try SecretInput.content(of: to == "-" ? nil : to, prompt: "Recipient: ", limit: Limits.recipientBytes)
        )
        let recipient = try Recipient(text.exposeText() ?? "")
        let session = try authentication.connect()
        let info = try session.call(ItemShowParameters(name: itemName, group: access.group)).value
        try info.requireCopyable("sent")
        guard !info.protection.staysOnThisDevice else {
            throw CofferError(
                .param,
                "\(itemName.quoted) stays on this device: its protection says so",
                hint: "'coffer protect' gives it another one, if it may leave"
            )
        }
        guard info.byteCount <= Limits.parcelContentBytes else { throw CofferError.tooLargeForParcel(itemName) }
        let content = try session.call(ItemGetParameters(name: itemName, group: info.group)).payload
        let said = ParcelDescription(
            name: itemName,
            kind: info.kind,
            created: info.created,
            modified: info.modified,
            attributes: info.attributesOfCopy,
            user: info.user ?? [:]
        )
        let parcel = try Parcel(content, said, to: recipient)
        try output.write(try unsafe Secret(copying: parcel.bytes.span.bytes), "the parcel")
    }
}

extension Protection {
    fileprivate var staysOnThisDevice: Bool {
        if case .keychain(let accessibility) = self { accessibility.isThisDeviceOnly } else { false }
    }
}
