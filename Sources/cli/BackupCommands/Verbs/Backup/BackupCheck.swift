internal import ArgumentParser
internal import CofferBackup
internal import CofferCore
internal import CofferCommandSupport
internal import CofferTerminal
internal import CofferWire

struct BackupCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check that every snapshot can be restored.",
        discussion: """
            It verifies the chain of snapshots, and that the repository has every part of every file. Whether a part is still \
            what was written, only --read-data finds out. If a daemon that runs has the vault, it also compares the newest \
            snapshot with the one that the vault remembers.
            """
    )

    @Flag(help: "Read and verify all data as well.")
    var readData = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let bar = format.json ? nil : ProgressBar()
        let place = try repository.place()
        let remembered = connection.rememberedBackup(of: place)
        let opened = try remembered.openRepository(place)
        let outcome = try opened.check(isReadingData: readData, newest: remembered?.newest) {
            bar?.update($0.byteCount, of: $0.totalByteCount)
        }
        bar?.finish()
        format.show(outcome.findings, unlistedCount: outcome.unlistedCount)
        let extent: Line = readData ? ", all of it read" : "; the data was not read"
        let count = outcome.findings.count + outcome.unlistedCount
        format.show(
            [
                "snapshotCount": .integer(Int64(outcome.snapshotCount)),
                "packCount": .integer(Int64(outcome.packCount)), "byteCount": .integer(outcome.byteCount),
                "readByteCount": .integer(outcome.readByteCount), "findingCount": .integer(Int64(count)),
            ],
            "snapshots checked: \(outcome.snapshotCount); packs: \(outcome.packCount), \(ByteCount.text(outcome.byteCount))\(extent)"
        )
        if count > 0 { throw CofferError.damagedRepository(count) }
    }
}
