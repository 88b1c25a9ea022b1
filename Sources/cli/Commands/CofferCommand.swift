package import ArgumentParser
internal import CofferVaultCommands
internal import CofferBackupCommands
internal import CofferCore
internal import CofferImportExport
internal import CofferProvision
internal import CofferSSHAgent
internal import CofferCommandSupport

/// The command `coffer`.
package struct CofferCommand: Executable {
    package static let configuration = CommandConfiguration(
        commandName: "coffer",
        abstract: "Keeps secrets and files that lock when the machine locks.",
        version: "coffer \(Version.program)",
        subcommands: [ClearClipboard.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Everyday",
                subcommands: [
                    Put.self, Get.self, List.self, Search.self, Show.self, History.self, Restore.self, Move.self,
                    Duplicate.self, Remove.self, Protect.self, Share.self, Explain.self,
                ] + SafetyVerbs.all + ImportExportVerbs.all + [Simulate.self, Keychain.self, File.self]
            ),
            CommandGroup(
                name: "Passwords",
                subcommands: [Generate.self, Edit.self, Copy.self, Otp.self, Login.self, AgentVerb.verb]
            ),
            CommandGroup(name: "Programs", subcommands: ProgramVerbs.all),
            CommandGroup(name: "The vault", subcommands: VaultVerbs.all + BackupVerbs.all),
        ]
    )

    package init() {}

    package static func command(of words: ArraySlice<String>) throws -> (any ParsableCommand)? {
        guard let plain = PlainGet(words) else { return try parsed(explaining: words) }
        guard let attempt = plain.run() else { return nil }
        let command = try parsed(words)
        guard var get = command as? Get else { return command }
        get.attempt = attempt
        return get
    }

    /// Verbs whose `--version` is that of a file.
    private static let verbsOfVersions = [["file", "read"], ["file", "restore"]]

    /// Has the argument parser parse the arguments.
    ///
    /// If it can't, it takes the `--version` of a file for that of the program.
    private static func parsed(explaining words: ArraySlice<String>) throws -> any ParsableCommand {
        do {
            return try parsed(words)
        } catch
            where verbsOfVersions.contains(Array(words.prefix(2))) && fullMessage(for: error) == configuration.version
        {
            let verb = "coffer \(words.prefix(2).joined(separator: " "))"
            throw CofferError(
                .param,
                "'\(verb)' takes the name of a file, and '--version' the number of one of its versions",
                hint: "'\(verb) --help' says more, and 'coffer --version' is that of the program"
            )
        }
    }
}
