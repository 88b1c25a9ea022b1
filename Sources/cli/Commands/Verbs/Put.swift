internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Store a secret or a file.",
        discussion: """
            The content comes from FILE, or from standard input, which '-' means, too; on a terminal it is asked for \
            without echo. The files of a directory are stored below NAME. Small content and recognised secrets go to the \
            keychain, all else becomes a file: --explain says why.
            """,
        aliases: ["insert", "add"]
    )

    @Argument(help: "The name, a path such as github.com/token.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The file to store.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var wishes: PlacementArguments
    @OptionGroup var service: ServiceOptions

    @Option(help: "Store it as this field of the secret, and keep all else.")
    var field: String?

    @Flag(help: "Say in words why it went there.")
    var explain = false

    @Flag(help: "Store an empty item, if the content is empty.")
    var allowEmpty = false

    @Flag(help: "Fail if there is an item of that name already.")
    var ifAbsent = false

    @Option(help: ArgumentHelp("Keep so many former values of a secret, or versions of a file.", valueName: "number"))
    var keep: KeepCount?

    @Flag(help: "Leave out the line break at the end, as 'echo' writes one.")
    var trim = false

    @OptionGroup var notes: NoteOptions
    @OptionGroup var control: AccessControlOptions

    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        let others: KeyValuePairs = [
            "--if-absent": ifAbsent, "--explain": explain, "--allow-empty": allowEmpty, "--keep": keep != nil,
            "--expires": notes.expires != nil, "--note": notes.note != nil, "--tag": !notes.tag.isEmpty,
            "--access-control": control.isGiven,
        ]
        try exclude(["--field": field != nil], others)
    }

    func run() throws {
        let file = file == "-" ? nil : file
        var wishes = try service.applied(to: wishes.wishes)
        if let file, DirectoryWalk.isDirectory(file) { return try putDirectory(file, below: folderName(), wishes) }
        let itemName = try ItemName(argument: name)
        let attributes = try notes.attributes()
        let accessControl = try control.accessControl()
        let given = try authentication.readGiven()
        let source = try SecretInput.open(file)
        // One byte more than the limit of a keychain item is enough for the decision; the rest stays in the
        // source.
        let isTyped = file == nil && isTypedInput
        let content = try isTyped ? askContent(itemName) : readContent(from: source.number, file, itemName)
        if let field {
            let session = try authentication.connect(with: given)
            let value = try content.withoutLineEnd()
            let change = try session.setField(field, of: itemName, to: value, wishes)
            return format.show(change)
        }
        if file != nil { wishes = wishes.presenting(source) }
        let isComplete = content.count <= Limits.secretBytes
        // Connects after the input was checked, so that bad input does not start the daemon.
        let session = try authentication.connect(with: given)
        let client = session.client
        try session.showNewPassword(for: accessControl)
        let bar = isComplete ? nil : ProgressBar()
        defer { bar?.finish() }
        let params = ItemPutParameters(
            name: itemName,
            wishes: wishes,
            attributes: attributes,
            user: try notes.user(),
            isIfAbsent: ifAbsent,
            accessControl: accessControl,
            keepCount: keep?.count,
            wantsProgress: bar != nil
        )
        let placement =
            if isComplete { try session.call(params, payload: content).value } else {
                // A stream can be read once: no request is repeated with it.
                try client.call(
                    params,
                    payload: content,
                    passing: source.number,
                    progress: bar.map { bar in { bar.update($0.done, of: $0.total) } }
                ).value
            }
        bar?.finish()
        Output.warn(placement.warnings)
        if isComplete { session.note(LoginWords(content), of: itemName, placement, in: wishes.group) }
        let isNamed = wishes.protectionClass != nil || wishes.accessibility != nil
        format.show(
            PlacementReport(placement: placement, name: itemName, isExplained: explain, isProtectionNamed: isNamed)
        )
        let byteCount = isComplete ? Int64(content.count) : nil
        try service.tell(itemName, byteCount, placement.protection, client, format)
        if !service.isGiven { client.warnIfNotLoadable(itemName, in: wishes.group, byteCount: byteCount) }
    }

    /// The name below which the files of a directory are stored.
    private func folderName() throws(CofferError) -> ItemName {
        guard field == nil, !explain, notes.isEmpty, !control.isGiven, !trim, keep == nil else {
            throw CofferError(
                .param,
                "--field, --explain, --trim, --keep, --expires, --note, --tag and --access-control are for one item, and that is a directory"
            )
        }
        return try ItemName(argument: name.hasSuffix("/") ? String(name.dropLast()) : name)
    }

    private func askContent(_ name: ItemName) throws(CofferError) -> Secret {
        try SecretInput.askTwice(
            "Secret for \(name.quoted): ",
            "Repeat secret for \(name.quoted): ",
            of: "secret",
            limit: Limits.secretBytes
        ) { (typed) throws(CofferError) in try requireContent(typed, of: name, from: "what was typed") }
    }

    private func readContent(
        from descriptor: Int32,
        _ file: String?,
        _ name: ItemName
    ) throws(CofferError) -> Secret {
        let bytes = try SecretInput.readAll(
            from: descriptor,
            limit: Limits.secretBytes + 1,
            quotedForDisplay(file ?? "stdin")
        )
        var content = Secret(bytes)
        if trim {
            // The end of a longer content was not read.
            guard content.count <= Limits.secretBytes else { throw CofferError.notTrimmed }
            content = try content.withoutLineEnd()
        } else if file == nil, !format.json, [nil, .password, .token].contains(wishes.kind) {
            content = try LineEndQuestion.ask(content, name)
        }
        try requireContent(content, of: name, from: file.map { quotedForDisplay($0) } ?? "standard input")
        return content
    }

    /// Refuses an empty content: it is the output of a command that failed.
    private func requireContent(_ content: Secret, of name: ItemName, from source: String) throws(CofferError) {
        guard content.count == 0, !allowEmpty else { return }
        throw CofferError(
            .param,
            "nothing was stored under \(name.quoted): \(source) is empty",
            hint: "see whether the command before the pipe has failed; --allow-empty stores an empty item"
        )
    }
}

