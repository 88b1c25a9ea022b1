package import ArgumentParser
package import CofferCore

/// Refuses a verb that does not exist, also where `--help` stands behind it, and names the nearest one.
///
/// The argument parser would print the help of the verb above it.
package enum UnknownVerb {
    /// - Throws: `param` if a word where a verb is expected is none.
    package static func refuse(in words: ArraySlice<String>, of root: any ParsableCommand.Type) throws(CofferError) {
        var command = root
        var path = root.configuration.commandName ?? ""
        var rest = words
        // The parser itself has this verb, which names others.
        if rest.first == "help" { rest = rest.dropFirst() }
        for word in rest {
            let verbs = command.configuration.verbs
            if verbs.isEmpty || word.hasPrefix("-") { return }
            guard let next = verbs.first(where: { $0.name == word }) else {
                // It is the first argument of a verb that need not be named.
                if command.configuration.defaultSubcommand != nil { return }
                throw unknown(word, of: path, verbs.map(\.name))
            }
            command = next.command
            path += " \(word)"
        }
    }

    /// Whether a program is a single verb.
    static func hasNoVerbs(_ root: any ParsableCommand.Type) -> Bool { root.configuration.verbs.isEmpty }

    /// How many words at the beginning name the verb.
    static func path(in words: ArraySlice<String>, of root: any ParsableCommand.Type) -> Int {
        var (command, count) = (root, 0)
        for word in words {
            guard let next = command.configuration.verbs.first(where: { $0.name == word }) else { break }
            (command, count) = (next.command, count + 1)
        }
        return count
    }

    /// The verbs of other programs for secrets, and what does the same here.
    private static let foreign = [
        "delete": "coffer remove", "del": "coffer remove", "unset": "coffer remove",
        "store": "coffer put", "set": "coffer put", "create": "coffer put", "new": "coffer put", "save": "coffer put",
        "read": "coffer get", "print": "coffer get", "lookup": "coffer get", "reveal": "coffer get",
        "rename": "coffer move", "tree": "coffer list --tree", "grep": "coffer search", "info": "coffer show",
        "describe": "coffer show", "versions": "coffer history", "log": "coffer audit", "fsck": "coffer doctor",
        "version": "coffer --version", "signin": "coffer unlock", "why": "coffer explain",
        "mkdir": "coffer file mkdir", "passwd": "coffer passcode change", "exec": "coffer run", "env": "coffer run",
        "template": "coffer inject", "render": "coffer inject", "undo": "coffer trash restore",
        "undelete": "coffer trash restore", "lease": "coffer access", "revoke": "coffer access remove",
    ]

    private static func unknown(_ word: String, of path: String, _ verbs: [String]) -> CofferError {
        if path == "coffer", let here = foreign[word] {
            return CofferError(
                .param,
                "'coffer' has no verb \(quotedForDisplay(word))",
                hint: "here that is '\(here)'; 'coffer --help' lists all verbs"
            )
        }
        let nearest = verbs.min { distance(from: word, to: $0) < distance(from: word, to: $1) }
        let suggestion = nearest.flatMap { isNear(word, $0) ? "did you mean '\(path) \($0)'? " : nil } ?? ""
        return CofferError(
            .param,
            "'\(path)' has no verb \(quotedForDisplay(word))",
            hint: "\(suggestion)'\(path) --help' lists them all"
        )
    }

    /// Whether a word is probably another one with a typing error in three characters.
    static func isNear(_ word: String, _ other: String) -> Bool {
        distance(from: word, to: other) <= max(1, min(word.count, other.count) / 3)
    }

    /// How many characters are to be inserted, removed, replaced, or exchanged with the next.
    package static func distance(from one: String, to other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        // The rows of the table of distances of all beginnings.
        var rows = [Array(0...other.count)]
        for (index, character) in one.enumerated() {
            var row = [index + 1]
            for (place, wanted) in other.enumerated() {
                let replaced = rows[index][place] + (character == wanted ? 0 : 1)
                var least = min(replaced, rows[index][place + 1] + 1, row[place] + 1)
                if index > 0, place > 0, character == other[place - 1], one[index - 1] == wanted {
                    least = min(least, rows[index - 1][place - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}

extension CommandConfiguration {
    /// The verbs below, in groups or not, by each of their names.
    fileprivate var verbs: [(name: String, command: any ParsableCommand.Type)] {
        var verbs: [(name: String, command: any ParsableCommand.Type)] = []
        for command in subcommands + groupedSubcommands.flatMap(\.subcommands) {
            let configuration = command.configuration
            // Each verb states its name: to derive it from the type costs a search of all conformances of the program.
            for name in [configuration.commandName].compactMap(\.self) + configuration.aliases {
                verbs.append((name, command))
            }
        }
        return verbs
    }
}
