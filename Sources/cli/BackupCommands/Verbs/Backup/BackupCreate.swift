internal import ArgumentParser
internal import CofferBackup
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

struct BackupCreate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Store a snapshot of the vault, in whatever state it is.",
        discussion: """
            It needs no passcode and no passphrase, so a timer can run it while the vault is locked. Items that are \
            ThisDeviceOnly can't be opened on another machine: it names them first.
            """
    )

    @Argument(help: "The repository (default: the one that was set up).", completion: .directory)
    var repository: String?

    @Flag(help: "Wait while another process uses the repository.")
    var wait = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let place = repository.map { absolutePlace($0) }
        var hasWaited = false
        while try !storeUnlessBusy(at: place, isFirst: !hasWaited) {
            hasWaited = true
            sleep(Limits.repositoryPauseSeconds)
        }
    }
}

extension BackupCreate {
    /// Stores a snapshot.
    ///
    /// - Parameters:
    ///   - named: The repository; `nil` for the one that was set up.
    ///   - isFirst: Whether it has not been tried before.
    /// - Returns: Whether it is stored; if not, another backup is running, and it is to be tried again.
    private func storeUnlessBusy(at named: String?, isFirst: Bool) throws(CofferError) -> Bool {
        // What a failed attempt has begun ends with its connection.
        let (client, vault) = try connection.connectToVault()
        let status = try client.call(BackupStatusParameters()).value
        let place: String
        if let named { place = named } else { place = try status.requireRepository() }
        do throws(CofferError) {
            try store(at: place, status, vault, client)
            return true
        } catch {
            if wait, error.code == .notAvailable, error.retry == .later {
                if isFirst, Output.standardError.isTerminal { Output.standardError.line("waiting: \(error.message)") }
                return false
            }
            if status.remembered(of: place) != nil { client.recordBackupFailure(error, since: status) }
            throw error
        }
    }

    private func store(
        at place: String,
        _ status: BackupStatus,
        _ vault: VaultStatus,
        _ client: BlockingClient
    ) throws(CofferError) {
        let repository = try status.remembered(of: place).openRepository(place)
        guard vault.vaultID == repository.configuration.vaultID else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(place)) has the snapshots of another vault",
                hint: "'coffer backup init' sets up a repository for this one"
            )
        }
        let bar = format.json ? nil : ProgressBar()
        defer { bar?.finish() }
        let writer = try repository.beginSnapshot(newest: status.newest.map { SnapshotReference($0) })
        Output.warn(writer.findings.map(\.message))
        let sizes = try add(to: writer, status.newest, client) { bar?.update($0, of: nil) }
        let snapshot = try writer.finish { (reference) throws(CofferError) -> [UInt8] in
            let digest = try unsafe Secret(copying: reference.digest.span.bytes)
            return try client.call(BackupSignParameters(number: reference.number), payload: digest).payload
                .exposeBytes()
        }
        try client.call(BackupEndParameters(isCompleted: true))
        bar?.finish()
        format.show(CreatedSnapshot(snapshot: snapshot, writer: writer, sizes: sizes))
    }

    /// Adds the files of the vault to a snapshot.
    ///
    /// - Returns: What the daemon has said of them.
    private func add(
        to writer: SnapshotWriter,
        _ newest: BackupReference?,
        _ client: BlockingClient,
        progress: @escaping (Int64) -> Void
    ) throws(CofferError) -> BackupSizes {
        var sizes = try client.call(BackupBeginParameters(since: writer.base.map { hexadecimal($0.digest) })).value
        if sizes.isUnchanged {
            if try writer.addUnchanged() {
                LeftBehind(count: sizes.leftBehindCount).warn()
                return sizes
            }
            // The repository has lost a part: everything is read.
            try client.call(BackupEndParameters())
            sizes = try client.call(BackupBeginParameters()).value
        }
        guard sizes.newest == newest else {
            throw CofferError(
                .notAvailable,
                "another backup of this vault has ended meanwhile",
                hint: "run the command again",
                retry: .later
            )
        }
        try LeftBehind(client, count: sizes.leftBehindCount).warn()
        try VaultReader(client: client, sizes: sizes, progress: progress).add(to: writer)
        return sizes
    }
}

extension BackupStatus {
    /// Where the backup of the vault was set up.
    ///
    /// - Throws: `notAvailable` if it was not.
    func requireRepository() throws(CofferError) -> String {
        guard let repository else {
            throw CofferError(
                .notAvailable,
                "no backup of this vault was set up",
                hint: "set one up with 'coffer backup init REPOSITORY'"
            )
        }
        return repository
    }
}

/// A snapshot that was stored.
private struct CreatedSnapshot: Printable {
    let snapshot: Snapshot
    let writer: SnapshotWriter
    let sizes: BackupSizes

    var json: JSONObject {
        [
            "snapshot": .integer(snapshot.reference.number), "digest": .string(hexadecimal(snapshot.reference.digest)),
            "files": .integer(snapshot.fileCount), "bytes": .integer(snapshot.byteCount),
            "readBytes": .integer(writer.readByteCount), "addedBytes": .integer(writer.addedByteCount),
            "leftBehind": .integer(Int64(sizes.leftBehindCount)), "unchanged": .bool(sizes.isUnchanged),
        ]
    }

    var text: [Line] {
        let total = ByteCount.text(snapshot.byteCount)
        if sizes.isUnchanged { return ["stored snapshot \(snapshot.reference.number), \(total): nothing has changed"] }
        let added = ByteCount.text(writer.addedByteCount)
        return ["stored snapshot \(snapshot.reference.number), \(total), of which \(added) are new"]
    }
}
