import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `cargo-credential-coffer`, after the protocol of cargo's credential providers.
@Suite struct CargoCredentialTests {
    private let scene: CredentialScene

    init() throws {
        // Requests of a kind for the index of a registry, with further members.
        scene = try CredentialScene(
            preamble: """
                say() { printf '{"v":1,"registry":{"index-url":"%s","name":"local","headers":["a: b"]},"kind":"%s"%s}\\n' "$2" "$1" "$3"; }
                tell() { cargo-credential-coffer --cargo-plugin | tail -n +2; }
                ask() { say "$@" | tell; }
                a=sparse+https://a.example/index/ b=https://b.example/git

                """
        )
    }

    private static let done = #"{"Ok":{"kind":"login"}}"# + "\n"
    private static let missing = #"{"Err":{"kind":"not-found"}}"# + "\n"

    private static func token(_ text: String) -> String {
        #"{"Ok":{"kind":"get","token":"\#(text)","cache":"session","operation_independent":true}}"# + "\n"
    }

    @Test func `a registry has one token, which comes back as it was`() throws {
        let all = try scene.run(
            #"""
            printf '' | cargo-credential-coffer --cargo-plugin
            ask get $a; ask login $a ',"token":"p\u00e4ss\n\"w\\ord","login-url":"https://a.example/me"'; ask get $a ',"operation":"read"'
            ask login $a ',"token":"two"'; ask get $a ',"operation":"publish","name":"thing","vers":"1.0.0","cksum":"0"'; ask get $b
            coffer list; ask logout $b; ask logout $a; ask get $a; ask logout $a; coffer list
            """#
        )
        let expected =
            "{\"v\":[1]}\n" + Self.missing + Self.done + Self.token(#"päss\n\"w\\ord"#) + Self.done + Self.token("two")
            + Self.missing + "login:local@a.example\n" + Self.missing + "{\"Ok\":{\"kind\":\"logout\"}}\n"
            + Self.missing
            + Self.missing
        #expect(all.text == expected && all.errors.isEmpty, "\(all)")
    }

    @Test func `a connection has several requests, and an empty or a missing line ends it`() throws {
        let all = try scene.run(#"{ say login $a ',"token":"x"'; say get $a; say get $b; echo; say get $a; } | tell"#)
        #expect(all.text == Self.done + Self.token("x") + Self.missing, "\(all)")
    }

    @Test func `the options stand behind the name in cargo's configuration`() throws {
        let all = try scene.run(
            """
            ask login $a ',"token":"x","args":["--group","work"]'; ask get $a; ask get $a ',"args":["--group","work"]'
            ask get $a ',"args":["--nonsense"]'; coffer list --group work
            """
        )
        let lines = all.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines[1] + "\n" == Self.missing && lines[2] + "\n" == Self.token("x"), "\(all)")
        #expect(lines[3].hasPrefix(#"{"Err":{"kind":"other","message":"cargo's configuration has words"#), "\(all)")
        #expect(lines[4] == "login:local@a.example")
    }

    @Test(
        arguments: [
            ("", "no request of cargo"), ("[]", "no request of cargo"),
            (#"{"v":2,"kind":"get"}"#, "no request of cargo"),
            (#"{"v":1,"kind":"get","registry":{}}"#, "no request of cargo"),
            (#"{"v":1,"kind":"login","token":7,"registry":{"index-url":"x"}}"#, "no request of cargo"),
            (#"{"v":1,"kind":"future","registry":{"index-url":"x"}}"#, #""kind":"operation-not-supported""#),
            (#"{"v":1,"kind":"login","token":null,"registry":{"index-url":"x"}}"#, "no terminal to ask on"),
        ]
    )
    func `what is no request, or not known, is an error, and the next one is answered`(
        line: String,
        words: String
    ) throws {
        try scene.write(line.isEmpty ? "{}\n" : line + "\n", to: "line")
        let all = try scene.run("{ cat line; say get $a; } | tell; echo $?")
        let lines = all.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 3 && lines[0].hasPrefix("{\"Err\":") && lines[0].contains(words), "\(all)")
        #expect(lines.dropFirst() == [Self.missing.trimmingCharacters(in: .newlines), "0"], "\(all)")
    }

    @Test func `lines of ten megabytes and binary input are errors, and nothing is stored`() throws {
        let all = try scene.run(
            """
            { head -c 10000000 /dev/zero | tr '\\0' x; echo; head -c 5000 /dev/urandom | tr -d '\\n'; echo; printf '{"v\\0":1}\\n'; say get $a; } | tell
            ask login $a ",\\"token\\":\\"$(head -c 40000 /dev/zero | tr '\\0' x)\\"" | head -c 30; echo; coffer list
            """
        )
        let lines = all.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines[0].contains("more than 32768 bytes"), "\(all.text.prefix(2000))")
        #expect(
            lines.prefix(3).allSatisfy { $0.hasPrefix(#"{"Err":{"kind":"other""#) } && lines[3] + "\n" == Self.missing
        )
    }

    @Test func `locked, denied, without a vault and without a daemon are errors that cargo shows`() throws {
        let locked = try scene.run(#"ask login $a ',"token":"x"'; coffer lock --now; ask get $a; ask get $b"#)
        let lines = locked.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines[2].contains("the vault is locked; run 'coffer unlock'"), "\(locked)")
        #expect(lines[3] + "\n" == Self.missing)
        let terminal = try scene.runOnTerminal(
            "say get $a | tell | cat; say login $b ',\"token\":null,\"login-url\":\"https://b.example/me\"' | tell; say get $b | tell",
            [
                ("Passcode, for cargo: ", .line(DaemonProcess.passcode)),
                ("Token for local, which https://b.example/me shows: ", .line("typed")),
            ]
        )
        #expect(terminal.shown.contains(#""token":"x""#) && terminal.shown.contains(#""token":"typed""#), "\(terminal)")
        let empty = try DaemonProcess()
        let none = try scene.run("ask get $a; COFFER_SOCKET=none ask get $a", ["COFFER_SOCKET": empty.socketPath])
        #expect(none.text.split(separator: "\n").count == 2 && none.text.contains("coffer init"), "\(none)")
        try scene.entitle(to: "write")
        let denied = try scene.run("ask get $a")
        #expect(denied.text.contains("the right 'read'"), "\(denied)")
    }

    @Test func `cargo's tokens, git's passwords and docker's are apart`() throws {
        let all = try scene.run(
            """
            ask login https://ghcr.io ',"token":"x"'; printf https://ghcr.io | docker-credential-coffer get
            printf 'protocol=https\\nhost=ghcr.io\\n' | git-credential-coffer get; ask get https://ghcr.io
            """
        )
        #expect(all.text == Self.done + "credentials not found in native keychain\n" + Self.token("x"), "\(all)")
    }

    @Test func `a person who starts it is told who does`() throws {
        let all = try scene.run("cargo-credential-coffer; echo $?; cargo-credential-coffer --version")
        #expect(
            all.text == "64\ncargo-credential-coffer \(Version.program)\n" && all.errors.contains("config.toml"),
            "\(all)"
        )
    }
}
