import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// `coffer edit`.
@Suite struct EditTests {
    private let daemon: DaemonProcess
    /// A directory in memory.
    private let runtime = "/dev/shm/coffer-edit-\(UUID().uuidString)"

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
        #expect(try run("printf hunter2 | coffer put a/b.env").status == 0)
    }

    /// Runs a line of a shell; `edit COMMANDS` edits `a/b.env` by a shell script, in which `$1` is the file.
    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", Self.functions + line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "XDG_RUNTIME_DIR": runtime,
                "PATH": "\(Project.binaries):/usr/bin:/bin",
            ],
            directory: daemon.directory.path
        )
    }

    private static let functions = """
        edit() { printf '#!/bin/sh\\n%s\\n' "$1" >editor; chmod +x editor; EDITOR="$PWD/editor" coffer edit "${@:2}" a/b.env; }

        """

    private var content: String { get throws { try run("coffer get a/b.env").text } }
    private var isClean: Bool {
        get throws {
            defer { try? FileManager.default.removeItem(atPath: runtime) }
            return try FileManager.default.contentsOfDirectory(atPath: runtime).isEmpty
        }
    }

    @Test func `what the editor saves is stored, and the file was private, in memory, and is gone`() throws {
        let look =
            #"cat "$1"; stat -c %a "$1" "$(dirname "$1")"; stat -f -c %T "$1"; echo "${1##*.}"; echo new >"$1"; cp "$1" "$1~""#
        let edited = try run("edit '\(look)'")
        #expect(edited.text == "hunter2600\n700\ntmpfs\nenv\nreplaced 'a/b.env'\n", "\(edited.text)\(edited.errors)")
        // The line end is the editor's.
        #expect(try content == "new")
        #expect(try isClean)
    }

    @Test func `the file is gone from a directory whose name is not ASCII`() throws {
        let folder = "\(runtime)/läufer"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let edited = try run("export XDG_RUNTIME_DIR='\(folder)'; edit 'echo new >\"$1\"'")
        #expect(edited.status == 0, "\(edited.errors)")
        #expect(try content == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        try FileManager.default.removeItem(atPath: runtime)
    }

    @Test func `a line end that was there stays`() throws {
        #expect(try run("printf 'a: 1\\nb: 2\\n' | coffer put a/b.env").status == 0)
        #expect(
            try run(#"edit 'sed -i s/2/3/ "$1"' --json"#).text == #"{"name":"a/b.env","replaced":true,"changed":true}"#
                + "\n"
        )
        #expect(try content == "a: 1\nb: 3\n")
        #expect(try isClean)
    }

    @Test(
        arguments: [
            ("true", 0, "nothing has changed, and nothing was stored"),
            (#"echo hunter2 >"$1""#, 0, "nothing has changed"),
            (#"echo new >"$1"; exit 1"#, 74, "failed, and nothing was stored"), (#": >"$1""#, 64, "the text is empty"),
            (#"head -c 40000 /dev/zero >"$1""#, 64, "more than 32768 bytes"), (#"kill $$"#, 74, "nothing was stored"),
            (#"echo new >"$1"; printf other | coffer put a/b.env"#, 73, "another client has changed it"),
        ] as [(String, Int32, String)]
    )
    func `nothing is stored`(commands: String, status: Int32, words: String) throws {
        let edited = try run("edit '\(commands)'")
        #expect(edited.status == status, "\(edited.errors)")
        #expect((edited.text + edited.errors).contains(words), "\(edited.text)\(edited.errors)")
        #expect(try ["hunter2", "other"].contains(content))
        #expect(try isClean)
    }

    @Test func `a new name makes a new secret`() throws {
        let made = try run(#"EDITOR='sh -c "echo new >\$0"' coffer edit new/name"#)
        #expect(made.text == "stored 'new/name'\n", "\(made.errors)")
        #expect(try run("coffer get new/name").text == "new")
        #expect(try isClean)
    }

    @Test func `the accessibility of the secret stays`() throws {
        #expect(try run("coffer protect a/b.env AfterFirstUnlock").status == 0)
        #expect(try run(#"edit 'echo new >"$1"'"#).status == 0)
        #expect(try run("coffer show a/b.env").text.contains("after first unlock\n"))
        #expect(try isClean)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT, SIGINT])
    func `a signal ends it, stores nothing and leaves no file`(signal: Int32) throws {
        let editor = "sh -c 'echo new >\\$0; echo is open; exec sleep 60'"
        let ended = try onTerminal(
            daemon,
            "export XDG_RUNTIME_DIR=\(runtime) EDITOR=\"\(editor)\"; trap : INT QUIT TERM HUP; coffer edit a/b.env; echo ended by $?",
            [("is open", .signal(signal))]
        )
        // SIGINT and SIGQUIT are the editor's, which they end here.
        let status = [SIGINT, SIGQUIT].contains(signal) ? 74 : 128 + signal
        #expect(ended.shown.contains("ended by \(status)\r\n"), "\(ended.shown)")
        #expect(try content == "hunter2")
        #expect(try isClean)
    }

    @Test func `a vault that was locked meanwhile is unlocked before the text is stored`() throws {
        let editor = "sh -c 'echo new >\\$0; coffer lock --now'"
        let asked = try onTerminal(
            daemon,
            "export XDG_RUNTIME_DIR=\(runtime) EDITOR=\"\(editor)\"; coffer edit a/b.env",
            [("Passcode, to store what you typed", "wrong"), ("Passcode, to store", .line(DaemonProcess.passcode))]
        )
        #expect(asked.status == 0 && asked.shown.contains("replaced 'a/b.env'"), "\(asked.shown)")
        #expect(try content == "new")
        let dropped = try run(#"edit 'echo newer >"$1"; coffer lock --now'"#)
        #expect(dropped.status == 75 && dropped.errors.contains("what you typed was not stored"), "\(dropped.errors)")
        #expect(try isClean)
    }
}
