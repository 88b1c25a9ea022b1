import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `coffer run --mask`.
@Suite struct MaskTests {
    private let daemon: DaemonProcess
    private static let secret = "p+ss/w%rd &9 of-the-test"
    private static let run = "coffer run --mask --env P=a/b --"

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try daemon.directory.write(Array(Self.secret.utf8), to: "secret")
        let stored = try run(
            """
            coffer put a/b secret
            printf 'first line\\r\\nsecond line\\nx\\n' | coffer put lines; printf abc | coffer put short
            printf abcdX | coffer put one; printf dXefgh | coffer put two
            head -c 40000 /dev/zero | coffer put large
            """
        )
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

    /// Runs a program in Python, in which `p` is the secret.
    private func python(_ program: String, _ options: String = "") throws -> CommandResult {
        let start = "import os, sys, time, base64, urllib.parse as u\np = os.environ['P']\n"
        try daemon.directory.write(Array((start + program).utf8), to: "program.py")
        return try run("coffer run --mask --env P=a/b \(options) -- python3 program.py")
    }

    // MARK: What is masked

    @Test func `a secret is masked on both streams, and all else is as it was`() throws {
        let printed = try run(#"\#(Self.run) sh -c 'echo "[$P$P]"; echo "p+ss/w $P" >&2'"#)
        #expect(printed.text == "[****************]\n" && printed.errors == "p+ss/w ********\n", "\(printed)")
        let same = try run("head -c 3000000 /dev/urandom >noise; \(Self.run) cat noise | cmp - noise && echo same")
        #expect(same.text == "same\n", "\(same)")
    }

    @Test(arguments: [1, 2, 3, 5, 23])
    func `it is masked wherever the writes begin and end`(size: Int) throws {
        let printed = try python(
            """
            text = ("a" + p + "b" + p[:-1] + "c" + u.quote(p, "") + "d" + base64.b64encode(p.encode()).decode() + "\\n").encode()
            for place in range(0, len(text), \(size)):
                os.write(1, text[place:place + \(size)])
                time.sleep(0.001)
            """
        )
        #expect(printed.text == "a********b\(Self.secret.dropLast())c********d********\n", "\(printed)")
    }

    @Test(arguments: [
        "u.quote(p)", "u.quote(p, '')", "u.quote_plus(p)", "u.quote(p, '').lower()",
        "''.join('%%%02x' % b for b in p.encode())",
    ])
    func `it is masked however it is encoded for a URL`(encoding: String) throws {
        let printed = try python("print('https://x/?q=' + \(encoding) + '&r')")
        #expect(printed.text == "https://x/?q=********&r\n", "\(printed)")
    }

    @Test(arguments: ["", "u", "us", "user:", "someone:"], ["", "!", "!!", "!!!"])
    func `it is masked in base64 of a longer text, in both alphabets, and over several lines`(
        before: String,
        after: String
    ) throws {
        let printed = try python(
            """
            whole = ("\(before)" + p + "\(after)").encode()
            for text in (base64.b64encode(whole), base64.urlsafe_b64encode(whole)):
                print(text.decode())
            print("\\n".join(base64.b64encode(whole).decode()[i:i + 7] for i in range(0, 60, 7)))
            """
        )
        let part = Data(Self.secret.dropFirst(3).dropLast(3).utf8)
        let lines = printed.text.split(separator: "\n").map(String.init)
        #expect(lines.count >= 3 && lines[0].contains("********") && lines[1].contains("********"), "\(printed)")
        // What is left decodes to no part of the secret but what the characters at its ends share with other bytes.
        for piece in printed.text.replacing("\n", with: "").components(separatedBy: "********") {
            for cut in 0..<4 {
                let text = piece.dropFirst(cut)
                let decoded = Data(base64Encoded: String(text.prefix(text.count / 4 * 4))) ?? Data()
                #expect(decoded.range(of: part.prefix(4)) == nil && decoded.range(of: part.suffix(4)) == nil)
            }
        }
        #expect(printed.text.components(separatedBy: "********").count == 4, "\(printed)")
    }

    @Test(arguments: ["p\"a'ss\\w/o rd\té$`'x", "one\ntwo\\n\"three\"", #"\\\\"#, "'''' \u{1B}", "🔐'🔐\u{7}xé"])
    func `it is masked as JSON, languages and shells write it`(secret: String) throws {
        try daemon.directory.write(Array(secret.utf8), to: "secret")
        let program = #"""
            import json, os, shlex, subprocess
            x = os.environ["X"]
            bash = lambda line: subprocess.check_output(["bash", "-c", line]).decode().rstrip("\n")
            units = x.encode("utf-16-be")
            texts = [
                json.dumps(x), json.dumps(x, ensure_ascii=False), json.dumps(x).replace("/", "\\/"), repr(x), repr(x.encode()),
                "".join("\\u%04X" % (units[i] * 256 + units[i + 1]) for i in range(0, len(units), 2)),
                "".join("\\x%02x" % b for b in x.encode()), "".join("\\%03o" % b for b in x.encode()),
                shlex.quote(x), shlex.quote(x).replace("'\"'\"'", "'\\''"),
                bash('printf %q "$X"'), bash('LC_ALL=C; printf %q "$X"'), bash('declare -p X'), bash('echo "${X@Q}"'),
            ]
            for text in texts:
                for size in (1, 7, 1000):
                    for place in range(0, len(text.encode()), size):
                        os.write(1, text.encode()[place:place + size])
                    os.write(1, b"\n")
            """#
        try daemon.directory.write(Array(program.utf8), to: "program.py")
        let printed = try run("coffer put x secret >&2; coffer run --mask --env X=x -- python3 program.py")
        let frame = #/(?:declare -x X=)?(?:b|\$)?["']?\*{8}["']?/#
        let lines = printed.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 14 * 3 + 1 && lines.last == "", "\(printed)")
        for line in lines.dropLast() { #expect(line.wholeMatch(of: frame) != nil, "\(line)") }
    }

    @Test func `each line of a secret is masked, also of a file and of standard input`() throws {
        for option in ["--env L=lines", "--file L=lines", "--stdin lines"] {
            let printed = try run(
                "coffer run --mask \(option) -- sh -c 'echo \"1 second line 2\"; echo first line; echo x'"
            )
            #expect(printed.text == "1 ******** 2\n********\nx\n", "\(option): \(printed)")
        }
        let whole = try run("coffer run --mask --file L=lines -- sh -c 'cat $L'")
        #expect(whole.text == "********\n", "\(whole)")
    }

    @Test func `secrets that overlap are masked as one`() throws {
        let printed = try run("coffer run --mask --env A=one --env B=two -- sh -c 'echo 1abcdXefgh2abcdX3'")
        #expect(printed.text == "1********2********3\n", "\(printed)")
    }

    @Test func `plain values of a file of variables are not masked, and short secrets with a warning`() throws {
        let printed = try run(
            "echo V=visible >vars; coffer run --mask --env-file vars --env S=short -- sh -c 'echo $V $S'"
        )
        #expect(printed.text == "visible abc\n" && printed.errors.contains("warning: 'short' has fewer than 4 bytes"))
    }

    @Test func `what is too large to be masked is refused`() throws {
        let refused = try run("coffer run --mask --file L=large -- echo started")
        #expect(refused.status == 64 && refused.output.isEmpty && refused.errors.contains("'large' has 40000 bytes"))
    }

    // MARK: The program's own

    @Test(arguments: [("exit 7", 7), ("kill -TERM $$", 128 + SIGTERM), ("kill -SEGV $$", 128 + SIGSEGV)])
    func `exit code and signal are the program's`(script: String, status: Int32) throws {
        #expect(try run("\(Self.run) sh -c '\(script)'; exit $?").status == status)
    }

    @Test func `a program that can't be started is 126 or 127`() throws {
        #expect(try run("\(Self.run) no-such-program").status == 127)
        #expect(try run("echo x >text; chmod +x text; \(Self.run) ./text").status == 126)
    }

    @Test func `a signal is passed on, once`() throws {
        let script = #"trap "echo caught" USR1; trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done"#
        let given = try run(
            """
            \(Self.run) bash -c '\(script)' >out & until grep -q ready out; do sleep 0.05; done
            kill -USR1 $!; until grep -q caught out; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?; cat out
            """
        )
        #expect(given.text == "3\nready\ncaught\n", "\(given)")
    }

    @Test func `a prompt appears on a terminal, which the program sees, and its keys reach it`() throws {
        let typed = try onTerminal(
            daemon,
            "stty cols 77; \(Self.run) sh -c 'test -t 0 && test -t 1 && stty size <&1; printf \"Name? \"; read name; echo got $name $P'",
            [("Name? ", "nina")]
        )
        #expect(typed.shown.contains("77\r\n") && typed.shown.contains("got nina ********"), "\(typed)")
        let ended = try onTerminal(
            daemon,
            "trap : INT; \(Self.run) sh -c 'printf \"Wait \"; sleep 50'; echo [$?]",
            [("Wait ", .signal(SIGINT))]
        )
        #expect(ended.shown.contains("[130]"), "\(ended)")
        let stopped = try onTerminal(
            daemon,
            "set -m; \(Self.run) sh -c 'printf \"Wait \"; read x; echo on $x'; echo stopped; fg",
            [("Wait ", .keys("\u{1A}")), ("stopped", .line("again"))]
        )
        #expect(stopped.shown.contains("on again"), "\(stopped)")
    }

    @Test func `the order of both streams is kept where they go to the same place`() throws {
        let printed = try run("\(Self.run) sh -c 'for i in 1 2 3 4; do echo o$i; echo e$i >&2; done' 2>&1")
        #expect(printed.text == "o1\ne1\no2\ne2\no3\ne3\no4\ne4\n", "\(printed)")
    }

    @Test func `a reader that has read enough ends the program, and one that is left behind holds nothing up`() throws {
        #expect(try run("\(Self.run) yes | head -1; echo ${PIPESTATUS[0]}").text == "y\n141\n")
        let left = try run("\(Self.run) sh -c 'sleep 300 & echo $! >left; echo done'; kill $(cat left) && echo left")
        #expect(left.text == "done\nleft\n", "\(left)")
    }

    @Test func `coffer's own environment and arguments have no secret while the program runs`() throws {
        let seen = try run(
            "\(Self.run) sh -c 'for f in environ cmdline; do tr \"\\0\" \"\\n\" </proc/$PPID/$f | grep -c -F -e \"$P\"; done; readlink /proc/$PPID/exe'"
        )
        #expect(seen.text.hasPrefix("0\n0\n") && seen.text.hasSuffix("/coffer\n"), "\(seen)")
    }
}
