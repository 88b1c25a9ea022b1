internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport

/// The state and the client that a verb asks about.
struct SituationOptions: ParsableArguments {
    @Option(help: "The state of the vault to ask about (default: the present one).")
    var state: VaultState?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("The client to ask about, such as unit backup or user anna.", valueName: "client")
    )
    var client: String?

    /// The client; `nil` for the caller.
    func pattern() throws(CofferError) -> ClientPattern? {
        try client.map { (text) throws(CofferError) in try ClientPattern(argument: text) }
    }
}
