import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Backups as a person and a timer make them, and their restoring on another machine.
@Suite struct BackupTests {
    /// Runs a line of a shell in a directory, without a terminal.
    private func run(_ daemon: DaemonProcess, in directory: TemporaryDirectory, _ line: String) throws -> CommandResult
    {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "120", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin",
                "XDG_CONFIG_HOME": directory.appending("config"),
            ],
            directory: directory.path
        )
    }

    /// A machine with a vault in which are a secret, its history, a file and an open database, and a backup.
    private func machine() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        try daemon.directory.write(Array("four words of it".utf8), to: "phrase")
        try daemon.directory.write(Self.pattern(700_000, 1), to: "photo")
        let lines = [
            "coffer init --kdf interactive --passcode-fd 3 --recovery-key-file first 3<pass",
            "printf one | coffer put mail/token", "printf two | coffer put mail/token --note hello --tag card",
            "coffer put photos/one photo",
            "printf here | coffer put here --accessible WhenUnlockedThisDeviceOnly",
            "coffer backup init repository --kdf interactive --passcode-fd 3 --passphrase-fd 4 --recovery-key-file key"
                + " 3<pass 4<phrase",
        ]
        for line in lines {
            let done = try run(daemon, in: daemon.directory, line)
            #expect(done.status == 0, "\(line): \(done.errors)")
        }
        return daemon
    }

    private static func pattern(_ count: Int, _ seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
    }

    private func expectRestored(_ daemon: DaemonProcess, in directory: TemporaryDirectory) throws {
        let token = try run(daemon, in: directory, "coffer get mail/token")
        #expect(token.text == "two", "\(token.errors)")
        let history = try run(daemon, in: directory, "coffer history mail/token --json")
        #expect(history.status == 0 && !history.text.isEmpty, "\(history.text) \(history.errors)")
        let show = try run(daemon, in: directory, "coffer show mail/token")
        #expect(show.text.contains("hello") && show.text.contains("card"))
        let photo = try run(daemon, in: directory, "coffer get photos/one --output out")
        #expect(photo.status == 0, "\(photo.errors)")
        #expect(directory.contents("out") == Self.pattern(700_000, 1))
    }

    @Test(arguments: ["--passphrase-fd 4 4<phrase", "--recovery-key-fd 4 4<key"])
    func `a snapshot that was made while locked makes the vault anew on another machine`(credential: String) throws {
        let daemon = try machine()
        let lock = try run(daemon, in: daemon.directory, "coffer lock --now")
        #expect(lock.status == 0)
        let made = try run(daemon, in: daemon.directory, "coffer backup create")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.text.hasPrefix("stored snapshot 1, "))
        #expect(made.errors.contains("1 item is ThisDeviceOnly") && made.errors.contains("  here"))

        let other = try DaemonProcess()
        try other.directory.write(Array("pass two".utf8), to: "pass")
        for name in ["phrase", "key"] { try other.directory.write(daemon.directory.contents(name) ?? [], to: name) }
        let restored = try run(
            other,
            in: other.directory,
            "coffer init --from-backup \(daemon.directory.appending("repository")) --state \(other.statePath)"
                + " --kdf interactive --passcode-fd 3 \(credential) 3<pass"
        )
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(restored.text.hasPrefix("restored snapshot 1 of "))
        #expect(restored.errors.contains("  here"))
        try expectRestored(other, in: other.directory)
        let here = try run(other, in: other.directory, "coffer get here")
        #expect(here.status != 0)
        let doctor = try run(other, in: other.directory, "coffer doctor")
        #expect(doctor.status == 0, "\(doctor.text) \(doctor.errors)")
        // It knows where it came from, and continues the chain.
        let status = try run(other, in: other.directory, "coffer status")
        #expect(!status.text.contains("no snapshot yet"), "\(status.text)")
        let known = try run(other, in: other.directory, "coffer backup status")
        #expect(known.status == 0 && known.text.contains("snapshots   1\n"), "\(known.text) \(known.errors)")
        let next = try run(other, in: other.directory, "coffer backup create --json")
        #expect(next.status == 0 && next.text.contains("\"snapshot\":2"), "\(next.text) \(next.errors)")
    }

    @Test func `a snapshot is made before the first unlock, and an unchanged one reads the catalog alone`() throws {
        let daemon = try machine()
        let first = try run(daemon, in: daemon.directory, "coffer backup create --json")
        #expect(first.status == 0, "\(first.errors)")
        try daemon.restart()
        #expect(try daemon.connect().status().state == .beforeFirstUnlock)
        let second = try run(daemon, in: daemon.directory, "coffer backup create --json")
        #expect(second.status == 0, "\(second.errors)")
        let json = try #require(try JSONValue(parsing: Array(second.text.utf8).span.bytes).objectValue)
        #expect(json["snapshot"] == .integer(2))
        let read = try #require(json["readBytes"]?.integerValue)
        let all = try #require(json["bytes"]?.integerValue)
        #expect(all - read > 700_000)
    }

    @Test func `an unchanged snapshot reads nothing, until the repository has lost a part of it`() throws {
        let daemon = try machine()
        let line = "coffer backup create --json"
        func create() throws -> JSONObject {
            let made = try run(daemon, in: daemon.directory, line)
            #expect(made.status == 0, "\(made.errors)")
            return try #require(try JSONValue(parsing: Array(made.text.utf8).span.bytes).objectValue)
        }
        let first = try create()
        #expect(first["unchanged"] == .bool(false))
        for number in 2...3 as ClosedRange<Int64> {
            let next = try create()
            #expect(next["snapshot"] == .integer(number) && next["unchanged"] == .bool(true))
            #expect(next["readBytes"] == .integer(0) && next["addedBytes"] == .integer(0))
            #expect(next["bytes"] == first["bytes"] && next["files"] == first["files"])
        }
        let words = try run(daemon, in: daemon.directory, "coffer backup create")
        #expect(words.text.hasPrefix("stored snapshot 4, ") && words.text.hasSuffix(": nothing has changed\n"))
        #expect(words.errors.contains("1 item is ThisDeviceOnly"))
        #expect(try run(daemon, in: daemon.directory, "printf three | coffer put mail/token").status == 0)
        #expect(try create()["unchanged"] == .bool(false))
        #expect(try create()["unchanged"] == .bool(true))
        let lost = "find repository/packs -type f -size +300k -delete"
        #expect(try run(daemon, in: daemon.directory, lost).status == 0)
        let again = try create()
        #expect(again["unchanged"] == .bool(false) && again["readBytes"]?.integerValue ?? 0 > 700_000)
        let phrase = "--passphrase-fd 4 4<phrase"
        let plain = try run(daemon, in: daemon.directory, "coffer backup restore --to plain \(phrase)")
        #expect(plain.status == 0, "\(plain.text) \(plain.errors)")
        #expect(daemon.directory.contents("plain/photos/one") == Self.pattern(700_000, 1))
        #expect(daemon.directory.contents("plain/mail/token") == Array("three".utf8))
    }

    @Test func `status names what would be left behind, before there is a snapshot`() throws {
        let daemon = try machine()
        let none = try run(daemon, in: daemon.directory, "coffer backup status")
        #expect(none.status == 69)
        #expect(none.text.contains("left behind 1 item is ThisDeviceOnly"), "\(none.text) \(none.errors)")
        #expect(none.text.contains("\n  here\n"))
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        let json = try run(daemon, in: daemon.directory, "coffer backup status --json")
        #expect(json.text.contains("\"leftBehind\":1,\"leftBehindNames\":[\"here\"]"), "\(json.text)")
        try daemon.restart()
        let sealed = try run(daemon, in: daemon.directory, "coffer backup status")
        #expect(sealed.text.contains("and 1 whose names can be read after an unlock only"), "\(sealed.text)")
        let apart = try run(daemon, in: daemon.directory, "coffer backup status --socket \(daemon.statePath)/none")
        #expect(apart.status == 0 && apart.text.contains("left behind not known"), "\(apart.text) \(apart.errors)")
    }

    @Test func `items of a snapshot are restored to a directory and into the vault, and nothing is replaced`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        #expect(try run(daemon, in: daemon.directory, "coffer rm photos/one --yes").status == 0)
        #expect(try run(daemon, in: daemon.directory, "printf three | coffer put mail/token").status == 0)
        let phrase = "--passphrase-fd 4 4<phrase"
        let files = try run(daemon, in: daemon.directory, "umask 022; coffer backup restore --to plain \(phrase)")
        #expect(files.status == 0, "\(files.text) \(files.errors)")
        #expect(daemon.directory.contents("plain/mail/token") == Array("two".utf8))
        #expect(daemon.directory.contents("plain/photos/one") == Self.pattern(700_000, 1))
        for (name, mode) in [("plain/photos", 0o700), ("plain/photos/one", 0o600)] {
            let path = daemon.directory.appending(name)
            let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(found == mode)
        }
        let again = try run(daemon, in: daemon.directory, "coffer backup restore --to plain \(phrase)")
        #expect(again.status == 73, "\(again.text) \(again.errors)")

        let dry = try run(daemon, in: daemon.directory, "coffer backup restore --into-vault --dry-run \(phrase)")
        #expect(dry.text.contains("would restore photos/one"), "\(dry.text) \(dry.errors)")
        #expect(try run(daemon, in: daemon.directory, "coffer get photos/one").status != 0)
        let back = try run(daemon, in: daemon.directory, "coffer backup restore --into-vault \(phrase)")
        #expect(back.status == 73, "\(back.text) \(back.errors)")
        #expect(back.text.contains("left mail/token: the vault has another one of that name"))
        // What the daemon of the copy has to say of this machine is not about the restore.
        #expect(!back.errors.contains("logind") && !back.errors.contains("seat"), "\(back.errors)")
        let photo = try run(daemon, in: daemon.directory, "coffer get photos/one --output out")
        #expect(photo.status == 0 && daemon.directory.contents("out") == Self.pattern(700_000, 1))
        #expect(try run(daemon, in: daemon.directory, "coffer get mail/token").text == "three")
        let one = try run(
            daemon,
            in: daemon.directory,
            "coffer backup restore --into-vault --items 'photos/*' --json \(phrase)"
        )
        let said = "{\"restored\":[],\"same\":[\"photos/one\"],\"withoutHistory\":[],\"left\":[]}\n"
        #expect(one.text == said, "\(one.text) \(one.errors)")
    }

    @Test func `former values come back into the vault in their order, also after an interruption`() throws {
        let daemon = try machine()
        func expect(_ line: String, _ text: String? = nil, status: Int32 = 0) throws {
            let done = try run(daemon, in: daemon.directory, line)
            #expect(done.status == status, "\(line): \(done.text) \(done.errors)")
            if let text { #expect(done.text == text, "\(line)") }
        }
        let values = (1...12).map { "value \($0)" }
        for value in values { try expect("printf '\(value)' | coffer put long") }
        try expect("printf none | coffer put single")
        for value in ["a", "b"] {
            let add = "coffer keychain \(value == "a" ? "add --class internet-password" : "update --secret")"
            try expect("printf \(value) | \(add) --server host --account me")
        }
        try expect("coffer backup create >/dev/null")
        let count = try run(daemon, in: daemon.directory, "coffer history long | wc -l").text
        for name in ["long", "single", "mail/token"] { try expect("coffer remove \(name) --now --yes") }
        try expect("coffer keychain delete --server host")
        // As a restore leaves it that was killed: with the first of its values.
        let first = values.count - (Int(count.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0)
        for value in values[(first - 1)...].prefix(3) { try expect("printf '\(value)' | coffer put long") }
        let phrase = "--passphrase-fd 4 4<phrase"
        try expect("coffer backup restore --into-vault --json \(phrase) >out.json")
        let said = String(decoding: daemon.directory.contents("out.json") ?? [], as: UTF8.self)
        #expect(said.contains("\"withoutHistory\":[]"), "\(said)")
        try expect("coffer get mail/token", "two")
        try expect("coffer history mail/token --ago 1", "one")
        try expect("coffer get single", "none")
        try expect("coffer history single", "")
        try expect("coffer get long", "value 12")
        try expect("coffer history long | wc -l", count)
        for ago in 1...3 { try expect("coffer history long --ago \(ago)", "value \(12 - ago)") }
        try expect("coffer keychain find --server host", "b")
        try expect("coffer keychain history --server host | wc -l", "1\n")
        // What has another beginning is another item.
        try expect("coffer remove long --now --yes; printf other | coffer put long")
        try expect("coffer backup restore --into-vault --items long \(phrase) >out.txt", status: 73)
        try expect("coffer get long", "other")
    }

    @Test func `an item with an application password is named, and restored with it`() throws {
        let daemon = try machine()
        try daemon.directory.write(Array("own".utf8), to: "own")
        func expect(_ line: String, status: Int32 = 0) throws -> CommandResult {
            let done = try run(daemon, in: daemon.directory, line)
            #expect(done.status == status, "\(line): \(done.text) \(done.errors)")
            return done
        }
        let own = "--application-password-fd 3 3<own"
        _ = try expect(
            "printf x | coffer keychain add --account anna --access-control applicationPassword \(own)"
        )
        _ = try expect("printf y | coffer keychain update --account anna --secret \(own)")
        _ = try expect("coffer backup create; coffer keychain delete --account anna \(own)")
        let restore = "coffer backup restore --into-vault --passphrase-fd 4 4<phrase"
        let left = try run(daemon, in: daemon.directory, restore)
        #expect(left.status != 0 && left.text.contains("left anna: "), "\(left.text) \(left.errors)")
        #expect(left.text.contains("pass the password by --application-password-fd"))
        let restored = try expect("\(restore) \(own)")
        #expect(restored.text.contains("anna comes without its former value"), "\(restored.text)")
        let found = try expect("coffer keychain find --account anna \(own)")
        #expect(found.text == "y")
    }

    @Test(arguments: [("777", 64), ("775", 64), ("1777", 64), ("700", 0)])
    func `nothing is restored to a directory that others can write`(mode: String, status: Int32) throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        let to = "umask 0; mkdir shared; chmod \(mode) shared; coffer backup restore --to shared"
        for dry in ["--dry-run", ""] {
            let script = "\(to) \(dry) --passphrase-fd 4 4<phrase; s=$?; [ $s = 0 ] || ls shared; exit $s"
            let found = try run(daemon, in: daemon.directory, script)
            #expect(found.status == status, "\(found.text) \(found.errors)")
            if status != 0 {
                #expect(found.text == "")
                #expect(found.errors.contains("mode \(mode.count == 3 ? "0" : "")\(mode))"), "\(found.errors)")
                #expect(found.errors.contains("chmod go-w "), "\(found.errors)")
            }
            #expect(try run(daemon, in: daemon.directory, "rm -r shared").status == 0)
        }
    }

    @Test func `a restore makes its directory where only a sticky one is shared`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        for (mode, status) in [("777", 64), ("1777", 0)] as [(String, Int32)] {
            let script = """
                mkdir -p above; chmod \(mode) above; coffer backup restore --to above/new/deep --passphrase-fd 4 4<phrase
                """
            let found = try run(daemon, in: daemon.directory, script)
            #expect(found.status == status, "\(found.text) \(found.errors)")
            let isMade = FileManager.default.fileExists(atPath: daemon.directory.appending("above/new"))
            #expect(isMade == (status == 0))
        }
    }

    @Test func `a wrong passphrase restores nothing`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        let wrong = try run(daemon, in: daemon.directory, "coffer backup restore --to plain --passphrase-fd 4 4<pass")
        #expect(wrong.status == 77, "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: daemon.directory.appending("plain")))
    }

    @Test func `with --wait a backup waits for another process, and two of them follow each other`() throws {
        let daemon = try machine()
        let waited = try run(
            daemon,
            in: daemon.directory,
            """
            mkdir repository/locks; exec 9>repository/locks/change; flock 9
            coffer backup create 9>&-; [ $? = 69 ] || exit 1
            coffer backup create --wait 9>&- & p=$!
            sleep 3; kill -0 $p || exit 2
            exec 9>&-; wait $p || exit 3
            coffer backup create --wait & p=$!
            coffer backup create --wait && wait $p
            """
        )
        #expect(waited.status == 0, "\(waited.text) \(waited.errors)")
        let listed = try run(daemon, in: daemon.directory, "coffer backup list --json | wc -l")
        #expect(listed.text == "3\n")
    }

    @Test func `kills of the daemon and of the program leave a vault and a repository that go on`() throws {
        let daemon = try machine()
        for round in 0..<6 {
            let pause = "0.0\(round)"
            let line = "coffer backup create --json & p=$!; sleep \(pause); kill -9 $p; wait $p"
            _ = try run(daemon, in: daemon.directory, line)
            if round.isMultiple(of: 2) { try daemon.restart() }
        }
        let made = try run(daemon, in: daemon.directory, "coffer backup create")
        #expect(made.status == 0, "\(made.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: daemon.statePath)
        #expect(files.allSatisfy { !$0.hasPrefix("backup.sqlite") })
        let plain = try run(daemon, in: daemon.directory, "coffer backup restore --to plain --passphrase-fd 4 4<phrase")
        #expect(plain.status == 0, "\(plain.text) \(plain.errors)")
    }

    @Test func `a restore that is killed leaves no daemon, no key and no copy`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        // The directory is made once the snapshot is open, by a daemon that is a child of the program.
        let line = """
            coffer backup restore --to out --passphrase-fd 4 4<phrase & p=$!
            until c=$(pgrep -P $p cofferd); do kill -0 $p || exit 1; done
            copy=$(tr '\\0' '\\n' </proc/$c/cmdline | grep -A1 -x -e --scratch | tail -1)
            [ -d "$copy/state" ] || exit 4
            until [ -e out ]; do kill -0 $p || exit 2; done
            kill -9 $p; wait $p
            for attempt in {1..200}; do
                if ! kill -0 $c 2>/dev/null && ! [ -e "$copy" ]; then exit 0; fi
                sleep 0.1
            done
            kill $c; exit 3
            """
        let killed = try run(daemon, in: daemon.directory, line)
        #expect(killed.status == 0, "\(killed.errors)")
    }

    @Test func `what a kill of the daemon as well has left is removed by the next restore`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        let line = """
            coffer backup restore --to out --passphrase-fd 4 4<phrase & p=$!
            until c=$(pgrep -P $p cofferd); do kill -0 $p || exit 1; done
            copy=$(tr '\\0' '\\n' </proc/$c/cmdline | grep -A1 -x -e --scratch | tail -1)
            until [ -e out ]; do kill -0 $p || exit 2; done
            kill -9 $p $c; wait $p
            [ -d "$copy/state" ] || exit 4
            coffer backup restore --to out2 --passphrase-fd 4 4<phrase || exit 5
            ! [ -e "$copy" ]
            """
        let killed = try run(daemon, in: daemon.directory, line)
        #expect(killed.status == 0, "\(killed.errors)")
    }

    @Test func `an interrupted restore of a vault is continued by the same command`() throws {
        let daemon = try machine()
        #expect(try run(daemon, in: daemon.directory, "coffer backup create").status == 0)
        let other = try DaemonProcess()
        try other.directory.write(Array("pass two".utf8), to: "pass")
        try other.directory.write(daemon.directory.contents("phrase") ?? [], to: "phrase")
        let command =
            "coffer init --from-backup \(daemon.directory.appending("repository")) --state \(other.statePath)"
            + " --kdf interactive --passcode-fd 3 --passphrase-fd 4 3<pass 4<phrase"
        for pause in ["0.05", "0.15", "0.3"] {
            _ = try run(other, in: other.directory, "\(command) & p=$!; sleep \(pause); kill -9 $p; wait $p")
        }
        let restored = try run(other, in: other.directory, command)
        // It may have been complete before.
        #expect(restored.status == 0 || restored.errors.contains("there is a vault already"), "\(restored.errors)")
        try expectRestored(other, in: other.directory)
        let names = try FileManager.default.contentsOfDirectory(atPath: other.statePath)
        #expect(!names.contains("restoring"))
    }
}
