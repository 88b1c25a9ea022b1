internal import ArgumentParser
internal import CofferAdministration

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Snapshots of the vault in a repository: store, restore, check and forget them.",
        subcommands: VaultBackupVerbs.all + [
            BackupList.self, BackupInspect.self, BackupStatus.self, BackupCheck.self, BackupForget.self,
            BackupPrune.self,
        ]
    )
}
