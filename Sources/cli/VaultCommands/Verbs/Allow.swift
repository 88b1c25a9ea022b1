internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Allow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Let a client use the items whose names match a pattern, until the rule ends or is removed.",
        discussion: """
            The rule adds rights that the client lacks. A locked item stays locked. With --for or --uses it ends by itself. \
            'coffer deny' makes an exception, 'coffer access' lists the rules, and 'coffer access remove' removes one. \
            A pattern for another user, a group or a unit of the system wants the passcode.
            """
    )

    @OptionGroup var rule: RuleArguments
    @Option(name: .customLong("for"), help: RuleUseOptions.timeHelp)
    var duration: String?

    @OptionGroup var use: RuleUseOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let given = try passcode.readGiven()
        let pattern = try rule.pattern()
        let params = AccessAllowParameters(
            client: try rule.clientPattern(),
            verbs: rule.verbSet,
            pattern: pattern,
            seconds: try duration.map(RuleUseOptions.seconds),
            uses: use.uses,
            reason: use.reason,
            group: access.group
        )
        let vault = try connection.connect()
        try SocketReach.requireReachable(by: params.client, vault)
        let result = try add(params, for: pattern, to: vault, given)
        format.show(result.json, "added rule \(result.number)")
        if params.verbs.contains(.read) {
            vault.warnIfNotLoadable(pattern, in: access.group, by: params.client)
        }
        if result.held.isEmpty { return }
        Output.warn(["\(params.client.ruleWords) may \(result.held.words) there without a rule, too"])
    }

    /// Adds the rule; if the daemon wants the passcode for it, says before how many items it is for now.
    private func add(
        _ params: AccessAllowParameters,
        for pattern: NamePattern,
        to vault: BlockingClient,
        _ given: Secret?
    ) throws(CofferError) -> AccessRuleResult {
        do throws(CofferError) {
            return try vault.call(params).value
        } catch {
            guard error.code == .interactionRequired else { throw error }
            // Who administers need not be one who may list the items.
            let count = try? vault.itemCount(matching: pattern, in: params.group)
            let items = count.map { $0 == 1 ? "1 item" : "\($0) items" } ?? "every item that there is"
            Output.standardError.line(
                "\(params.client.ruleWords) may \(rule.verbSet.words) \(items) by this rule, and what gets such a name later"
            )
            let session = Session(client: vault, given: given.map { [.passcode: $0] } ?? [:])
            return try session.call(params).value
        }
    }
}

extension BlockingClient {
    /// The number of the items of a group that a pattern matches, as far as their names can be read.
    fileprivate func itemCount(matching pattern: NamePattern, in group: String?) throws(CofferError) -> Int {
        var count = 0
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try call(ItemListParameters(pattern: pattern, after: after, group: group)).value
            count += page.items.count
            return page.next
        }
        return count
    }
}
