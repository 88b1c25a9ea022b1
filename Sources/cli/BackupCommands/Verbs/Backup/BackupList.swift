internal import ArgumentParser
internal import CofferBackup
internal import CofferCore
internal import CofferTerminal

struct BackupList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the snapshots of the repository, the oldest first.",
        discussion: "Each is verified: the vault has signed it, and the one after it names it."
    )

    @Flag(help: "List those that were forgotten as well.")
    var all = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let chain = try repository.open().chain()
        let snapshots = all ? chain.links : chain.snapshots
        if format.json {
            for snapshot in snapshots { Output.standardOutput.line(snapshot.json) }
        } else {
            var table = Table(Snapshot.columns)
            for snapshot in snapshots { table.add(snapshot.cells) }
            Output.standardOutput.lines(table.lines(for: Output.standardOutput.columnCount))
        }
        format.show(chain.findings)
        if !chain.findings.isEmpty { throw CofferError.damagedRepository(chain.findings.count) }
    }
}
