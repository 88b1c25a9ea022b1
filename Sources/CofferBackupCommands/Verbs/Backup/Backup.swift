internal import ArgumentParser

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Snapshots of the vault in a repository: look at them, check, forget and prune them.",
        subcommands: [
            BackupList.self, BackupInspect.self, BackupStatus.self, BackupCheck.self, BackupForget.self,
            BackupPrune.self,
        ]
    )
}
