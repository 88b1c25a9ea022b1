internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal

struct FileAttribute: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attribute",
        abstract: "List, read, write or remove extended attributes of a file or a directory.",
        discussion: """
            Without ATTRIBUTE, list those that there are. With it, the value goes to standard output; with --write it comes from \
            standard input. The names begin with 'user.'.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: "The attribute, such as user.comment.")
    var attribute: String?

    @Flag(help: "Set the attribute to what comes from standard input.")
    var write = false

    @Flag(help: "Remove the attribute.")
    var remove = false

    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--write": write], ["--remove": remove])
        try require("ATTRIBUTE", attribute != nil, for: ["--write": write, "--remove": remove])
    }

    func run() throws {
        let file = try ItemName(argument: name)
        switch attribute {
        case .none: try list(file)
        case .some(let attribute) where write: try set(attribute, file)
        case .some(let attribute) where remove:
            let params = FileRemoveExtendedAttributeParameters(name: file, attribute: attribute, group: access.group)
            try connection.connect().call(params)
        case .some(let attribute): try show(attribute, file)
        }
    }

    private func list(_ file: ItemName) throws(CofferError) {
        let params = FileListExtendedAttributesParameters(name: file, group: access.group)
        for attribute in try connection.connect().call(params).value.attributes { format.show(attribute) }
    }

    private func set(_ attribute: String, _ file: ItemName) throws(CofferError) {
        let source = try SecretInput.open(nil)
        let limit = Limits.extendedAttributeBytes
        let value = Secret(try SecretInput.readAll(from: source.number, limit: limit + 1, "standard input"))
        guard value.count <= limit else {
            throw CofferError(
                .dataTooLarge,
                "the value of \(quotedForDisplay(attribute)) has more than \(limit) bytes, which are the most"
            )
        }
        let params = FileSetExtendedAttributeParameters(name: file, attribute: attribute, group: access.group)
        try connection.connect().call(params, payload: value)
    }

    private func show(_ attribute: String, _ file: ItemName) throws(CofferError) {
        let params = FileGetExtendedAttributeParameters(name: file, attribute: attribute, group: access.group)
        let answer = try connection.connect().call(params)
        try output.write(answer.payload, "the attribute \(quotedForDisplay(attribute))")
    }
}

extension ExtendedAttributeInfo: Printable {
    var text: [Line] { ["\(name: name)  \(countedBytes(byteCount))"] }
}
