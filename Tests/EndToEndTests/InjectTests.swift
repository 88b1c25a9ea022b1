import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `coffer inject`.
@Suite struct InjectTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let stored = try run("printf 'hunter2\\nuser: me\\n' | coffer put a/b; echo token | coffer put 'a \"q\"\\c'")
        #expect(stored.status == 0, "\(stored.errors)")
    }

    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func inject(_ template: String) throws -> CommandResult {
        try daemon.directory.write(Array(template.utf8), to: "template")
        return try run("coffer inject template")
    }

    @Test(
        arguments: [
            (#"p: {{ coffer "a/b" "password" }}, u: {{coffer "a/b" "user"}}!"#, "p: hunter2, u: me!"),
            (#"[{{ coffer "a/b" }}]"# + "\n", "[hunter2\nuser: me]\n"),
            (#"{{ coffer "a \"q\"\\c" }}{{\#tcoffer\#t"a/b"\#t"user"\#t}}"#, "tokenme"),
            (#"{{ .Values.x }} {{ coffers "x" }} {{coffer_x}} {{{ }} { coffer "a/b" }"#, nil),
            (
                #"\{{ coffer "a/b" }} \\{{ coffer "a/b" "user" }} \\\{{ coffer "no/such" }}"#,
                #"{{ coffer "a/b" }} \me \{{ coffer "no/such" }}"#
            ),
            (#"{{{ coffer "a/b" "user" }}}"#, "{me}"), (#"a\b\{{ x }}"#, nil), ("", nil), ("no place\r\n", nil),
        ] as [(String, String?)]
    )
    func `places get secrets, and all other text stays as it is`(template: String, text: String?) throws {
        let filled = try inject(template)
        #expect(filled.text == text ?? template && filled.status == 0, "\(filled)")
    }

    @Test func `bytes that are no text stay as they are, from a pipe as well`() throws {
        let filled = try run(#"printf '\0\xff{{ coffer "a/b" "user" }}\xfe' | coffer inject"#)
        #expect(filled.output == [0, 0xFF] + Array("me".utf8) + [0xFE], "\(filled)")
        #expect(try run(#"echo '{{ coffer "a/b" "user" }}' | coffer inject - --output -"#).text == "me\n")
    }

    @Test(
        arguments: [
            ("x\n\n{{ coffer }}", 3, "a name in double quotes is missing"),
            ("{{ coffer a }}", 1, "a name in double quotes"),
            (#"{{ coffer "a/b" "user" "x" }}"#, 1, "'}}' is missing"),
            ("\n{{ coffer \"a/b\n\" }}", 2, "do not end"),
            (#"{{ coffer "a/b""#, 1, "'}}' is missing"), ("{{ coffer", 1, "a name"),
            (#"{{ coffer "" }}"#, 1, "bad name"),
            (#"{{ coffer "a\b" }}"#, 1, "a backslash in quotes"), (#"{{ coffer "a/b" "" }}"#, 1, "the field is empty"),
            (#"{{ coffer "a/b" | upper }}"#, 1, "'}}' is missing"), ("{{ coffer \"a/b\"\n}}", 1, "'}}' is missing"),
        ]
    )
    func `a malformed place is 64, with its line`(template: String, line: Int, words: String) throws {
        let refused = try inject(template)
        #expect(refused.status == 64 && refused.output.isEmpty, "\(refused)")
        let place = "'template', line \(line): "
        #expect(refused.errors.contains(place) && refused.errors.contains(words), "\(refused.errors)")
    }

    @Test func `it is all or nothing, with the name and the line of what is not there`() throws {
        let template = "{{ coffer \"a/b\" }}\n{{ coffer \"no/such\" }}\n"
        try daemon.directory.write(Array("old".utf8), to: "result")
        try daemon.directory.write(Array(template.utf8), to: "template")
        let missing = try run("coffer inject template; coffer inject template --output result; echo $? >&2")
        #expect(missing.output.isEmpty && missing.errors.hasSuffix("\n66\n"), "\(missing)")
        #expect(missing.errors.contains("error: 'template', line 2: there is no item 'no/such'"), "\(missing.errors)")
        let field = try inject(#"{{ coffer "a/b" "pin" }}"#)
        #expect(field.status == 66 && field.errors.contains("line 1: 'a/b' has no field 'pin'"), "\(field)")
        _ = try daemon.connect().lock(graceSeconds: 0)
        let locked = try run(#"echo '{{ coffer "a/b" }}' | coffer inject --output result"#)
        #expect(locked.status == 75, "\(locked)")
        #expect(locked.errors.contains("'standard input', line 1: can't read 'a/b'"), "\(locked)")
        #expect(daemon.directory.contents("result") == Array("old".utf8))
        #expect(try inject("no place").status == 0, "a template without places needs no unlock")
    }

    @Test func `the output is private and replaced at once`() throws {
        try daemon.directory.write(Array("p={{ coffer \"a/b\" \"password\" }}\n".utf8), to: "template")
        let written = try run(
            """
            umask 0; echo old >result; chmod 644 result; exec 5<result
            coffer inject template -o result; cat result; stat -c %a result; ls -A | grep -c part; cat <&5
            """
        )
        #expect(written.text == "p=hunter2\n600\n0\nold\n", "\(written)")
        #expect(try run("coffer inject template --output no/such/folder").status == 74)
    }

    @Test(arguments: ["template", "./template", "hard", "soft"])
    func `a template is never written over itself, under whatever name`(target: String) throws {
        let template = #"{{ coffer "a/b" }}"#
        try daemon.directory.write(Array(template.utf8), to: "template")
        #expect(try run("ln template hard; ln -s template soft").status == 0)
        for line in [
            "coffer inject template --output \(target)", "coffer inject --output \(target) <template",
            "coffer inject \(target) >>template",
        ] {
            let refused = try run(line)
            #expect(refused.status == 64, "\(line): \(refused)")
            #expect(refused.errors.contains("the template and the output"), "\(line): \(refused)")
            #expect(daemon.directory.contents("template") == Array(template.utf8))
        }
    }

    @Test func `a template is bounded, and a missing one is 74`() throws {
        let limit = Limits.templateBytes
        for (count, status) in [(limit - 1, 0), (limit, 0), (limit + 1, 64)] {
            let filled = try inject(String(repeating: "x", count: count))
            #expect(filled.status == Int32(status) && filled.output.count == (status == 0 ? count : 0))
        }
        #expect(try run("coffer inject no-such").status == 74)
    }
}
