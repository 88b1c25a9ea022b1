internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove items: they go to the trash, where 'coffer trash restore' finds them for 30 days.",
        discussion: """
            A name with '*' or '?' in it that is no item removes all that fit it, as 'coffer list' would list them. What a \
            pattern or --recursive selects is removed after a confirmation on the terminal, or with --yes.
            """,
        aliases: ["rm"]
    )

    @Argument(help: "The names, or patterns of names.", completion: .itemName)
    var names: [String]

    @Flag(name: .shortAndLong, help: "Remove everything below the names, too.")
    var recursive = false

    @Flag(help: "Destroy them at once, without the trash.")
    var now = false

    @Flag(name: .shortAndLong, help: "Do not ask, and ignore names that do not exist.")
    var force = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let items = try names.map { try ItemName(argument: $0) }
        let session = try authentication.connect()
        let isSelection = recursive || names.contains(where: \.isPattern)
        // Several patterns may fit one item.
        var selected: Set<ItemName> = []
        let expanded = isSelection ? try items.flatMap { try expand($0, session.client) } : items
        let found = isSelection ? expanded.filter { selected.insert($0).inserted } : items
        // What was named one by one is removed as it is.
        if found != items { try confirm(found) }
        try forEachGoingOn(found) { (item) throws(CofferError) in
            do throws(CofferError) {
                _ = try session.call(ItemRemoveParameters(name: item, keepsInTrash: !now, group: access.group))
            } catch  where error.code == .itemNotFound {
                if !force { throw try explained(error, item, session.client) }
            } catch  where error.code == .diskFull && !now {
                throw CofferError(
                    .diskFull,
                    error.message,
                    hint: "'coffer remove --now' destroys it without the trash, and frees its room"
                )
            }
        }
    }

    /// Says of a name that is no item that there are items below it.
    private func explained(
        _ error: CofferError,
        _ name: ItemName,
        _ client: BlockingClient
    ) throws(CofferError) -> CofferError {
        if recursive { return error }
        let below = ItemListParameters(prefix: name.path + "/", limit: 1, group: access.group)
        guard let page = try? client.call(below).value, page.next != nil || !page.items.isEmpty else { return error }
        return CofferError(
            error.code,
            "\(name.quoted) is no item; there are items below it",
            hint: "'coffer remove -r \(name.path)' removes them"
        )
    }

    /// The items that a name selects: itself, those that fit it as a pattern, and those below it.
    private func expand(_ name: ItemName, _ client: BlockingClient) throws -> [ItemName] {
        let isItem = try exists(name, client)
        var found = isItem ? [name] : []
        if !isItem && name.path.isPattern {
            let pattern = try NamePattern(name.path)
            found += try listed(client) { ItemListParameters(pattern: pattern, after: $0, group: access.group) }
        }
        if recursive {
            found += try listed(client) {
                ItemListParameters(prefix: name.path + "/", after: $0, group: access.group)
            }
        }
        // The daemon says that there is none.
        return found.isEmpty ? [name] : found
    }

    private func exists(_ name: ItemName, _ client: BlockingClient) throws(CofferError) -> Bool {
        do throws(CofferError) {
            _ = try client.call(ItemShowParameters(name: name, group: access.group))
            return true
        } catch  where error.code == .itemNotFound {
            return false
        }
    }

    private func listed(
        _ client: BlockingClient,
        _ parameters: (String?) -> ItemListParameters
    ) throws(CofferError) -> [ItemName] {
        try Listing(from: client, parameters).names.map { (name) throws(CofferError) in try ItemName(name) }
    }

    private func confirm(_ found: [ItemName]) throws(CofferError) {
        if confirmation.yes || force { return }
        let confirmation = try confirmation.prepare()
        for name in found { confirmation.say("  \(name: name.path)") }
        let count: Line = found.count == 1 ? "this item" : "these \(found.count) items"
        confirmation.say(now ? "\(count) will be destroyed; no former value is kept" : "\(count) will go to the trash")
        try confirmation.ask(for: "yes", orElse: "nothing was removed")
    }
}

extension String {
    /// Whether it has a character that stands for others in a pattern.
    var isPattern: Bool { utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") } }
}
