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
        let ofFile: KeyValuePairs = [
            "--into": into != nil, "--replace": replace, "--skip": skip, "--file-password-fd": filePasswordFd != nil,
            "--group": access.group != nil, "--passcode-fd": authentication.passcodeFd != nil,
            "--application-password-fd": authentication.applicationPasswordFd != nil,
        ]
        try require("a file of this format", !isOfService, for: ofFile)
    }

    /// Whether the source is the service that runs in the session.
    private var isOfService: Bool { format == .secretService && file == nil }

    func run() throws {
        if isOfService {
            try ServiceImport(isDryRun: dryRun, json: output.json, authentication.connection).start()
        }
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
        var report = ImportReport()
        report.leftOut = left
        report.rows = steps.map { (item, action) in
            .init(action, item.kind, item.name, place: item.entry.place, byteCount: item.content.count)
        }
        if dryRun { return report.showPlan(json: output.json) }
        var run = ImportRun(vault)
        try run.store(steps)
        Output.warn(Array(Set(run.warnings)).sorted())
        report.show(json: output.json)
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
}

extension ImportFormat {
    /// Where the source usually is; `nil` if it has to be named.
    fileprivate func usualPath() throws(CofferError) -> String? {
        guard let home = environment("HOME") else { return nil }
        switch self {
        case .pass: return environment("PASSWORD_STORE_DIR") ?? "\(home)/.password-store"
        case .netrc: return "\(home)/.netrc"
        case .gitCredentials: return "\(home)/.git-credentials"
        case .docker: return "\(environment("DOCKER_CONFIG") ?? "\(home)/.docker")/config.json"
        case .pgpass: return environment("PGPASSFILE") ?? "\(home)/.pgpass"
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
