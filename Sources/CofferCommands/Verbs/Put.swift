internal import ArgumentParser
internal import CofferClient
internal import CofferSystem
internal import Glibc

struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Store a secret or a file where it belongs.",
        discussion: """
            The content comes from FILE, or from standard input; on a terminal it is asked for without echo. The decision \
            matrix says whether it goes to the keychain or to the file store, and how it is protected there.
            """
    )

    @Argument(help: "The name, a path such as github.com/token.")
    var name: String

    @Argument(help: ArgumentHelp("The file to store.", valueName: "file"))
    var file: String?

    @OptionGroup var wishes: PlacementArguments

    @Option(help: "Store it as this field of the secret, and keep all else.")
    var field: String?

    @Flag(help: "Say in words why it went there.")
    var explain = false

    @Flag(help: "Store nothing under the name, if nothing is given.")
    var allowEmpty = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let source = try SecretInput.open(file)
        // One byte more than the limit of a keychain item is enough for the decision; the rest stays in the
        // source.
        let isTyped = file == nil && isatty(STDIN_FILENO) == 1
        let content = try isTyped ? askContent(itemName) : readContent(from: source.number, itemName)
        if let field {
            let session = Session(client: try connection.connect(), given: [:])
            let value = try content.withoutLineEnd()
            let change = try session.setField(field, of: itemName, to: value, wishes.wishes(isPresentedAsFile: false))
            return format.show(change)
        }
        let isComplete = content.count <= Limits.secretBytes
        // Connects after the input was checked, so that bad input does not start the daemon.
        let client = try connection.connect()
        let bar = isComplete ? nil : ProgressBar()
        defer { bar?.finish() }
        let params = ItemPutParameters(
            name: itemName,
            wishes: wishes.wishes(isPresentedAsFile: file != nil),
            wantsProgress: bar != nil
        )
        let placement = try client.call(
            params,
            payload: content,
            passing: isComplete ? nil : source.number,
            progress: bar.map { bar in { bar.update($0.done, of: $0.total) } }
        ).value
        bar?.finish()
        Output.warn(placement.warnings)
        format.show(PlacementReport(placement: placement, name: itemName, isExplained: explain))
    }

    private func askContent(_ name: ItemName) throws(CofferError) -> Secret {
        try SecretInput.askTwice(
            "Secret for \(name.quoted): ",
            "Repeat secret for \(name.quoted): ",
            of: "secret",
            limit: Limits.secretBytes
        ) { (typed) throws(CofferError) in try requireContent(typed, of: name, from: "what was typed") }
    }

    private func readContent(from descriptor: Int32, _ name: ItemName) throws(CofferError) -> Secret {
        let content = Secret(
            try SecretInput.readAll(
                from: descriptor,
                limit: Limits.secretBytes + 1,
                quotedForDisplay(file ?? "stdin")
            )
        )
        try requireContent(content, of: name, from: file.map { quotedForDisplay($0) } ?? "standard input")
        return content
    }

    /// Refuses an empty content: it is the output of a command that failed.
    private func requireContent(_ content: Secret, of name: ItemName, from source: String) throws(CofferError) {
        guard content.count == 0, !allowEmpty else { return }
        throw CofferError(
            .param,
            "nothing was stored under \(name.quoted): \(source) is empty",
            hint: "if the command before a pipe has failed, mend it; --allow-empty stores an empty item"
        )
    }
}

/// The placement of an item.
private struct PlacementReport: Printable {
    let placement: Placement
    let name: ItemName
    let isExplained: Bool

    var json: JSONObject {
        var object = placement.json
        object.set("name", .string(name.path))
        return object
    }

    var text: [Line] {
        let place = "\(placement.protection.store.words) as \(placement.protection.name)"
        let stored: Line = "stored \(name.quoted) in the \(place) (\(placement.rule))"
        return isExplained ? [stored, placement.explanation] : [stored]
    }
}

extension StoreName {
    /// The store for a sentence.
    var words: String {
        switch self {
        case .keychain: "keychain"
        case .file: "file store"
        }
    }
}

extension Placement {
    /// The rule, and the origin of the protection.
    var explanation: Line {
        let source =
            switch protectionSource {
            case "caller": "you said so"
            case "existingItem": "the item that is stored under the name has it"
            case "directory": "the directory has it for new files"
            case "entitlement": "the client's entitlement says so"
            case "configuration": "'cofferd.conf' says so"
            case "scenario": "the scenario says so"
            case "kind": "its kind says so"
            default: "nothing else was asked for"
            }
        return "\(rule): \(reason)\n\(protection.name): \(source)"
    }
}
