internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Grant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Let a client read one item for a limited time.",
        discussion: """
            It adds a rule as 'coffer allow' does, which ends after its time or its uses, at a reboot, when the item is \
            removed, or by 'coffer access remove'. A locked item stays locked.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(
        help: ArgumentHelp(
            "Who may read it, as of 'coffer allow': unit ci, user-unit mail, user anna or program /usr/bin/mail.",
            valueName: "client"
        )
    )
    var to: String

    @Option(name: .customLong("for"), help: RuleUseOptions.timeHelp)
    var duration: String

    @OptionGroup var use: RuleUseOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let params = AccessAllowParameters(
            client: try ClientPattern(argument: to),
            verbs: [.read],
            name: itemName,
            seconds: try RuleUseOptions.seconds(duration),
            uses: use.uses,
            reason: use.reason,
            group: access.group
        )
        let vault = try connection.connect()
        try SocketReach.requireReachable(by: params.client, vault)
        let result = try vault.call(params).value
        format.show(result.json, "added rule \(result.number)")
        vault.warnIfNotLoadable(itemName, in: access.group, by: params.client)
    }
}
