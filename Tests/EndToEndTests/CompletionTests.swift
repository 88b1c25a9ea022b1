import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// What bash, zsh and fish complete, through a pseudo-terminal.
@Suite struct CompletionTests {
    /// A shell with the completions of `coffer`.
    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        static let prompt = "nina> "

        /// The completions of each, which `coffer` takes a second to write.
        fileprivate static let scripts = Dictionary(
            uniqueKeysWithValues: allCases.map { shell in
                let words = ["--generate-completion-script", shell.rawValue]
                return (shell, (try? runCommand("\(Project.binaries)/coffer", words).text) ?? "")
            }
        )

        /// A command that starts it in a directory that holds its completions in the file `_coffer`.
        fileprivate var start: String {
            switch self {
            case .bash: return "echo \"PS1='\(Self.prompt)'; . ./_coffer\" >rc; bash --rcfile rc -i"
            case .zsh:
                return """
                    echo "PS1='\(Self.prompt)'; fpath=($PWD \\$fpath); autoload -U compinit; compinit -u -D" >.zshrc
                    ZDOTDIR=$PWD zsh -i
                    """
            case .fish:
                // Or a first start reads all pages of the manual for their options, for a minute.
                return """
                    mkdir -p .local/share/fish/generated_completions
                    fish --private --init-command 'function fish_prompt; echo -n "\(Self.prompt)"; end; source _coffer'
                    """
            }
        }
    }

    /// The same numbers in each run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }

    /// Lets the daemon of a busy machine take its time to answer a press.
    private let patience = "--timeout 60"
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        for (name, secret) in [
            ("web/site", "the site"), ("work/mail", "the mail"), ("my bank/pin (old)", "the pin"),
            ("größe", "the size"), ("nina's", "the quote"), ("say \"hi\"", "the quotes"), ("c:\\d", "the slash"),
            ("zip:x", "the colon"), ("ex$(touch executed)`touch executed`", "the command"),
        ] { #expect(try daemon.coffer(["put", name], input: Array(secret.utf8)).status == 0) }
        try daemon.directory.write(Array("in a file".utf8), to: "letter.txt")
    }

    private func type(_ keys: String, in shell: Shell) throws -> String {
        try daemon.directory.write(Array(Shell.scripts[shell, default: ""].utf8), to: "_coffer")
        return try onTerminal(
            daemon,
            "export TERM=xterm LC_ALL=C.UTF-8; stty cols 120; \(shell.start)",
            [(Shell.prompt, .keys(keys + "\n")), (Shell.prompt, .keys("exit\n"))],
            home: daemon.directory.path
        ).shown
    }

    @Test(arguments: Shell.allCases) func `another press behind a finished name adds nothing`(shell: Shell) throws {
        #expect(try type("coffer get \(patience) web/\t\t", in: shell).contains("the site"))
    }

    @Test(arguments: Shell.allCases) func `classes and names in the trash are completed`(shell: Shell) throws {
        #expect(try type("coffer protect \(patience) web/site WhenP\t && echo do''ne", in: shell).contains("done"))
        #expect(try daemon.coffer(["remove", "work/mail"]).status == 0)
        _ = try type("coffer trash restore \(patience) wor\t", in: shell)
        #expect(try daemon.coffer(["get", "work/mail"]).status == 0)
    }

    @Test(
        arguments: Shell.allCases,
        [
            ("get web/\t", "the site"), ("get we\t", "the site"), ("get my\t", "the pin"), ("get gr\t", "the size"),
            ("get wor\t", "the mail"), ("get --group default we\t", "the site"), ("list --group def\t", "work/mail"),
            ("show --js\twe\t", #""size":8"#), ("cat we\t", "the site"), ("ls --group def\t", "work/mail"),
            ("get ni\t", "the quote"), ("get sa\t", "the quotes"), ("get c\t", "the slash"),
            ("get zi\t", "the colon"), ("get ex\t", "the command"), ("get ex\\$\\(to\t", "the command"),
            ("get 'ex\t", "the command"),
        ]
    )
    func `a press of the key completes what there is`(shell: Shell, line: (keys: String, shows: String)) throws {
        let words = line.keys.split(separator: " ", maxSplits: 1)
        let shown = try type("coffer \(words[0]) \(patience) \(words[1])", in: shell)
        #expect(shown.contains(line.shows), "\(shown)")
        #expect(daemon.directory.contents("executed") == nil, "the name of an item was executed")
    }

    @Test func `of many names, the next parts are offered, and what all of them have in common`() throws {
        let client = try daemon.connect()
        for number in 0..<300 { try client.put("site\(number / 100)/account\(number)", [1]) }
        func offered(_ start: String) throws -> [Substring] {
            let words = [
                "---completion", "get", "--", "positional@0", "2", "\(start.utf8.count)", "coffer", "get", start,
            ]
            return try daemon.coffer(words).text.split(separator: "\n")
        }
        #expect(try offered("s").count == 4, "'say \"hi\"', and three folders")
        #expect(try offered("site").sorted() == ["site0/", "site1/", "site2/"])
        #expect(try offered("site1/").count == 100)
        #expect(try offered("site1/account15").count == 10)
    }

    @Test func `names are completed as they are now, whatever was stored, renamed and removed since they were read`()
        throws
    {
        let client = try daemon.connect()
        func offered(_ start: String) throws -> [String] {
            try client.call(ItemListParameters(prefix: start, wantsCompletions: true)).value.names
        }
        #expect(try offered("w") == ["web/site", "work/mail"])
        try client.put("web/second", [1])
        _ = try daemon.coffer(["mv", "work/mail", "mail"])
        _ = try daemon.coffer(["login", "add", "--username", "nina", "shop"], input: Array("secret".utf8))
        _ = try daemon.coffer(["rm", "zip:x"])
        try client.put("large", Array(repeating: 7, count: 50_000))
        for start in ["", "w", "web/", "mail", "shop", "zip", "l", "no such"] {
            let listed = try client.call(ItemListParameters(prefix: start)).value.items.map(\.name)
            #expect(try offered(start) == listed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "\(start)")
        }
        _ = try client.lock(graceSeconds: 0)
        #expect(try offered("w") == ["web/second", "web/site"])
    }

    @Test func `whatever is changed at random, the names that are kept are those that are listed`() throws {
        let client = try daemon.connect()
        var random = Numbers(state: 7)
        let names = (0..<12).map { "d\($0 % 3)/n\($0)" }
        for step in 0..<150 {
            let one = names[Int.random(in: 0..<names.count, using: &random)]
            let other = names[Int.random(in: 0..<names.count, using: &random)]
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: _ = try? client.put(one, Array(repeating: 1, count: Bool.random(using: &random) ? 10 : 5000))
            case 3: _ = try daemon.coffer(["rm", "--force", one])
            case 4: _ = try daemon.coffer(["mv", "--replace", one, other])
            case 5: _ = try daemon.coffer(["file", "move", "d1", "d\(step)"])
            case 6: _ = try daemon.coffer(["keychain", "add", "--label", "l\(step % 5)", "--generate"])
            default: _ = try daemon.coffer(["keychain", "delete", "--class", "key", "--label", "l\(step % 5)"])
            }
            let offered = try client.call(ItemListParameters(wantsCompletions: true)).value.names
            let listed = try client.call(ItemListParameters()).value.items.map(\.name)
            #expect(offered == Set(listed).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "step \(step)")
        }
    }

    @Test func `before the first unlock, names under the passcode are not offered`() throws {
        #expect(try daemon.coffer(["put", "open", "--protection", "none"], input: [1]).status == 0)
        func offered() throws -> [String] {
            try daemon.connect().call(ItemListParameters(wantsCompletions: true)).value.names
        }
        #expect(try offered().contains("web/site"))
        try daemon.restart()
        #expect(try offered() == ["open"])
        _ = try daemon.coffer(["unlock"], passcode: DaemonProcess.passcode)
        #expect(try offered().contains("web/site"))
    }

    @Test func `of too many names, the last one is offered too, and other filters are refused`() throws {
        let client = try daemon.connect()
        for number in 0..<1100 { try client.put("n\(10000 + number)", [1]) }
        let offered = try client.call(ItemListParameters(prefix: "n1", wantsCompletions: true)).value.names
        #expect(offered.count == 1000 && offered.first == "n10000" && offered.last == "n11099")
        #expect(throws: CofferError(.param, "")) {
            _ = try client.call(ItemListParameters(store: .file, wantsCompletions: true))
        }
    }

    @Test(arguments: Shell.allCases)
    func `a file is completed where one is expected`(shell: Shell) throws {
        _ = try type("coffer put new/letter lett\t", in: shell)
        #expect(try daemon.coffer(["get", "new/letter"]).text == "in a file")
    }

    @Test(arguments: Shell.allCases)
    func `nothing is said, and no daemon is started, where none runs`(shell: Shell) throws {
        daemon.stop()
        let shown = try type("echo '[' coffer get we\t']'", in: shell)
        #expect(shown.contains("[ coffer get we"), "\(shown)")
        let asked = try type("coffer get we\t", in: shell)
        #expect(!asked.contains("starting cofferd"), "\(asked)")
        #expect(asked.components(separatedBy: "error:").count == 2, "the verb itself fails once: \(asked)")
    }

    @Test func `a locked vault offers the names, and asks for nothing`() throws {
        _ = try daemon.connect().lock(graceSeconds: 0)
        let shown = try type("coffer get \(patience) we\t", in: .bash)
        #expect(shown.contains("can't read 'web/site': the vault is locked"), "\(shown)")
    }
}
