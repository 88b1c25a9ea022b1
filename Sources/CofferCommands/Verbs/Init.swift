internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The verb `coffer init`, with its options.
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a vault, unlocked.")

    @Flag(help: "A vault without a passcode: the device key alone protects it.")
    var noPasscode = false

    @Option(help: "What a guess of the passcode costs: 64 MiB, 256 MiB or 1 GiB of memory.")
    var kdf: PasscodeCost = .moderate

    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        // A descriptor that is read after connecting may be the connection itself.
        let given = try passcode.readGiven()
        let client = try connection.connect()
        // Before a person types a passcode twice for nothing.
        guard try client.status().state == .noVault else {
            throw CofferError(.duplicateItem, "there is a vault already", hint: "unlock it with 'coffer unlock'")
        }
        let typed: SecretBytes? =
            noPasscode ? nil : try given.orAsked { () throws(CofferError) in try SecretInput.askNew() }
        let status = try client.initialize(passcode: typed, kdf: kdf)
        if format.json { return Output.standardOutput.line(status.json) }
        Output.standardOutput.line(
            noPasscode
                ? "made a vault without a passcode: whoever has this machine can read everything in it"
                : "made a vault; it is unlocked"
        )
    }
}
