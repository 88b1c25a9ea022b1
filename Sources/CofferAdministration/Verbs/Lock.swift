internal import ArgumentParser
internal import CofferClient
internal import CofferSession
internal import CofferTerminal

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock the vault, and wipe the keys of everything that needs it unlocked."
    )

    @Flag(help: "Lock at once, without the grace for running transfers.")
    var now = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let status = try connection.connect().call(VaultLockParameters(graceSeconds: now ? 0 : nil)).value
        let left = status.graceMilliseconds.map { ($0 + 999) / 1000 }
        format.show(status.json, left.map { "locking: the keys go in \($0) s" } ?? "locked")
    }
}
