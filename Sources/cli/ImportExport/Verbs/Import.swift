internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

extension ImportFormat: ExpressibleByArgument {}

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Store what another program has exported.",
        discussion: """
            Everything is read and checked before the first item is stored, and if one can't be stored, those before it \
            are taken back. What can't be read is named with the reason and left out. An item that is there already with the same content is skipped. --dry-run shows what would come.
            """
    )

    @Argument(help: "The format of the file.")
    var format: ImportFormat

    @Argument(
        help: ArgumentHelp("The file, '-' for standard input, or the directory of pass.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Show what would come, and store nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Store all of it below this name.", valueName: "name"))
    var into: String?

    @Flag(help: "Replace items that have another content.")
    var replace = false

    @Flag(help: "Leave items that have another content as they are.")
    var skip = false

    @Option(help: ArgumentHelp("Read the password of an encrypted file from this descriptor.", valueName: "number"))
    var filePasswordFd: Int32?

    @Option(help: ArgumentHelp("The key file of a KDBX database.", valueName: "file"), completion: .file())
    var keyFile: String?

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var output: FormatOptions

    func validate() throws {
        try require("the format keepass", format == .keepass, for: ["--key-file": keyFile != nil])
        try exclude(["--replace": replace], ["--skip": skip])
    }

    func run() throws {
        let prefix = try into.map { (name) throws(CofferError) in try ItemName(argument: name) }
        let given = try authentication.readGiven()
        let source = try path()
        let list = try entries(source, try SecretInput.passcode(from: filePasswordFd, "the password of the file"))
        let plan = try ImportPlan(list.entries, below: prefix)
        let omissions = list.omissions + plan.omissions
        Output.warn(list.remarks + omissions.map(\.words))
        guard !plan.items.isEmpty else {
            throw CofferError(.param, "there is nothing to import in \(quotedForDisplay(source))")
        }
        let left = omissions.count(where: \.isItem)
        let session = try authentication.connect(with: given)
        let vault = ImportVault(session: session, group: access.group)
        let steps = try decide(plan, vault)
        if dryRun { return show(steps, left) }
        var run = ImportRun(vault)
        try run.store(steps)
        Output.warn(Array(Set(run.warnings)).sorted())
        report(steps, left)
        if format.isPlaintext && !list.wasEncrypted && source != "-" && file != nil {
            remindOfPlaintext(source, isWhole: omissions.isEmpty)
        }
    }

    private func remindOfPlaintext(_ source: String, isWhole: Bool) {
        let advice =
            isWhole
            ? "remove it; 'shred -u' destroys it on a plain disk, not on an SSD or btrfs"
            : "what was left out is in it alone"
        Output.standardError.line("\(quotedForDisplay(source)) has all secrets in plaintext: \(advice)")
    }

    private func path() throws(CofferError) -> String {
        if let file { return file }
        guard let usual = try format.usualPath() else {
            throw CofferError(
                .param,
                "the format \(format.rawValue) needs a file",
                hint: "name it, or '-' for standard input"
            )
        }
        return usual
    }

    private func entries(_ source: String, _ passphrase: Secret?) throws(CofferError) -> ExchangeList {
        do throws(CofferError) {
            return try format.list(from: source, passphrase, keyFile: keyFile)
        } catch {
            throw CofferError(
                error.code,
                "can't import \(quotedForDisplay(source)): \(error.message); nothing was stored",
                hint: error.hint,
                retry: error.retry
            )
        }
    }

    // MARK: Deciding

    /// What is done with each item.
    ///
    /// - Throws: `duplicateItem` if others have their names, unless they are to be replaced or skipped.
    private func decide(
        _ plan: ImportPlan,
        _ vault: ImportVault
    ) throws(CofferError) -> [(item: ImportPlan.Item, action: ImportAction)] {
        var steps: [(item: ImportPlan.Item, action: ImportAction)] = []
        var clashes: [String] = []
        for item in plan.items {
            let action = try vault.action(for: item)
            if action == nil { clashes.append(item.name) }
            steps.append((item, action ?? (replace ? .replace : .skip)))
        }
        guard clashes.isEmpty || replace || skip || dryRun else { throw .clashes(clashes) }
        if dryRun && !replace && !skip && !clashes.isEmpty {
            Output.warn([
                counted(clashes.count, "item exists", "items exist") + " with another content: say --replace or --skip"
            ])
        }
        return steps
    }

    // MARK: Reporting

    private typealias Steps = [(item: ImportPlan.Item, action: ImportAction)]

    private func show(_ steps: Steps, _ left: Int) {
        if output.json { return steps.forEach { Output.standardOutput.line(json($0.item, $0.action)) } }
        var table = Table([
            .init(title: "ACTION"), .init(title: "WHAT"), .init(title: "SIZE", isNumber: true), .init(title: "NAME"),
        ])
        for (item, action) in steps {
            table.add([
                "\(action.rawValue)", "\(item.kind)", "\(ByteCount.text(Int64(item.content.count)))",
                "\(name: item.name)",
            ])
        }
        Output.standardOutput.lines(table.lines(for: Output.standardOutput.columnCount))
        Output.standardError.line("nothing was stored: this was a dry run, which would have \(counts(steps, left))")
    }

    private func json(_ item: ImportPlan.Item, _ action: ImportAction) -> JSONObject {
        var object = JSONObject()
        object.set("name", .string(item.name))
        object.set("kind", .string(item.kind))
        object.set("action", .string(action.rawValue))
        object.set("place", .string(item.entry.place))
        object.set("size", .integer(Int64(item.content.count)))
        return object
    }

    /// The numbers of all that the file has.
    private func counts(_ steps: Steps, _ left: Int) -> Line {
        func count(_ action: ImportAction) -> Int { steps.count { $0.action == action } }
        let all = counted(steps.count + left, "item", "items")
        let numbers: Line = "stored \(count(.store)), replaced \(count(.replace)), skipped \(count(.skip))"
        return left == 0 ? "\(numbers) of \(all)" : "\(numbers), left out \(left) of \(all)"
    }

    private func report(_ steps: Steps, _ left: Int) {
        func count(_ action: ImportAction) -> Int { steps.count { $0.action == action } }
        guard output.json else { return Output.standardOutput.line(counts(steps, left)) }
        for (item, action) in steps { Output.standardOutput.line(json(item, action)) }
        var object = JSONObject()
        for action in [ImportAction.store, .replace, .skip] { object.set(action.past, .integer(Int64(count(action)))) }
        object.set("leftOut", .integer(Int64(left)))
        Output.standardOutput.line(object)
    }
}

