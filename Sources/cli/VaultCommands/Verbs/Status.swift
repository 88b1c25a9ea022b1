internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "status", abstract: "Say in which state the vault is.")

    @Flag(help: "Also show which processes use the vault now, and what a lock would make unreadable.")
    var blockers = false

    @Flag(
        inversion: .prefixedNo,
        help: "Show what has expired, or expires within 30 days (default: on a terminal)."
    )
    var expiring: Bool?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let client = try connection.connect()
        let status = try client.status()
        if let trouble = status.configurationTrouble {
            Output.standardError.line(
                "warning: the configuration has an error, and the former one stays in force: \(trouble)"
            )
        }
        // A program can list the slots itself.
        let isAsked = status.state == .deviceKeyMissing && !format.json
        // To read names is a use of the vault: a program that polls the status would prevent the idle lock.
        let isListed = expiring ?? (Output.standardOutput.isTerminal && !format.json)
        let report = StatusReport(
            status: status,
            hasRecoveryKey: isAsked ? try client.hasRecoveryKey() : nil,
            expiring: isListed ? try ExpiringItems(client, status) : nil
        )
        format.show(report)
        if blockers { try LockConsequences(client).show(format) }
    }
}

/// The state of the vault, in words.
private struct StatusReport: Printable {
    let status: VaultStatus
    /// Whether a recovery key opens the vault; `nil` if that was not queried.
    let hasRecoveryKey: Bool?
    let expiring: ExpiringItems?

    var json: JSONObject {
        var json = status.json
        expiring?.add(to: &json)
        return json
    }

    var text: [Line] {
        let isCounted = status.keychainCount != nil && status.fileCount != nil
        var fields: [(String, Line?)] = [
            ("state", "\(status.state.words): \(words)"),
            ("way out", hasRecoveryKey.map { "\($0 ? VaultStatus.replacingDeviceKey : VaultStatus.noReplacement)" }),
            ("attempts", attempts.map { "\($0)" }),
            ("idle lock", idleLock),
            ("keychain", isCounted ? status.keychainCount.map { "\(counted($0, "item", "items"))" } : nil),
            ("files", isCounted ? status.fileCount.map { "\($0)" } : nil),
            ("new files", status.defaultClass.map { "readable \($0.words)" }),
            (
                "sealed",
                status.sealedCount > 0
                    ? "\(counted(status.sealedCount, "name is", "names are")) hidden until you unlock" : nil
            ),
            ("vault", status.vaultID.map { "\($0.hexadecimal)" }),
        ]
        fields += expiring?.fields ?? []
        if status.trashCount > 0 {
            let items = counted(status.trashCount, "item", "items")
            fields.append(("trash", "\(items), \(countedBytes(status.trashByteCount))"))
        }
        if let failed = status.backupFailed {
            let date = status.backupCompleted.map { Timestamp.text($0) }
            let last = date.map { "the last snapshot is of \($0)" } ?? "no snapshot yet"
            let hint: Line = "'coffer backup status' says why"
            fields += [
                ("backup", "failed at \(Timestamp.text(failed)); \(last)"),
                ("hint", hint),
            ]
        } else if let seconds = status.backupDueSeconds {
            let hint: Line = "'coffer backup create' stores one"
            fields += [
                ("backup", seconds == 0 ? "no snapshot yet" : "none for \(durationForDisplay(seconds: Int(seconds)))"),
                ("hint", hint),
            ]
        }
        for mount in status.unconfirmed { fields.append(("mount", mount.warning)) }
        for fault in status.faults { fields += [("fault", "\(fault.what)"), ("hint", "\(fault.hint)")] }
        fields.append(("daemon", "cofferd \(status.version), protocol \(status.protocolNumber)"))
        return [Line](width: 11, fields)
    }

    private var idleLock: Line? {
        status.lockAfterSeconds.map { seconds in
            let reason: Line =
                status.lockAfterIsDefault ? ", as this machine has no seat with a screen (cofferd --lock-after)" : ""
            return "after \(durationForDisplay(seconds: seconds)) without use\(reason)"
        }
    }

    private var words: String {
        switch status.state {
        case .noVault: "'coffer setup' makes one"
        case .noPasscode: "anyone who has this machine can read everything"
        case .beforeFirstUnlock: "only what is always readable can be read"
        case .unlocked: "everything can be read"
        case .locking: "everything can be read for \(((status.graceMilliseconds ?? 0) + 999) / 1000) s more"
        case .locked: "what is readable while unlocked can't be read"
        case .lockedExpired: "what is readable while unlocked, or until long inactive, can't be read"
        case .deviceKeyMissing: VaultStatus.deviceKeyMissing
        }
    }

    /// The number of wrong passcodes and the effect of the next ones; `nil` without a passcode.
    private var attempts: String? {
        if [.noVault, .noPasscode, .deviceKeyMissing].contains(status.state) { return nil }
        if status.attemptsEnded {
            return "ended by ten wrong passcodes: 'coffer unlock --recovery-key' opens the vault, and nothing else"
        }
        var text = status.failedAttempts == 1 ? "1 wrong passcode" : "\(status.failedAttempts) wrong passcodes"
        if let seconds = status.retrySeconds { text += ", next attempt in \(durationForDisplay(seconds: seconds))" }
        return text + (status.erasesData ? "; the tenth erases the vault" : "; the tenth ends the attempts")
    }
}
