internal import ArgumentParser
internal import CofferBackup
internal import CofferClient
internal import CofferSession
internal import CofferTerminal

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

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let (client, _) = try connection.connectToVault()
        let place = try repository.map { absolutePlace($0) } ?? client.backupRepository()
        let repository = try Repository.open(try RepositoryPlace.storage(at: place))
        let bar = format.json ? nil : ProgressBar()
        defer { bar?.finish() }
        let sizes = try client.call(BackupBeginParameters()).value
        guard sizes.vaultID == repository.configuration.vaultID else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(place)) has the snapshots of another vault",
                hint: "'coffer backup init' sets up a repository for this one"
            )
        }
        try LeftBehind(client, count: sizes.leftBehindCount).warn()
        let writer = try repository.beginSnapshot(newest: sizes.newest.map { SnapshotReference($0) })
        Output.warn(writer.findings.map(\.message))
        try VaultReader(client: client, sizes: sizes) { bar?.update($0, of: nil) }.add(to: writer)
        let snapshot = try writer.finish { (reference) throws(CofferError) in
            let digest = try unsafe Secret(copying: reference.digest.span.bytes)
            return try client.call(BackupSignParameters(number: reference.number), payload: digest).payload
                .exposeBytes()
        }
        try client.call(BackupEndParameters(isCompleted: true))
        bar?.finish()
        format.show(CreatedSnapshot(snapshot: snapshot, writer: writer, leftBehindCount: sizes.leftBehindCount))
    }
}

extension BlockingClient {
    /// Where the backup of the vault was set up.
    ///
    /// - Throws: `notAvailable` if it was not.
    func backupRepository() throws(CofferError) -> String {
        guard let place = try call(BackupStatusParameters()).value.repository else {
            throw CofferError(
                .notAvailable,
                "no backup of this vault was set up",
                hint: "set one up with 'coffer backup init REPOSITORY'"
            )
        }
        return place
    }
}

/// A snapshot that was stored.
private struct CreatedSnapshot: Printable {
    let snapshot: Snapshot
    let writer: SnapshotWriter
    let leftBehindCount: Int

    var json: JSONObject {
        [
            "snapshot": .integer(snapshot.reference.number), "digest": .string(hexadecimal(snapshot.reference.digest)),
            "files": .integer(snapshot.fileCount), "bytes": .integer(snapshot.byteCount),
            "readBytes": .integer(writer.readByteCount), "addedBytes": .integer(writer.addedByteCount),
            "leftBehind": .integer(Int64(leftBehindCount)),
        ]
    }

    var text: [Line] {
        let total = ByteCount.text(snapshot.byteCount)
        let added = ByteCount.text(writer.addedByteCount)
        return ["stored snapshot \(snapshot.reference.number), \(total), of which \(added) are new"]
    }
}
