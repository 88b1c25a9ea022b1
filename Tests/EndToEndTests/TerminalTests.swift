import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a person at a terminal sees: through a real pseudo-terminal.
@Suite struct TerminalTests {
    @Test func `a passcode is asked for twice and never shown`() throws {
        let daemon = try DaemonProcess()
        let made = try onTerminal(
            daemon,
            "coffer init --kdf interactive",
            [("New passcode: ", "pa55 word"), ("Repeat passcode: ", "pa55 word")]
        )
        #expect(made.status == 0)
        #expect(made.shown.contains("made a vault; it is unlocked"))
        #expect(!made.shown.contains("pa55"))
        _ = try daemon.connect().lock(graceSeconds: 0)
        let wrong = try onTerminal(daemon, "coffer unlock", [("Passcode: ", "other")])
        #expect(wrong.status == 77)
        let right = try onTerminal(daemon, "coffer unlock", [("Passcode: ", "pa55 word")])
        #expect(right.status == 0)
        #expect(!right.shown.contains("pa55"))
    }

    @Test(
        arguments: [
            (.keys("\u{3}"), SIGINT), (.keys("\u{1C}"), SIGQUIT), (.signal(SIGTERM), SIGTERM),
            (.signal(SIGHUP), SIGHUP),
        ] as [(Answer, Int32)]
    )
    func `who ends a prompt gets the echo back, and an end by the signal`(answer: Answer, signal: Int32) throws {
        let daemon = try DaemonProcess()
        let ended = try onTerminal(
            daemon,
            // The shell is in the foreground, too, and has to live on.
            "trap : INT QUIT TERM HUP; coffer init; echo ended by $?; \(Self.echo)",
            [("New passcode: ", answer)]
        )
        #expect(ended.shown.contains("ended by \(128 + signal)\r\n"), "\(ended.shown)")
        #expect(ended.shown.contains("echo is on"))
        #expect(try daemon.connect().status().state == .noVault)
    }

    @Test(arguments: [.keys("\u{1A}"), .signal(SIGSTOP)] as [Answer])
    func `a prompt that was stopped asks again, without echo`(answer: Answer) throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: "pa55 word")
        _ = try daemon.connect().lock(graceSeconds: 0)
        let resumed = try onTerminal(
            daemon,
            // Bash has the echo on while it has the terminal.
            "set -m; coffer unlock; \(Self.echo); stty echo; fg",
            [("Passcode: ", answer), ("Passcode: ", "pa55 word")]
        )
        #expect(resumed.status == 0, "\(resumed.shown)")
        if case .keys = answer { #expect(resumed.shown.contains("echo is on")) }
        #expect(!resumed.shown.contains("pa55"))
        #expect(try daemon.connect().status().state == .unlocked)
    }

    /// Says in a shell whether the terminal shows what is typed.
    private static let echo = "stty -a | grep -qw -- -echo && echo 'echo is off' || echo 'echo is on'"

    @Test(arguments: ["\u{4}\u{4}", "half\u{4}\u{4}"])
    func `an end of the input in the middle of a passcode is no passcode`(keys: String) throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        _ = try daemon.connect().lock(graceSeconds: 0)
        let result = try onTerminal(daemon, "coffer unlock", [("Passcode: ", .keys(keys))])
        #expect(result.status == 64)
        #expect(result.shown.contains("nothing was given"))
        #expect(try daemon.connect().status().failedAttempts == 0)
    }

    @Test func `a wrong passcode is told before a new one is asked for, and counts once`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: "pa55 word")
        let wrong = try onTerminal(daemon, "coffer passcode change", [("Passcode: ", "other")])
        #expect(wrong.status == 77 && !wrong.shown.contains("New passcode"), "\(wrong.shown)")
        #expect(try daemon.connect().status().failedAttempts == 1)
        let changed = try onTerminal(
            daemon,
            "coffer passcode change --kdf interactive",
            [("Passcode: ", "pa55 word"), ("New passcode: ", "0ther word"), ("Repeat passcode: ", "0ther word")]
        )
        #expect(changed.status == 0 && changed.shown.contains("changed the passcode"), "\(changed.shown)")
    }

    @Test func `the passphrase of an encrypted key is asked for, and not shown`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let add = "coffer keychain add --class key --label deploy key"
        let made = "ssh-keygen -q -t ed25519 -N 'pa55 phrase' -f key"
        let wrong = try onTerminal(daemon, "\(made) && \(add)", [("Passphrase of the key: ", "other")])
        #expect(wrong.status == 77, "\(wrong.shown)")
        let added = try onTerminal(daemon, add, [("Passphrase of the key: ", "pa55 phrase")])
        #expect(added.status == 0 && !added.shown.contains("pa55"), "\(added.shown)")
        #expect(try daemon.coffer(["list"]).text == "key:deploy\n")
    }

    @Test func `two passcodes that differ make no vault`() throws {
        let daemon = try DaemonProcess()
        let result = try onTerminal(
            daemon,
            "coffer init",
            (0..<3).flatMap { _ in [("New passcode: ", "pass one"), ("Repeat passcode: ", "pass two")] }
        )
        #expect(result.status == 64)
        #expect(try daemon.connect().status().state == .noVault)
    }

    @Test func `a secret is asked for without echo, and text is shown on a line of its own`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let put = try onTerminal(
            daemon,
            "coffer put site/login",
            [("Secret for 'site/login': ", "s3cr3t"), ("Repeat secret for 'site/login': ", "s3cr3t")]
        )
        #expect(put.status == 0)
        #expect(!put.shown.contains("s3cr3t"))
        let get = try onTerminal(daemon, "coffer get site/login")
        #expect(get.shown == "s3cr3t\r\n")
    }

    @Test
    func `a secret that is typed differently the second time is asked for again, and not stored after three times`()
        throws
    {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let put = try onTerminal(
            daemon,
            "coffer put site/login",
            Array(
                repeating: [("Secret for 'site/login': ", "s3cr3t"), ("Repeat secret for 'site/login': ", "s3cret")],
                count: 3
            )
            .flatMap(\.self)
        )
        #expect(put.status == 64)
        #expect(put.shown.contains("Try again: the two secrets differ."))
        #expect(put.shown.contains("error: the two secrets differ"))
        #expect(try daemon.coffer(["get", "site/login"]).status == 66)
    }

    @Test(arguments: [[0x1B, 0x5B, 0x31, 0x6D], [0xFF], [0xC2, 0x9B, 0x41], [0]] as [[UInt8]])
    func `binary content is not written to a terminal`(content: [UInt8]) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("binary", content)
        let result = try onTerminal(daemon, "coffer get binary")
        #expect(result.status == 64)
        #expect(result.shown.contains("use --output FILE"))
        #expect(try daemon.coffer(["get", "binary"]).output == content)
    }

    @Test func `a transfer that lasts shows how far it has come, on a terminal only`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        let slow = "(for i in 1 2 3 4 5 6 7 8; do head -c 5000000 /dev/zero; sleep 0.2; done) | coffer put slow"
        let shown = try onTerminal(daemon, slow)
        #expect(shown.status == 0)
        #expect(shown.shown.contains("MiB/s"))
        let quiet = try runCommand(
            "/bin/bash",
            ["-c", slow],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
        )
        #expect(quiet.errors.isEmpty)
        #expect(try daemon.connect().show(try ItemName("slow")).byteCount == 40_000_000)
    }
}
