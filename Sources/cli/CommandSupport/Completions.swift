package import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferSystem
internal import CofferTerminal

// What a shell offers for a word that is being typed. It is asked for at each press of a key: it never prompts, never starts
// a daemon by itself, and is silent where there is nothing to offer.

extension CompletionKind {
    /// The names of items, as far as they can be read in the state of the vault.
    package static var itemName: CompletionKind { .custom { words, _, start in Completions(words).names(start) } }

    /// The names of items behind `VAR=`, which some shells take for a word of its own.
    package static var assignedItemName: CompletionKind {
        .custom { words, _, start in
            let parts = start.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return words.contains("=") ? Completions(words).names(start) : [] }
            return Completions(words).names(String(parts[1])).map { "\(parts[0])=\($0)" }
        }
    }

    /// The names of what is in the trash.
    package static var trashedName: CompletionKind { .custom { words, _, start in Completions(words).trash(start) } }

    /// The access groups of the items that the caller may name.
    package static var group: CompletionKind { .custom { words, _, _ in Completions(words).groups() } }

    /// The numbers of the keyslots.
    package static var slot: CompletionKind { .custom { words, _, _ in Completions(words).slots() } }

    /// The numbers of the access rules.
    package static var rule: CompletionKind { .custom { words, _, _ in Completions(words).rules() } }

    /// The users of the machine.
    package static var user: CompletionKind {
        .shellCommand("getent passwd | awk -F: '$3 >= 1000 && $3 < 60000 { print $1 }'")
    }

    /// The services that the service managers know.
    package static var unit: CompletionKind {
        .shellCommand(
            "{ systemctl list-unit-files --type=service --no-legend --no-pager; "
                + "systemctl --user list-unit-files --type=service --no-legend --no-pager; } 2>/dev/null | cut -d' ' -f1"
        )
    }
}

/// Answers questions of a shell.
private struct Completions {
    /// The words of the command line as they were typed, with the shell's quotes.
    private let words: [String]

    init(_ words: [String]) { self.words = words }

    func names(_ start: String) -> [String] {
        if let user = value(of: "--from") { return shared(by: user) }
        return ask { (client) throws(CofferError) in
            let prefix = start.withoutShellQuotes
            let params = ItemListParameters(prefix: prefix, group: value(of: "--group"), wantsCompletions: true)
            return try client.call(params).value.names
        }
    }

    /// The names of what a user shares with the caller.
    private func shared(by user: String) -> [String] {
        ask([SocketPath.system]) { (client) throws(CofferError) in
            let number = try UserDatabase.number(ofUser: user)
            let rules = try client.call(AccessListParameters(isOfCaller: true)).value.rules
            return rules.filter { AccessGroup.userID(of: $0.group) == number }.compactMap {
                $0.name?.path ?? $0.pattern?.text
            }
        }
    }

    func trash(_ start: String) -> [String] {
        ask { (client) throws(CofferError) in
            let page = try client.call(TrashListParameters(group: value(of: "--group"))).value
            let names = page.items.compactMap(\.name).filter { $0.hasPrefix(start.withoutShellQuotes) }
            return Set(names).sorted()
        }
    }

    func groups() -> [String] {
        ask { (client) throws(CofferError) in
            let page = try client.call(ItemListParameters(isOfAllGroups: true)).value
            return Set(page.items.map(\.group)).sorted()
        }
    }

    func slots() -> [String] {
        ask { (client) throws(CofferError) in try client.call(SlotListParameters()).value.slots.map { "\($0.number)" } }
    }

    func rules() -> [String] {
        ask { (client) throws(CofferError) in
            try client.call(AccessListParameters()).value.rules.map { "\($0.number)" }
        }
    }

    private func ask(
        _ paths: [String]? = nil,
        _ question: (BlockingClient) throws(CofferError) -> [String]
    ) -> [String] {
        let seconds = value(of: "--timeout").flatMap(SecondsArgument.init)?.count ?? Limits.completionSeconds
        let paths = paths ?? value(of: "--socket").map { [$0] } ?? SocketPath.candidates(environment)
        do throws(CofferError) {
            return try question(.connect(toFirstOf: paths, timeout: seconds > 0 ? .seconds(seconds) : nil)).literal
        } catch {
            // An error would be written into the middle of what is being typed.
            return []
        }
    }

    /// What stands behind an option.
    private func value(of option: String) -> String? {
        guard let place = words.firstIndex(of: option), words.indices.contains(place + 1) else { return nil }
        let value = words[place + 1].withoutShellQuotes
        return value.isEmpty ? nil : value
    }
}

extension String {
    /// A word without the quotes and backslashes by which a shell keeps it together.
    fileprivate var withoutShellQuotes: String {
        var (plain, quote, isEscaped): (String, Character?, Bool) = ("", nil, false)
        for character in self {
            switch (character, quote) {
            case _ where isEscaped:
                plain.append(character)
                isEscaped = false
            case ("\\", nil), ("\\", "\""): isEscaped = true
            case ("'", nil), ("\"", nil): quote = character
            case let (character, open) where character == open: quote = nil
            default: plain.append(character)
            }
        }
        return plain
    }
}
