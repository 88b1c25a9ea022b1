internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the vault is unlocked or locked, or an item can be read.",
        discussion: "Without --timeout it waits for ever. It prints nothing."
    )

    /// What is waited for.
    enum Goal: String, CaseIterable, ExpressibleByArgument {
        case unlocked, locked, readable
    }

    @Argument(help: "What to wait for.")
    var goal: Goal

    @Argument(help: "The item, for 'readable'.", completion: .itemName)
    var name: String?

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if (goal == .readable) != (name != nil) {
            throw ValidationError("'readable' takes a name, and nothing else does")
        }
        try require("'readable'", goal == .readable, for: ["--group": access.group != nil])
    }

    func run() throws {
        let item = try name.map { try ItemName(argument: $0) }
        let client = try connection.connect()
        let waiting = Waiting(client, for: connection.timeout.map { .seconds($0.count) })
        if let item {
            return try waiting.until("\(item.quoted) is locked", itemsOf: access) { () throws(CofferError) in
                try client.canRead(item, in: access.group)
            }
        }
        let what = goal == .locked ? "the vault is not locked" : "the vault is locked"
        try waiting.until(what) { () throws(CofferError) in try Self.has(try client.status(), reached: goal) }
    }

    private static func has(_ status: VaultStatus, reached goal: Goal) throws(CofferError) -> Bool {
        try status.requireVault()
        switch status.state {
        case .noPasscode:
            guard goal == .unlocked else { throw .neverLocks }
            return true
        case .unlocked: return goal == .unlocked
        // Neither: the keys are in memory until the grace ends.
        case .locking: return false
        case .beforeFirstUnlock, .locked, .lockedExpired, .noVault, .deviceKeyMissing: return goal == .locked
        }
    }
}

extension CofferError {
    fileprivate static let neverLocks = CofferError(
        .notAvailable,
        "the vault has no passcode, so it is never locked",
        hint: "'coffer passcode set' gives it one"
    )
}
