import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `docker-credential-coffer`, after the protocol of docker-credential-helpers.
@Suite struct DockerCredentialTests {
    private let scene: CredentialScene

    init() throws {
        scene = try CredentialScene(
            preamble: """
                keep() { printf '{"ServerURL":"%s","Username":"%s","Secret":"%s"}' "$1" "$2" "$3" | docker-credential-coffer store; }
                ask() { printf '%s' "$2" | docker-credential-coffer "$1"; }

                """
        )
    }

    @Test(
        arguments: [
            "registry.example.com", "127.0.0.1:5000", "https://index.docker.io/v1/", "http://[::1]:5000",
            "ghcr.io/org/repo",
            "https://nina@example.com:443/a?b=c#d", "x:0", "x:007", "x:65536", "HTTPS://X", "x/", "://", "é.example",
        ]
    )
    func `what is stored for an address is returned, listed and erased by the same address`(url: String) throws {
        let all = try scene.run(
            """
            keep '\(url)' nina 'p\\u00e4ss\\n\\"w\\\\ord'; ask get ' \(url)
            '; docker-credential-coffer list; ask get '\(url)x'
            ask erase '\(url)'; echo "$?"; docker-credential-coffer list; coffer list
            """
        )
        let found = #"{"ServerURL":"\#(url)","Username":"nina","Secret":"päss\n\"w\\ord"}"# + "\n"
        let missing = "credentials not found in native keychain\n"
        #expect(all.text == found + #"{"\#(url)":"nina"}"# + "\n" + missing + "0\n{}\n" && all.errors.isEmpty, "\(all)")
    }

    @Test func `an address has one credential, the last one, which may be a token or empty`() throws {
        let all = try scene.run(
            """
            keep a.example nina one; keep a.example '<token>' two; ask get a.example; coffer list
            keep a.example oscar ''; ask get a.example; keep a.example oscar three; ask get a.example; keep b.example x ''; ask get b.example
            docker-credential-coffer list
            """
        )
        let expected = """
            {"ServerURL":"a.example","Username":"<token>","Secret":"two"}
            login:<token>@a.example
            {"ServerURL":"a.example","Username":"oscar","Secret":""}
            {"ServerURL":"a.example","Username":"oscar","Secret":"three"}
            {"ServerURL":"b.example","Username":"x","Secret":""}

            """
        #expect(all.text.hasPrefix(expected) && all.errors.isEmpty, "\(all)")
        let listed = try JSONSerialization.jsonObject(with: Data(all.text.dropFirst(expected.count).utf8))
        #expect(listed as? [String: String] == ["a.example": "oscar", "b.example": "x"])
    }

    @Test func `an empty secret replaces another one in one request, and the former one stays in the history`() throws {
        let all = try scene.run(
            """
            keep a.example nina one; keep a.example nina ''; coffer audit --json | grep -c keychain.delete
            coffer keychain history --class internet-password --server a.example --json | grep -c replaced
            coffer keychain history --class internet-password --server a.example --number 1
            """
        )
        #expect(all.text == "0\n1\none", "\(all)")
    }

