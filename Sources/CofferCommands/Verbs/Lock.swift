internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferWire

/// The verb `coffer lock`, with its options.
struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lock the vault: the keys of what is readable while unlocked only are wiped."
    )

    @Flag(help: "At once, without the grace for what is still at work.")
    var now = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let status = try connection.connect().lock(graceSeconds: now ? 0 : nil)
        if format.json { return Output.standardOutput.line(status.json) }
        if let left = status.graceMilliseconds {
            Output.standardOutput.line("locking: the keys go in \((left + 999) / 1000) s")
        } else {
            Output.standardOutput.line("locked")
        }
    }
}
