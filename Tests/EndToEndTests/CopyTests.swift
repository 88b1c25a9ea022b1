import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `coffer copy`: with xclip on a real X server, with a program in the place of wl-copy, and through a terminal.
@Suite struct CopyTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        #expect(try run("printf 'hunter2\\nuser: me\\n' | coffer put a/b").status == 0)
    }

    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath,
                "PATH": "\(daemon.directory.appending("bin")):\(Project.binaries):/usr/bin:/bin",
            ],
            directory: daemon.directory.path
        )
    }

    /// Runs a line with an X server of its own.
    private func runWithScreen(_ line: String) throws -> CommandResult {
        try run(
            """
            exec 9>&1; Xvfb -screen 0 64x64x8 -displayfd 5 5>display 9>&- >/dev/null 2>&1 & server=$!
            for i in {1..200}; do [ -s display ] && break; sleep 0.05; done
            export DISPLAY=:$(cat display)
            pasted() { echo "[$(xclip -selection clipboard -out 2>/dev/null)]"; }
            { \(line); } 2>&1; kill $server
            """
        )
    }

    @Test func `a secret is in the clipboard, and is cleared after its time`() throws {
        // A busy machine may read the clipboard only after a short time is over.
        let copied = try runWithScreen(
            """
            coffer copy a/b --field password --for 59s; pasted; pkill -f '[c]lear-clipboard xclip 59'
            coffer copy a/b --field password --for 1s
            for i in {1..600}; do [ "$(pasted)" = '[]' ] && break; sleep 0.1; done; pasted
            """
        )
        let words = "the field 'password' of 'a/b' is in the clipboard, and is cleared in"
        #expect(copied.text == "\(words) 59 s\n[hunter2]\n\(words) 1 s\n[]\n")
    }

    @Test func `what was copied since is not cleared`() throws {
        let copied = try runWithScreen(
            "coffer copy a/b --field user --for 1s; printf other | xclip -selection clipboard -in >/dev/null 2>&1; sleep 2.5; pasted"
        )
        #expect(copied.text.hasSuffix("[other]\n"), "\(copied.text)")
    }

    @Test func `a key of OpenSSH is in the clipboard as OpenSSH writes it`() throws {
        let copied = try runWithScreen(
            """
            ssh-keygen -q -t ed25519 -N '' -C me -f key; coffer keychain add key --class key --label k >/dev/null
            coffer copy key:k --for 0s; umask 077
            for i in {1..100}; do xclip -selection clipboard -out >copy 2>/dev/null && break; sleep 0.05; done
            ssh-keygen -y -f copy | cmp - key.pub && echo same
            """
        )
        #expect(copied.text.hasSuffix("and stays there\nsame\n"), "\(copied.text)")
    }

    @Test func `without a time, it stays, and no process waits`() throws {
        let copied = try runWithScreen("coffer copy a/b --for 0s --json; pasted; pgrep -f '[c]lear-clipboard xclip 0'")
        #expect(copied.text == #"{"name":"a/b","clearedAfter":null}"# + "\n[hunter2\nuser: me]\n")
    }

    @Test(arguments: [true, false])
    func `wl-copy gets it by a pipe, with the mark of a secret if it knows one`(canMark: Bool) throws {
        let script = """
            #!/bin/sh
            [ "$1" = --help ] && echo '\(canMark ? "--sensitive" : "--clear")' && exit
            echo "$@" >>'\(daemon.directory.appending("calls"))'
            cat >>'\(daemon.directory.appending("calls"))'
            """
        try FileManager.default.createDirectory(
            atPath: daemon.directory.appending("bin"),
            withIntermediateDirectories: true
        )
        try daemon.directory.write(Array(script.utf8), to: "bin/wl-copy")
        let line =
            "chmod +x bin/wl-copy; export WAYLAND_DISPLAY=x; coffer copy a/b --field password --for 0s; cat calls"
        let mark = canMark ? "--sensitive " : ""
        #expect(try run(line).text == "\(mark)--type text/plain;charset=utf-8\nhunter2")
    }

    @Test func `a terminal is told to copy it`() throws {
        let shown = try onTerminal(daemon, "coffer copy a/b --field password --osc52")
        #expect(shown.shown.contains("\u{1B}]52;c;aHVudGVyMg==\u{7}"), "\(shown.shown)")
        #expect(shown.shown.contains("is in the clipboard, and stays there") && !shown.shown.contains("hunter2"))
        let refused = try run("coffer copy a/b --osc52")
        #expect(refused.status == 64 && refused.errors.contains("there is no terminal"))
    }

    @Test func `without a clipboard it is 69, and nothing is read`() throws {
        let refused = try run("coffer lock --now; coffer copy a/b")
        #expect(refused.status == 69 && refused.errors.contains("--osc52"), "\(refused.errors)")
        #expect(try run("DISPLAY=:99 coffer copy a/b").status == 75)
        #expect(try run("DISPLAY=:99 coffer copy a/b --for 2y").status == 64)
    }
}
