internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List secrets, logins, keys, certificates and files, sorted by name.",
        discussion:
            """
            In a pattern, '*' stands for any text within a part of a name, '**' for any text, '?' for one character. A \
            login, a key or a certificate is listed as login:ACCOUNT@SERVER, key:LABEL or certificate:LABEL: every verb \
            that takes a name takes these, too.
            """,
        aliases: ["ls"]
    )

    @Argument(
        help: "Names that begin with it only; with '*' or '?' in it, names that fit it as a pattern.",
        completion: .itemName
    )
    var prefix: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Ignore the case of letters in names; as it is without this where PREFIX has no capital."
    )
    var ignoreCase: Bool?

    @Option(help: "Items of one store only.")
    var store: StoreName?

    @Option(name: .customLong("class"), help: "Items of one class of the keychain only.")
    var itemClass: ItemClassArgument?

    @Flag(name: .shortAndLong, help: "Show what each item is, when it can be read, its size and its date.")
    var long = false

    @Flag(help: "Show the names as a tree.")
    var tree = false

    @Option(help: ArgumentHelp("Items that expire within a time, such as 30d, or by a date.", valueName: "time"))
    var expiring: String?

    @Option(help: ArgumentHelp("Items with the tag; given several times, with each.", valueName: "word"))
    var tag: [String] = []

    @OptionGroup var access: GroupOptions

    @Flag(help: "List the items of all access groups that you may name, and show the group of each.")
    var allGroups = false

    @OptionGroup var pager: PagerOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--all-groups": allGroups], ["--group": access.group != nil])
        try exclude(["--tree": tree], ["--long": long, "--json": format.json])
    }

    func run() throws {
        let isPattern = prefix?.isPattern ?? false
        let pattern = isPattern ? try prefix.map { try NamePattern($0) } : nil
        let before: Int64? = if let expiring { try Moment.end(expiring, of: "--expiring") } else { nil }
        let tags = tag.isEmpty ? nil : try tagWords(tag).joined(separator: " ")
        let client = try connection.connect()
        let listing = try Listing(from: client) { after in
            ItemListParameters(
                prefix: isPattern ? nil : prefix,
                pattern: pattern,
                ignoresCase: ignoreCase ?? !hasCapital,
                tags: tags,
                itemClass: itemClass?.itemClass,
                store: store,
                after: after,
                expiringBefore: before,
                group: access.group,
                isOfAllGroups: allGroups
            )
        }
        if listing.isEmpty && access.group == nil && !allGroups { try explainEmptiness(client) }
        pager.begin(format)
        try listing.show(tree ? .tree : long ? .table : .names, showsGroups: allGroups, format)
    }

    /// Says whose items were listed, if they are not the owner's.
    private func explainEmptiness(_ client: BlockingClient) throws(CofferError) {
        let rights = try client.call(EntitlementExplainParameters(.caller)).value
        guard let group = rights.groups.first, group != AccessGroup.owners else { return }
        Output.standardError.line("coffer: this is the group \(quotedForDisplay(group)): \(rights.reason)")
        switch rights.client.principal {
        case .unit(let unit): Self.showWay(for: "unit \(unit)")
        case .userUnit(let unit): Self.showWay(for: "user-unit \(unit)")
        default: return
        }
    }

    private static func showWay(for client: String) {
        Output.standardError.line(
            "hint: outside of the service, 'coffer allow \(client) read --item NAME' lets it read an item of yours"
        )
    }

    private var hasCapital: Bool { ([prefix].compactMap(\.self) + tag).contains { $0 != $0.lowercased() } }
}
