internal import ArgumentParser
internal import CofferBackup
internal import CofferCore
internal import CofferTerminal
internal import CofferWire

struct BackupPrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove from the repository what no snapshot needs.",
        discussion: "It can be interrupted at any time: what snapshots need is written before anything is removed."
    )

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var format: FormatOptions

    func run() throws { try Self.prune(repository.open(), format) }

    /// Prunes, and says what that freed.
    static func prune(_ repository: Repository, _ format: FormatOptions) throws(CofferError) {
        let bar = format.json ? nil : ProgressBar()
        let outcome = try repository.prune { bar?.update($0.byteCount, of: nil) }
        bar?.finish()
        let freed = outcome.removedByteCount - outcome.writtenByteCount
        format.show(
            [
                "removedPackCount": .integer(Int64(outcome.removedPackCount)),
                "removedByteCount": .integer(outcome.removedByteCount),
                "writtenByteCount": .integer(outcome.writtenByteCount),
            ],
            "removed \(outcome.removedPackCount) packs: \(ByteCount.text(max(0, freed))) are free again"
        )
    }
}
