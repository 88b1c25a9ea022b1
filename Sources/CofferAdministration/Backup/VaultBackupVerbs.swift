package import ArgumentParser

/// The verbs of `coffer backup` that need a vault.
package enum VaultBackupVerbs {
    /// The verbs, in the order of the help.
    package static var all: [any ParsableCommand.Type] { [BackupInit.self, BackupCreate.self, BackupRestore.self] }
}
