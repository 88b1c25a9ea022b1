internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCore
internal import CofferCommandSupport
internal import CofferTerminal

struct TrashVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trash",
        abstract: "What was removed: list it, restore it, or destroy it.",
        subcommands: [ListTrash.self, RestoreTrash.self, EmptyTrash.self]
    )
}

struct ListTrash: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what is in the trash, the oldest first."
    )

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let found = try connection.connect().trash(of: access.group)
        for item in found.items { format.show(item) }
        if found.damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "damaged or tampered with: entry \(found.damaged.map(String.init).joined(separator: ", "))",
            hint: "'coffer trash empty --entry NUMBER' destroys one"
        )
    }
}

extension TrashedItem: Printable {
    var text: [Line] {
        let left = durationForDisplay(seconds: Int(secondsLeft))
        guard let name else { return ["\(number)  a name that can be read after the first unlock  \(left) left"] }
        let protection = accessibility?.rawValue ?? protectionClass?.rawValue ?? ""
        return ["\(number)  \(name: name)  \(protection)  \(countedBytes(byteCount ?? 0))  \(left) left"]
    }
}

struct RestoreTrash: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Take items out of the trash, with their protection, dates and former values.",
        discussion: """
            Of several with one name, it restores the one that was removed last; --entry chooses another by the number that \
            'coffer trash list' shows. A name that is none of an item there restores all below it; with '*' or '?' in it, \
            all that fit it as a pattern. For a former value of a secret, see 'coffer restore'; for a version of a file, \
            'coffer file restore'; for a snapshot, 'coffer backup restore'.
            """
    )

    @Argument(help: "The names, folders, or patterns of names.", completion: .trashedName)
    var names: [String] = []

    @Option(help: ArgumentHelp("The number of an entry, instead of a name.", valueName: "number"))
    var entry: Int64?

    @Option(name: .customLong("as"), help: ArgumentHelp("Another name for it.", valueName: "name"))
    var target: String?

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if names.isEmpty == (entry == nil) { throw ValidationError("give names, or --entry NUMBER") }
        if target != nil && names.count > 1 { throw ValidationError("--as is for one item") }
    }

    func run() throws {
        let client = try connection.connect()
        let target = try target.map { try ItemName(argument: $0) }
        if let entry { return try restore(entry, as: target, client) }
        let found = try client.trash(of: access.group)
        try forEachGoingOn(names) { (name) throws(CofferError) in
            let selected = try found.selected(by: name)
            guard target == nil || selected.count == 1 else {
                throw CofferError(.param, "--as is for one item: \(quotedForDisplay(name)) selects \(selected.count)")
            }
            for entry in selected { try restore(entry, as: target, client) }
        }
    }

    private func restore(_ entry: Int64, as target: ItemName?, _ client: BlockingClient) throws(CofferError) {
        let info = try client.call(TrashRestoreParameters(number: entry, target: target, group: access.group)).value
        format.show(info.json, "restored \(name: info.name)")
    }
}

struct EmptyTrash: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "empty",
        abstract: "Destroy what is in the trash, or some of it.",
        discussion: """
            It destroys what is not selected by single names after a confirmation on the terminal, or with --yes. A name that is \
            none of an item there selects all below it; with '*' or '?' in it, all that fit it as a pattern.
            """
    )

    @Argument(help: "The names, folders, or patterns of names; all of the trash without them.")
    var names: [String] = []

    @Option(help: ArgumentHelp("The number of an entry, instead of a name.", valueName: "number"))
    var entry: Int64?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["NAME": !names.isEmpty], ["--entry": entry != nil])
    }

    func run() throws {
        let client = try connection.connect()
        if let entry {
            try confirm(1, isNamed: true)
            return show(try empty(entry, client))
        }
        let found = try client.trash(of: access.group)
        guard names.isEmpty else {
            let entries = try names.map { (name) throws(CofferError) in try found.selected(by: name) }
            let isNamed = entries.allSatisfy { $0.count == 1 }
            try confirm(entries.reduce(0) { $0 + $1.count }, isNamed: isNamed)
            var count: Int64 = 0
            for entry in Set(entries.joined()).sorted() { count += try empty(entry, client) }
            return show(count)
        }
        if found.items.isEmpty && found.damaged.isEmpty { return show(0) }
        try confirm(found.items.count + found.damaged.count, isNamed: false)
        show(try empty(nil, client))
    }

    private func empty(_ entry: Int64?, _ client: BlockingClient) throws(CofferError) -> Int64 {
        try client.call(TrashEmptyParameters(number: entry, group: access.group)).value.count
    }

    /// Asks, on the terminal; without one, what was named one by one is destroyed as it is.
    private func confirm(_ count: Int, isNamed: Bool) throws(CofferError) {
        if confirmation.yes || isNamed && !isTypedInput { return }
        let confirmation = try confirmation.prepare()
        confirmation.say(count == 1 ? "1 item will be destroyed" : "\(count) items will be destroyed")
        try confirmation.ask(for: "yes", orElse: "nothing was destroyed")
    }

    private func show(_ count: Int64) {
        format.show(["count": .integer(count)], "destroyed \(counted(count, "item", "items"))")
    }
}

/// What is in the trash of a group.
private struct FoundTrash {
    var items: [TrashedItem] = []
    var damaged: [Int64] = []

    /// The numbers of the entries that a name selects: the one of this name that was removed last, or else those of the
    /// names below it, or that fit it as a pattern.
    func selected(by name: String) throws(CofferError) -> [Int64] {
        if let item = items.last(where: { $0.name?.utf8.elementsEqual(name.utf8) == true }) { return [item.number] }
        let pattern = try? NamePattern(name)
        let folder = name.hasSuffix("/") ? name : name + "/"
        var latest: [String: Int64] = [:]
        for item in items {
            guard let path = item.name, path.utf8.starts(with: folder.utf8) || pattern?.matches(path) == true else {
                continue
            }
            latest[path] = item.number
        }
        return latest.isEmpty ? try nothing(of: name) : latest.values.sorted()
    }

    private func nothing(of name: String) throws(CofferError) -> [Int64] {
        if items.contains(where: { $0.name == nil }) {
            throw CofferError(
                .interactionNotAllowed,
                "can't look for \(quotedForDisplay(name)) in the trash: the vault has not been unlocked since the daemon started",
                hint: "'coffer unlock', and then repeat this"
            )
        }
        throw CofferError(
            .itemNotFound,
            "there is no \(quotedForDisplay(name)) in the trash",
            hint: Int64(name) == nil
                ? "'coffer trash list' shows what is in it"
                : "for the entry with this number in 'coffer trash list', use '--entry \(name)'"
        )
    }
}

extension BlockingClient {
    fileprivate func trash(of group: String?) throws(CofferError) -> FoundTrash {
        var found = FoundTrash()
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try call(TrashListParameters(after: after, group: group)).value
            found.items += page.items
            found.damaged += page.damaged
            return page.next
        }
        return found
    }
}