extension ImportAction {
    /// The name of its count.
    fileprivate var past: String {
        switch self {
        case .store: "stored"
        case .replace: "replaced"
        case .skip: "skipped"
        }
    }
}

extension ImportFormat {
    /// Stands for the service that runs in the session.
    private static var runningService: String { "the Secret Service" }

    /// Where the source usually is; `nil` if it has to be named.
    fileprivate func usualPath() throws(CofferError) -> String? {
        guard let home = environment("HOME") else { return nil }
        switch self {
        case .pass: return environment("PASSWORD_STORE_DIR") ?? "\(home)/.password-store"
        case .netrc: return "\(home)/.netrc"
        case .gitCredentials: return "\(home)/.git-credentials"
        case .docker: return "\(environment("DOCKER_CONFIG") ?? "\(home)/.docker")/config.json"
        case .pgpass: return environment("PGPASSFILE") ?? "\(home)/.pgpass"
        case .secretService: return Self.runningService
        default: return nil
        }
    }

    /// Reads the source.
    fileprivate func list(
        from path: String,
        _ passphrase: Secret?,
        keyFile: String?
    ) throws(CofferError) -> ExchangeList {
        switch self {
        case .pass: try ImportSource.passTree(path)
        case .onePUX: try ImportSource.onePUX(path)
        case .keepass: try ImportSource.keepass(path, passphrase, keyFile: keyFile)
        case .secretService where path == Self.runningService: try ImportSource.secretService()
        default:
            try entries(
                of: try ImportSource.content(ofFile: path),
                password: { () throws(CofferError) in
                    if let passphrase { return passphrase }
                    return Secret(
                        try SecretInput.ask(
                            "Password of \(quotedForDisplay(path)): ",
                            limit: Limits.passcodeBytes,
                            orElse: "give the password of the file by --file-password-fd"
                        )
                    )
                },
                inflate: ImportSource.inflate
            )
        }
    }
}

extension CofferError {
    fileprivate static func clashes(_ names: [String]) -> CofferError {
        let shown = names.prefix(Limits.importNamesShown).map { quotedForDisplay($0) }.joined(separator: ", ")
        let rest = names.count > Limits.importNamesShown ? " and \(names.count - Limits.importNamesShown) more" : ""
        return CofferError(
            .duplicateItem,
            "nothing was stored: \(counted(names.count, "item exists", "items exist")) with another content: \(shown)\(rest)",
            hint: "--replace replaces them, --skip leaves them as they are, --into NAME stores all of it below a name"
        )
    }
}
