internal import ArgumentParser
internal import CofferBackup
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct BackupRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore items of a snapshot, to a directory or into the vault.",
        discussion: """
            Nothing is replaced: what is there already is named. It asks for the passphrase of the backup. 'coffer init \
            --from-backup' restores the whole vault, on a machine that has none. For a removed item, see 'coffer trash \
            restore'; for a former value of a secret, 'coffer restore'.
            """
    )

    @Argument(help: "The repository (default: the one that was set up).", completion: .directory)
    var repository: String?

    @Option(help: "Write files and secrets, in plaintext, to this directory.", completion: .directory)
    var to: String?

    @Flag(help: "Put the items back into the vault.")
    var intoVault = false

    @Option(help: ArgumentHelp("Only items whose names match the pattern.", valueName: "pattern"))
    var items: String?

    @Option(help: ArgumentHelp("The number of the snapshot (default: the latest).", valueName: "snapshot"))
    var snapshot = "latest"

    @Flag(help: "Say what would be restored, and restore nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "Read the application password of items that ask for one from this descriptor.",
            valueName: "number"
        )
    )
    var applicationPasswordFd: Int32?

    @OptionGroup var key: BackupKeyOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if (to != nil) == intoVault { throw ValidationError("give either --to DIRECTORY or --into-vault") }
    }

    func run() throws {
        if let to { try DirectoryTarget.check(to) }
        let given = try key.readGiven()
        let password = try SecretInput.passcode(from: applicationPasswordFd, "the application password")
        let pattern = try items.map { (text) throws(CofferError) in try NamePattern(text) }
        let live = intoVault || repository == nil ? try connection.connectToVault().client : nil
        let status = repository == nil ? try live?.call(BackupStatusParameters()).value : nil
        let place = try repository.map { absolutePlace($0) } ?? status?.requireRepository() ?? ""
        let remembered = if let status { status.remembered(of: place) } else { connection.rememberedBackup(of: place) }
        let repository = try remembered.openRepository(place)
        let chain = try repository.chain(newest: remembered?.newest)
        Output.warn(chain.findings.map(\.message))
        let found = try chain.snapshot(named: snapshot)
        let recoveryKey = try key.key(given, of: repository.configuration)
        let bar = format.json ? nil : ProgressBar()
        defer { bar?.finish() }
        let vault = try PrivateVault(
            found,
            of: repository,
            recoveryKey,
            progress: { bar?.update($0.byteCount, of: $0.totalByteCount) }
        )
        bar?.finish()
        recoveryKey.warn()
        Output.warn(vault.findings)
        let target: any RestoreTarget
        if let to {
            target = try DirectoryTarget(to, isDry: dryRun)
        } else {
            target = try VaultTarget(live, isDry: dryRun)
        }
        if let password {
            for client in [vault.client, intoVault ? live : nil].compactMap({ $0 }) {
                try client.call(
                    ContextAuthenticateParameters(
                        factor: .applicationPassword,
                        reuseSeconds: Int64(Limits.contextSeconds)
                    ),
                    payload: password
                )
            }
        }
        var restored = RestoredItems(isDry: dryRun)
        for item in try vault.client.items(matching: pattern) {
            try restored.restore(item, from: vault.client, to: target)
        }
        format.show(restored)
        if let code = restored.firstFailure { throw ExitStatus(code) }
    }
}

extension BlockingClient {
    /// The items of all groups whose names match.
    fileprivate func items(matching pattern: NamePattern?) throws(CofferError) -> [ItemInfo] {
        var items: [ItemInfo] = []
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try call(ItemListParameters(pattern: pattern, after: after, isOfAllGroups: true)).value
            items += page.items
            return page.next
        }
        return items
    }
}

/// What became of the items of a snapshot.
private struct RestoredItems: Printable {
    let isDry: Bool
    private var restored: [String] = []
    private var same: [String] = []
    private var left: [(name: String, reason: String)] = []
    /// Items without some of their former values.
    private var shortened: [(name: String, count: Int)] = []
    /// Why the first item could not be restored.
    private(set) var firstFailure: ErrorCode?

    init(isDry: Bool) { self.isDry = isDry }

    /// Restores an item, or records why not.
    ///
    /// - Throws: What concerns all items.
    mutating func restore(
        _ item: ItemInfo,
        from client: BlockingClient,
        to target: any RestoreTarget
    ) throws(CofferError) {
        if item.isLeftBehind {
            left.append((item.name, "it is ThisDeviceOnly, and its key stayed on the machine of the backup"))
            return
        }
        do throws(CofferError) {
            switch try target.restore(item, from: client) {
            case .same: same.append(item.name)
            case .restored(let lostValueCount):
                restored.append(item.name)
                if lostValueCount > 0 { shortened.append((item.name, lostValueCount)) }
            }
        } catch {
            guard ![.notAvailable, .diskFull, .protocolViolation, .internal].contains(error.code) else { throw error }
            let isAsking = error.code == .interactionRequired || error.code == .authFailed
            let hint = isAsking ? "; pass the password by --application-password-fd" : ""
            left.append((item.name, error.message + hint))
            firstFailure = firstFailure ?? error.code
        }
    }

    var json: JSONObject {
        [
            "restored": .array(restored.map { .string($0) }),
            "same": .array(same.map { .string($0) }),
            "withoutHistory": .array(shortened.map { .string($0.name) }),
            "left": .array(left.map { .object(["name": .string($0.name), "reason": .string($0.reason)]) }),
        ]
    }

    var text: [Line] {
        var lines: [Line] = []
        if isDry { lines += restored.map { "would restore \(name: $0)" } }
        lines += shortened.map {
            let values = $0.count == 1 ? "its former value" : "its \($0.count) former values"
            return "\(name: $0.name) comes without \(values), because its access control asks for each change"
        }
        lines += left.map { "left \(name: $0.name): \($0.reason)" }
        let there = same.isEmpty ? "" : ", \(same.count) \(same.count == 1 ? "was" : "were") there already"
        let others = left.isEmpty ? "" : ", \(left.count) \(left.count == 1 ? "was" : "were") left"
        let items = restored.count == 1 ? "1 item" : "\(restored.count) items"
        lines.append("\(isDry ? "would restore" : "restored") \(items)\(there)\(others)")
        return lines
    }
}
