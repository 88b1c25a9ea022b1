internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Search: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find items by a word in their name, user name, address, comment or another attribute.",
        discussion: """
            Upper and lower case are the same, and an address counts up to its host. The secrets themselves are never \
            searched: of a login, the user name and the addresses are attributes, too.
            """,
        aliases: ["find"]
    )

    @Argument(help: "The text to look for.")
    var text: String

    @Flag(name: .shortAndLong, help: "Show what each item is, when it can be read, its size and its date.")
    var long = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var pager: PagerOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let listing = try Listing(from: connection.connect()) { after in
            ItemListParameters(text: LoginWords.searched(text), after: after, group: access.group)
        }
        if listing.isEmpty {
            throw CofferError(
                .itemNotFound,
                "no item contains \(quotedForDisplay(text))",
                hint: "'coffer list' shows all of them"
            )
        }
        pager.begin(format)
        try listing.show(long ? .table : .names, format)
    }
}