    @Test func `a kill while an empty secret replaces another one leaves the one or the other`() throws {
        for round in 0..<12 {
            let stored = try scene.run("keep a.example nina one; echo $?")
            #expect(stored.text == "0\n", "\(stored)")
            let daemon = scene.daemon
            let killed = try scene.run(
                "keep a.example nina '' & sleep 0.0\(round)5; kill -9 \(daemon.processID); wait; true"
            )
            try daemon.restart()
            try daemon.connect().unlock()
            let left = try scene.run("ask get a.example")
            let found = ["one", ""].map { #"{"ServerURL":"a.example","Username":"nina","Secret":"\#($0)"}"# + "\n" }
            #expect(found.contains(left.text), "\(killed) \(left)")
        }
    }

    @Test(
        arguments: [
            ("get", "", "no credentials server URL"), ("erase", " \n", "no credentials server URL"),
            ("get", "none.example", "credentials not found in native keychain"),
            ("erase", "none.example", "credentials not found in native keychain"),
            ("store", #"{"ServerURL":"","Username":"x","Secret":"y"}"#, "no credentials server URL"),
            ("store", #"{"Username":"x","Secret":"y"}"#, "no credentials server URL"),
            ("store", #"{"ServerURL":"x","Secret":"y"}"#, "no credentials username"),
            ("store", #"{"ServerURL":"x","Username":null,"Secret":"y"}"#, "no credentials username"),
            ("store", "{}", "no credentials server URL"), ("store", "", "EOF"),
            ("future", "", "docker-credential-coffer: unknown action: future"),
            ("", "", "docker-credential-coffer: unknown action: "),
            ("store", "[]", "standard input is no JSON object with the texts ServerURL, Username and Secret"),
            (
                "store", #"{"ServerURL":"x","Username":"y","Secret":1}"#,
                "standard input is no JSON object with the texts ServerURL, Username and Secret"
            ),
        ]
    )
    func `an error is its text on standard output, and 1`(action: String, input: String, text: String) throws {
        let all = try scene.run("ask '\(action)' '\(input)'; echo \"$?\"")
        #expect(all.text == text + "\n1\n" && all.errors.isEmpty, "\(all)")
    }

    @Test func `another number of words is 1 with the usage, and the version is named`() throws {
        let usage = "Usage: docker-credential-coffer <store|get|erase|list|version>\n"
        for words in ["", "get it", "--nonsense get"] {
            let all = try scene.run("docker-credential-coffer \(words) </dev/null; echo $?")
            #expect(all.text == usage + "1\n" && all.errors.isEmpty, "\(all)")
        }
        let version = try scene.run("docker-credential-coffer version; docker-credential-coffer --version; echo $?")
        let line = "docker-credential-coffer (coffer) \(Version.program)\n"
        #expect(version.text == line + line + "0\n")
    }

    @Test func `ten megabytes and binary input are refused, and nothing is stored`() throws {
        let all = try scene.run(
            """
            for action in store get erase; do head -c 10000000 /dev/zero | tr '\\0' x | docker-credential-coffer $action; echo $?; done
            head -c 60000 /dev/urandom | docker-credential-coffer store | wc -l; printf 'x\\xff' | docker-credential-coffer get; echo $?
            keep big.example nina "$(head -c 40000 /dev/zero | tr '\\0' x)" | head -c 5; docker-credential-coffer list
            """
        )
        let refused = String(repeating: "standard input has more than 65536 bytes\n1\n", count: 3)
        #expect(
            all.text.hasPrefix(refused + "1\nthe server URL is no text\n1\n") && all.text.hasSuffix("{}\n"),
            "\(all)"
        )
    }

    @Test func `locked, without a vault and without a daemon are errors of their own`() throws {
        let locked = try scene.run(
            "keep a.example nina x; coffer lock --now >/dev/null; ask get a.example; keep a.example nina y; ask get b.example; docker-credential-coffer list"
        )
        let lines = locked.text.split(separator: "\n")
        #expect(
            lines.count == 4 && lines[0].hasSuffix("the vault is locked; run 'coffer unlock' and repeat the command"),
            "\(locked)"
        )
        #expect(lines[1].contains("the vault is locked"), "\(locked)")
        #expect(lines.suffix(2) == ["credentials not found in native keychain", #"{"a.example":"nina"}"#])
        let unlocked = try scene.runOnTerminal(
            "printf a.example | docker-credential-coffer get | cat",
            [("Passcode, for docker: ", .line(DaemonProcess.passcode))]
        )
        #expect(unlocked.shown.contains(#""Secret":"x"}"#), "\(unlocked)")
        try scene.daemon.restart()
        let sealed = try scene.run("ask get a.example; docker-credential-coffer list; echo $?")
        #expect(
            sealed.text.split(separator: "\n").allSatisfy { $0 == "1" || $0.contains("sealed until you unlock") },
            "\(sealed)"
        )
        let empty = try DaemonProcess()
        let none = try scene.run(
            "ask get a.example; COFFER_SOCKET=none ask list; echo $?",
            ["COFFER_SOCKET": empty.socketPath]
        )
        #expect(none.text.contains("coffer init") && none.text.hasSuffix("\n1\n") && none.errors.isEmpty, "\(none)")
    }

    @Test func `what is not allowed is an error of its own`() throws {
        _ = try scene.run("keep a.example nina x")
        try scene.entitle(to: "write")
        let denied = try scene.run("ask get a.example; echo $?; docker-credential-coffer list; echo $?")
        let lines = denied.text.split(separator: "\n")
        #expect(
            lines.count == 4 && lines[0].contains("the right 'read'") && lines[1] == "1" && lines[3] == "1",
            "\(denied)"
        )
    }

    @Test func `git's passwords and docker's are apart`() throws {
        let all = try scene.run(
            """
            keep https://ghcr.io nina docker
            printf 'protocol=https\\nhost=ghcr.io\\n' | git-credential-coffer get
            printf 'protocol=https\\nhost=ghcr.io\\nusername=nina\\npassword=git\\n' | git-credential-coffer store; ask get https://ghcr.io
            printf 'protocol=https\\nhost=ghcr.io\\n' | git-credential-coffer erase; docker-credential-coffer list
            """
        )
        let found = #"{"ServerURL":"https://ghcr.io","Username":"nina","Secret":"docker"}"#
        #expect(all.text == found + "\n" + #"{"https://ghcr.io":"nina"}"# + "\n" && all.errors.isEmpty, "\(all)")
    }
}
