import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The verbs below `coffer file` that go through handles, as a person and a script use them.
@Suite struct FileVerbsTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-o", "pipefail", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    private func expect(_ daemon: DaemonProcess, _ line: String, _ text: String = "") throws {
        let result = try run(daemon, line)
        #expect(result.status == 0, "\(line): \(result.errors)")
        #expect(result.text == text, "\(line)")
    }

    private func expect(_ daemon: DaemonProcess, _ line: String, endsWith status: Int32, _ words: String = "") throws {
        let result = try run(daemon, line)
        #expect(result.status == status, "\(line): \(result.errors)")
        // No text contains the empty one, for Foundation.
        let isTold = words.isEmpty || result.errors.contains(words)
        #expect(isTold, "\(line): \(result.errors)")
        #expect(result.text == "", "\(line)")
    }

    // MARK: Contents

    @Test func `a file is created, read, written, appended to and truncated`() throws {
        let daemon = try vault()
        try expect(daemon, "printf 'hello, world' | coffer file create notes/a")
        try expect(daemon, "coffer file read notes/a", "hello, world")
        try expect(daemon, "printf HELLO | coffer file write notes/a")
        try expect(daemon, "printf W | coffer file write notes/a --offset 7")
        try expect(daemon, "printf '!' | coffer file append notes/a")
        try expect(daemon, "coffer file read notes/a", "HELLO, World!")
        try expect(daemon, "coffer file read notes/a --offset 7 --length 5", "World")
        try expect(daemon, "coffer file read notes/a --offset 7 --length 500", "World!")
        try expect(daemon, "coffer file read notes/a --offset 500", "")
        try expect(daemon, "coffer file truncate notes/a 5")
        try expect(daemon, "coffer file read notes/a", "HELLO")
        try expect(daemon, "coffer file truncate notes/a 7")
        try expect(daemon, "coffer file read notes/a | od -An -c | tr -d ' \\n'", "HELLO\\0\\0")
        try expect(daemon, "printf new | coffer file write notes/a --truncate && coffer file read notes/a", "new")
        try expect(daemon, "printf x | coffer file write b --create --offset 2 && coffer file read b | wc -c", "3\n")
        try expect(daemon, "coffer file create empty </dev/null && coffer file read empty", "")
        try expect(daemon, "coffer get notes/a", "new")
    }

    @Test(arguments: [0, 1, 65_536, 262_144, 262_145, 1_000_003])
    func `content comes back byte for byte, from a file and from a pipe`(count: Int) throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(count)
        try daemon.directory.write(content, to: "source")
        try expect(daemon, "coffer file create a source && coffer file read a | cmp - source")
        try expect(daemon, "cat source | coffer file create b && coffer file read b --output copy && cmp copy source")
        try expect(daemon, "coffer file append b source && coffer file read b | cmp - <(cat source source)")
        try expect(daemon, "stat -c %a copy", "600\n")
    }

    @Test func `creating again puts the content in place, and keeps the class`() throws {
        let daemon = try vault()
        try expect(daemon, "printf long-content | coffer file create a --class complete")
        let again = try run(daemon, "printf new | coffer file create a --class none")
        #expect(again.status == 0)
        #expect(again.errors.hasPrefix("warning: 'a' existed, and can be read while unlocked as before"))
        try expect(daemon, "coffer file read a", "new")
        #expect(try daemon.connect().show(try ItemName("a")).protection == .file(.complete))
        try expect(
            daemon,
            "printf other | coffer file create a --exclusive",
            endsWith: 73,
            "there is a file or a directory 'a' already"
        )
        try expect(daemon, "coffer file read a", "new")
    }

    // MARK: Failures

    @Test func `each failure has its exit code`() throws {
        let daemon = try vault()
        try expect(daemon, "coffer file read nothing", endsWith: 66, "there is no file 'nothing'")
        try expect(daemon, "printf x | coffer file write nothing", endsWith: 66)
        try expect(daemon, "printf x | coffer file append nothing", endsWith: 66)
        try expect(daemon, "coffer file truncate nothing 1", endsWith: 66)
        try expect(daemon, "coffer file create a nowhere", endsWith: 74, "can't read 'nowhere'")
        try expect(daemon, "coffer file read a", endsWith: 66)
        try expect(daemon, "printf x | coffer file create a --class mine", endsWith: 64)
        try expect(daemon, "printf x | coffer file create /a", endsWith: 64)
        try expect(daemon, "printf x | coffer file create a && coffer file truncate a 1099511627777", endsWith: 64)
        try expect(daemon, "coffer file read a --offset x", endsWith: 64)
        try expect(daemon, "printf xx | coffer file write a --offset 1099511627775", endsWith: 64, "1 TiB")
        try expect(daemon, "coffer file read a --output nowhere/b", endsWith: 74)
        try expect(daemon, "coffer file read a >/dev/full", endsWith: 74)
        try expect(daemon, "coffer file read a", "x")
    }

    @Test func `while locked, the oracle says what is done`() throws {
        let daemon = try vault()
        try expect(daemon, "printf x | coffer file create a --class complete")
        try expect(daemon, "printf x | coffer file create b --class completeUnlessOpen")
        try expect(daemon, "coffer lock --now", "locked\n")
        try expect(daemon, "coffer file read a", endsWith: 75, "hint: run 'coffer unlock'")
        try expect(daemon, "printf y | coffer file append b", endsWith: 75)
        try expect(daemon, "printf y | coffer file create c --class complete", endsWith: 75)
        try expect(daemon, "printf recorded | coffer file create d --class completeUnlessOpen")
        try expect(daemon, "coffer file read d", endsWith: 75)
        try daemon.connect().unlock()
        try expect(daemon, "coffer file read d", "recorded")
    }

    @Test func `a write that a lock ends says how much was written`() throws {
        let daemon = try vault()
        let content = pseudoRandomBytes(600_000)
        try daemon.directory.write(content, to: "source")
        try expect(
            daemon,
            """
            { head -c 300000; sleep 0.3; coffer lock --now >/dev/null; cat; } <source \
            | coffer file create a --class complete
            """,
            endsWith: 75,
            "the vault is locked; 262144 bytes were written before that\nhint: "
        )
        try daemon.connect().unlock()
        try expect(daemon, "coffer file read a | cmp - <(head -c 262144 source)")
    }

    @Test func `a second writer is refused, or waits`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let file = try client.openFile(try ItemName("a"), for: .write, .create)
        try expect(daemon, "printf x | coffer file append a", endsWith: 69, "'a' is open for writing elsewhere")
        try expect(daemon, "coffer file truncate a 0", endsWith: 69)
        let waiting = Background { try self.run(daemon, "printf later | coffer file append a --wait") }
        sleepSeconds(0.5)
        try file.put(Array("first, ".utf8))
        try file.close()
        #expect(try waiting.wait().status == 0)
        try expect(daemon, "coffer file read a", "first, later")
    }

    @Test func `names are printed unchanged, and never interpreted`() throws {
        let daemon = try vault()
        try expect(daemon, "printf x | coffer file create $'a\\e[31m/b c'")
        try expect(daemon, "coffer file read $'a\\e[31m/b c'", "x")
        try expect(daemon, "coffer file read $'\\e[31m'", endsWith: 66, "'\\u{1B}[31m'")
    }

    // MARK: Terminals

    @Test func `on a terminal, content is asked for without echo, and binary is not shown`() throws {
        let daemon = try vault()
        let created = try onTerminal(daemon, "coffer file create a")
        #expect(created.status == 0)
        try expect(daemon, "coffer file read a", "")
        let written = try onTerminal(daemon, "coffer file write a", [("Content of 'a': ", "typed")])
        #expect(written.status == 0)
        #expect(!written.shown.contains("typed"))
        let shown = try onTerminal(daemon, "coffer file read a")
        #expect(shown.shown.contains("typed\r\n"))
        try expect(daemon, "printf 'a\\e[2Jb' | coffer file create b")
        let refused = try onTerminal(daemon, "coffer file read b")
        #expect(refused.status == 64)
        #expect(refused.shown.contains("'b' is binary, and this is a terminal"))
        try expect(daemon, "head -c 262145 /dev/zero | tr '\\0' x | coffer file create c")
        let large = try onTerminal(daemon, "coffer file read c")
        #expect(large.status == 64)
        let part = try onTerminal(daemon, "coffer file read c --length 10")
        #expect(part.shown.contains("xxxxxxxxxx\r\n"))
    }
}
