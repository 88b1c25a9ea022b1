internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferWire

/// The verb `coffer watch`, with its options.
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the state of the vault, and then each event as it comes.",
        discussion: "Goes on until it is interrupted, or the daemon goes."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        // Events first: what happens while the state is asked for is told all the same.
        try client.watch()
        let state = try client.status().state.rawValue
        show("state", state)
        while Output.failure == nil { show("event", try client.nextEvent().rawValue) }
    }

    private func show(_ member: String, _ value: String) {
        format.json ? Output.standardOutput.line([member: .string(value)]) : Output.standardOutput.line(value)
    }
}
