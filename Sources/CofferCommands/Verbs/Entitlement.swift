internal import ArgumentParser
internal import CofferCore
internal import CofferSystem

/// The verb `coffer entitlement`, with the verbs below it.
struct EntitlementVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlement",
        abstract: "Who may do what: check what is written of it.",
        subcommands: [CheckEntitlements.self]
    )
}

/// The verb `coffer entitlement check`, with its options.
struct CheckEntitlements: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong with the entitlements, if anything is.",
        discussion: """
            Reads FILE, or else all that the daemon would read on this machine for this user. No daemon is asked, and none \
            takes anything by this: 'systemctl reload', or SIGHUP, has it do so.
            """
    )

    @Argument(help: ArgumentHelp("The file; all that count if none is named.", valueName: "file"))
    var file: String?

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let limit = Limits.configurationBytes
        let files: [TrustedFiles.Content]
        if let file {
            files = [try TrustedFiles.read(at: file, upTo: limit)]
        } else {
            let home = environment("XDG_CONFIG_HOME") ?? environment("HOME").map { $0 + "/.config" }
            files = try TrustedFiles.read(inAll: Entitlement.directories(home: home), suffix: ".conf", upTo: limit)
        }
        _ = try Entitlement.all(in: files, userID: UserDatabase.userID)
    }
}
