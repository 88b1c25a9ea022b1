internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Access: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "What 'coffer allow', 'deny', 'grant' and 'share' have added: list or remove it.",
        subcommands: [ListRules.self, RemoveRules.self],
        defaultSubcommand: ListRules.self
    )
}

struct ListRules: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the access rules, in the order in which they were added."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    private static let columns: [Table.Column] = [
        Table.Column(title: "rule", isNumber: true), Table.Column(title: "what"), Table.Column(title: "client"),
        Table.Column(title: "verbs"), Table.Column(title: "group", rank: 1), Table.Column(title: "items"),
        Table.Column(title: "ends", rank: 2), Table.Column(title: "reason", rank: 3),
    ]

    func run() throws {
        let client = try connection.connect()
        var table = Table(Self.columns)
        var damaged: [Int64] = []
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(AccessListParameters(after: after)).value
            for rule in page.rules {
                if format.json { Output.standardOutput.line(rule.json) } else { table.add(rule.row) }
            }
            damaged += page.damaged
            return page.next
        }
        Output.standardOutput.lines(table.lines(for: Output.standardOutput.columnCount))
        if !format.json, let count = SharedVault.shareCount(connection), count > 0 {
            let what: Line = count == 1 ? "1 more item is" : "\(count) more items are"
            Output.standardError.line("\(what) shared by the machine's vault: 'coffer share' lists that")
        }
        if damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "damaged or tampered with: rule \(damaged.map(String.init).joined(separator: ", ")), because of which no rule allows anything",
            hint: "'coffer access remove' removes it; it may have been an exception"
        )
    }
}

extension AccessRule {
    /// The rule on one line.
    var text: Line { row.filter { !$0.forPipe.isEmpty }.joined(separator: "  ") }

    /// The rule in the columns of a listing.
    fileprivate var row: [Line] {
        [
            "\(number)", "\(kind.rawValue)", "\(client.ruleWords)", "\(verbs.words)", "\(group)",
            (name?.path ?? pattern?.text).map { "\(name: $0)" } ?? "(names after 'coffer unlock')",
            endWords, reason.map { "\(name: $0)" } ?? "",
        ]
    }

    /// When it ends; empty if it counts until it is removed.
    private var endWords: Line {
        let time = seconds.map { "in \(durationForDisplay(seconds: Int($0)))" }
        let uses = uses.map { $0 == 1 ? "after 1 use" : "after \($0) uses" }
        return "\([time, uses, name == nil ? nil : "with the item"].compactMap(\.self).joined(separator: ", "))"
    }
}

struct RemoveRules: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove access rules.")

    @Argument(
        help: ArgumentHelp("The numbers, as 'coffer access' has them.", valueName: "rule"),
        completion: .rule
    )
    var rules: [Int64]

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let client = try connection.connect()
        try forEachGoingOn(rules) { (rule) throws(CofferError) in
            try client.call(AccessRemoveParameters(number: rule))
        }
    }
}
