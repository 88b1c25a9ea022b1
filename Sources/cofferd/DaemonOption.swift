import CofferCore

/// An option of the daemon, as the help and the manual show it.
struct DaemonOption {
    let flag: String
    /// What its value stands for; `nil` where it has none.
    let value: String?
    /// Its name in `[Service]` of the configuration; `nil` where it is no setting.
    let setting: String?
    /// What it does, in one paragraph.
    let words: String
    /// Whether it is given by a `no` of its setting.
    var isDenial: Bool { flag.hasPrefix("--no-") }

    init(_ flag: String, value: String? = nil, setting: String? = nil, _ words: String) {
        self.flag = flag
        self.value = value
        self.setting = setting
        self.words = words
    }

    /// All of them.
    static let all = [
        DaemonOption(
            "--config",
            value: "FILE",
            "the configuration ($XDG_CONFIG_HOME/coffer/cofferd.conf, or /etc/coffer/cofferd.conf)"
        ),
        DaemonOption(
            "--entitlements",
            value: "DIR",
            "who may do what, instead of /etc/coffer/entitlements.d and $XDG_CONFIG_HOME/coffer/entitlements.d"
        ),
        DaemonOption(
            "--socket",
            value: "PATH",
            setting: "Socket",
            """
            where to listen, if the service manager passes no socket ($XDG_RUNTIME_DIR/coffer/coffer.sock or \
            /run/coffer/coffer.sock)
            """
        ),
        DaemonOption(
            "--credential-socket",
            value: "PATH",
            setting: "CredentialSocket",
            "where service managers ask for credentials of units, if the service manager passes no socket for that"
        ),
        DaemonOption(
            "--credential-wait",
            value: "SECONDS",
            setting: "CredentialWait",
            """
            have a unit that is started wait so long for a credential that is locked (0 to \
            \(Limits.maximumCredentialWaitSeconds))
            """
        ),
        DaemonOption(
            "--state",
            value: "DIR",
            setting: "State",
            "where the vault is ($STATE_DIRECTORY, or $XDG_STATE_HOME/coffer, or /var/lib/coffer for root)"
        ),
        DaemonOption(
            "--grace",
            value: "SECONDS",
            setting: "Grace",
            "from a lock to the end of class A (\(Limits.defaultGraceSeconds); 0 to \(Limits.maximumGraceSeconds))"
        ),
        DaemonOption(
            "--lock-after",
            value: "SECONDS",
            setting: "LockAfter",
            "lock when no key that the passcode protects was used for so long (0: never)"
        ),
        DaemonOption(
            "--inactive-after",
            value: "SECONDS",
            setting: "InactiveAfter",
            "from the end of the grace to the end of class CX (\(Limits.defaultInactiveSeconds))"
        ),
        DaemonOption(
            "--forget-after",
            value: "SECONDS",
            setting: "ForgetAfter",
            "from the end of the grace to before first unlock (\(Limits.defaultForgetSeconds); 0: never)"
        ),
        DaemonOption(
            "--lock-on-last-disconnect",
            setting: "LockOnLastDisconnect",
            "lock when the last connection is gone"
        ),
        DaemonOption(
            "--lock-on-sleep",
            value: "yes|no",
            setting: "LockOnSleep",
            "lock before the machine sleeps, without grace (yes)"
        ),
        DaemonOption(
            "--lock-on-session-lock",
            value: "yes|no",
            setting: "LockOnSessionLock",
            "lock when somebody who has unlocked the vault locks a session (yes)"
        ),
        DaemonOption(
            "--lock-on-logout",
            value: "yes|no",
            setting: "LockOnLogout",
            "lock when somebody who has unlocked the vault has logged out (yes, if cofferd itself belongs to a login)"
        ),
        DaemonOption(
            "--idle-exit",
            value: "SECONDS",
            setting: "IdleExit",
            """
            end when nobody was connected for so long and no key is there that wants the passcode, if the service manager \
            passed the sockets, so that the next connection starts the daemon again (0: never)
            """
        ),
        DaemonOption(
            "--carry-over",
            setting: "CarryOver",
            "keep the keys of class C over a restart and a crash, in the service manager's descriptor store"
        ),
        DaemonOption(
            "--no-journal",
            setting: "Journal",
            "keep the audit in the vault only: the journal has the names of items otherwise"
        ),
        DaemonOption("--check", "say whether the configuration is right, and start nothing"),
        DaemonOption("--version", "print the version"),
        DaemonOption("--help", "print this"),
    ]

    /// What `--help` prints.
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

    /// The setting that does the same, as far as it is not the option's value.
    private var assignment: String? { setting.map { $0 + (value != nil ? "=" : isDenial ? "=no" : "=yes") } }

    private var call: String { value.map { "\(flag) \($0)" } ?? flag }

    /// Lines of 80 columns at most.
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
