internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferWire

/// The verb `coffer lease`, with the verbs below it.
struct LeaseVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease",
        abstract: "What was granted with 'coffer grant': list or revoke it.",
        subcommands: [ListLeases.self, RevokeLeases.self]
    )
}

/// The verb `coffer lease list`, with its options.
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
        var after: Int64?
        repeat {
            let page = try client.call(LeaseListParameters(after: after)).value
            for lease in page.leases { show(lease) }
            damaged += page.damaged
            after = page.next
        } while after != nil
        if damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "damaged or tampered with: lease \(damaged.map(String.init).joined(separator: ", ")), which gives nothing",
            hint: "'coffer lease revoke' removes it"
        )
    }

    private func show(_ lease: LeaseInfo) {
        let output = Output.standardOutput
        if format.json { return output.line(lease.json) }
        let uses = lease.uses.map { $0 == 1 ? ", once" : ", \($0) times" } ?? ""
        let reason = lease.reason.map { "  \(quotedForDisplay($0))" } ?? ""
        let end = durationForDisplay(seconds: Int(lease.seconds))
        output.line(
            "\(lease.number)  \(name: lease.name)  to \(lease.client)  for \(end)\(uses)\(reason)"
        )
    }
}

/// The verb `coffer lease revoke`, with its options.
struct RevokeLeases: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "End leases at once.")

    @Argument(help: ArgumentHelp("The numbers, as 'coffer lease list' has them.", valueName: "lease"))
    var leases: [Int64]

    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let client = try connection.connect()
        var firstFailure: CofferError?
        for lease in leases {
            do throws(CofferError) {
                try client.call(LeaseRevokeParameters(number: lease))
            } catch {
                // The others are revoked all the same, as remove does it.
                Output.standardError.write(error)
                firstFailure = firstFailure ?? error
            }
        }
        if let firstFailure { throw ExitStatus(firstFailure.code) }
    }
}
