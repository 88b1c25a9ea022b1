import CofferCore
import CofferService

/// An option of the daemon, with the equivalent setting of `[Service]`.
///
/// It is defined once, for the command line, the configuration, the help and the manual.
struct DaemonOption: Sendable {
    /// The type of the value, and the function that applies it.
    enum Kind: Sendable {
        /// No value; as a setting, `yes` or `no`.
        case flag(@Sendable (inout Options, Bool) -> Void)
        /// `yes` or `no`.
        case decision(@Sendable (inout Options, Bool) -> Void)
        /// A whole number from 0 to a maximum.
        case seconds(upTo: Int = Limits.maximumLockDelaySeconds, @Sendable (inout Options, Int) -> Void)
        /// A whole number in a range, with its placeholder.
        case number(String, ClosedRange<Int>, @Sendable (inout Options, Int) -> Void)
        /// A text that is not empty, with its placeholder.
        case text(String, @Sendable (inout Options, String) -> Void)
    }

    let flag: String
    /// Its name in `[Service]` of the configuration; `nil` if it is no setting.
    let setting: String?
    /// Its description, in one paragraph.
    let words: String
    private let kind: Kind

    init(_ flag: String, setting: String? = nil, _ words: String, _ kind: Kind) {
        self.flag = flag
        self.setting = setting
        self.words = words
        self.kind = kind
    }

    /// The placeholder of its value; `nil` if it has none.
    var value: String? {
        switch kind {
        case .flag: nil
        case .decision: "yes|no"
        case .seconds: "SECONDS"
        case .number(let place, _, _), .text(let place, _): place
        }
    }

    /// Whether its setting must be `no` to have the same effect.
    private var isDenial: Bool { flag.hasPrefix("--no-") }

    // MARK: Reading

    /// Applies the option of the command line.
    ///
    /// - Parameters:
    ///   - text: Its value; not evaluated if the option has none.
    ///   - options: The options to change.
    func take(_ text: @autoclosure () -> String?, into options: inout Options) throws(CofferError) {
        switch kind {
        case .flag(let set): set(&options, true)
        case .text(_, let set): set(&options, try given(text()))
        case .seconds(let maximum, let set): set(&options, try number(text(), in: 0...maximum))
        case .number(_, let range, let set): set(&options, try number(text(), in: range))
        case .decision(let set):
            let text = try given(text())
            guard let decision = Self.decisions[text] else {
                throw CofferError(.param, "\(flag) \(quotedForDisplay(text)): expected 'yes' or 'no'")
            }
            set(&options, decision)
        }
    }

    /// Applies the setting of the configuration.
    func take(
        _ entry: ConfigurationFile.Entry,
        of file: ConfigurationFile,
        into options: inout Options
    ) throws(CofferError) {
        if case .flag(let set) = kind {
            guard let isOn = Self.decisions[entry.value] else {
                throw file.wrong(entry.line, "\(entry.key): expected 'yes' or 'no'")
            }
            return set(&options, isOn != isDenial)
        }
        do throws(CofferError) {
            try take(entry.value, into: &options)
        } catch {
            throw file.wrong(entry.line, error.message, hint: error.hint)
        }
    }

    private static let decisions = ["yes": true, "no": false]

