import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// The tasks of proto-docs/TASKS.md, typed on a terminal.
@Suite struct TasksTests {
    /// A row of the table.
    private struct Task {
        let number: Int
        /// The commands, each with the prompts that are answered behind it.
        let commands: [(line: String, answers: Int)]
        let keys: String

        init?(_ row: Substring) {
            // A pipe in a command is escaped, as tables want it.
            let cells = row.replacing("\\|", with: "\u{0}").split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces).replacing("\u{0}", with: "|")
            }
            guard cells.count >= 3, let number = Int(cells[0]) else { return nil }
            self.number = number
            keys = cells.count > 3 ? cells[3] : ""
            var commands: [(line: String, answers: Int)] = []
            for match in cells[2].matches(of: /`([^`]+)`|\*([^*]+)\*/) {
                if let line = match.1 {
                    commands.append((String(line), 0))
                } else if !commands.isEmpty {
                    commands[commands.count - 1].answers += 1
                }
            }
            self.commands = commands
        }

        /// Each character and Enter, and one for each answer.
        var keyCount: Int { commands.reduce(0) { $0 + $1.line.count + 1 + $1.answers } }
    }

    /// What is there before a task, what is answered, and what comes of it.
    private struct Trial {
        /// Commands that are not a part of the task.
        var before: [String] = []
        /// The prompts in their order, and what is typed.
        var answers: [(prompt: String, answer: Answer)] = []
        /// What the terminal shows.
        var shows: [String] = []
        /// A command that fails if the task was not done.
        var check: String?
    }

    private static let secret: [(prompt: String, answer: Answer)] = [
        ("Secret for ", "s3cret"), ("Repeat secret for ", "s3cret"),
    ]
    private static let exported =
        #"{"encrypted":false,"items":[{"type":1,"name":"pool","login":{"username":"nina","password":"s3cret"}}]}"#
    private static let totp = "otpauth://totp/Site:nina?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    private static let trials: [Int: Trial] = [
        1: Trial(
            answers: [("New passcode: ", "pa55 word"), ("Repeat passcode: ", "pa55 word")],
            shows: ["made a vault; it is unlocked"]
        ),
        2: Trial(answers: secret, shows: ["stored 'mail'"]),
        3: Trial(before: ["printf 'A=1\\nB=two\\n' >prod.env"], shows: ["stored 'prod.env'"]),
        4: Trial(shows: ["s3cret"]),
        5: Trial(
            shows: ["'mail' is in the clipboard, and is cleared in 45 s"],
            check: "test \"$(xclip -selection clipboard -out)\" = s3cret"
        ),
        6: Trial(before: ["export EDITOR='sed -i s/s3cret/s4cret/'"], check: "test \"$(coffer get mail)\" = s4cret"),
        7: Trial(shows: ["stored 'bank'", "142 bits of entropy"]),
        8: Trial(shows: ["mail\r\n"]),
        9: Trial(before: ["coffer put web/site <prod.env"], shows: ["web\r\n", "└── site\r\n"]),
        10: Trial(check: "coffer get work/mail >/dev/null"),
        11: Trial(check: "test \"$(coffer get mail)\" = s4cret"),
        12: Trial(answers: [("type 'yes' to go on: ", "yes")], check: "! coffer get work/mail 2>/dev/null"),
        13: Trial(answers: [("Password for 'shop': ", "s3cret"), ("Repeat password: ", "s3cret")]),
        14: Trial(shows: ["nina\r\n"]),
        15: Trial(before: ["coffer otp add github <<<'\(totp)'"], shows: ["valid for "]),
        16: Trial(answers: secret, check: "coffer show pin | grep -q bank"),
        17: Trial(before: ["printf x | coffer put lease --expires 7d"], shows: ["lease\r\n"]),
        18: Trial(
            before: ["A=$(coffer get bank)", "coffer gen bank --replace"],
            check: "test \"$(coffer get bank)\" = \"$A\""
        ),
        19: Trial(shows: ["restored work/mail"], check: "coffer get work/mail >/dev/null"),
        20: Trial(shows: ["two\r\n"]),
        21: Trial(before: ["echo 'token={{ coffer \"mail\" }}' >template"], check: "grep -qx token=s4cret config"),
        22: Trial(check: "test \"$TOKEN\" = s4cret"),
        23: Trial(answers: secret, shows: ["LoadCredential=token:", "gets 'token' only after 'coffer unlock'"]),
        24: Trial(answers: secret, check: "coffer history token --group unit:backup.service | grep -q '^1 '"),
        25: Trial(shows: ["added rule 1"]),
        26: Trial(
            before: [
                "ssh-keygen -q -t ed25519 -N '' -C nina@laptop -f deploy",
                "coffer put deploy deploy",
            ],
            shows: ["Identity added: "],
            check: "ssh-add -l | grep -q ED25519"
        ),
        27: Trial(
            before: ["echo 1.0 >release", "coffer keychain add --generate ed25519 --label signing"],
            check: "test $(wc -c <release.sig) = 64"
        ),
        30: Trial(
            before: ["coffer receive --recipient >recipient"],
            check: "coffer receive parcel --as got && test \"$(coffer get got)\" = \"$(coffer get mail)\""
        ),
        31: Trial(before: ["head -c 20000000 /dev/urandom >video"], check: "coffer get video | cmp - video"),
        32: Trial(
            before: ["mkdir -p photos/2026; echo a >photos/a; echo b >photos/2026/b"],
            check: "test \"$(coffer get photos/2026/b)\" = b"
        ),
        34: Trial(
            answers: [
                ("Passcode: ", "pa55 word"), ("New passphrase of the backup: ", "four words of it"),
                ("Repeat passphrase of the backup: ", "four words of it"),
            ],
            shows: ["set up the backup in ", "stored snapshot 1, "]
        ),
        38: Trial(
            before: ["printf %s '\(exported)' >export.json"],
            shows: ["stored 1, replaced 0, skipped 0 of 1 item"],
            check: "test $(coffer get pool --field username) = nina"
        ),
        40: Trial(shows: ["item.get"]),
        41: Trial(shows: ["mail"]),
        44: Trial(shows: [#"{"name":"#]),
    ]

    /// Rows that need another user, another machine, a mount or a service manager, and the suites that do them.
    private static let elsewhere = [
        28: "GitServerTests", 29: "RegistryTests", 33: "MountVerbsTests", 35: "KeysVerbsTests", 37: "ShareTests",
        42: "LoginVerbsTests",
    ]

    private static let page = "\(Project.root)/proto-docs/TASKS.md"

    private static func tasks() throws -> [Task] {
        let rows = try String(contentsOfFile: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("|") }
        return rows.compactMap { Task($0) }
    }

    @Test func `the page has a row for each of 44 tasks, and counts its keys`() throws {
        let tasks = try Self.tasks()
        #expect(tasks.map(\.number) == Array(1...44))
        for task in tasks {
            #expect(task.keys == (task.commands.isEmpty ? "" : "\(task.keyCount)"), "task \(task.number)")
        }
    }

    @Test func `a command of the page is typed here, or a named suite does its work`() throws {
        for task in try Self.tasks() where !task.commands.isEmpty {
            #expect((Self.trials[task.number] == nil) != (Self.elsewhere[task.number] == nil), "task \(task.number)")
        }
        let suites = try FileManager.default.subpathsOfDirectory(atPath: "\(Project.root)/Tests")
        for suite in Self.elsewhere.values {
            let isThere = suites.contains { $0.hasSuffix("/\(suite).swift") }
            #expect(isThere, "\(suite)")
        }
    }

    @Test func `each task is done by what its row says is typed`() throws {
        let daemon = try DaemonProcess()
        let prompt = "] nina$ "
        var keys: [(prompt: String, answer: Answer)] = []
        func type(_ line: String) { keys.append((prompt, .line(line))) }
        for task in try Self.tasks() {
            guard let trial = Self.trials[task.number] else { continue }
            trial.before.forEach(type)
            type(": begin \(task.number)")
            var answers = trial.answers[...]
            for command in task.commands {
                type(command.line)
                keys += answers.prefix(command.answers)
                answers = answers.dropFirst(command.answers)
            }
            #expect(answers.isEmpty, "task \(task.number) answers fewer prompts than its trial")
            type(": end \(task.number)")
            if let check = trial.check { type(check) }
            type(": checked \(task.number)")
        }
        type("exit")
        let session = try onTerminal(
            daemon,
            """
            trap 'kill $server' EXIT HUP
            Xvfb -screen 0 64x64x8 -displayfd 5 5>display >/dev/null 2>&1 & server=$!
            for i in {1..200}; do [ -s display ] && break; sleep 0.05; done
            stty cols 200
            DISPLAY=:$(cat display) PS1='[$?] nina$ ' ssh-agent bash --noprofile --norc -i
            """,
            keys,
            home: daemon.directory.path
        )
        #expect(session.status == 0, "\(session.shown)")
        for (number, trial) in Self.trials.sorted(by: { $0.key < $1.key }) {
            let begin = session.shown.components(separatedBy: ": begin \(number)\r\n")
            let parts = begin.last?.components(separatedBy: ": end \(number)\r\n") ?? []
            guard begin.count == 2, parts.count == 2 else {
                Issue.record("task \(number) was not typed")
                break
            }
            let checked = parts[1].components(separatedBy: ": checked \(number)\r\n")[0]
            for part in [parts[0], checked] {
                let failed = part.contains(try Regex(#"\[[1-9][0-9]*\] nina\$ "#))
                #expect(!failed, "task \(number): \(part)")
            }
            for text in trial.shows { #expect(parts[0].contains(text), "task \(number): \(parts[0])") }
        }
    }
}
