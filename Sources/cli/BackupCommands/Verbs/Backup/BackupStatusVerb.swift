internal import ArgumentParser
internal import CofferBackup
internal import CofferClient
internal import CofferCore
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import CofferWire

struct BackupStatusVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say how old the newest snapshot is.",
        discussion: """
            It also says why the last backup failed, if it did, and names the items that are ThisDeviceOnly, which no other machine can open from a snapshot, if a daemon \
            has the vault. It fails with 69 if there is no snapshot, or the newest one is older than WarnAfter= days in \
            backup.conf.
            """
    )

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let place = try repository.place()
        let remembered = connection.rememberedBackup(of: place)
        let opened: Repository
        do throws(CofferError) {
            opened = try remembered.openRepository(place)
        } catch {
            // What the vault remembers is all that there is.
            if let remembered { format.show(remembered) }
            throw error
        }
        let chain = try opened.chain(newest: remembered?.newest)
        let report = RepositoryReport(
            place: opened.storage.place,
            isAppendOnly: opened.configuration.isAppendOnly,
            snapshotCount: chain.snapshots.count,
            newest: chain.snapshots.last,
            remembered: remembered,
            leftBehind: connection.leftBehind(in: opened.configuration.vaultID),
            now: wallClockMilliseconds()
        )
        format.show(report)
        format.show(chain.findings)
        if !chain.findings.isEmpty { throw CofferError.damagedRepository(chain.findings.count) }
        try report.check(try BackupSettings.load().warnAfterDays)
    }
}

extension ConnectionOptions {
    /// The items of a vault that a restore on another machine can't open; `nil` if no daemon tells.
    ///
    /// The repository alone is enough for the other answers.
    fileprivate func leftBehind(in vaultID: ItemID) -> LeftBehind? {
        do throws(CofferError) {
            let client = try connectToRunning()
            guard try client.status().vaultID == vaultID else { return nil }
            let status = try client.call(BackupStatusParameters(countsLeftBehind: true)).value
            guard let count = status.leftBehindCount else { return nil }
            return try LeftBehind(client, count: count)
        } catch {
            return nil
        }
    }
}

private struct RepositoryReport: Printable {
    let place: String
    let isAppendOnly: Bool
    let snapshotCount: Int
    let newest: Snapshot?
    let remembered: RememberedBackup?
    /// The items that a restore can't open; `nil` if no daemon tells.
    let leftBehind: LeftBehind?
    let now: Int64

    private var ageSeconds: Int? { newest.map { Int(max(0, now - $0.date) / 1000) } }

    var json: JSONObject {
        var json: JSONObject = [
            "repository": .string(place), "appendOnly": .bool(isAppendOnly),
            "snapshotCount": .integer(Int64(snapshotCount)),
        ]
        if let newest { json.set("newest", .object(newest.json)) }
        if let ageSeconds { json.set("ageSeconds", .integer(Int64(ageSeconds))) }
        for member in remembered?.json.members ?? [] { json.set(member.key, member.value) }
        if let leftBehind {
            json.set("leftBehind", .integer(Int64(leftBehind.count)))
            json.set("leftBehindNames", .array(leftBehind.names.map { .string($0) }))
        }
        return json
    }

    var text: [Line] {
        var lines: [Line] = [
            "repository  \(place)\(isAppendOnly ? ", append-only" : "")", "snapshots   \(snapshotCount)",
        ]
        if let newest, let ageSeconds {
            let age = durationForDisplay(seconds: ageSeconds)
            lines.append("newest      \(newest.reference.number), \(age) ago, \(Timestamp.text(newest.date))")
            lines.append(
                "size        \(counted(newest.fileCount, "file", "files")), \(ByteCount.text(newest.byteCount))"
            )
        }
        lines += remembered?.failure ?? []
        guard let leftBehind else {
            return lines + ["left behind not known: no daemon that has the vault answers"]
        }
        return lines + ["left behind \(leftBehind.summary)"] + leftBehind.details
    }

    /// - Throws: `notAvailable` if there is no snapshot that is young enough.
    func check(_ days: Int?) throws(CofferError) {
        let hint = "run 'coffer backup create', and look whether its timer runs: systemctl --user list-timers"
        guard let ageSeconds else { throw CofferError(.notAvailable, "the repository has no snapshot", hint: hint) }
        guard let days, ageSeconds > days * 86400 else { return }
        throw CofferError(.notAvailable, "the newest snapshot is older than \(days) days", hint: hint)
    }
}
