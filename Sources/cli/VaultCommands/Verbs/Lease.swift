internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct LeaseVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease",
        abstract: "What was granted with 'coffer grant': list or revoke it.",
        subcommands: [ListLeases.self, RevokeLeases.self]
    )
}

struct ListLeases: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the leases that have not ended."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        var damaged: [Int64] = []
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(LeaseListParameters(after: after)).value
            for lease in page.leases { format.show(lease) }
            damaged += page.damaged
            Output.warn(ofSealed: page.sealedCount)
            return page.next
        }
        if damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "damaged or tampered with: lease \(damaged.map(String.init).joined(separator: ", ")), which gives nothing",
            hint: "'coffer lease revoke' removes it"
        )
    }
}

extension LeaseInfo: Printable {
    var text: [Line] {
        let uses = uses.map { $0 == 1 ? ", once" : ", \($0) times" } ?? ""
        let reason = reason.map { "  \(quotedForDisplay($0))" } ?? ""
        let end = durationForDisplay(seconds: Int(seconds))
        let place = group == AccessGroup.owners ? "" : " of \(group)"
        return ["\(number)  \(name: name)\(place)  to \(client.words)  for \(end)\(uses)\(reason)"]
    }
}

struct RevokeLeases: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "End leases at once.")

    @Argument(
        help: ArgumentHelp("The numbers, as 'coffer lease list' has them.", valueName: "lease"),
        completion: .lease
    )
    var leases: [Int64]

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let client = try connection.connect()
        try forEachGoingOn(leases) { (lease) throws(CofferError) in
            try client.call(LeaseRevokeParameters(number: lease))
        }
    }
}
