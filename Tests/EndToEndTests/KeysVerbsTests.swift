import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The verbs of the passcode, the keyslots, erasing and watching, as a person and a script use them.
@Suite struct KeysVerbsTests {
    /// A daemon with a vault whose recovery key is in a file.
    private func vault(_ options: String = "") throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        try daemon.directory.write(Array("pass two".utf8), to: "other")
        let made = try run(
            daemon,
            "coffer init --kdf interactive --passcode-fd 3 --recovery-key-file key \(options) 3<pass"
        )
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.text == "made a vault; it is unlocked\n")
        return daemon
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func status(_ daemon: DaemonProcess, _ line: String) throws -> Int32 { try run(daemon, line).status }

    /// Whether a text is a recovery key on a line of its own.
    private func isRecoveryKey(_ text: String) -> Bool {
        text.wholeMatch(of: /([0-9A-HJKMNP-TV-Z]{4}-){8}[0-9A-HJKMNP-TV-Z]{4}\n/) != nil
    }

    // MARK: Init

    @Test func `the recovery key stands alone on standard output`() throws {
        let daemon = try DaemonProcess()
        let made = try daemon.coffer(["init", "--kdf", "interactive"], passcode: "pass one")
        #expect(made.status == 0)
        #expect(isRecoveryKey(made.text))
        #expect(made.errors.hasPrefix("made a vault; it is unlocked\n"))
    }

    @Test func `the recovery key goes to a file of its owner's alone`() throws {
        let daemon = try vault()
        let text = String(decoding: daemon.directory.contents("key") ?? [], as: UTF8.self)
        #expect(isRecoveryKey(text))
        let mode = try FileManager.default.attributesOfItem(atPath: daemon.directory.appending("key"))[
            .posixPermissions
        ]
        #expect(mode as? Int == 0o600)
    }

    @Test(
        arguments: [
            ("--json", 64), ("--recovery-key-file there", 73), ("--recovery-key-file nowhere/key", 74),
            ("--recovery-key-file new --no-recovery-key", 64), ("--no-passcode --erase-data", 64),
        ] as [(String, Int32)]
    )
    func `no vault is created if the recovery key can't be written`(options: String, code: Int32) throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write([1], to: "there")
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        let fd = options.contains("--no-passcode") ? "" : "--passcode-fd 3"
        let made = try run(daemon, "coffer init --kdf interactive \(fd) \(options) 3<pass")
        #expect(made.status == code, "\(made.errors)")
        #expect(made.output.isEmpty)
        #expect(try daemon.connect().status().state == .noVault)
        #expect(daemon.directory.contents("there") == [1])
    }

    @Test func `a recovery key that is declined is not made`() throws {
        let daemon = try DaemonProcess()
        let options = ["--kdf", "interactive", "--no-recovery-key", "--json"]
        let made = try daemon.coffer(["init"] + options, passcode: "pass one")
        #expect(made.status == 0)
        #expect(made.text.contains(#""state":"unlocked""#))
        let slots = try daemon.coffer(["slot", "list", "--json"])
        #expect(slots.text.contains(#""kind":"passcode""#))
        #expect(!slots.text.contains("recoveryKey"))
    }

    // MARK: Recovery key

    @Test func `the recovery key opens what the passcode opens, however it is typed`() throws {
        let daemon = try vault()
        try daemon.connect().put("a", [1, 2])
        for form in ["cat key", "tr A-Z a-z <key", "tr -d - <key", "sed 's/-/ /g' key"] {
            #expect(try status(daemon, "coffer lock --now") == 0)
            #expect(try daemon.coffer(["get", "a"]).status == 75)
            let unlocked = try run(daemon, "coffer unlock --recovery-key-fd 3 3< <(\(form))")
            #expect(unlocked.status == 0, "\(form): \(unlocked.errors)")
            #expect(try daemon.coffer(["get", "a"]).output == [1, 2])
        }
        let slot = try run(daemon, "coffer slot test --recovery-key-fd 3 3<key")
        #expect(slot.text.hasPrefix("it opens slot "))
    }

    @Test func `a mistyped recovery key is distinguished from a wrong one`() throws {
        let daemon = try vault()
        let stranger = try vault()
        #expect(try status(daemon, "coffer lock --now") == 0)
        let mistyped = try run(daemon, "coffer unlock --recovery-key-fd 3 3< <(sed 'y/0123456789/1234567890/' key)")
        let key = String(decoding: daemon.directory.contents("key") ?? [], as: UTF8.self)
        #expect(mistyped.status == (key.contains(where: \.isNumber) ? 64 : 0))
        let short = try run(daemon, "coffer unlock --recovery-key-fd 3 3< <(head -c 20 key)")
        #expect(short.status == 64)
        let wrong = try run(daemon, "coffer unlock --recovery-key-fd 3 3<\(stranger.directory.appending("key"))")
        #expect(wrong.status == 77)
        #expect(try daemon.connect().status().state == .locked)
    }

    // MARK: Passcode

    @Test func `a changed passcode opens, and the old one does not`() throws {
        let daemon = try vault()
        let changed = try run(daemon, "coffer passcode change --passcode-fd 3 --new-passcode-fd 4 3<pass 4<other")
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(changed.text == "changed the passcode\n")
        #expect(try status(daemon, "coffer lock --now") == 0)
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<pass") == 77)
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<other") == 0)
        #expect(try status(daemon, "coffer passcode change --passcode-fd 3 --new-passcode-fd 4 3<pass 4<pass") == 77)
        let byKey = "coffer passcode change --recovery-key-fd 3 --new-passcode-fd 4 3<key 4<pass"
        #expect(try status(daemon, byKey) == 0)
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<pass") == 0)
    }

    @Test func `a passcode is set once, and changed after that`() throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        #expect(try status(daemon, "coffer init --no-passcode --recovery-key-file key") == 0)
        try daemon.connect().put("a", [1])
        let set = "coffer passcode set --kdf interactive --new-passcode-fd 3 3<pass"
        #expect(try status(daemon, set) == 0)
        #expect(try status(daemon, set) == 73)
        #expect(try status(daemon, "coffer lock --now") == 0)
        #expect(try daemon.coffer(["get", "a"]).status == 75)
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<pass") == 0)
        #expect(try daemon.coffer(["get", "a"]).output == [1])
    }

    @Test func `a passcode that is removed takes the items that want one with it, by name`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("bank/pin", [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
        try client.put("stays", [2])
        let refused = try run(daemon, "coffer passcode remove --passcode-fd 3 3<pass")
        #expect(refused.status == 64)
        #expect(refused.errors.contains("there is no terminal to ask on"))
        #expect(try client.status().state == .unlocked)
        let wrong = try run(daemon, "coffer passcode remove --yes --passcode-fd 3 3<other")
        #expect(wrong.status == 77)
        #expect(try daemon.coffer(["get", "bank/pin"]).output == [1])
        let removed = try run(daemon, "coffer passcode remove --yes --passcode-fd 3 3<pass")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(removed.errors.contains("\n  bank/pin\n"))
        #expect(try daemon.coffer(["get", "bank/pin"]).status == 66)
        #expect(try daemon.coffer(["get", "stays"]).output == [2])
        #expect(try client.status().state == .noPasscode)
        #expect(try status(daemon, "coffer lock") == 69)
    }

    @Test func `wrong passcodes are throttled, the error says for how long, and a recovery key is accepted`() throws {
        let daemon = try vault()
        #expect(try status(daemon, "coffer lock --now") == 0)
        for guess in 1...4 { #expect(try daemon.coffer(["unlock"], passcode: "wrong \(guess)").status == 77) }
        let shown = try daemon.coffer(["status"])
        #expect(shown.text.contains("4 wrong passcodes, next attempt in "))
        let early = try run(daemon, "coffer unlock --passcode-fd 3 3<pass")
        #expect(early.status == 77)
        #expect(early.errors.contains("hint: "))
        #expect(try daemon.connect().status().failedAttempts == 4)
        #expect(try #require(try daemon.connect().status().retrySeconds) <= 60)
        #expect(try status(daemon, "coffer unlock --recovery-key-fd 3 3<key") == 0)
    }

    // MARK: Slots

    @Test(arguments: ["add", "remove 3"]) func `a recovery key is not asked for where none is taken`(
        verb: String
    ) throws {
        let daemon = try vault()
        let refused = try onTerminal(daemon, "coffer slot \(verb) --recovery-key")
        #expect(refused.status == 64)
        #expect(refused.shown.contains("keyslots are changed with the passcode"))
        #expect(!refused.shown.contains("not shown"))
        #expect(try status(daemon, "coffer slot \(verb) --recovery-key-fd 3 3<key") == 64)
    }

    @Test func `a slot is added, listed, tested and removed`() throws {
        let daemon = try vault()
        let added = try run(daemon, "coffer slot add --passcode-fd 3 --recovery-key-file second --json 3<pass")
        #expect(added.status == 0, "\(added.errors)")
        let tested = try run(daemon, "coffer slot test --recovery-key-fd 3 --json 3<second")
        #expect(tested.text == added.text)
        let before = try daemon.connect().keyslots()
        #expect(before.map(\.kind).filter { $0 == .recoveryKey }.count == 2)
        let number = try #require(added.text.firstMatch(of: /\d+/)).0
        let removed = try run(daemon, "coffer slot remove \(number) --passcode-fd 3 3<pass")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(removed.output.isEmpty)
        #expect(try status(daemon, "coffer slot test --recovery-key-fd 3 3<second") == 77)
        #expect(try status(daemon, "coffer slot test --recovery-key-fd 3 3<key") == 0)
        #expect(try daemon.connect().keyslots() == before.filter { "\($0.number)" != number })
        #expect(try status(daemon, "coffer slot add --passcode-fd 3 --json 3<pass") == 64)
    }

    @Test func `the slot of the passcode stays`() throws {
        let daemon = try vault()
        let slot = try #require(try daemon.connect().keyslots().first { $0.kind == .passcode })
        let refused = try run(daemon, "coffer slot remove \(slot.number) --passcode-fd 3 3<pass")
        #expect(refused.status != 0)
        #expect(refused.errors.contains("hint: "))
        #expect(try daemon.connect().keyslots().contains(slot))
    }

    // MARK: Another machine

    @Test func `a vault from another machine says so, and the recovery key makes it this one's`() throws {
        let daemon = try vault()
        try daemon.connect().put("a", [7])
        daemon.stop()
        try FileManager.default.removeItem(atPath: daemon.statePath + "/device.key")
        try daemon.restart()
        #expect(try daemon.coffer(["status"]).text.contains("state:     the device key is missing: "))
        let refused = try run(daemon, "coffer unlock --passcode-fd 3 3<pass")
        #expect(refused.status == 69)
        #expect(refused.errors.contains("coffer passcode change --recovery-key"))
        let moved = try run(
            daemon,
            "coffer passcode change --recovery-key-fd 3 --new-passcode-fd 4 3<key 4<other"
        )
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(moved.text == "changed the passcode; the vault is this machine's now\n")
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<other") == 0)
        #expect(try daemon.coffer(["get", "a"]).output == [7])
    }

    @Test func `where no recovery key is, none is promised for a device key that is missing`() throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass one".utf8), to: "pass")
        let made = "coffer init --kdf interactive --no-recovery-key --passcode-fd 3 3<pass"
        #expect(try status(daemon, made) == 0)
        daemon.stop()
        try FileManager.default.removeItem(atPath: daemon.statePath + "/device.key")
        try daemon.restart()
        let shown = try daemon.coffer(["status"])
        #expect(shown.status == 0)
        #expect(shown.text.contains("the credential 'device-key' of the service manager"))
        #expect(!shown.text.contains("--recovery-key"))
        let unlock = try run(daemon, "coffer unlock --passcode-fd 3 3<pass")
        #expect(unlock.status == 69)
        #expect(unlock.errors.contains("the credential 'device-key' of the service manager"))
        #expect(!unlock.errors.contains("--recovery-key"))
        let change = try onTerminal(daemon, "coffer passcode change --recovery-key")
        #expect(change.status == 69)
        #expect(!change.shown.contains("not shown"), "there is no prompt for a key that never existed")
    }

    // MARK: Erase

    @Test(arguments: ["keybag", "vault.sqlite"]) func `what is damaged can be erased`(file: String) throws {
        let daemon = try vault()
        daemon.stop()
        try Data(repeating: 7, count: 5000).write(to: URL(filePath: "\(daemon.statePath)/\(file)"))
        try daemon.restart()
        #expect(try daemon.coffer(["status"]).status == 65)
        let declined = try onTerminal(daemon, "coffer erase", [("go on: ", "no")])
        #expect(declined.status == 64)
        #expect(declined.shown.contains("the vault can't be read: "))
        #expect(try daemon.coffer(["status"]).status == 65)
        let erased = try onTerminal(daemon, "coffer erase", [("go on: ", "erase")])
        #expect(erased.status == 0)
        #expect(try daemon.connect().status().state == .noVault)
    }

    @Test func `a vault is erased on request, and nothing opens it again`() throws {
        let daemon = try vault()
        try daemon.connect().put("a", [1])
        #expect(try status(daemon, "coffer erase") == 64)
        let declined = try onTerminal(daemon, "coffer erase", [("go on: ", "yes")])
        #expect(declined.status == 64)
        #expect(declined.shown.contains("erasing destroys 1 item in the keychain and 0 files"))
        #expect(try daemon.coffer(["get", "a"]).output == [1])
        let erased = try onTerminal(daemon, "coffer erase", [("go on: ", "erase")])
        #expect(erased.status == 0)
        #expect(try daemon.connect().status().state == .noVault)
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3<pass") == 69)
        #expect(try status(daemon, "coffer unlock --recovery-key-fd 3 3<key") == 69)
        #expect(try status(daemon, "coffer init --kdf interactive --passcode-fd 3 3<other") == 0)
        #expect(try daemon.coffer(["list"]).output.isEmpty)
        #expect(try daemon.connect().keyslots().count == 2)
    }

    // MARK: Watch

    @Test func `a watch tells the state, then each event, and ends with the daemon`() throws {
        let daemon = try vault()
        let script = """
            : >events; coffer watch OPTIONS >>events 2>errors & watch=$!
            lines() { while [[ $(wc -l <events) -lt $1 ]] && kill -0 $watch; do sleep 0.02; done; }
            lines 1; coffer put a/b <pass; lines 2; coffer move a/b c; lines 3
            echo wrong | coffer unlock --passcode-fd 0; lines 4
            coffer lock --now; lines 6; coffer unlock --passcode-fd 3 3<pass; lines 7
            if [[ -n "LAST" ]]; then kill \(daemon.processID); else kill $watch; fi
            wait $watch
            """
        func events(_ options: String, last: String) throws -> String {
            let result = try run(
                daemon,
                script.replacing("OPTIONS", with: options).replacing("LAST", with: last)
            )
            #expect(result.status == (last.isEmpty ? 143 : 69))
            return String(decoding: daemon.directory.contents("events") ?? [], as: UTF8.self)
        }
        let plain = try events("--items --attempts", last: "")
        #expect(
            plain == """
                unlocked
                added keychain 'a/b'
                renamed keychain 'c' from 'a/b'
                1 wrong passcode since the last right one
                locking
                locked
                unlocked

                """
        )
        try daemon.connect().remove(try ItemName("c"))
        let json = try events("--items --attempts --json", last: "yes")
        let withoutReferences = json.replacing(/"reference":"[0-9a-f]{32}"/, with: #""reference":"…""#)
        #expect(
            withoutReferences == """
                {"state":"unlocked"}
                {"event":"itemsDidChange","changes":[{"change":"added","store":"keychain","group":"default",\
                "name":"a/b","class":"genericPassword","reference":"…"}]}
                {"event":"itemsDidChange","changes":[{"change":"renamed","store":"keychain","group":"default",\
                "name":"c","formerName":"a/b","class":"genericPassword","reference":"…"}]}
                {"event":"attemptDidFail","failedAttempts":1,"attemptsEnded":false}
                {"event":"protectedDataWillBecomeUnavailable"}
                {"event":"protectedDataDidBecomeUnavailable"}
                {"event":"protectedDataDidBecomeAvailable"}

                """
        )
    }

    // MARK: At a terminal

    @Test func `an item that is damaged does not keep the passcode`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for name in ["bank/pin", "bank/tan"] {
            try client.put(name, [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
        }
        daemon.stop()
        do {
            let catalog = try Connection(path: daemon.statePath + "/vault.sqlite")
            try catalog.execute(
                "UPDATE keychain_items SET metadata = zeroblob(200) WHERE id = (SELECT max(id) FROM keychain_items)"
            )
        }
        try daemon.restart()
        let sealed = try onTerminal(daemon, "coffer passcode remove", [("go on: ", "no")])
        #expect(sealed.shown.contains("items:\r\n  and 2 that 'coffer list' names after 'coffer unlock' only\r\n"))
        try daemon.connect().unlock("pass one")
        let removed = try onTerminal(
            daemon,
            "coffer passcode remove",
            [("go on: ", "yes"), ("Passcode: ", "pass one")]
        )
        #expect(removed.status == 0, "\(removed.shown)")
        #expect(removed.shown.contains("  bank/pin\r\n  and 1 that is damaged\r\n"))
        #expect(removed.shown.contains("removed the passcode, and 2 items with it"))
        #expect(try daemon.connect().status().state == .noPasscode)
    }

    @Test func `a change of the passcode asks for the old one, and twice for the new one, and shows none`() throws {
        let daemon = try vault()
        let answers: [(String, Answer)] = [
            ("Passcode: ", "pass one"), ("New passcode: ", "pass three"), ("Repeat passcode: ", "pass three"),
        ]
        let changed = try onTerminal(daemon, "coffer passcode change", answers)
        #expect(changed.status == 0)
        #expect(!changed.shown.contains("pass "))
        #expect(try status(daemon, "coffer unlock --passcode-fd 3 3< <(echo pass three)") == 0)
    }

    @Test func `a recovery key is asked for without echo`() throws {
        let daemon = try vault()
        let key = String(decoding: daemon.directory.contents("key") ?? [], as: UTF8.self).split(separator: "\n")[0]
        let opened = try onTerminal(daemon, "coffer slot test", [("Recovery key (not shown): ", .line(String(key)))])
        #expect(opened.status == 0)
        #expect(!opened.shown.contains(key))
    }

    @Test func `removing the passcode names what is lost, and wants a yes`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("bank/pin", [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
        let declined = try onTerminal(daemon, "coffer passcode remove", [("go on: ", "no")])
        #expect(declined.status == 64)
        #expect(declined.shown.contains("  bank/pin\r\n"))
        #expect(try client.status().state == .unlocked)
        let removed = try onTerminal(
            daemon,
            "coffer passcode remove",
            [("go on: ", "yes"), ("Passcode: ", "pass one")]
        )
        #expect(removed.status == 0)
        #expect(try client.status().state == .noPasscode)
    }
}
