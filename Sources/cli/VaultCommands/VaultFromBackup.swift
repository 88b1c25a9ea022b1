internal import ArgumentParser
internal import CofferBackup
internal import CofferBackupCommands
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// The options of `init` for a machine that gets its vault from a backup.
struct FromBackupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Restore the vault from this repository of a backup.", valueName: "repository"),
        completion: .directory
    )
    var fromBackup: String?

    @Option(help: ArgumentHelp("The number of the snapshot (default: the latest).", valueName: "snapshot"))
    var snapshot: String?

    @Option(help: ArgumentHelp("The state directory of the daemon (default: the user's).", valueName: "directory"))
    var state: String?

    @OptionGroup var key: BackupKeyOptions

    func validate() throws {
        let others: KeyValuePairs = [
            "--snapshot": snapshot != nil, "--state": state != nil, "--passphrase-fd": key.passphraseFd != nil,
            "--recovery-key": key.recoveryKey, "--recovery-key-fd": key.recoveryKeyFd != nil,
        ]
        try require("--from-backup", fromBackup != nil, for: others)
    }
}

extension Init {
    /// Restores a vault that this machine does not have, and gives it a passcode.
    func restore(from place: String) throws {
        let givenKey = try backup.key.readGiven()
        let given = try passcode.readGiven()
        if let given { try strength.check(given) }
        let client = try connection.connect()
        let state = try RestoredState(backup.state)
        let repository = try Repository.open(try RepositoryPlace.storage(at: absolutePlace(place)))
        // The last step alone may be left of an interrupted one.
        let isPlaced = try !state.isStaged && client.isMoved(repository.configuration.vaultID)
        if !state.isStaged && !isPlaced {
            try client.requireNoVault()
            try state.requireDaemon()
        }
        let chain = try repository.chain()
        Output.warn(chain.findings.map(\.message))
        let snapshot = try chain.snapshot(named: backup.snapshot ?? "latest")
        let key = try backup.key.key(givenKey, of: repository.configuration)
        if !key.isOfConfiguration && !state.isStaged && !isPlaced {
            // Before anything is restored: a vault that the key does not open would be in the way.
            _ = try PrivateVault(snapshot, of: repository, key, where: PrivateVault.opens)
            key.warn()
        }
        let typed = try given ?? SecretInput.askNew(check: strength.check)
        if !state.isStaged && !isPlaced {
            let bar = format.json ? nil : ProgressBar()
            defer { bar?.finish() }
            let lost = try state.stage(snapshot, of: repository) { bar?.update($0.byteCount, of: $0.totalByteCount) }
            bar?.finish()
            Output.warn(lost)
        }
        if !isPlaced { try state.place() }
        let params = PasscodeChangeParameters(
            credential: .recoveryKey,
            kdf: kdf,
            erasesData: eraseData ? true : nil
        )
        let status = try client.call(params, payload: try Secret(given: key.secret, new: typed)).value
        try client.remember(chain, repository.configuration, at: absolutePlace(place))
        format.show(
            status.json,
            "restored snapshot \(snapshot.reference.number) of \(Timestamp.text(snapshot.date)); the vault is this machine's now"
        )
        try client.tellLeftBehind()
    }
}

extension BlockingClient {
    /// Whether the vault is the given one, without its device key.
    fileprivate func isMoved(_ id: ItemID) throws(CofferError) -> Bool {
        let status = try status()
        return status.state == .deviceKeyMissing && status.vaultID == id
    }

    /// Has the vault continue the chain of the repository that it came from, and the verbs of this machine find it.
    fileprivate func remember(
        _ chain: SnapshotChain,
        _ configuration: RepositoryConfiguration,
        at place: String
    ) throws(CofferError) {
        guard let newest = chain.links.last else { return }
        let warnAfter = try call(BackupStatusParameters()).value.warnAfterSeconds
        let params = BackupRegisterParameters(
            repository: place,
            warnAfterSeconds: warnAfter,
            newestNumber: newest.reference.number,
            completed: newest.date,
            configuration: hexadecimal(configuration.digest)
        )
        _ = try call(params, payload: unsafe Secret(copying: newest.proof.span.bytes))
        BackupSettings.storeOrWarn(place, warnAfterSeconds: warnAfter)
    }
}
