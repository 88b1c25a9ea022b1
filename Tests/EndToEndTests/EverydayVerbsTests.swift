import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// The habits of people who come from other programs: short names, patterns, questions, notes.
@Suite struct EverydayVerbsTests {
    private static func vault(_ names: String...) throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        for name in names { try client.put(name, [1]) }
        return daemon
    }

    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-o", "pipefail", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    // MARK: Names of verbs

    @Test func `a verb has the names that it has elsewhere`() throws {
        let daemon = try Self.vault("a")
        #expect(try daemon.coffer(["ls"]).text == "a\n")
        #expect(try daemon.coffer(["cat", "a"]).output == [1])
        #expect(try daemon.coffer(["mv", "a", "b"]).status == 0)
        #expect(try daemon.coffer(["insert", "c"], input: [2]).status == 0)
        #expect(try daemon.coffer(["find", "c"]).text == "c\n")
        #expect(try daemon.coffer(["rm", "b", "c"]).status == 0)
        #expect(try daemon.coffer(["ls"]).text.isEmpty)
    }

    @Test(arguments: [
        ("delete", "coffer remove"), ("lookup", "coffer get"), ("tree", "coffer list --tree"), ("shwo", "coffer show"),
    ])
    func `an unknown verb is answered with what it is called here`(word: String, here: String) throws {
        let daemon = try Self.vault()
        let refused = try daemon.coffer([word, "x"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("'\(here)'"), "\(refused.errors)")
    }

    @Test func `an error is JSON where the result would be`() throws {
        let daemon = try Self.vault()
        for (arguments, status, code) in [
            (["show", "x", "--json"], 66, "itemNotFound"), (["list", "--bad", "--json"], 64, "param"),
        ] {
            let refused = try daemon.coffer(arguments)
            #expect(refused.status == Int32(status))
            #expect(refused.text.isEmpty)
            let data = Data(refused.errors.utf8)
            let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
            let error = try #require(object["error"])
            #expect(error["code"] as? String == code)
            #expect(error["retry"] as? String == "never")
            #expect((error["message"] as? String)?.isEmpty == false && error["hint"] is String)
        }
        // A name may look like an option.
        #expect(try daemon.coffer(["show", "--", "--json"]).errors.hasPrefix("error: "))
    }

    // MARK: Removing

    @Test func `remove takes patterns and whole paths, and names what does not exist`() throws {
        let daemon = try Self.vault("a/b", "a/c/d", "ab", "x")
        for selection in [["a/*"], ["--recursive", "a"], ["x", "**"]] {
            let refused = try daemon.coffer(["remove"] + selection)
            #expect(refused.status == 64 && refused.errors.contains("--yes"), "without a terminal: \(refused.errors)")
        }
        #expect(try daemon.coffer(["list"]).text == "a/b\na/c/d\nab\nx\n")
        #expect(try daemon.coffer(["remove", "--yes", "a/*"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "a/c/d\nab\nx\n")
        #expect(try daemon.coffer(["remove", "--recursive", "--yes", "a"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "ab\nx\n")
        #expect(try daemon.coffer(["remove", "nothing*", "x"]).status == 66)
        #expect(try daemon.coffer(["remove", "--force", "nothing", "nothing*"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "ab\n")
    }

    @Test func `remove removes an item whose name could be a pattern, and none that fits it`() throws {
        let daemon = try Self.vault("a*", "ab", "a?c", "abc")
        #expect(try daemon.coffer(["remove", "a*", "a?c"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "ab\nabc\n")
    }

    @Test func `the line break of echo is asked about where a person types the command, and kept in a script`() throws {
        let daemon = try Self.vault()
        // With job control, bash gives each command a process group, as it does at a prompt.
        for (name, answer, content) in [("no", "n", "token"), ("yes", "y", "token\n"), ("default", "", "token")] {
            let command = "set -m; echo token | coffer put \(name)"
            let shown = try onTerminal(daemon, command, [("Keep it? [y/N] ", .line(answer))]).shown
            #expect(try daemon.coffer(["get", name]).text == content, "\(shown)")
        }
        for (name, command) in [
            ("script", "echo token | coffer put script"), ("two", "set -m; seq 2 | coffer put two"),
        ] {
            let shown = try onTerminal(daemon, command).shown
            #expect(!shown.contains("Keep it?"), "\(shown)")
            #expect(try daemon.coffer(["get", name]).text.hasSuffix("\n"))
        }
    }

    @Test func `remove asks on a terminal before it removes a selection`() throws {
        let daemon = try Self.vault("a/b", "a/c")
        let refused = try onTerminal(daemon, "coffer rm 'a/*'", [("type 'yes' to go on: ", "no")])
        #expect(refused.status == 64)
        #expect(try daemon.coffer(["list"]).text == "a/b\na/c\n")
        let agreed = try onTerminal(daemon, "coffer rm 'a/*'", [("type 'yes' to go on: ", "yes")])
        #expect(agreed.status == 0)
        #expect(try daemon.coffer(["list"]).text.isEmpty)
    }

    // MARK: Storing

    @Test func `put notes an expiry, a comment and tags with the secret`() throws {
        let daemon = try Self.vault()
        let put = "echo token | coffer put t --trim --expires 1y --note 'for builds' --tag ci --tag web"
        #expect(try run(daemon, put).status == 0)
        #expect(try daemon.coffer(["get", "t"]).text == "token")
        let shown = try daemon.coffer(["show", "t"]).text
        #expect(shown.contains("comment:        for builds\n") && shown.contains("tags:           ci web\n"))
        #expect(shown.contains("expires:        "))
        #expect(try daemon.coffer(["list", "--expiring", "2y"]).text == "t\n")
        #expect(try daemon.coffer(["search", "web"]).text == "t\n")
        // Another value keeps them.
        #expect(try daemon.coffer(["put", "t"], input: [1]).status == 0)
        #expect(try daemon.coffer(["show", "t"]).text.contains("for builds"))
        let file = try daemon.coffer(["put", "f", "--kind", "document", "--note", "x"], input: [1])
        #expect(file.status == 0)
        #expect(try daemon.coffer(["show", "f"]).text.contains("comment:        x\n"))
        #expect(try daemon.coffer(["list"]).text == "f\nt\n")
        #expect(try daemon.coffer(["put", "t", "--tag", "two words"], input: [1]).status == 64)
    }

    @Test func `list --tag shows the items of both stores that have every tag`() throws {
        let daemon = try Self.vault("plain")
        let puts = [
            "echo 1 | coffer put a/token --trim --tag ci --tag Web", "echo 2 | coffer put b --trim --tag web",
            "head -c 50000 /dev/zero | coffer put c/file --tag ci", "echo 3 | coffer put d --trim --note ci",
        ]
        for put in puts { #expect(try run(daemon, put).status == 0, "\(put)") }
        func tagged(_ words: String...) throws -> String { try daemon.coffer(["ls"] + words).text }
        #expect(try tagged("--tag", "ci") == "a/token\nc/file\n")
        #expect(try tagged("--tag", "web") == "a/token\nb\n", "a word without capitals finds all")
        #expect(try tagged("--tag", "Web") == "a/token\n")
        #expect(try tagged("--tag", "Web", "--ignore-case") == "a/token\nb\n")
        #expect(try tagged("--tag", "ci", "--tag", "web") == "a/token\n")
        #expect(try tagged("c/", "--tag", "ci") == "c/file\n")
        #expect(try tagged("--tag", "c") == "", "a word is a whole one")
        #expect(try tagged("--store", "file", "--tag", "ci") == "c/file\n")
        #expect(try daemon.coffer(["list", "--tag", "two words"]).status == 64)
    }

    @Test func `put --if-absent replaces nothing, in either store`() throws {
        let daemon = try Self.vault("a")
        try daemon.connect().put("f", pseudoRandomBytes(5000))
        for name in ["a", "f"] {
            #expect(try daemon.coffer(["put", name, "--if-absent"], input: [9]).status == 73)
        }
        #expect(try daemon.coffer(["get", "a"]).output == [1])
        #expect(try daemon.coffer(["put", "new", "--if-absent"], input: [9]).status == 0)
    }

    @Test(arguments: [
        ("x\n", "x"), ("x\r\n", "x"), ("x\n\n", "x\n"), ("x", "x"), ("\n", ""),
    ])
    func `--trim leaves out one line break at the end`(text: String, stored: String) throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["put", "a", "--trim", "--allow-empty"], input: Array(text.utf8)).status == 0)
        #expect(try daemon.coffer(["get", "a"]).text == stored)
    }

    @Test func `--trim refuses what is too long to be read whole, and stores nothing of it`() throws {
        let daemon = try Self.vault()
        var text = Array(String(repeating: "x", count: 40_000).utf8)
        // Where the part ends by which the daemon decides.
        text[Limits.secretBytes] = 10
        let refused = try daemon.coffer(["put", "a", "--trim"], input: text)
        #expect(refused.status == 64)
        #expect(try daemon.coffer(["list"]).text.isEmpty)
        #expect(try daemon.coffer(["put", "a"], input: text).status == 0)
        #expect(try daemon.coffer(["get", "a"]).output == text)
    }

    @Test func `put --field takes no option about the whole secret`() throws {
        let daemon = try Self.vault("a")
        for option in [["--note", "x"], ["--expires", "1y"], ["--tag", "x"], ["--if-absent"], ["--explain"]] {
            #expect(try daemon.coffer(["put", "a", "--field", "f"] + option, input: [1]).status == 64)
        }
    }

    @Test func `standard input is -, and a large file is stored as a pipe is`() throws {
        let daemon = try Self.vault()
        let variables = String(repeating: "KEY_OF=some value or other\n", count: 80)
        for (index, text) in [variables, variables + variables + variables, String(repeating: "prose ", count: 400)]
            .enumerated()
        {
            try daemon.directory.write(Array(text.utf8), to: "content")
            let script = "coffer put f content >&2; coffer put p <content; coffer put d - <content"
            let words = try run(daemon, script).text.split(separator: "\n").map { $0.dropFirst("stored 'f' ".count) }
            #expect(Set(words).count == 1, "\(index): \(words)")
            #expect(try daemon.coffer(["get", "f", "--output", "-"]).text == text)
        }
    }

    @Test func `a recognised secret is not readable while locked unless somebody asks`() throws {
        let daemon = try Self.vault()
        let secrets = [
            "prod.env": String(repeating: "DATABASE_URL=postgres://user:pass@host/db\n", count: 200),
            "sa.json": "{\"type\": \"service_account\", \"private_key\": \"\(String(repeating: "k", count: 9000))\"}",
            "kubeconfig": "apiVersion: v1\nusers:\n- name: a\n  user:\n    client-key-data: "
                + String(repeating: "k", count: 9000) + "\n",
            "cookies.txt": "# Netscape HTTP Cookie File\n"
                + String(repeating: "a\tTRUE\t/\tTRUE\t0\tb\tc\n", count: 300),
        ]
        for (name, text) in secrets {
            try daemon.directory.write(Array(text.utf8), to: name)
            let put = try run(daemon, "coffer put \(name) \(name)")
            #expect(put.text == "stored '\(name)' as a file; it can be read while unlocked\n")
            #expect(try daemon.coffer(["show", name]).text.contains("readable:       while unlocked\n"))
        }
        let asked = try run(daemon, "coffer put asked prod.env --protection completeUntilFirstUserAuthentication")
        #expect(asked.text == "stored 'asked' as a file; it stays readable while locked\n")
        try daemon.directory.write(Array(String(repeating: "prose ", count: 2000).utf8), to: "letter")
        let letter = try run(daemon, "coffer put letter letter")
        #expect(letter.text.contains("it stays readable while locked (--readable unlocked changes that)"))
    }

    @Test func `a put that changes the protection of what is there says so, and one that keeps it does not`() throws {
        let daemon = try Self.vault()
        func put(_ options: String...) throws -> String {
            let answer = try daemon.coffer(["put", "changing"] + options, input: [1])
            #expect(answer.status == 0, "\(answer.errors)")
            return answer.errors
        }
        #expect(try put("--accessible", "WhenUnlocked") == "")
        #expect(try put() == "")
        let changed = try put("--accessible", "AfterFirstUnlock")
        #expect(
            changed
                == "warning: until now it could be read while unlocked; from now on it can be read after first unlock\n"
        )
        #expect(try put("--store", "file") == "")
        let back = try put("--protection", "complete")
        #expect(
            back.contains(
                "warning: until now it could be read after first unlock; from now on it can be read while unlocked\n"
            )
        )
    }

    @Test func `a tree of all groups has the groups at its top`() throws {
        let daemon = try Self.vault("a/b", "a/c")
        let tree = try daemon.coffer(["list", "--tree", "--all-groups"])
        #expect(tree.text == "default\n└── a\n    ├── b\n    └── c\n", "\(tree.errors)")
    }

    // MARK: Dates

    @Test func `dates are read in the zone in which they are shown`() throws {
        let daemon = try Self.vault()
        for (given, shown) in [
            ("2031-01-31", "2031-01-31 23:59:59 EST"), ("2031-07-01T12:30:00", "2031-07-01 12:30:00 EDT"),
            ("2031-01-31T12:00:00Z", "2031-01-31 07:00:00 EST"),
        ] {
            let script =
                "export TZ=America/New_York; echo x | coffer put t --expires \(given) >/dev/null; coffer show t"
            #expect(try run(daemon, script).text.contains("expires:        \(shown)\n"))
        }
        for given in ["2031-02-30", "yesterday", "1", "2031-01-31T25:00:00", "y"] {
            #expect(try run(daemon, "echo x | coffer put t --expires \(given)").status == 64)
        }
        for given in ["tomorrow", "today", "1y", "4w"] {
            #expect(try run(daemon, "echo x | coffer put t --expires \(given)").status == 0)
        }
    }
}
