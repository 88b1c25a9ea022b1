internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal

struct EntitlementVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlement",
        abstract: "Who may do what: list, check or explain it.",
        subcommands: [ListEntitlements.self, CheckEntitlements.self, ExplainAccess.self]
    )
}

struct CheckEntitlements: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the entitlements, and say what is wrong.",
        discussion: """
            Reads FILE, or else all that the daemon would read on this machine for this user. No daemon is asked, and \
            nothing changes: 'systemctl reload cofferd', or SIGHUP, has the daemon read them.
            """
    )

    @Argument(
        help: ArgumentHelp("The file (default: all entitlements in force).", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let limit = Limits.configurationBytes
        let files: [TrustedFiles.Content]
        if let file {
            files = [try TrustedFiles.read(at: file, upTo: limit)]
        } else {
            let directories = Entitlement.directories(home: configurationHome)
            files = try TrustedFiles.read(inAll: directories, suffix: ".conf", upTo: limit)
        }
        _ = try Entitlement.all(
            in: files,
            userID: UserDatabase.findUser,
            groupID: UserDatabase.findGroup,
            warn: { Output.standardError.line("warning: \($0)") }
        )
    }
}

struct ListEntitlements: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the entitlements in force, in the order in which they apply."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        var page = try client.call(EntitlementListParameters(after: 0)).value
        if let trouble = page.trouble {
            Output.standardError.line(
                "warning: the entitlements have an error, and the former ones stay in force: \(trouble)"
            )
        }
        if page.entitlements.isEmpty && !format.json {
            return Output.standardOutput.line(
                "there are none: the owner may use every group, and each service the group of its own"
            )
        }
        var count = 0
        while true {
            for entitlement in page.entitlements { format.show(entitlement) }
            count += page.entitlements.count
            guard let next = page.next, next == count else { return }
            page = try client.call(EntitlementListParameters(after: next)).value
        }
    }
}

extension Entitlement: Printable {
    var text: [Line] {
        let who: [(String, Line?)] = [("who", "\(clients.map(\.words).joined(separator: " and "))")]
        let rights = fields(groups, verbs, itemClass, protection, actsOnBehalf, limits)
        return ["\(place)"] + [Line](width: 13, indentation: 4, who + rights)
    }
}

struct ExplainAccess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a client may do, and which rule says so.",
        discussion: """
            CLIENT is the number of a process, or a unit: 'backup.service', or of the owner's own service manager \
            'user-unit:mail.service'. A unit is explained by its name, whether it runs or not. Without CLIENT, it is what \
            you may do.
            """
    )

    @Argument(help: ArgumentHelp("A process or a unit (default: yourself).", valueName: "client"))
    var client: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let subject = try client.map(Self.subject) ?? .caller
        format.show(try connection.connect().call(EntitlementExplainParameters(subject)).value)
    }

    private static func subject(_ text: String) throws(CofferError) -> AccessSubject {
        if let number = Int32(text), number > 0 { return .process(number) }
        if text.hasSuffix(".service") || text.hasSuffix(".scope") {
            if !text.contains(":") { return .unit(text) }
            switch try? ClientPattern(text) {
            case .unit(let name): return .unit(name)
            case .userUnit(let name): return .userUnit(name)
            default: break
            }
        }
        throw CofferError(
            .param,
            "\(quotedForDisplay(text)) is neither a process nor a unit",
            hint: "such as '1234', 'backup.service' or 'user-unit:mail.service'"
        )
    }
}

extension AccessExplanation: Printable {
    var text: [Line] {
        let place = path.map { "\(quotedForDisplay($0)), line \(line ?? 0)" }
        let decision: [(String, Line?)] = [
            ("client", "\(client.words)"),
            ("decided by", "\(place ?? "the default rule, as no entitlement matches")"),
            ("refused", isRefused ? "\(reason)" : nil),
            ("because", !isRefused && place == nil ? "\(reason)" : nil),
        ]
        let others = reachesAllGroups ? ["any other by its name"] : []
        let rights =
            fields(groups + others, verbs, itemClass, protection, actsOnBehalf, limits)
            + [("program", programGroup.map { "\($0)" })]
        return [Line](width: 13, decision + (isRefused ? [] : rights))
    }
}

private func groupWords(_ group: String) -> String { group == AccessGroup.every ? "any other by its name" : group }

/// The rights, one kind a line.
private func fields(
    _ groups: [String],
    _ verbs: Set<Verb>,
    _ itemClass: ItemClass?,
    _ protection: Protection?,
    _ actsOnBehalf: Bool,
    _ limits: ClientLimits
) -> [(String, Line?)] {
    let held = Verb.allCases.filter(verbs.contains).map(\.rawValue)
    return [
        ("groups", groups.isEmpty ? "none" : "\(groups.map(groupWords).joined(separator: ", "))"),
        ("verbs", held.isEmpty ? "none: it is refused when it connects" : "\(held.joined(separator: ", "))"),
        ("class", itemClass.map { "\($0.rawValue): no other item, and no file" }),
        ("protection", protection.map { "\($0.words), unless something else is asked for" }),
        ("on behalf of", actsOnBehalf ? "other processes of its user, as it says" : nil),
        ("connections", limits.connections.map { "\($0) at once, at most" }),
        ("requests", limits.requestsPerSecond.map { "\($0) a second, over time" }),
    ]
}
