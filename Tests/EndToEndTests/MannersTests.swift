import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a careful person expects of a command without reading about it.
@Suite struct MannersTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin", "TZ": "UTC",
            ],
            directory: daemon.directory.path
        )
    }

    // MARK: Pipes

    @Test(
        arguments: [
            "coffer list", "coffer list --json", "coffer status", "coffer show small", "coffer get small",
            "coffer get large", "coffer file read large", "coffer keychain find --all", "coffer audit",
        ]
    )
    func `a reader that has read enough ends the command as it ends others, without a word`(command: String) throws {
        let daemon = try vault()
        try daemon.connect().put("small", [1, 2, 3])
        try daemon.connect().put("large", pseudoRandomBytes(3_000_000))
        let result = try run(daemon, "{ sleep 0.3; \(command); echo $? >&2; } | true")
        #expect(result.errors == "\(128 + SIGPIPE)\n")
    }

    @Test func `a change is made even if nothing reads what is said of it`() throws {
        let daemon = try vault()
        let result = try run(daemon, "{ sleep 0.3; echo secret | coffer put token; echo $? >&2; } | true")
        #expect(result.errors == "\(128 + SIGPIPE)\n")
        #expect(try daemon.coffer(["get", "token"]).text == "secret\n")
    }

    // MARK: Empty contents

    @Test func `a command that fails before the pipe does not empty a secret`() throws {
        let daemon = try vault()
        try daemon.directory.write([], to: "empty")
        #expect(try run(daemon, "printf good | coffer put token").status == 0)
        for source in ["false | coffer put token", "coffer put token empty", "coffer put token </dev/null"] {
            let result = try run(daemon, source)
            #expect(result.status == 64, "\(source)")
            #expect(result.errors.hasPrefix("error: nothing was stored under 'token': "), "\(result.errors)")
            #expect(result.errors.contains("--allow-empty"))
        }
        let typed = try onTerminal(daemon, "coffer put token", Array(repeating: ("Secret for 'token': ", ""), count: 3))
        #expect(typed.status == 64)
        #expect(typed.shown.contains("what was typed is empty"))
        #expect(try daemon.coffer(["get", "token"]).text == "good")
        #expect(try run(daemon, "false | coffer put token --allow-empty").status == 0)
        #expect(try daemon.coffer(["get", "token"]).output.isEmpty)
    }

    // MARK: Weak passcodes

    @Test(
        arguments: [
            ("1", "fewer than 4 characters"), ("äöü", "fewer than 4 characters"), ("zzzzzz", "one character, repeated"),
            ("123456", "among the first"), ("PassWord1", "among the first"), ("Qwerty\n", "among the first"),
        ]
    )
    func `a passcode that is guessed at once is refused, unless it is asked for`(
        passcode: String,
        reason: String
    ) throws {
        let daemon = try DaemonProcess()
        let make = ["init", "--kdf", "interactive", "--no-recovery-key"]
        let refused = try daemon.coffer(make, passcode: passcode)
        #expect(refused.status == 64)
        #expect(refused.errors.contains("the passcode is too weak: it is") || refused.errors.contains("it has"))
        #expect(refused.errors.contains(reason))
        #expect(refused.errors.contains("--weak-passcode"))
        #expect(try daemon.connect().status().state == .noVault)
        #expect(try daemon.coffer(make + ["--weak-passcode"], passcode: passcode).status == 0)
    }

    @Test func `a passcode that is set or changed is checked, too, before it is repeated`() throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        try daemon.directory.write(Array("1234".utf8), to: "weak")
        try daemon.connect().makeVault(passcode: nil)
        let set = "coffer passcode set --kdf interactive --new-passcode-fd 3"
        #expect(try run(daemon, "\(set) 3<weak").status == 64)
        #expect(try daemon.connect().status().state == .noPasscode)
        #expect(try run(daemon, "\(set) 3<pass").status == 0)
        let change = "coffer passcode change --passcode-fd 3 --new-passcode-fd 4 3<pass 4<weak"
        #expect(try run(daemon, change).status == 64)
        let typed = try onTerminal(
            daemon,
            "coffer passcode change",
            [("Passcode: ", "pass one")] + Array(repeating: ("New passcode: ", "letmein"), count: 3)
        )
        #expect(typed.status == 64)
        #expect(!typed.shown.contains("Repeat"))
        #expect(try run(daemon, "coffer unlock --passcode-fd 3 3<pass").status == 0)
        #expect(try run(daemon, "\(change) --weak-passcode").status == 0)
        #expect(try run(daemon, "coffer unlock --passcode-fd 3 3<weak").status == 0)
    }

    // MARK: The idle lock

    private static let isRoot = geteuid() == 0

    /// A machine that has the seats of logind that the line of a shell makes.
    private static func machine(_ seat: String) -> [String] {
        let script = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/seats && \(seat); exec \"$0\" \"$@\" 2>log"
        return ["/usr/bin/unshare", "--mount", "/bin/bash", "-c", script]
    }

    @Test(.enabled(if: isRoot, "a mount namespace wants root"))
    func `a vault on a machine without a screen locks itself when it is idle, and says so`() throws {
        let bare = Self.machine("true")
        let console = Self.machine("echo IS_SEAT0=1 >/run/systemd/seats/seat0")
        let desktop = Self.machine("printf 'IS_SEAT0=1\\nCAN_GRAPHICAL=1\\n' >/run/systemd/seats/seat0")
        func status(_ launcher: [String], _ options: [String] = []) throws -> (status: VaultStatus, said: String) {
            let directory = try TemporaryDirectory()
            var words = launcher
            words[4] = launcher[4].replacing("2>log", with: "2>\(directory.appending("log"))")
            let daemon = try DaemonProcess(in: directory, options, launchedBy: words)
            #expect(try daemon.connect().status().lockAfterSeconds == nil, "there is no vault yet")
            try daemon.connect().makeVault()
            let said = String(decoding: directory.contents("log") ?? [], as: UTF8.self)
            let text = try daemon.coffer(["status"]).text
            let status = try daemon.connect().status()
            #expect(text.contains("idle lock: after") == (status.lockAfterSeconds != nil), "\(text)")
            #expect(text.contains("as this machine has no seat") == status.lockAfterIsDefault, "\(text)")
            return (status, said)
        }
        for launcher in [bare, console] {
            let idle = try status(launcher)
            #expect(idle.status.lockAfterSeconds == 900 && idle.status.lockAfterIsDefault)
            #expect(idle.said.contains("no seat with a screen: a vault with a passcode is locked after 15 min"))
        }
        let never = try status(bare, ["--lock-after", "0"])
        #expect(never.status.lockAfterSeconds == nil && !never.said.contains("no seat"))
        let minute = try status(bare, ["--lock-after=60"])
        #expect(minute.status.lockAfterSeconds == 60 && !minute.status.lockAfterIsDefault)
        #expect(!minute.said.contains("no seat"))
        let screen = try status(desktop)
        #expect(screen.status.lockAfterSeconds == nil && !screen.said.contains("no seat"))
    }

    // MARK: Verbs

    @Test(
        arguments: [
            ("lsit", "did you mean 'coffer list'?"), ("Get", "did you mean 'coffer get'?"),
            ("frobnicate", "coffer --help"), ("keychain fnid", "did you mean 'coffer keychain find'?"),
            ("file raed", "did you mean 'coffer file read'?"),
            ("help unlok", "did you mean 'coffer unlock'?"),
        ]
    )
    func `a verb that does not exist is a usage error, with and without --help`(verb: String, hint: String) throws {
        let daemon = try DaemonProcess()
        for options in ["", " --help", " NAME --help"] {
            let result = try run(daemon, "coffer \(verb)\(options)")
            #expect(result.status == 64, "\(verb)\(options)")
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("has no verb"), "\(result.errors)")
            #expect(result.errors.contains(hint), "\(result.errors)")
        }
    }

    @Test(arguments: ["--help", "list --help", "keychain --help", "keychain find --help", "help list", "help"])
    func `help of what exists is printed`(words: String) throws {
        let daemon = try DaemonProcess()
        let result = try run(daemon, "coffer \(words)")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("USAGE: coffer"))
    }

    @Test(
        arguments: [
            ("get a --json", nil), ("get a --clip", nil), ("list --expirin 30d", "--expiring"),
            ("list --lnog", "--long"),
            ("sync", nil), ("undo", "coffer trash restore"), ("lits", "coffer list"),
        ]
    )
    func `only what is spelled nearly so is suggested`(words: String, suggestion: String?) throws {
        let daemon = try vault()
        let refused = try run(daemon, "coffer \(words)")
        #expect(refused.status == 64)
        if let suggestion {
            #expect(refused.errors.contains("'\(suggestion)'"), "\(refused.errors)")
        } else {
            #expect(!refused.errors.lowercased().contains("did you mean"), "\(refused.errors)")
        }
    }

    @Test(arguments: ["--socket S", "--socket=S", "--no-start --socket S --timeout 5", "--timeout=5 --socket S"])
    func `options of the connection may precede the verb`(options: String) throws {
        let daemon = try vault()
        let given = options.replacing("S", with: "\"$COFFER_SOCKET\"")
        let script =
            "echo x | coffer put d/a; coffer \(given) list d; coffer \(given) file list; coffer \(given) get d/a"
        let result = try run(daemon, script.replacing("coffer \(given)", with: "env -u COFFER_SOCKET coffer \(given)"))
        #expect(result.status == 0 && result.text.contains("d/a\n") && result.text.hasSuffix("x\n"), "\(result.errors)")
        let program = try run(daemon, "coffer --socket \"$COFFER_SOCKET\" run -- echo --socket")
        #expect(program.text == "--socket\n", "\(program.errors)")
        #expect(try run(daemon, "coffer --socket").status == 64)
        #expect(try run(daemon, "coffer --socket x").status == 64)
    }

    // MARK: The machine's vault

    @Test(.enabled(if: isRoot, "a mount namespace wants root"))
    func `before its first change, a command of one without a daemon says that it is in the machine's vault`() throws {
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        for name in ["e", "own", "other/coffer"] {
            try files.createDirectory(atPath: directory.appending(name), withIntermediateDirectories: true)
        }
        let right = "[Client]\nUID=65534\nGroups=default\nVerbs=read write delete\n"
        try directory.write(Array(right.utf8), to: "e/others.conf")
        let daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault()
        daemon.openToOthers()
        // Another user can't read every tree with programs.
        try files.copyItem(atPath: "\(Project.binaries)/coffer", toPath: directory.appending("coffer"))
        let another = directory.appending("other/coffer/coffer.sock")
        try files.createSymbolicLink(atPath: another, withDestinationPath: daemon.socketPath)
        for name in ["own", "other", "other/coffer"] { chown(directory.appending(name), 65534, 65534) }
        let place = """
            set -e
            mount -t tmpfs tmpfs /run && mkdir -m 755 /run/coffer && ln -s '\(daemon.socketPath)' /run/coffer/coffer.sock
            exec setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$0"
            """
        func run(_ line: String) throws -> CommandResult {
            let result = try runCommand(
                "/usr/bin/unshare",
                ["--mount", "/bin/bash", "-c", place, line],
                environment: ["PATH": "\(directory.path):/usr/bin:/bin"],
                directory: "/"
            )
            #expect(result.status == 0, "\(line): \(result.errors)")
            return result
        }
        let said = "coffer: no daemon of your own runs here: this changes the machine's vault\n"
        let own = "XDG_RUNTIME_DIR='\(directory.appending("own"))'"
        for line in ["echo x | coffer put a", "echo x | \(own) coffer put b", "coffer remove a b"] {
            #expect(try run(line).errors == said, "\(line)")
        }
        try daemon.connect().put("a", [1])
        let other = "XDG_RUNTIME_DIR='\(directory.appending("other"))'"
        for line in [
            "coffer list", "coffer get a", "\(own) coffer get a", "echo x | \(other) coffer put c",
            "echo x | coffer --socket /run/coffer/coffer.sock put d",
            "echo x | COFFER_SOCKET=/run/coffer/coffer.sock coffer put e",
        ] { #expect(try run(line).errors == "", "\(line)") }
        for name in ["c", "d", "e"] { #expect(try daemon.connect().get(name) == Array("x\n".utf8)) }
    }

    // MARK: Expiry

    @Test func `status names what has expired and what expires soon`() throws {
        let daemon = try vault()
        let status = "coffer status --expiring"
        #expect(try !run(daemon, status).text.contains("expir"))
        let put = "echo x | coffer put old --expires 2020-01-01; echo x | coffer put soon --expires 29d"
        let stored = try run(daemon, "\(put); echo x | coffer put late --expires 31d; echo x | coffer put never")
        #expect(stored.errors.contains("warning: the item has expired already: it was valid until 2020-01-01 23:59:59"))
        let shown = try run(daemon, status).text
        #expect(shown.contains("expired:   1 item: 'old'\n"), "\(shown)")
        #expect(shown.contains("expiring:  1 item: 'soon' within 30 days\n"), "\(shown)")
        let soonest = try run(daemon, "coffer put today --expires today </etc/hostname; coffer list --expiring today")
        #expect(soonest.text.hasSuffix("old\ntoday\n"), "\(soonest)")
        // A program that polls must not prevent the idle lock.
        #expect(try !run(daemon, "coffer status").text.contains("expir"))
        #expect(try onTerminal(daemon, "coffer status").shown.contains("expired:   1 item: 'old'"))
        #expect(try run(daemon, "\(status) --json").text.contains(#""expired":[{"#))
    }

    @Test func `unlock names on a terminal what has expired and what expires soon, once a day`() throws {
        let daemon = try vault()
        try daemon.directory.write(Array(DaemonProcess.passcode.utf8), to: "pass")
        let home = try TemporaryDirectory()
        let record = ".cache/coffer/expiry-warning"
        func unlock(_ options: String = "") throws -> String {
            let typed = [(prompt: "Passcode: ", answer: Answer.line(DaemonProcess.passcode))]
            let unlocked = try onTerminal(daemon, "coffer unlock\(options)", typed, home: home.path)
            #expect(unlocked.status == 0, "\(unlocked.shown)")
            return unlocked.shown
        }
        #expect(try !unlock().contains("expir"), "nothing expires")
        let put = "echo x | coffer put old --expires 2020-01-01; echo x | coffer put soon --expires 29d"
        #expect(try run(daemon, put).status == 0)
        let piped = try run(daemon, "HOME='\(home.path)' coffer unlock --passcode-fd 3 3<pass")
        #expect(piped.status == 0 && !piped.errors.contains("expir"), "\(piped.errors)")
        #expect(try !unlock(" --json").contains("expir"), "a program reads it")
        #expect(home.contents(record) == nil, "what nobody was told is told later")

        let first = try unlock()
        #expect(first.contains("expired: 1 item: 'old'\r\n"), "\(first)")
        #expect(first.contains("expiring: 1 item: 'soon' within 30 days\r\n"), "\(first)")
        let day = home.contents(record)
        #expect(day != nil)
        let second = try unlock()
        // Midnight may have come between the two.
        #expect(second.contains("expir") == (home.contents(record) != day), "\(second)")
        try home.write(Array("2020-01-01".utf8), to: record)
        #expect(try unlock().contains("expired: 1 item: 'old'\r\n"), "another day")
    }

    @Test func `what has expired is given with a warning, and show says when`() throws {
        let daemon = try vault()
        let add = "printf secret | coffer keychain add --service github.com --account"
        #expect(try run(daemon, "\(add) old --expires 2020-02-03T04:05:06Z").status == 0)
        #expect(try run(daemon, "\(add) new --expires 2099-02-03T00:00:00Z").status == 0)
        let old = try run(daemon, "coffer get github.com/old")
        #expect(old.status == 0 && old.text == "secret")
        #expect(old.errors == "warning: 'github.com/old' has expired: it was valid until 2020-02-03 04:05:06 UTC\n")
        #expect(try run(daemon, "coffer get github.com/new").errors.isEmpty)
        let typed = try onTerminal(daemon, "coffer get github.com/old")
        #expect(typed.shown.contains("warning: 'github.com/old' has expired"))
        let shown = try run(daemon, "coffer show github.com/old").text
        #expect(shown.contains("expires:        2020-02-03 04:05:06 UTC (it has expired)\n"), "\(shown)")
        let local = try run(daemon, "TZ=America/New_York coffer show github.com/new").text
        #expect(local.contains("expires:        2099-02-02 19:00:00 EST\n"), "\(local)")
        #expect(try !run(daemon, "echo x | coffer put plain; coffer show plain").text.contains("expires"))
    }

    // MARK: Case

    @Test func `a search ignores case unless it has a capital`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for name in ["GitHub.com/Token", "github.com/other", "Ärger/Akte"] { try client.put(name, [1]) }
        func list(_ arguments: String...) throws -> [String] {
            let result = try daemon.coffer(["list"] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return result.text.split(separator: "\n").map(String.init)
        }
        #expect(try list("github") == ["GitHub.com/Token", "github.com/other"])
        #expect(try list("GitHub") == ["GitHub.com/Token"])
        #expect(try list("GITHUB", "--ignore-case") == ["GitHub.com/Token", "github.com/other"])
        #expect(try list("github", "--no-ignore-case") == ["github.com/other"])
        #expect(try list("*/token") == ["GitHub.com/Token"])
        #expect(try list("*/TOKEN") == [])
        #expect(try list("*/TOKEN", "--ignore-case") == ["GitHub.com/Token"])
        #expect(try list("ärger") == ["Ärger/Akte"])
        #expect(try list().count == 3)
    }
}
