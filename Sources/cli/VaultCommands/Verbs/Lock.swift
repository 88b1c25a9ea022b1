internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock the vault, and wipe the keys of everything that needs it unlocked.",
        discussion: """
            It waits up to a second until each mount has confirmed that the kernel has dropped the contents of its files, \
            and warns of a mount that has not.
            """
    )

    @Flag(help: "Lock at once, without the grace for running transfers.")
    var now = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        var status = try client.call(VaultLockParameters(graceSeconds: now ? 0 : nil)).value
        let end = ContinuousClock.now + .milliseconds(Limits.confirmationMilliseconds)
        while !status.unconfirmed.isEmpty, .now < end {
            usleep(Limits.confirmationPauseMicroseconds)
            status = try client.status()
        }
        let left = status.graceMilliseconds.map { ($0 + 999) / 1000 }
        format.show(status.json, left.map { "locking: the keys go in \($0) s" } ?? "locked")
        for mount in status.unconfirmed { Output.standardError.line("warning: \(mount.warning)") }
    }
}

extension UnconfirmedMount {
    /// What a lock has not ended there.
    var warning: Line {
        "the mount at \(quotedForDisplay(place)) has not dropped the contents of its files: "
            + "programs may still read them there"
    }
}
