package import ArgumentParser

/// What the room adds to the command line.
package enum BackupVerbs {
    /// The verbs, in the order of the help.
    package static var all: [any ParsableCommand.Type] { [Backup.self] }
}
