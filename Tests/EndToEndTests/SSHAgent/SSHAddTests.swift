import CofferTestSupport
import Foundation
import Testing

/// `ssh-add`, which adds and removes keys, limits their use, and locks the agent.
@Suite struct SSHAddTests {
    private let agent: AgentProcess

    init() throws {
        agent = try AgentProcess()
        try agent.succeed("ssh-keygen -q -t ed25519 -N '' -C kept -f kept; coffer ssh-agent import kept")
    }

    private func comments() throws -> [String] {
        try agent.run("ssh-add -L").text.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    private var sign: String { "ssh-keygen -q -Y sign -n file -f key.pub key.pub 2>/dev/null" }

    @Test(arguments: AgentKeyKind.allCases)
    func `a key that ssh-add adds is in the vault, signs, and is removed by it`(kind: AgentKeyKind) throws {
        try agent.succeed("\(kind.making); ssh-add -q key && mv key gone; \(sign)")
        agent.stop()
        try agent.start()
        #expect(try comments() == ["kept", "it"])
        #expect(try agent.run("coffer keychain find --class key --label it").status == 77)
        // The same key again is no error.
        try agent.succeed("ssh-add -q gone")
        #expect(try comments() == ["kept", "it"])
        try agent.succeed("ssh-add -q -d key.pub")
        #expect(try comments() == ["kept"])
        #expect(try agent.run("coffer keychain find --class key --label it").status == 66)
    }

    @Test func `ssh-add removes nothing that it has not added`() throws {
        try agent.succeed("\(AgentKeyKind.p384.making); ssh-add -q key")
        #expect(try agent.run("ssh-add -d kept.pub").status != 0)
        #expect(agent.errors.contains("was not added by ssh-add"))
        try agent.succeed("ssh-add -D")
        #expect(try comments() == ["kept"])
        #expect(agent.errors.contains("1 of the vault's keys stays"), "\(agent.errors)")
        // What the vault keeps is not given constraints that it did not have, nor are they left out.
        try agent.succeed("ssh-add -q kept")
        #expect(try agent.run("ssh-add -q -t 60 kept").status != 0)
        #expect(try comments() == ["kept"])
    }

    @Test func `a key with a lifetime is removed from the vault at its end`() throws {
        try agent.succeed("\(AgentKeyKind.ed25519.making); ssh-add -q -t 3 key; \(sign)")
        #expect(try comments() == ["kept", "it"])
        var left = 100
        while left > 0, try agent.run("coffer keychain find --class key --label it").status != 66 {
            usleep(100_000)
            left -= 1
        }
        #expect(left > 0)
        #expect(try comments() == ["kept"])
        // One that ended while no agent ran is removed by the next one, and not listed.
        try agent.succeed("ssh-add -q -t 1 key")
        agent.stop()
        usleep(1_100_000)
        try agent.start()
        #expect(try comments() == ["kept"])
        #expect(try agent.run("coffer keychain find --class key --label it").status == 66)
        // Without -t, a lifetime that was given before is gone.
        try agent.succeed("ssh-add -q -t 600 key; ssh-add -q key")
        #expect(try !agent.succeed("coffer keychain find --class key --label it --attributes").contains("expiryDate"))
    }

    @Test func `each use of a key with -c is confirmed by a person`() throws {
        try agent.succeed("\(AgentKeyKind.p256.making); coffer ssh-agent import key --confirm")
        for (answer, isSigned) in [("exit 0", true), ("echo yes", true), ("exit 1", false), ("echo no", false)] {
            let script =
                "#!/bin/sh\necho \"$SSH_ASKPASS_PROMPT: $1\" >\(agent.daemon.directory.appending("asked"))\n\(answer)\n"
            let path = try agent.daemon.directory.write(Array(script.utf8), to: "askpass")
            chmod(path, 0o700)
            agent.stop()
            try agent.start(["SSH_ASKPASS": path])
            #expect((try agent.run("rm -f key.pub.sig; \(sign)").status == 0) == isSigned, "\(answer)")
            #expect(try agent.succeed("head -1 asked") == "confirm: Allow use of key 'it'?\n")
        }
        agent.stop()
        try agent.start(["SSH_ASKPASS": "/nonexistent"])
        #expect(try agent.run(sign).status != 0)
        #expect(agent.errors.contains("can't ask by '/nonexistent'"), "\(agent.errors)")
        // ssh-add says so itself.
        try agent.succeed("\(AgentKeyKind.ed25519.making.replacing("-f key", with: "-f other")); ssh-add -q -c other")
        #expect(try agent.run("ssh-keygen -q -Y sign -n file -f other.pub key.pub").status != 0)
    }

    @Test(
        arguments: [
            (#"it\'?\nAllow nothing\r\xe2\x80\xaeevil"#, #"it\'?\nAllow nothing\r\u{202E}evil"#),
            (#"a\e[2J\e]0;title\ab"#, #"a\u{1B}[2J\u{1B}]0;title\u{07}b"#),
        ]
    )
    func `the question has the comment of a key on one line, with what a screen would obey escaped`(
        comment: String,
        shown: String
    ) throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$1\" >\(agent.daemon.directory.appending("asked"))\n"
        let path = try agent.daemon.directory.write(Array(script.utf8), to: "askpass")
        chmod(path, 0o700)
        agent.stop()
        try agent.start(["SSH_ASKPASS": path])
        let making = AgentKeyKind.ed25519.making.replacing("-C it", with: "-C $'\(comment)'")
        try agent.succeed("\(making); ssh-add -q -c key")
        let fingerprint = try agent.succeed("ssh-add -l | grep -o 'SHA256:[^ ]*' | tail -1")
        try agent.succeed("mv key gone; \(sign)")
        #expect(try agent.succeed("cat asked") == "Allow use of key '\(shown)'?\n\(fingerprint)")
    }

    @Test func `without SSH_ASKPASS a pinentry asks for the confirmation, and ends with its client`() throws {
        let pinentry = try FakePinentry(["agree", "cancel", FakePinentry.waiting])
        try agent.succeed("\(AgentKeyKind.p256.making); coffer ssh-agent import key --confirm")
        agent.stop()
        try agent.start(pinentry.variables)
        try agent.succeed("rm -f key.pub.sig; \(sign)")
        #expect(try agent.run("rm -f key.pub.sig; \(sign)").status != 0)
        #expect(agent.errors.contains("the use was not confirmed"), "\(agent.errors)")
        try agent.run(
            """
            (exec \(sign)) & client=$!
            until [ $(grep -c '^CONFIRM' '\(pinentry.directory.appending("log"))') = 3 ]; do sleep 0.05; done
            kill $client; wait $client
            """
        )
        #expect(settles { pinentry.hasEnded })
        let questions = pinentry.told("SETDESC")
        #expect(questions.count == 3)
        #expect(questions.allSatisfy { $0.hasPrefix("Allow use of key 'it'?%0ASHA256:") }, "\(questions)")
        // All else was answered meanwhile, and still is.
        #expect(try agent.succeed("ssh-add -L | cut -d' ' -f3").hasSuffix("it\n"))
    }

    /// Writes a program that says that it was started, and waits until it is told to agree.
    private static let patient = """
        printf '#!/bin/sh\necho $$ >>%s/asked; while [ ! -e %s/go ]; do sleep 0.05; done\n' $PWD $PWD >askpass; chmod 700 askpass
        asked() { for i in {1..400}; do [ -s asked ] && break; sleep 0.05; done; }

        """

    @Test func `while a person is asked, all else is answered, and one question comes after the other`() throws {
        try agent.succeed(
            "\(AgentKeyKind.ed25519.making); coffer ssh-agent import key --confirm && rm key\n\(Self.patient)"
        )
        agent.stop()
        try agent.start(["SSH_ASKPASS": agent.daemon.directory.appending("askpass")])
        let answered = try agent.succeed(
            """
            \(Self.patient)
            for i in 1 2; do echo $i >file$i; (ssh-keygen -q -Y sign -n file -f key.pub file$i 2>/dev/null && echo signed) & done
            asked; timeout 20 ssh-add -L | cut -d' ' -f3
            timeout 20 ssh-keygen -q -Y sign -n file -f kept.pub kept.pub 2>/dev/null && echo kept
            wc -l <asked; touch go; wait; wc -l <asked
            """
        )
        #expect(answered == "kept\nit\nkept\n1\nsigned\nsigned\n2\n", "\(answered)\(agent.errors)")
    }

    @Test func `a client that does not wait for the person, or a lock meanwhile, gets no signature`() throws {
        try agent.succeed(
            "\(AgentKeyKind.p256.making); coffer ssh-agent import key --confirm && rm key\n\(Self.patient)"
        )
        agent.stop()
        try agent.start(["SSH_ASKPASS": agent.daemon.directory.appending("askpass")])
        let gone = try agent.run(
            """
            \(Self.patient)
            timeout 2 \(sign); echo $?; for i in {1..200}; do kill -0 $(cat asked) 2>/dev/null || break; sleep 0.05; done
            kill -0 $(cat asked) 2>/dev/null || echo ended
            """
        )
        #expect(gone.text == "124\nended\n", "\(gone)\(agent.errors)")
        let locked = try agent.run(
            """
            \(Self.patient)
            rm asked; (\(sign); echo "signed $?") & asked
            printf '#!/bin/sh\necho phrase\n' >ask; chmod 700 ask
            SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force ssh-add -q -x >&2; touch go; wait
            """
        )
        #expect(
            locked.text == "signed 255\n" && agent.errors.contains("the agent is locked"),
            "\(locked)\(agent.errors)"
        )
    }

    /// Locks or unlocks the agent with a passphrase, for which ssh-add asks on a terminal only.
    private func lock(_ option: String, _ phrase: String, then: String = "") throws -> CommandResult {
        try agent.run(
            """
            printf '#!/bin/sh\\necho %s\\n' '\(phrase)' >ask; chmod 700 ask
            SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force ssh-add \(option) \(then)
            """
        )
    }

    @Test func `a wrong passphrase delays the next one, and nothing else`() throws {
        #expect(try lock("-x", "phrase").status == 0)
        for _ in 0..<9 { #expect(try lock("-X", "other").status != 0) }
        let answers = try lock(
            "-X",
            "phrase",
            then: "2>/dev/null & sleep 0.2; ssh-add -l; wait; ssh-add -l | cut -d' ' -f3"
        )
        #expect(answers.text.hasSuffix("The agent has no identities.\nkept\n"), "\(answers)")
    }

    @Test func `a locked agent lists nothing and does nothing, until its passphrase is given`() throws {
        #expect(try lock("-X", "phrase").status != 0)
        #expect(try lock("-x", "phrase").status == 0)
        #expect(try agent.run("ssh-add -l").text == "The agent has no identities.\n")
        for line in ["ssh-add -q kept", "ssh-add -D", "ssh-keygen -Y sign -n file -f kept.pub kept.pub"] {
            // Beside kept.pub is the private key, which ssh-keygen would use instead.
            #expect(try agent.run("mv kept gone; \(line.replacing("-q kept", with: "-q gone"))").status != 0, "\(line)")
        }
        #expect(try lock("-x", "phrase").status != 0)
        #expect(try lock("-X", "other").status != 0)
        #expect(try lock("-X", "phrase").status == 0)
        #expect(try comments() == ["kept"])
    }
}
