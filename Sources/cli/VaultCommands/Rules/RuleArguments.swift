internal import ArgumentParser
package import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem

/// A verb that an access rule can be about.
enum RuledVerb: String, CaseIterable, ExpressibleByArgument {
    case read
    case write
    case delete

    var verb: Verb {
        switch self {
        case .read: .read
        case .write: .write
        case .delete: .delete
        }
    }
}

/// The first word of a client, or all of it, such as `unit:ci`.
struct ClientWord: ExpressibleByArgument {
    let text: String

    init(argument: String) { text = argument }

    static var allValueStrings: [String] { ClientKind.allCases.map(\.rawValue) }
}

/// What an access rule says, for the verbs that add one.
package struct RuleArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("What the client is.", valueName: "kind"))
    var kind: ClientWord

    @Argument(
        help: ArgumentHelp(
            "Its name or number; a unit by its name or a pattern such as 'backup@*.service', a program by its path.",
            valueName: "client"
        )
    )
    var client: String

    @Argument(help: ArgumentHelp("What it is about.", valueName: "verb"))
    var verbs: [RuledVerb] = []

    @Option(
        help: ArgumentHelp(
            "The name of an item, or a pattern: '*' is any text within a part of a name, '**' any text.",
            valueName: "pattern"
        ),
        completion: .itemName
    )
    var item: String

    package init() {}

    /// The kind of the client, if it has a word of its own.
    private var clientKind: ClientKind? { ClientKind(rawValue: kind.text) }

    package func validate() throws {
        guard clientKind != nil || kind.text.contains(":") else {
            let kinds = ClientWord.allValueStrings.joined(separator: ", ")
            throw ValidationError("\(quotedForDisplay(kind.text)): expected the kind of a client: \(kinds)")
        }
        guard clientKind != nil || RuledVerb(rawValue: client) != nil else {
            let verbs = RuledVerb.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(quotedForDisplay(client)): expected a verb: \(verbs)")
        }
        if verbSet.isEmpty { throw ValidationError("say what the rule is about: read, write, delete") }
    }

    /// The verbs without their repetitions.
    package var verbSet: Set<Verb> {
        // Behind a client in one word, its second argument is the first verb.
        let first = clientKind == nil ? RuledVerb(rawValue: client) : nil
        return Set((verbs + [first].compactMap(\.self)).map(\.verb))
    }

    /// The pattern of the items.
    ///
    /// - Throws: `param` if it is not UTF-8, which Swift has replaced, or is no pattern.
    func pattern() throws(CofferError) -> NamePattern {
        if item.unicodeScalars.contains("\u{FFFD}") { _ = try ItemName(argument: item) }
        return try NamePattern(item)
    }

    /// The client in the form of the protocol.
    package func clientPattern() throws(CofferError) -> ClientPattern {
        guard let clientKind else { return try ClientPattern(argument: kind.text) }
        return try ClientPattern(clientKind, named: client)
    }
}

/// The number of uses and the reason of a rule that allows.
package struct RuleUseOptions: ParsableArguments {
    @Option(help: "How often an item may be read (default: without a limit).")
    var uses: Int64?

    @Option(help: "The reason, which the vault keeps with the rule.")
    var reason: String?

    package init() {}

    static let timeHelp = ArgumentHelp(
        "For how long, such as 90s, 10m, 2h or 1d; at most until the next boot.",
        valueName: "time"
    )

    /// The time of `--for`.
    static func seconds(_ text: String) throws(CofferError) -> Int64 {
        guard let seconds = Moment.seconds(text), 1...Int64(Limits.accessRuleSeconds) ~= seconds else {
            throw CofferError(
                .param,
                "--for \(quotedForDisplay(text)): expected a time of \(durationForDisplay(seconds: Limits.accessRuleSeconds)) at most",
                hint: "such as 90s, 10m, 2h or 1d"
            )
        }
        return seconds
    }
}

extension Set<Verb> {
    /// The verbs in their order, as a list in words.
    package var words: String { Verb.allCases.filter(contains).map(\.rawValue).joined(separator: ", ") }
}
