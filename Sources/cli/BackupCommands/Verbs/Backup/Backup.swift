internal import ArgumentParser

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Snapshots of the vault in a repository: store, restore, check and forget them.",
        subcommands: [
            BackupInit.self, BackupCreate.self, BackupRestore.self,
            BackupList.self, BackupInspect.self, BackupStatusVerb.self, BackupCheck.self, BackupForget.self,
            BackupPrune.self,
        ]
    )
}
