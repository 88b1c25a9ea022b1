import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// `coffer setup`: four questions, and the vault that they make.
@Suite struct SetupTests {
    private let daemon: DaemonProcess
    private let home: TemporaryDirectory
    private static let passcode =
        [
            ("New passcode: ", "four words of mine"), ("Repeat passcode: ", "four words of mine"),
        ] as [(String, Answer)]

    init() throws {
        daemon = try DaemonProcess()
        home = try TemporaryDirectory()
    }

    /// Runs it on a terminal.
    ///
    /// - Parameter reads: The answer to whether programs may read documents while the vault is locked.
    private func setUp(
        _ options: String = "",
        _ answers: [(String, Answer)],
        reads: String = ""
    ) throws -> (shown: String, status: Int32) {
        let last: [(String, Answer)] = answers.isEmpty ? [] : [("while it is locked? [y/N] ", .line(reads))]
        return try onTerminal(daemon, "coffer setup --kdf interactive \(options)", answers + last, home: home.path)
    }

    private func configure(_ text: String) throws {
        let folder = home.appending(".config/coffer")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try home.write(Array(text.utf8), to: ".config/coffer/cofferd.conf")
    }

    private var configuration: String? {
        home.contents(".config/coffer/cofferd.conf").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `it makes a vault, says when it locks, and shows a recovery key that opens it`() throws {
        let made = try setUp("--login", Self.passcode + [("15; 0 for never] ", "x"), ("15; 0 for never] ", "20")])
        #expect(made.status == 0, "\(made.shown)")
        #expect(!made.shown.contains("four words of mine"))
        #expect(made.shown.contains("A number from 0 to"))
        #expect(configuration == "[Service]\nLockAfter=1200\n")
        #expect(made.shown.contains("This counts from the next start of cofferd."))
        #expect(home.contents(".config/coffer/login-vault") != nil)
        let key = try #require(made.shown.firstMatch(of: /[0-9A-Z]{4}(-[0-9A-Z]{4}){8}/)).0
        #expect(made.shown.contains("█") || made.shown.contains("▄"), "the QR code of \(made.shown)")
        let opened = try daemon.coffer(["slot", "test", "--recovery-key-fd", "0"], input: Array(key.utf8))
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(try daemon.connect().status().state == .unlocked)
        let asked = (1...9).filter { made.shown.contains("\($0). ") }
        #expect(asked == [1, 2, 3, 4], "\(made.shown)")
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        #expect(readme.contains(" a vault of your own: four questions, and a recovery key to print\n"))
    }

    @Test func `an empty answer is the usual time, and the login is left alone where no module is installed`() throws {
        let made = try setUp("", Self.passcode + [("15; 0 for never] ", "")])
        #expect(made.status == 0, "\(made.shown)")
        #expect(configuration == "[Service]\nLockAfter=900\n")
        #expect(made.shown.contains("libpam-coffer is not installed"))
        #expect(home.contents(".config/coffer/login-vault") == nil)
    }

    @Test func `a passcode that is weak, or that the repetition differs from, is asked for again`() throws {
        let answers: [(String, Answer)] = [
            ("New passcode: ", "abc"), ("New passcode: ", "four words of mine"), ("Repeat passcode: ", "four words"),
        ]
        let made = try setUp("--no-login --lock-after 0", answers + Self.passcode)
        #expect(made.status == 0, "\(made.shown)")
        #expect(made.shown.contains("Try again: the passcode is too weak"), "\(made.shown)")
        #expect(made.shown.contains("Try again: the two passcodes differ"), "\(made.shown)")
        let refused = try setUp("", [])
        #expect(refused.status == 73, "a vault is there")
    }

    @Test(arguments: [("", ProtectionClass.complete), ("y", .completeUntilFirstUserAuthentication)])
    func `new files are closed with the vault unless the person says otherwise`(
        answer: String,
        expected: ProtectionClass
    ) throws {
        #expect(try setUp("--no-login --lock-after 0", Self.passcode, reads: answer).status == 0)
        let client = try daemon.connect()
        #expect(try client.status().defaultClass == (answer.isEmpty ? .complete : nil))
        let words = try daemon.coffer(["status"]).text
        #expect(words.contains("new files") == answer.isEmpty, "\(words)")
        let letter = [UInt8](repeating: 7, count: 5000)
        #expect(try daemon.put(["letter"], input: letter).text.contains("file store as \(expected.rawValue) "))
        #expect(try daemon.coffer(["file", "create", "made"], input: letter).status == 0)
        #expect(try client.fileInfo(try ItemName("made")).protectionClass == expected)
        #expect(try daemon.put(["page", "--kind", "cache"], input: letter).text.contains("file store as none "))
        #expect(try daemon.put(["other", "--group", "g"], input: letter).text.contains("completeUntilFirst"))
    }

    @Test func `what a person has configured stays, and is asked for no more`() throws {
        let own = "[Service]\nGrace=3\nLockAfter=60"
        try configure(own)
        let refused = try setUp("--lock-after 5", [])
        #expect(refused.status == 73 && refused.shown.contains("leave out --lock-after"), "\(refused.shown)")
        let made = try setUp("--no-login", Self.passcode)
        #expect(made.status == 0, "\(made.shown)")
        #expect(configuration == own)
    }

    @Test func `a setting is added to those that are there`() throws {
        try configure("[Service]\nGrace=3")
        #expect(try setUp("--no-login --lock-after 0", Self.passcode).status == 0)
        #expect(configuration == "[Service]\nGrace=3\n[Service]\nLockAfter=0\n")
        let path = home.appending(".config/coffer/cofferd.conf")
        let checked = try runCommand(
            "\(Project.binaries)/cofferd",
            ["--config", path, "--check"],
            environment: ["HOME": home.path]
        )
        #expect(checked.status == 0, "\(checked.errors)")
    }

    @Test func `there is nothing to set up where a vault is, and nobody to ask without a terminal`() throws {
        let alone = try daemon.coffer(["setup"])
        #expect(alone.status == 64 && alone.errors.contains("'coffer init' makes a vault without questions"))
        try daemon.connect().makeVault()
        let again = try setUp("", [])
        #expect(again.status == 73 && again.shown.contains("there is a vault already"), "\(again.shown)")
    }

    @Test func `only root makes the machine's vault, at its own socket`() throws {
        let refused = try daemon.coffer(["init", "--machine", "--socket", "elsewhere"])
        #expect(refused.status == 64)
        for option in ["--passcode-fd=0", "--erase-data"] {
            #expect(try daemon.coffer(["init", "--machine", option]).status == 64)
        }
    }
}
