internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Deny: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Make an exception to what 'coffer allow' gives.",
        discussion: """
            An exception prevails over every rule that allows, in whatever order they were added. It takes nothing from a \
            client that has rights of its own: an entitlement restricts those, and 'coffer entitlement explain' \
            shows.
            """
    )

    @OptionGroup var rule: RuleArguments
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let params = AccessDenyParameters(
            client: try rule.clientPattern(),
            verbs: rule.verbSet,
            pattern: try rule.pattern(),
            group: access.group
        )
        let result = try connection.connect().call(params).value
        format.show(result.json, "added rule \(result.number)")
        if result.held.isEmpty { return }
        Output.warn([
            "\(params.client.ruleWords) may \(result.held.words) there by its own rights, which no rule takes away: an entitlement does"
        ])
    }
}
