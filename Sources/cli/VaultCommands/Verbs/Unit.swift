internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct UnitVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unit",
        abstract: "Say which credentials a unit loads from the daemon, and whether it would get them now.",
        discussion: """
            UNIT is a service, by its full name. The service manager says what it loads; the daemon says what would come of it \
            if the unit were started now. The exit status is 0 where it would get all of them, and otherwise that of the first \
            that it would not.
            """
    )

    @Argument(help: "The service, such as 'backup.service'.", completion: .unit)
    var unit: String

    @Flag(help: "The service is a user service (systemctl --user).")
    var user = false

    @Option(help: ArgumentHelp("Where the daemon is asked for credentials.", valueName: "path"))
    var credentialSocket: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard unit.hasSuffix(".service") else { throw ValidationError("UNIT is a service, such as 'backup.service'") }
    }

    func run() throws {
        let folder = user ? ServiceManager.ownDirectory ?? "/run" : "/run"
        let socket = credentialSocket ?? folder + "/coffer/credentials.sock"
        let ours = try UnitCredentials(of: unit, isOwners: user).loaded.filter { $0.path == socket }
        if ours.isEmpty && !format.json {
            return Output.standardError.line("\(unit) loads no credential from \(socket)")
        }
        let client = try connection.connect()
        let hasPasscode = try client.status().state != .noPasscode
        var first: AuditedRefusal?
        for source in ours.sorted(by: { $0.id < $1.id }) {
            let subject: AccessSubject = user ? .userUnit(unit) : .unit(unit)
            let explained = try client.call(EntitlementExplainParameters(subject, credential: source.id)).value
            guard let answer = explained.credential else {
                throw CofferError(
                    .unimplemented,
                    "this daemon serves no credentials",
                    hint: "bring it up to date"
                )
            }
            let obstacle = CredentialAddress.obstacle(source.id, in: unit)
            first = first ?? obstacle.map { AuditedRefusal(.param, $0) } ?? answer.refusal
            let condition = hasPasscode ? answer.protection?.conditionForServices : nil
            let group = explained.groups.first
            format.show(
                CredentialReport(
                    id: source.id,
                    answer: answer,
                    obstacle: obstacle,
                    group: group,
                    condition: condition
                )
            )
        }
        if let first { throw ExitStatus(first.code) }
    }
}

/// The result of loading a credential.
private struct CredentialReport: Printable {
    let id: String
    let answer: CredentialAnswer
    /// Why the service manager can't even ask for it.
    let obstacle: String?
    let group: String?
    /// When the unit gets it, if not at each start of the machine.
    let condition: String?

    var json: JSONObject {
        var line = answer.json
        line.set("id", .string(id))
        if let obstacle { line.set("obstacle", .string(obstacle)) }
        if let group { line.set("group", .string(group)) }
        return line
    }

    var text: [Line] {
        let item = [quotedForDisplay(answer.name), answer.protection?.name, group.map { "in \(quotedForDisplay($0))" }]
        let verdict = obstacle.map { "no: \($0)" } ?? answer.refusal.map(Self.words) ?? "yes"
        return ["\(id): \(verdict)"]
            + [Line](
                width: 7,
                indentation: 4,
                [
                    ("item", "\(item.compactMap(\.self).joined(separator: ", "))"),
                    ("why", answer.refusal.map { "\($0.message)" }),
                    ("only", condition.map { "\($0)" }),
                ]
            )
    }

    /// Explains a refusal.
    private static func words(for refusal: AuditedRefusal) -> String {
        switch refusal.code {
        case .interactionNotAllowed: "not now: it is locked"
        case .itemNotFound: "no: it is missing"
        case .missingEntitlement: "no: the unit may not have it"
        default: "no"
        }
    }
}
