import CofferTestSupport
import Foundation
import Testing

/// What opens a backup, and what says that nothing would.
@Suite struct BackupDoorTests {
    private func run(
        _ daemon: DaemonProcess,
        _ line: String,
        in directory: TemporaryDirectory? = nil
    ) throws
        -> CommandResult
    {
        let directory = directory ?? daemon.directory
        return try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "120", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin",
                "XDG_CONFIG_HOME": directory.appending("config"),
            ],
            directory: directory.path
        )
    }

    private func succeed(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        let result = try run(daemon, line)
        #expect(result.status == 0, "\(line): \(result.text) \(result.errors)")
        return result
    }

    /// A vault with a secret and one snapshot.
    private func machine() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        try daemon.directory.write(Array("four words of it".utf8), to: "phrase")
        let lines = [
            "coffer init --kdf interactive --passcode-fd 3 --recovery-key-file first 3<pass",
            "printf two | coffer put mail/token",
            "coffer backup init repository --kdf interactive --passcode-fd 3 --new-passphrase-fd 4"
                + " --recovery-key-file key 3<pass 4<phrase",
            "coffer backup create",
        ]
        for line in lines { _ = try succeed(daemon, line) }
        return daemon
    }

    private func flip(_ daemon: DaemonProcess, _ name: String, _ place: Int) throws {
        var bytes = try #require(daemon.directory.contents("repository/\(name)"))
        bytes[place] ^= 1
        try daemon.directory.write(bytes, to: "repository/\(name)")
    }

    @Test func `any recovery key of the vault opens a backup, with a warning, and no other one does`() throws {
        let daemon = try machine()
        let own = try succeed(daemon, "coffer backup restore --to own --recovery-key-fd 4 4<key")
        #expect(own.errors == "")
        let first = try succeed(daemon, "coffer backup restore --to plain --recovery-key-fd 4 4<first")
        #expect(first.errors.contains("the recovery key is not the one that the repository was made with"))
        #expect(daemon.directory.contents("plain/mail/token") == Array("two".utf8))

        let other = try DaemonProcess()
        for name in ["pass", "first"] { try other.directory.write(daemon.directory.contents(name) ?? [], to: name) }
        let restore =
            "coffer init --from-backup \(daemon.directory.appending("repository")) --state \(other.statePath)"
            + " --kdf interactive --passcode-fd 3 3<pass --recovery-key-fd 4"
        let stranger = try machine()
        let wrong = try run(other, "\(restore) 4<\(stranger.directory.appending("first"))")
        #expect(wrong.status == 77, "\(wrong.text) \(wrong.errors)")
        let state = try run(other, "coffer status")
        #expect(state.text.contains("'coffer setup' makes one"), "\(state.text)")
        _ = try succeed(other, "\(restore) 4<first")
        #expect(try succeed(other, "coffer get mail/token").text == "two")
        #expect(try succeed(other, "coffer backup create").errors == "")
    }

    @Test func `a damaged configuration is named by check and status, written anew by create, and the restore works`()
        throws
    {
        let daemon = try machine()
        for (name, place) in [("config", 150), ("config.copy", 60), ("config", 235)] {
            try flip(daemon, name, place)
            for verb in ["check", "check --read-data", "status"] {
                let found = try run(daemon, "coffer backup \(verb)")
                #expect(found.status == 65 && found.errors.contains("'\(name)'"), "\(verb): \(found.errors)")
            }
            let restore = "coffer backup restore --to out-\(name)-\(place) --passphrase-fd 4 4<phrase"
            let plain = try succeed(daemon, restore)
            #expect(plain.errors.contains("'\(name)'"))
            #expect(try succeed(daemon, "coffer backup create").errors.contains("'\(name)'"))
            #expect(try succeed(daemon, "coffer backup check --read-data").errors == "")
        }
    }

    @Test func `an exchanged configuration stops create before anything is written`() throws {
        let (daemon, other) = (try machine(), try machine())
        for name in ["config", "config.copy"] {
            try daemon.directory.write(other.directory.contents("repository/\(name)") ?? [], to: "repository/\(name)")
        }
        let before = try FileManager.default.subpathsOfDirectory(atPath: daemon.directory.appending("repository"))
        for verb in ["create", "check", "status"] {
            let refused = try run(daemon, "coffer backup \(verb)")
            #expect(refused.status == 65 && refused.errors.contains("'config'"), "\(verb): \(refused.errors)")
        }
        let after = try FileManager.default.subpathsOfDirectory(atPath: daemon.directory.appending("repository"))
        #expect(before.sorted() == after.sorted())
    }

    @Test func `check and restore compare the newest snapshot with the one that the vault remembers`() throws {
        let daemon = try machine()
        _ = try succeed(daemon, "printf three | coffer put more; coffer backup create")
        _ = try succeed(daemon, "rm repository/snapshots/0000000002-*")
        let check = try run(daemon, "coffer backup check")
        #expect(check.status == 65 && check.errors.contains("snapshot 2 is missing"), "\(check.errors)")
        let plain = try succeed(daemon, "coffer backup restore --to out --passphrase-fd 4 4<phrase")
        #expect(plain.errors.contains("snapshot 2 is missing"))
    }

    @Test func `status says that a backup fails, why, and of when the last snapshot is`() throws {
        let daemon = try machine()
        _ = try succeed(daemon, "mv repository unplugged")
        let create = try run(daemon, "coffer backup create")
        #expect(create.status == 69, "\(create.errors)")
        let status = try succeed(daemon, "coffer status")
        #expect(status.text.contains("failed at "), "\(status.text)")
        #expect(status.text.contains("the last snapshot is of "), "\(status.text)")
        let why = try run(daemon, "coffer backup status")
        #expect(why.status == 69)
        #expect(why.text.contains("last stored ") && why.text.contains("there is no repository"), "\(why.text)")
        _ = try succeed(daemon, "mv unplugged repository; coffer backup create")
        #expect(try !succeed(daemon, "coffer status").text.contains("failed"))
        #expect(try !succeed(daemon, "coffer backup status").text.contains("failed"))
    }

    @Test(
        arguments: [
            ("", 64, "there is no terminal to ask on"), ("--passcode-fd 3 3<<<wrong", 77, "wrong passcode"),
        ] as [(String, Int32, String)]
    )
    func `without the passcode no key of a backup is made, and the vault keeps the repository that it has`(
        given: String,
        status: Int32,
        words: String
    ) throws {
        let daemon = try machine()
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path).sorted()
        }
        let (slots, before) = (try succeed(daemon, "coffer slot list").text, try files())
        let line = "coffer backup init second --new-passphrase-fd 4 --recovery-key-file other 4<phrase"
        let refused = try run(daemon, "\(line) \(given)")
        #expect(refused.status == status && refused.errors.contains(words), "\(refused.text) \(refused.errors)")
        #expect(try succeed(daemon, "coffer slot list").text == slots)
        #expect(try files() == before)
        #expect(try succeed(daemon, "printf three | coffer put more; coffer backup create").errors == "")
        #expect(try succeed(daemon, "coffer backup list").text.split(separator: "\n").count == 2)
    }

    @Test(arguments: ["/proc/coffer", "sftp://127.0.0.1:1/there"])
    func `where no repository can be made, no key is, and the vault goes on with the one that it has`(
        place: String
    ) throws {
        let daemon = try machine()
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path).sorted()
        }
        let (slots, before) = (try succeed(daemon, "coffer slot list").text, try files())
        let line = "coffer backup init \(place) --kdf interactive --passcode-fd 3 --new-passphrase-fd 4"
        let refused = try run(daemon, "\(line) --recovery-key-file other 3<pass 4<phrase")
        #expect(refused.status == 74, "\(refused.text) \(refused.errors)")
        #expect(refused.errors.contains("the repository '\(place)'"), "\(refused.errors)")
        #expect(try succeed(daemon, "coffer slot list").text == slots)
        #expect(try files() == before)
        #expect(try !succeed(daemon, "coffer status").text.contains("no snapshot yet"))
        #expect(try succeed(daemon, "printf three | coffer put more; coffer backup create").errors == "")
    }

    @Test func `each recovery key says what it is for and when it was made`() throws {
        // This moment as the list has it.
        func now() throws -> String {
            let date = try runCommand("/usr/bin/date", ["-u", "+%F %T UTC"])
            return date.text.trimmingCharacters(in: .newlines)
        }
        let start = try now()
        let daemon = try machine()
        let add = "coffer slot add --label 'safe at home' --recovery-key-file safe --passcode-fd 3 3<pass"
        _ = try succeed(daemon, add)
        let list = try succeed(daemon, "TZ=UTC coffer slot list").text
        let end = try now()
        #expect(list.contains(": safe at home\n") && list.contains(": backup in /"), "\(list)")
        #expect(list.contains("/repository\n"))
        let made = list.matches(of: /recovery key, on any machine, made (\S+ \S+ UTC)/).map { String($0.1) }
        #expect(made.count == 3, "\(list)")
        #expect(made.allSatisfy { start <= $0 && $0 <= end }, "\(start), \(end): \(list)")
        _ = try succeed(daemon, "coffer slot remove 4 --passcode-fd 3 3<pass; coffer lock --now")
        #expect(try !succeed(daemon, "coffer slot list").text.contains("safe at home"))
        #expect(try succeed(daemon, "coffer slot list").text.contains(": backup in /"))
    }
}
