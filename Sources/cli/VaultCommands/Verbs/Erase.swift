internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Erase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Destroy the vault: its keys first, and then the rest.",
        discussion: "Nothing brings it back, no passcode and no recovery key. Asks before."
    )

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let confirmation = try confirmation.prepare()
        let client = try connection.connect()
        switch Result(catching: { () throws(CofferError) in try client.status() }) {
        case .success(let status): try erase(client, status, confirmation)
        case .failure(let error) where [.decode, .io, .notAvailable].contains(error.code):
            try eraseUnreadable(client, error, confirmation)
        case .failure(let error): throw error
        }
    }

    private func erase(
        _ client: BlockingClient,
        _ status: VaultStatus,
        _ confirmation: Confirmation
    ) throws(CofferError) {
        try status.requireVault()
        guard let vaultID = status.vaultID else {
            throw CofferError(
                .protocolViolation,
                "the daemon does not say which vault it has",
                hint: "bring the daemon up to date"
            )
        }
        confirmation.say(
            "erasing destroys \(Self.count(status.keychainCount, "item", "items")) in the keychain and "
                + "\(Self.count(status.fileCount, "file", "files")): no passcode and no recovery key brings them back"
        )
        try confirmation.ask(for: "erase", orElse: "nothing was erased")
        try client.call(VaultEraseParameters(vaultID: vaultID))
        format.show(["vaultID": .string(vaultID.hexadecimal)], "erased")
    }

    /// Erases a vault that can't be read, and so has no ID to confirm.
    private func eraseUnreadable(
        _ client: BlockingClient,
        _ reason: CofferError,
        _ confirmation: Confirmation
    ) throws(CofferError) {
        confirmation.say("the vault can't be read: \(reason.message)")
        if let hint = reason.hint { confirmation.say("hint: \(hint)") }
        confirmation.say("erase it all the same? no passcode and no recovery key brings it back")
        try confirmation.ask(for: "erase", orElse: "nothing was erased")
        try client.call(VaultEraseParameters(isWhatever: true))
        format.show([:], "erased")
    }

    private static func count(_ count: Int?, _ one: String, _ several: String) -> String {
        guard let count else { return "an unknown number of \(several)" }
        return "\(count) \(count == 1 ? one : several)"
    }
}
