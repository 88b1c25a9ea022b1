internal import ArgumentParser
internal import CofferClient
internal import CofferSession
internal import CofferTerminal

struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Let a client use the items whose names match a pattern, until the rule is removed.",
        discussion: """
            Such a rule gives what the client lacks, and changes nothing about the lock: what is locked is locked for it, too. \
            'coffer deny' makes an exception, 'coffer access' lists the rules, and 'coffer access remove' removes one. For \
            a limited time, see 'coffer grant'.
            """
    )

    @OptionGroup var rule: RuleArguments
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let params = AccessAllowParameters(
            client: try rule.clientPattern(),
            verbs: rule.verbSet,
            pattern: try rule.pattern(),
            group: access.group
        )
        let vault = try connection.connect()
        try SocketReach.requireReachable(by: params.client, vault)
        let result = try vault.call(params).value
        format.show(result.json, "added rule \(result.number)")
        if result.held.isEmpty { return }
        Output.warn(["\(params.client.ruleWords) may \(result.held.words) there without a rule, too"])
    }
}