/// The placement of an item.
private struct PlacementReport: Printable {
    let placement: Placement
    let name: ItemName
    let isExplained: Bool
    let isProtectionNamed: Bool

    var json: JSONObject { placement.named(name) }

    var text: [Line] {
        let place: Line = placement.protection.store == .file ? "as a file" : "in the keychain"
        let remedy: Line =
            placement.protection.isReadableWhileLocked && !isProtectionNamed
            ? " (--readable unlocked changes that)" : ""
        let stored: Line = "stored \(name.quoted) \(place); \(placement.protection.sentence)\(remedy)"
        return isExplained ? [stored, placement.explanation] : [stored]
    }
}

extension CofferError {
    fileprivate static var notTrimmed: CofferError {
        CofferError(
            .param,
            "--trim is for content of at most \(Limits.secretBytes) bytes, and nothing was stored",
            hint: "leave it out: a file keeps its line breaks"
        )
    }
}

extension Placement {
    /// The JSON with the name of the item.
    func named(_ name: ItemName) -> JSONObject {
        var object = json
        object.set("name", .string(name.path))
        return object
    }

    /// The rule, and the origin of the protection.
    var explanation: Line {
        let source =
            switch protectionSource {
            case "caller": "you said so"
            case "existingItem": "the item that is stored under the name has it"
            case "copiedItem": "the file has it of which this is a copy"
            case "directory": "the directory has it for new files"
            case "entitlement": "the client's entitlement says so"
            case "configuration": "'cofferd.conf' says so"
            case "scenario": "the scenario says so"
            case "kind": "its kind says so"
            case "content": "it looks like a secret, which is not readable while locked unless you say so"
            case "group": "it is the default for new files here"
            default: "the default for \(protection.store == .file ? "files" : "secrets")"
            }
        return "\(rule): \(reason)\nreadable \(protection.words): \(source)"
    }
}
