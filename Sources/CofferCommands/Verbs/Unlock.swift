internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The verb `coffer unlock`, with its options.
struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Unlock the vault with its passcode.")

    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        // A descriptor that is read after connecting may be the connection itself.
        let given = try passcode.readGiven()
        let client = try connection.connect()
        let state = try client.status().state
        if state == .noVault {
            throw CofferError(.notAvailable, "there is no vault yet", hint: "make one with 'coffer init'")
        }
        if state == .noPasscode {
            throw CofferError(.notAvailable, "the vault has no passcode, so it can't be locked or unlocked")
        }
        let typed: SecretBytes? = try given.orAsked { () throws(CofferError) in
            try SecretInput.ask("Passcode: ", limit: Limits.passcodeBytes)
        }
        let status = try client.unlock(passcode: typed)
        format.json ? Output.standardOutput.line(status.json) : Output.standardOutput.line("unlocked")
    }
}