    private func number(_ text: String?, in range: ClosedRange<Int>) throws(CofferError) -> Int {
        let text = try given(text)
        if let number = Int(text), range.contains(number) { return number }
        throw CofferError(
            .param,
            "\(flag) \(quotedForDisplay(text)): expected a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
    }

    private func given(_ text: String?) throws(CofferError) -> String {
        if let text, !text.isEmpty { return text }
        throw CofferError(.param, "\(flag) wants a value", hint: "cofferd --help")
    }

    // MARK: The table

    static let all = [
        DaemonOption(
            "--config",
            "the configuration ($XDG_CONFIG_HOME/coffer/cofferd.conf, or /etc/coffer/cofferd.conf)",
            .text("FILE", { $0.configurationPath = $1 })
        ),
        DaemonOption(
            "--entitlements",
            "the directory of entitlements, instead of /etc/coffer/entitlements.d and $XDG_CONFIG_HOME/coffer/entitlements.d",
            .text("DIR", { $0.entitlementPath = $1 })
        ),
        DaemonOption(
            "--socket",
            setting: "Socket",
            """
            where to listen, if the service manager passes no socket ($XDG_RUNTIME_DIR/coffer/coffer.sock; for \
            root /run/coffer/coffer.sock)
            """,
            .text("PATH", { $0.socket = $1 })
        ),
        DaemonOption(
            "--credential-socket",
            setting: "CredentialSocket",
            "where service managers ask for credentials of units, if the service manager passes no socket for that",
            .text("PATH", { $0.credentialSocket = $1 })
        ),
        DaemonOption(
            "--credential-wait",
            setting: "CredentialWait",
            """
            how long a starting unit waits for a credential that is locked (0 to \
            \(Limits.maximumCredentialWaitSeconds))
            """,
            .seconds(upTo: Limits.maximumCredentialWaitSeconds, { $0.credentialWaitSeconds = $1 })
        ),
        DaemonOption(
            "--state",
            setting: "State",
            "where the vault is ($STATE_DIRECTORY, or $XDG_STATE_HOME/coffer, or /var/lib/coffer for root)",
            .text("DIR", { $0.state = $1 })
        ),
        DaemonOption(
            "--grace",
            setting: "Grace",
            "from a lock to the end of class A (\(Limits.defaultGraceSeconds); 0 to \(Limits.maximumGraceSeconds))",
            .seconds(upTo: Limits.maximumGraceSeconds, { $0.lockPolicy.graceSeconds = $1 })
        ),
        DaemonOption(
            "--lock-after",
            setting: "LockAfter",
            """
            lock after this time without a use of a key that the passcode protects (0: never; \
            \(Limits.defaultIdleLockSeconds) if the machine has no seat with a screen, otherwise never)
            """,
            .seconds({ $0.lockPolicy.lockAfterSeconds = $1 })
        ),
        DaemonOption(
            "--inactive-after",
            setting: "InactiveAfter",
            "from the end of the grace to the end of class CX (\(Limits.defaultInactiveSeconds))",
            .seconds({ $0.lockPolicy.inactiveAfterSeconds = $1 })
        ),
        DaemonOption(
            "--forget-after",
            setting: "ForgetAfter",
            "from the end of the grace to before first unlock (\(Limits.defaultForgetSeconds); 0: never)",
            .seconds({ $0.lockPolicy.forgetAfterSeconds = $1 == 0 ? nil : $1 })
        ),
        DaemonOption(
            "--lock-on-last-disconnect",
            setting: "LockOnLastDisconnect",
            "lock when the last connection is gone",
            .flag({ $0.locksOnLastDisconnect = $1 })
        ),
        DaemonOption(
            "--scratch",
            """
            serve a copy of a vault, in a directory that is gone afterwards, to one program: exit with the last connection, or \
            after \(Limits.scratchSeconds) seconds without any, and remove DIR, which the state directory is in
            """,
            .text("DIR") { $0.scratch = $1 }
        ),
        DaemonOption(
            "--lock-on-sleep",
            setting: "LockOnSleep",
            "lock before the machine sleeps, without grace (yes)",
            .decision({ $0.presencePolicy.locksOnSleep = $1 })
        ),
        DaemonOption(
            "--lock-on-session-lock",
            setting: "LockOnSessionLock",
            "lock when a user who has unlocked the vault locks a session (yes)",
            .decision({ $0.presencePolicy.locksOnSessionLock = $1 })
        ),
        DaemonOption(
            "--lock-on-logout",
            setting: "LockOnLogout",
            "lock when a user who has unlocked the vault has logged out (yes, if cofferd itself belongs to a login)",
            .decision({ $0.locksOnLogout = $1 })
        ),
        DaemonOption(
            "--idle-exit",
            setting: "IdleExit",
            """
            exit after this time without a client while no key that requires the passcode is in memory, if the service manager \
            passed the sockets, so that the next connection starts the daemon again (0: never)
            """,
            .seconds({ $0.idleExitSeconds = $1 == 0 ? nil : $1 })
        ),
        DaemonOption(
            "--trash-days",
            setting: "TrashDays",
            "how long a removed item can be restored (\(Limits.defaultTrashDays); 0: no trash)",
            .number("DAYS", 0...Limits.maximumTrashDays, { $0.trashDays = $1 })
        ),
        DaemonOption(
            "--trash-size",
            setting: "TrashSize",
            """
            how much the trash of one access group may hold before its oldest items are destroyed \
            (\(Limits.defaultTrashBytes >> 20))
            """,
            .number("MEBIBYTES", 1...Limits.maximumTrashMebibytes, { $0.trashByteCount = Int64($1) << 20 })
        ),
        DaemonOption(
            "--carry-over",
            setting: "CarryOver",
            """
            keep the keys of class C over a restart and a crash, in the service manager's descriptor store (default: yes, if the \
            service manager passed the sockets)
            """,
            .flag({ $0.carriesOver = $1 })
        ),
        DaemonOption(
            "--no-carry-over",
            "have all keys go with the daemon: the opposite of --carry-over",
            .flag({ options, _ in options.carriesOver = false })
        ),
        DaemonOption(
            "--no-journal",
            setting: "Journal",
            "keep the audit in the vault only",
            .flag({ $0.tellsJournal = !$1 })
        ),
        DaemonOption(
            "--journal-names",
            setting: "JournalNames",
            """
            write the names of items and the reasons of refusals to the journal, for everyone who may read it; otherwise a tag \
            stands for each name
            """,
            .flag({ $0.namesInJournal = $1 })
        ),
        DaemonOption(
            "--journal-reads",
            setting: "JournalReads",
            "write granted reads to the journal, too; otherwise only changes, opened files, refusals and states",
            .flag({ $0.readsInJournal = $1 })
        ),
        DaemonOption(
            "--check",
            "check the configuration, and exit",
            .flag({ $0.isCheck = $1 })
        ),
        DaemonOption(
            "--version",
            "print the version",
            .flag({ _, _ in Options.leave(printing: "cofferd \(Version.program)\n") })
        ),
        DaemonOption(
            "--help",
            "print this",
            .flag({ _, _ in Options.leave(printing: usage) })
        ),
    ]

    /// The output of `--help`.
    static var usage: Line {
        let synopsis = all.map { "[\($0.call)]" }
        let lines = all.flatMap { option in
            let words = (option.assignment.map { [$0] } ?? []) + option.words.split(separator: " ").map(String.init)
            let beside = wrapped(words, indentation: textColumn)
            let first = "  " + option.call
            guard let text = beside.first, first.count < textColumn - 1 else { return [first] + beside }
            return [first + text.dropFirst(first.count)] + beside.dropFirst()
        }
        let usage = wrapped(["usage:", "cofferd"] + synopsis, indentation: 0, further: 15)
        let footnote = wrapped(
            """
            NAME= is the same as a setting of [Service] in the configuration. An option comes before its setting.
            """.split(separator: " ").map(String.init),
            indentation: 0
        )
        return (usage + [""] + lines + [""] + footnote).reduce(into: "") { $0 = "\($0)\($1)\n" }
    }

    private static let textColumn = 20

    /// The equivalent setting, without the value.
    private var assignment: String? { setting.map { $0 + (value != nil ? "=" : isDenial ? "=no" : "=yes") } }

    private var call: String { value.map { "\(flag) \($0)" } ?? flag }

    /// Wraps words into lines of up to 80 columns.
    private static func wrapped(_ words: [String], indentation: Int, further: Int? = nil) -> [String] {
        var lines: [String] = []
        for word in words {
            if let line = lines.last, line.count + word.count < 80 {
                lines[lines.count - 1] += " " + word
            } else {
                let space = lines.isEmpty ? indentation : further ?? indentation
                lines.append(String(repeating: " ", count: space) + word)
            }
        }
        return lines
    }
}
