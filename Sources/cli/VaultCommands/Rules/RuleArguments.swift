internal import ArgumentParser
package import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

/// The first word of a client, as a person names it.
enum ClientKind: String, CaseIterable, ExpressibleByArgument {
    case user
    case group
    case unit
    case userUnit = "user-unit"
    case program
}

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

/// What an access rule says, for the verbs that add one.
package struct RuleArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("What the client is.", valueName: "kind"))
    var kind: ClientKind

    @Argument(
        help: ArgumentHelp(
            "Its name or number; a unit by its name or a pattern such as 'backup@*.service', a program by its path.",
            valueName: "client"
        )
    )
    var client: String

    @Argument(help: ArgumentHelp("What it is about.", valueName: "verb"))
    var verbs: [RuledVerb]

    @Option(
        help: ArgumentHelp(
            "The name of an item, or a pattern: '*' is any text within a part of a name, '**' any text.",
            valueName: "pattern"
        ),
        completion: .itemName
    )
    var item: String

    package init() {}

    /// The verbs without their repetitions.
    package var verbSet: Set<Verb> { Set(verbs.map(\.verb)) }

    /// The pattern of the items.
    ///
    /// - Throws: `param` if it is not UTF-8, which Swift has replaced, or is no pattern.
    func pattern() throws(CofferError) -> NamePattern {
        if item.unicodeScalars.contains("\u{FFFD}") { _ = try ItemName(argument: item) }
        return try NamePattern(item)
    }

    /// The client in the form of the protocol.
    package func clientPattern() throws(CofferError) -> ClientPattern {
        switch kind {
        case .user: .user(try UserDatabase.number(ofUser: client))
        case .group: .group(try Self.groupNumber(client))
        case .unit: .unit(unit)
        case .userUnit: .userUnit(unit)
        case .program: .executable(try Self.program(client))
        }
    }

    /// The name of a unit, which is a service unless it says otherwise.
    private var unit: String { client.contains(".") ? client : client + ".service" }

    private static func groupNumber(_ text: String) throws(CofferError) -> UInt32 {
        if let number = UInt32(text) { return number }
        // A group that is missing is an error of its own, which speaks of a configuration file.
        if let number = try? UserDatabase.groupID(named: text) { return number }
        throw CofferError(
            .param,
            "there is no group \(quotedForDisplay(text))",
            hint: "give the name of a group of this machine, or a number"
        )
    }

    /// The path of a program, with symbolic links resolved, as the kernel reports it.
    private static func program(_ path: String) throws(CofferError) -> String {
        guard path.hasPrefix("/") else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is not the path of a program",
                hint: "give an absolute path, such as /usr/bin/mail"
            )
        }
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}

extension ClientPattern {
    /// The client in the two words of the verbs that add a rule.
    var ruleWords: String {
        switch self {
        case .user(let number): "user \(UserDatabase.userName(of: number) ?? "\(number)")"
        case .group(let number): "group \(UserDatabase.groupName(of: number) ?? "\(number)")"
        case .unit(let name): "unit \(name)"
        case .userUnit(let name): "user-unit \(name)"
        case .executable(let path): "program \(path)"
        case .outsideServices: description
        }
    }
}

extension Set<Verb> {
    /// The verbs in their order, as a list in words.
    package var words: String { Verb.allCases.filter(contains).map(\.rawValue).joined(separator: ", ") }
}
