internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferWire

/// The verb `coffer status`, with its options.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say in which state the vault is.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        let status = try client.status()
        if let trouble = status.configurationTrouble {
            Output.standardError.line("warning: the configuration is wrong, and what was set before stays: \(trouble)")
        }
        if format.json { return Output.standardOutput.line(status.json) }
        Output.standardOutput.line("state:     \(status.state.rawValue) (\(Self.words(for: status)))")
        if status.state == .deviceKeyMissing {
            let words = try client.hasRecoveryKey() ? VaultStatus.replacingDeviceKey : VaultStatus.noReplacement
            Output.standardOutput.line("way out:   \(words)")
        }
        if let attempts = Self.attempts(status) { Output.standardOutput.line("attempts:  \(attempts)") }
        if let keychain = status.keychainCount, let files = status.fileCount {
            Output.standardOutput.line("keychain:  \(keychain) items")
            Output.standardOutput.line("files:     \(files)")
        }
        if let vaultID = status.vaultID { Output.standardOutput.line("vault:     \(vaultID.hexadecimal)") }
        for fault in status.faults {
            Output.standardOutput.line("fault:     \(fault.what)")
            Output.standardOutput.line("hint:      \(fault.hint)")
        }
        Output.standardOutput.line("daemon:    cofferd \(status.version), protocol \(status.protocolNumber)")
    }

    private static func words(for status: VaultStatus) -> String {
        switch status.state {
        case .noVault: "make one with 'coffer init'"
        case .noPasscode: "NO PASSCODE: whoever has this machine can read everything"
        case .beforeFirstUnlock: "only what is Always or of class none can be read"
        case .unlocked: "everything can be read"
        case .locking: "everything can be read for \(((status.graceMilliseconds ?? 0) + 999) / 1000) s more"
        case .locked: "what is readable while unlocked only is out of reach"
        case .lockedExpired: "as locked, and files of class completeWhenUserInactive are out of reach"
        case .deviceKeyMissing: VaultStatus.deviceKeyMissing
        }
    }

    /// How many wrong passcodes there were, and what the next ones do; `nil` without a passcode.
    private static func attempts(_ status: VaultStatus) -> String? {
        if [.noVault, .noPasscode, .deviceKeyMissing].contains(status.state) { return nil }
        if status.attemptsEnded {
            return "ended by ten wrong passcodes: 'coffer unlock --recovery-key' opens the vault, and nothing else"
        }
        var text = status.failedAttempts == 1 ? "1 wrong passcode" : "\(status.failedAttempts) wrong passcodes"
        if let seconds = status.retrySeconds { text += ", next attempt in \(durationForDisplay(seconds: seconds))" }
        return text + (status.erasesData ? "; the tenth erases the vault" : "; the tenth ends the attempts")
    }
}
