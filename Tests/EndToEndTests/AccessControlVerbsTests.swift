import CofferCore
import CofferTestSupport
import Testing

/// Items that require authentication, from a terminal and from a script.
@Suite struct AccessControlVerbsTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass code".utf8), to: "pass")
        try daemon.directory.write(Array("own".utf8), to: "own")
        try daemon.directory.write(Array("wrong".utf8), to: "wrong")
        let made = try run(daemon, "coffer init --kdf interactive --no-recovery-key --passcode-fd 3 3<pass")
        #expect(made.status == 0, "\(made.errors)")
        return daemon
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-o", "pipefail", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func expect(
        _ daemon: DaemonProcess,
        _ line: String,
        status: Int32 = 0,
        _ text: String? = nil,
        errors: String? = nil
    ) throws {
        let result = try run(daemon, line)
        #expect(result.status == status, "\(line): \(result.errors)")
        if let text { #expect(result.text == text, "\(line)") }
        if let errors { #expect(result.errors == errors, "\(line)") }
    }

    private func add(_ daemon: DaemonProcess, _ words: String, _ rest: String = "") throws {
        try expect(daemon, "printf secret | coffer keychain add --account anna --access-control \(words) \(rest)")
    }

    @Test func `without a terminal the passcode comes by a descriptor, or the answer is 77`() throws {
        let daemon = try vault()
        try add(daemon, "devicePasscode")
        try expect(
            daemon,
            "coffer get anna",
            status: 77,
            "",
            errors: """
                error: can't use 'anna': its access control wants the passcode
                hint: 'coffer' asks for it on a terminal, and takes it by --passcode-fd and --application-password-fd

                """
        )
        try expect(daemon, "coffer get anna --passcode-fd 3 3<wrong", status: 77, "")
        try expect(daemon, "coffer get anna --passcode-fd 3 3<pass", "secret")
        try expect(
            daemon,
            "coffer keychain find --account anna --passcode-fd 3 3<pass --output out && cat out",
            "secret"
        )
        try expect(daemon, "coffer protect anna AfterFirstUnlock --passcode-fd 3 3<pass")
        try expect(daemon, "coffer lock --now && coffer get anna --passcode-fd 3 3<pass", "locked\nsecret")
    }

    @Test func `an application password is a part of the key`() throws {
        let daemon = try vault()
        try add(daemon, "devicePasscode,applicationPassword", "--application-password-fd 3 3<own")
        try expect(daemon, "coffer get anna --passcode-fd 3 3<pass", status: 77, "")
        try expect(daemon, "coffer get anna --passcode-fd 3 --application-password-fd 4 3<pass 4<wrong", status: 77, "")
        try expect(daemon, "coffer get anna --passcode-fd 3 --application-password-fd 4 3<pass 4<own", "secret")
        try expect(
            daemon,
            "printf new | coffer keychain update --account anna --secret --application-password-fd 4 4<own",
            "updated 1\n"
        )
        try expect(daemon, "coffer get anna --passcode-fd 3 --application-password-fd 4 3<pass 4<own", "new")
    }

    @Test func `writes can be protected, and the protection taken away by who knows the passcode`() throws {
        let daemon = try vault()
        try add(daemon, "userPresence,protectWrites")
        try expect(daemon, "coffer remove anna", status: 77, "")
        try expect(daemon, "coffer keychain delete --account anna", status: 77, "")
        try expect(daemon, "coffer keychain update --account anna --access-control none", status: 77, "")
        try expect(
            daemon,
            "coffer keychain update --account anna --access-control none --passcode-fd 3 3<pass",
            "updated 1\n"
        )
        try expect(daemon, "coffer get anna && coffer remove anna", "secret")
    }

    @Test func `put, generate and login add take an access control, and edit keeps it`() throws {
        let daemon = try vault()
        for line in [
            "printf one | coffer put a --access-control devicePasscode",
            "coffer generate b --access-control devicePasscode",
            "printf one | coffer login add c --username nina --access-control devicePasscode",
            "printf one | coffer put d && coffer generate d --replace --access-control devicePasscode",
        ] {
            try expect(daemon, line)
        }
        for name in ["a", "b", "c", "d"] {
            try expect(daemon, "coffer get \(name)", status: 77, "")
            try expect(daemon, "coffer get \(name) --passcode-fd 3 3<pass >/dev/null")
        }
        // What replaces the content keeps it.
        try expect(daemon, "printf two | coffer put a")
        try expect(daemon, "coffer generate b --replace --passcode-fd 3 3<pass")
        try expect(daemon, "EDITOR='sh -c \"echo two >\\$0\"' coffer edit c --passcode-fd 3 3<pass")
        for name in ["a", "b", "c"] { try expect(daemon, "coffer get \(name)", status: 77, "") }
        try expect(daemon, "coffer get a --passcode-fd 3 3<pass", "two")
    }

    @Test func `put takes an application password, and authenticates where writes are protected`() throws {
        let daemon = try vault()
        try expect(
            daemon,
            "printf one | coffer put a --access-control applicationPassword,protectWrites --application-password-fd 3 3<own"
        )
        try expect(daemon, "printf two | coffer put a", status: 77, "")
        try expect(daemon, "printf two | coffer put a --application-password-fd 3 3<wrong", status: 77, "")
        try expect(daemon, "printf two | coffer put a --application-password-fd 3 3<own")
        try expect(daemon, "coffer get a --application-password-fd 3 3<own", "two")
    }

    @Test(
        arguments: [
            ("head -c 5000 /dev/zero | coffer put a --access-control userPresence", "a file has no access control"),
            ("head -c 50000 /dev/zero | coffer put a --access-control userPresence", "a file has no access control"),
            ("printf x | coffer put a --readable deposit --access-control userPresence", "a deposit has none"),
            ("mkdir f && coffer put a f --access-control userPresence", "that is a directory"),
            (
                "printf x | coffer put a --field b --access-control userPresence",
                "--field and --access-control can't be combined"
            ),
            ("printf x | coffer put a --access-control nonsense", "is none of its words"),
            ("coffer generate a --access-control nonsense", "is none of its words"),
        ]
    )
    func `an access control is refused where there can be none, and nothing is stored`(
        line: String,
        reason: String
    ) throws {
        let daemon = try vault()
        let result = try run(daemon, line)
        #expect(result.status == 64, "\(line)")
        #expect(result.errors.contains(reason), "\(result.errors)")
        try expect(daemon, "coffer show a", status: 66)
    }

    @Test func `words that are none, or make no sense together, are refused with the reason`() throws {
        let daemon = try vault()
        for (words, reason) in [
            ("nonsense", "'nonsense' is none of its words"), ("or", "'or' joins two constraints"),
            ("userPresence,devicePasscode", "joins only"), ("devicePasscode,privateKeyUsage", "is for private keys"),
        ] {
            let result = try run(daemon, "printf x | coffer keychain add --account b --access-control \(words)")
            #expect(result.status == 64, "\(words)")
            #expect(result.errors.contains(reason), "\(result.errors)")
        }
    }

    @Test func `on a terminal a person is asked for what is missing, without echo`() throws {
        let daemon = try vault()
        let made = try onTerminal(
            daemon,
            "coffer keychain add pass --account anna --access-control devicePasscode,applicationPassword",
            [("New application password: ", "own"), ("Repeat application password: ", "own")]
        )
        #expect(made.status == 0, "\(made.shown)")
        let read = try onTerminal(
            daemon,
            "coffer get anna",
            [("Passcode: ", "pass code"), ("Application password: ", "own")]
        )
        #expect(read.status == 0, "\(read.shown)")
        #expect(read.shown.hasSuffix("pass code\r\n"))
        #expect(!read.shown.contains("own"))
        let differing = try onTerminal(
            daemon,
            "coffer keychain add pass --account b --access-control applicationPassword",
            Array(
                repeating: [("New application password: ", "own"), ("Repeat application password: ", "other")],
                count: 3
            ).flatMap(\.self)
        )
        #expect(differing.status == 64)
        #expect(differing.shown.contains("the two application passwords differ"))
    }

    @Test func `a key signs once the passcode was presented`() throws {
        let daemon = try vault()
        try expect(
            daemon,
            "coffer keychain add --generate ed25519 --label k --access-control devicePasscode,privateKeyUsage >/dev/null",
            ""
        )
        try expect(daemon, "printf m | coffer keychain sign --label k", status: 77, "")
        try expect(daemon, "printf m | coffer keychain sign --label k --passcode-fd 3 3<pass | wc -c", "64\n")
    }
}
