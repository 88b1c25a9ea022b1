import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `coffer run`: what the program gets, what ends it, and where no secret is seen.
@Suite struct RunTests {
    private let daemon: DaemonProcess
    private static let secret = "hunter2-of-the-test"

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let stored = try run(
            """
            printf '\(Self.secret)\\nuser: me\\n' | coffer put a/b
            echo line | coffer put 'issue#5'
            printf 'a\\0b' | coffer put binary
            head -c 300000 /dev/zero | coffer put large --kind document
            """
        )
        #expect(stored.status == 0, "\(stored.errors)")
    }

    /// Runs a line of a shell, without a terminal.
    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func expect(_ line: String, status: Int32, _ error: String) throws {
        let refused = try run(line)
        #expect(refused.status == status && refused.errors.contains(error), "\(line): \(refused)")
        #expect(refused.output.isEmpty, "\(line): \(refused.text)")
        #expect(!(refused.errors + refused.text).contains("hunter2"))
    }

    // MARK: What the program gets

    @Test func `variables are secrets and fields, and the others are inherited`() throws {
        let given = try run(
            """
            export P=former OTHER=inherited
            coffer run --env P=a/b#password --env 'U=a/b#user' --env 'I=issue#5#' -- sh -c 'echo "$P $U [$I] $OTHER"; env | grep -c ^P='
            """
        )
        #expect(given.text == "\(Self.secret) me [line] inherited\n1\n", "\(given.errors)")
    }

    @Test func `a file of variables has plain values and references`() throws {
        let lines = #"""
            # a comment
            PLAIN = some text # and a comment
            export QUOTED="a \"b\"\tc"

            SINGLE='$not expanded'
            P=coffer://a/b#password
            WHOLE="coffer://issue#5#"
            EMPTY=

            """#
        try daemon.directory.write(Array(lines.utf8), to: "vars")
        let given = try run(
            #"coffer run --env-file vars -- sh -c 'echo "$PLAIN|$QUOTED|$SINGLE|$P|$WHOLE|${EMPTY-unset}"'"#
        )
        #expect(given.text == "some text|a \"b\"\tc|$not expanded|\(Self.secret)|line|\n", "\(given.errors)")
    }

    @Test func `a byte order mark is no part of the first variable, and stays in what is copied`() throws {
        let given = try run(
            #"""
            printf '\xef\xbb\xbfA=1\nP=coffer://a/b#password\n' >vars
            coffer run --env-file vars -- sh -c 'echo "$A|$P"'
            printf '\xef\xbb\xbfpw\nuser: me\n' | coffer put marked >&2
            coffer get marked --field password; echo; coffer get marked --field user; echo
            coffer get marked | head -c 3 | od -An -tx1
            """#
        )
        #expect(given.text == "1|\(Self.secret)\npw\nme\n ef bb bf\n", "\(given.errors)")
    }

    @Test func `a file is sealed, private, readable twice, and of any size and class`() throws {
        let given = try run(
            """
            coffer run --file F=a/b --file L=large --file U=a/b#user -- sh -c '
                cat $F; cat $F | wc -l; stat -L -c "%a %F" $F; wc -c <$L; cat $U; echo; echo more 2>/dev/null >$F || echo sealed'
            """
        )
        let content = "\(Self.secret)\nuser: me\n"
        #expect(given.text == "\(content)2\n400 regular file\n300000\nme\nsealed\n", "\(given.errors)")
    }

    @Test func `standard input is a secret, byte for byte`() throws {
        #expect(try run("coffer run --stdin binary -- cat").output == [97, 0, 98])
        #expect(try run("echo terminal | coffer run --stdin a/b#user -- cat").text == "me")
    }

    @Test func `arguments are passed on as they are, also behind a second mark and in bytes that are no text`() throws {
        let given = try run(#"coffer run -- printf '%s|' a -- --env $'\xff' '' --help"#)
        #expect(given.output == Array("a|--|--env|".utf8) + [0xFF] + Array("||--help|".utf8), "\(given.errors)")
    }

    @Test func `the program has no descriptor of coffer's, and not that of the passcode`() throws {
        try daemon.directory.write(Array("x".utf8), to: "pass")
        let given = try run(
            """
            list='ls /proc/$$/fd'; usual=$(sh -c "$list")
            given=$(coffer run --env P=a/b#user --passcode-fd 7 7<pass -- sh -c "$list")
            [ "$given" = "$usual" ] && echo same || echo $given, and not $usual
            """
        )
        #expect(given.text == "same\n", "\(given)")
    }

    // MARK: The program's own

    @Test(arguments: [("exit 7", 7), ("kill -TERM $$", 128 + SIGTERM), ("kill -PIPE $$", 128 + SIGPIPE)])
    func `exit code and signal are the program's`(script: String, status: Int32) throws {
        #expect(try run("coffer run --env P=a/b#user -- sh -c '\(script)'; exit $?").status == status)
    }

    @Test func `signals of failed writes are as coffer found them`() throws {
        #expect(try run("coffer run -- bash -c 'yes | head -1; echo ${PIPESTATUS[@]}'").text == "y\n141 0\n")
        let ignored = try run("trap '' PIPE; coffer run -- grep SigIgn /proc/self/status").text
        let usual = try run("coffer run -- grep SigIgn /proc/self/status").text
        #expect(ignored.hasSuffix("1000\n") && usual.hasSuffix("0000\n"), "\(ignored) \(usual)")
    }

    @Test func `the process is the same, so that job control and waiting are the shell's`() throws {
        let given = try run("coffer run --env P=a/b#user -- sh -c 'echo $$' >number & echo $!; wait; cat number")
        let numbers = given.text.split(separator: "\n")
        #expect(numbers.count == 2 && numbers[0] == numbers[1], "\(given)")
        let typed = try onTerminal(
            daemon,
            "coffer run --env P=a/b#user -- sh -c 'test -t 0 && test -t 1 && read -p \"Name? \" name && echo got $name'",
            [("Name? ", "nina")]
        )
        #expect(typed.shown.contains("got nina") && typed.status == 0, "\(typed)")
    }

    // MARK: Refusals

    @Test func `nothing is started unless every secret is there`() throws {
        let mark = "-- touch started"
        try expect("coffer run --env P=a/b#user --env Q=no/such \(mark)", status: 66, "there is no item 'no/such'")
        try expect("coffer run --file P=no/such \(mark)", status: 66, "'no/such'")
        try expect("coffer run --stdin no/such \(mark)", status: 66, "'no/such'")
        try expect("coffer run --env P=a/b#pin \(mark)", status: 66, "'a/b' has no field 'pin'")
        try expect("coffer run --env P=large \(mark)", status: 64, "'large' has 300000 bytes")
        try expect("coffer run --env P=binary \(mark)", status: 64, "--file P=")
        #expect(try run("coffer lock --now").status == 0)
        for option in ["--env P=a/b", "--file P=a/b", "--stdin a/b", "--wait 1 --env P=a/b"] {
            try expect("coffer run \(option) \(mark)", status: 75, "'a/b'")
        }
        #expect(daemon.directory.contents("started") == nil)
    }

    @Test func `--wait waits for an unlock, and then the program gets everything`() throws {
        _ = try daemon.connect().lock(graceSeconds: 0)
        let waiting = Background {
            try run("coffer run --wait 50 --env P=a/b#user --file F=a/b -- sh -c 'echo $P; wc -l <$F'")
        }
        sleepSeconds(0.5)
        #expect(try daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(try waiting.wait().text == "me\n2\n")
    }

    @Test func `a program that is missing is 127, and one that can't run 126, before a secret is read`() throws {
        let made = try run(
            "coffer lock --now; echo '#!/no/such' >interpreter; echo hi >text; chmod +x interpreter text; touch plain; mkdir folder"
        )
        #expect(made.status == 0)
        for (program, status, words) in [
            ("no-such-program", 127, "no such program"), ("./no-such", 127, "no such program"), ("''", 127, "no such"),
            ("./plain", 126, "permission"), ("./folder", 126, "it is a directory"),
        ] { try expect("coffer run --env P=a/b -- \(program)", status: Int32(status), words) }
        try expect("coffer run -- ./interpreter", status: 126, "the interpreter that it names does not exist")
        try expect("coffer run -- ./text", status: 126, "no shell is used")
        let long = "{ printf A=; head -c 131070 /dev/zero | tr '\\0' x; } >long"
        try expect("\(long); coffer run --env-file long -- true", status: 126, "too large")
    }

    @Test(
        arguments: [
            ("--env P=a/b --env P=a/b", "'P' is set twice"), ("--env P=a/b --file P=a/b", "'P' is set twice"),
            ("--env-file vars --env A=a/b", "'A' is set twice"),
            ("--env-file twice", "'twice', line 3: the variable 'A'"),
            ("--env 1P=a/b", "'1P' is no name of a variable"), ("--env =a/b", "no name of a variable"),
            ("--env P-Q=a/b", "no name of a variable"), ("--env Pé=a/b", "no name of a variable"),
            ("--env P", "expected VAR=NAME"), ("--env P=", "bad name"), ("--env P=#x", "bad name"),
            ("--file P", "expected VAR=NAME"), ("--env-file words", "'words', line 2: expected VAR=value"),
            ("--env-file open", "line 1: can't read the field 'A': its quotes do not end"),
            ("--env-file behind", "line 1: text follows the quotes of 'A'"), ("--env-file huge", "more than 131072"),
            ("--env-file names", "line 1: what is before '=' is no name of a variable"),
        ]
    )
    func `bad variables are 64, and nothing is started`(options: String, words: String) throws {
        for (name, text) in [
            ("vars", "A=1\n"), ("twice", "A=1\n\nA=2\n"), ("words", "A=1\nhunter2\n"), ("open", "A=\"hunter2\n"),
            ("behind", "A='x' hunter2\n"), ("names", "hunter2 x=1\n"),
        ] { try daemon.directory.write(Array(text.utf8), to: name) }
        try daemon.directory.write(Array(repeating: 10, count: 200_000), to: "huge")
        try expect("coffer run \(options) -- echo started", status: 64, words)
    }

    @Test func `an unreadable file of variables is 74, and a missing mark 64`() throws {
        try expect("coffer run --env-file no-such -- echo started", status: 74, "'no-such'")
        try expect("coffer run --env P=a/b echo started", status: 64, "-- <cmd>")
        try expect("coffer run --env P=a/b --", status: 64, "-- <cmd>")
    }

    @Test func `an item of another group is found by --group`() throws {
        #expect(try run("printf there | coffer put x --group other").status == 0)
        #expect(try run("coffer run --env P=x --group other -- sh -c 'echo $P'").text == "there\n")
        try expect("coffer run --env P=x -- echo started", status: 66, "'x'")
    }

    // MARK: Where no secret is seen

    /// Every secret is in the vault; none is in what the system shows of a process that is coffer.
    @Test func `no command line and no environment of coffer has a secret while it reads and waits`() throws {
        let sweep = Shared((count: 0, finds: [String]()))
        let isOver = Shared(false)
        let sweeper = Background {
            while !isOver.value { sweep.change { Self.sweep(&$0) } }
        }
        _ = try daemon.connect().lock(graceSeconds: 0)
        let waiting = Background { try run("coffer run --wait 50 --env P=a/b --file F=a/b --stdin a/b -- true") }
        sleepSeconds(0.5)
        #expect(try daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(try waiting.wait().status == 0)
        for _ in 0..<10 {
            #expect(try run("coffer run --env P=a/b#password --file F=a/b -- true").status == 0)
        }
        isOver.value = true
        try sweeper.wait()
        #expect(sweep.value.count > 20 && sweep.value.finds.isEmpty, "\(sweep.value)")
    }

    /// Looks at every process that is `coffer`.
    private static func sweep(_ result: inout sending (count: Int, finds: [String])) {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for number in processes where Int(number) != nil {
            let program = { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/exe") }
            guard program()?.hasSuffix("/coffer") == true else { continue }
            for place in ["cmdline", "environ"] {
                let bytes = FileManager.default.contents(atPath: "/proc/\(number)/\(place)") ?? Data()
                // It may have become the program meanwhile, whose environment has the secret.
                guard program()?.hasSuffix("/coffer") == true else { continue }
                result.count += 1
                if bytes.range(of: Data(secret.utf8)) != nil { result.finds.append("\(number)/\(place)") }
            }
        }
    }
}
