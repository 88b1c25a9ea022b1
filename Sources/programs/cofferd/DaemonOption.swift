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
        /// A whole number in a range, with its placeholder.
        case number(String, ClosedRange<Int>, @Sendable (inout Options, Int) -> Void)
        /// A text that is not empty, with its placeholder.
        case text(String, @Sendable (inout Options, String) -> Void)

        static func seconds(
            upTo maximum: Int = Limits.maximumLockDelaySeconds,
            _ set: @escaping @Sendable (inout Options, Int) -> Void
        ) -> Kind { .number("SECONDS", 0...maximum, set) }
    }

    let flag: String
    /// Its name in `[Service]` of the configuration; `nil` if it is no setting.
    let setting: String?
    private let kind: Kind
    /// Its description, in one paragraph.
    private var words = ""

    init(_ flag: String, _ kind: Kind) { self.init(flag, nil, kind) }

    init(_ flag: String, _ setting: String?, _ kind: Kind) {
        self.flag = flag
        self.setting = setting
        self.kind = kind
    }

    private func help(_ words: String) -> DaemonOption {
        var option = self
        option.words = words
        return option
    }

    /// The placeholder of its value; `nil` if it has none.
    var value: String? {
        switch kind {
        case .flag: nil
        case .decision: "yes|no"
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
        case .decision(let set):
            let text = try given(text())
            guard let decision = Self.decisions[text] else { throw wrong(text, "'yes' or 'no'") }
            set(&options, decision)
        case .number(_, let range, let set):
            let text = try given(text())
            guard let number = Int(text), range.contains(number) else {
                throw wrong(text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            set(&options, number)
        }
    }

    private func given(_ text: String?) throws(CofferError) -> String {
        if let text, !text.isEmpty { return text }
        throw CofferError(.param, "\(flag) wants a value", hint: "cofferd --help")
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
        do throws(CofferError) { try take(entry.value, into: &options) } catch {
            throw file.wrong(entry.line, error.message, hint: error.hint)
        }
    }

    private static let decisions = ["yes": true, "no": false]

    private func wrong(_ text: String, _ expected: String) -> CofferError {
        CofferError(.param, "\(flag) \(quotedForDisplay(text)): expected \(expected)")
    }

    // MARK: The table

    static let all: [DaemonOption] = [
        .init("--config", .text("FILE") { $0.files.path = $1 })
            .help("the configuration ($XDG_CONFIG_HOME/coffer/cofferd.conf, or /etc/coffer/cofferd.conf)"),
        .init("--entitlements", .text("DIR") { $0.files.entitlementPath = $1 })
            .help(
                """
                the directory of entitlements, instead of /etc/coffer/entitlements.d and \
                $XDG_CONFIG_HOME/coffer/entitlements.d
                """
            ),
        .init("--socket", "Socket", .text("PATH") { $0.sockets.clients = $1 })
            .help(
                """
                where to listen, if the service manager passes no socket ($XDG_RUNTIME_DIR/coffer/coffer.sock; for \
                root /run/coffer/coffer.sock)
                """
            ),
        .init("--credential-socket", "CredentialSocket", .text("PATH") { $0.sockets.credentials = $1 })
            .help(
                """
                where service managers ask for credentials of units, if the service manager passes no socket for \
                that
                """
            ),
        .init("--credential-wait", "CredentialWait", .seconds(upTo: longestWait) { $0.credentials.waitSeconds = $1 })
            .help("how long a starting unit waits for a credential that is locked (0 to \(longestWait))"),
        .init("--state", "State", .text("DIR") { $0.place.given = $1 })
            .help("where the vault is ($STATE_DIRECTORY, or $XDG_STATE_HOME/coffer, or /var/lib/coffer for root)"),
        .init("--grace", "Grace", .seconds(upTo: Limits.maximumGraceSeconds) { $0.locking.times.graceSeconds = $1 })
            .help(
                """
                from a lock to the end of class A (\(Limits.defaultGraceSeconds); 0 to \
                \(Limits.maximumGraceSeconds))
                """
            ),
        .init("--lock-after", "LockAfter", .seconds { $0.locking.times.lockAfterSeconds = $1 })
            .help(
                """
                lock after this time without a use of a key that the passcode protects (0: never; \
                \(Limits.defaultIdleLockSeconds) if the machine has no seat with a screen, otherwise never)
                """
            ),
        .init("--inactive-after", "InactiveAfter", .seconds { $0.locking.times.inactiveAfterSeconds = $1 })
            .help("from the end of the grace to the end of class CX (\(Limits.defaultInactiveSeconds))"),
        .init("--forget-after", "ForgetAfter", .seconds { $0.locking.times.forgetAfterSeconds = $1 == 0 ? nil : $1 })
            .help("from the end of the grace to before first unlock (\(Limits.defaultForgetSeconds); 0: never)"),
        .init("--lock-on-last-disconnect", "LockOnLastDisconnect", .flag { $0.locking.isOnLastDisconnect = $1 })
            .help("lock when the last connection is gone"),
        .init("--scratch", .text("DIR") { $0.place.scratch = $1 })
            .help(
                """
                serve a copy of a vault, in a directory that is gone afterwards, to one program: exit with the last \
                connection, or after \(Limits.scratchSeconds) seconds without any, and remove DIR, which the state \
                directory is in
                """
            ),
        .init("--lock-on-sleep", "LockOnSleep", .decision { $0.locking.presence.locksOnSleep = $1 })
            .help("lock before the machine sleeps, without grace (yes)"),
        .init("--lock-on-session-lock", "LockOnSessionLock", .decision { $0.locking.presence.locksOnSessionLock = $1 })
            .help("lock when a user who has unlocked the vault locks a session (yes)"),
        .init("--lock-on-logout", "LockOnLogout", .decision { $0.locksOnLogout = $1 })
            .help(
                """
                lock when a user who has unlocked the vault has logged out (yes, if cofferd itself belongs to a \
                login)
                """
            ),
        .init("--idle-exit", "IdleExit", .seconds { $0.idleExitSeconds = $1 == 0 ? nil : $1 })
            .help(
                """
                exit after this time without a client while no key that requires the passcode is in memory, if the \
                service manager passed the sockets, so that the next connection starts the daemon again (0: never)
                """
            ),
        .init("--trash-days", "TrashDays", .number("DAYS", 0...Limits.maximumTrashDays) { $0.trashDays = $1 })
            .help("how long a removed item can be restored (\(Limits.defaultTrashDays); 0: no trash)"),
        .init(
            "--trash-size",
            "TrashSize",
            .number("MEBIBYTES", 1...Limits.maximumTrashMebibytes) { $0.trashByteCount = Int64($1) << 20 }
        )
        .help(
            """
            how much the trash of one access group may hold before its oldest items are destroyed \
            (\(Limits.defaultTrashBytes >> 20))
            """
        ),
        .init("--carry-over", "CarryOver", .flag { $0.carriesOver = $1 })
            .help(
                """
                keep the keys of class C over a restart and a crash, in the service manager's descriptor store \
                (default: yes, if the service manager passed the sockets)
                """
            ),
        .init("--no-carry-over", .flag { options, _ in options.carriesOver = false })
            .help("have all keys go with the daemon: the opposite of --carry-over"),
        .init("--no-journal", "Journal", .flag { $0.journal.write = $1 ? nil : Journal().tell })
            .help("keep the audit in the vault only"),
        .init("--journal-names", "JournalNames", .flag { $0.journal.hasNames = $1 })
            .help(
                """
                write the names of items and the reasons of refusals to the journal, for everyone who may read it; \
                otherwise a tag stands for each name
                """
            ),
        .init("--journal-reads", "JournalReads", .flag { $0.journal.hasReads = $1 })
            .help("write granted reads to the journal, too; otherwise only changes, opened files, refusals and states"),
        .init("--check", .flag { $0.isCheck = $1 })
            .help("check the configuration, and exit"),
        .init("--version", .flag { _, _ in Options.leave(printing: "cofferd \(Version.program)\n") })
            .help("print the version"),
        .init("--help", .flag { _, _ in Options.leave(printing: usage) })
            .help("print this"),
    ]

    private static let longestWait = Limits.maximumCredentialWaitSeconds

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
