internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Grant: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant",
        abstract: "Let a client read one item for a limited time.",
        discussion: """
            The lease ends after its time or its uses, at a reboot, when the item is removed, or by 'coffer lease revoke'. \
            A locked item stays locked.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(
        help: ArgumentHelp(
            "Who may read it, such as unit:ci.service, user-unit:mail.service or user:anna.",
            valueName: "client"
        )
    )
    var to: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("For how long, such as 90s, 10m, 2h or 1d.", valueName: "time")
    )
    var duration: String

    @Option(help: "How often (default: without a limit).")
    var uses: Int?

    @Option(help: "What it is for, kept with it.")
    var reason: String?

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let client = try ClientPattern(argument: to)
        let seconds = try Self.seconds(duration)
        let params = LeaseGrantParameters(
            name: itemName,
            client: client,
            seconds: Int64(seconds),
            uses: uses.map { Int64($0) },
            reason: reason,
            group: access.group
        )
        let vault = try connection.connect()
        try SocketReach.requireReachable(by: client, vault)
        let lease = try vault.call(params).value
        format.show(lease.json, "granted lease \(lease.number)")
        vault.warnIfNotLoadable(itemName, in: access.group, by: client)
    }

    private static func seconds(_ text: String) throws(CofferError) -> Int {
        guard let seconds = Moment.seconds(text), 1...Int64(Limits.leaseSeconds) ~= seconds else {
            throw CofferError(
                .param,
                "--for \(quotedForDisplay(text)): expected a time of \(durationForDisplay(seconds: Limits.leaseSeconds)) at most",
                hint: "such as 90s, 10m, 2h or 1d"
            )
        }
        return Int(seconds)
    }
}
