internal import ArgumentParser
internal import CofferBackup
internal import CofferCore
internal import CofferTerminal
internal import CofferWire

struct BackupInspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "List the files of a snapshot: those of the vault's state directory.",
        discussion: "They are ciphertext, and so without the names of items."
    )

    @Argument(help: "The snapshot: its number, the beginning of its digest, or 'latest'.")
    var snapshot = "latest"

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let opened = try repository.open()
        let found = try opened.chain().snapshot(named: snapshot)
        let size: Line = "\(counted(found.fileCount, "file", "files")), \(ByteCount.text(found.byteCount))"
        format.show(found.json, "snapshot \(found.reference.number) of \(Timestamp.text(found.date)): \(size)")
        try opened.forEachFile(of: found) { (file) throws(CofferError) in
            format.show(
                ["path": .string(file.path), "byteCount": .integer(file.byteCount)],
                "\(file.byteCount)  \(name: file.path)"
            )
            return Output.failure == nil
        }
    }
}
