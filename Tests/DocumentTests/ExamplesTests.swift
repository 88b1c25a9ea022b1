import Foundation
import Testing

/// The programs of `proto-docs/examples`, run as they stand there.
@Suite struct ExamplesTests {
    private static let passcode = Data("correct horse battery staple\n".utf8)

    private func run(
        _ name: String,
        _ daemon: ExampleDaemon,
        _ arguments: [String],
        input: Data = Data()
    ) throws
        -> Programs.Outcome
    {
        let path = Page.root.appending(path: "proto-docs/examples/\(name)").path
        let words = ["COFFER_SOCKET=\(daemon.socket)", path] + arguments
        return try Programs.run(URL(filePath: "/usr/bin/env"), words, input: input)
    }

    private func text(_ daemon: ExampleDaemon, _ arguments: String..., input: Data = Data()) throws -> String {
        let outcome = try run("coffer.py", daemon, arguments, input: input)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.text
    }

    @Test func `the client in Python has fewer than 150 lines`() throws {
        let path = Page.root.appending(path: "proto-docs/examples/coffer.py")
        let lines = try String(contentsOf: path, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.count < 150)
        #expect(
            lines.allSatisfy {
                !$0.hasPrefix("import ")
                    || ["array", "getpass", "json", "os", "socket", "struct", "sys"].contains($0.dropFirst(7))
            }
        )
    }

    @Test(.enabled(if: ProtocolExamplesTests.hasPython))
    func `the client in Python makes, stores, locks, is refused, unlocks and fetches`() throws {
        let daemon = try ExampleDaemon()
        #expect(try text(daemon, "status") == "noVault\n")
        let recoveryKey = try text(daemon, "init", input: Self.passcode)
        #expect(recoveryKey.count { $0 == "-" } == 8)
        let secret = Data("s3cr3t".utf8)
        #expect(try text(daemon, "put", "github.com/token", input: secret) == "keychain R6\n")
        let large = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let (file, back) = (daemon.folder.appending(path: "large"), daemon.folder.appending(path: "back"))
        try large.write(to: file)
        #expect(try text(daemon, "store", "backup.tar", file.path) == "file R5\n")
        #expect(try text(daemon, "lock") == "locked\n")
        let refused = try run("coffer.py", daemon, ["get", "github.com/token"])
        #expect(refused.status == 75)
        #expect(
            refused.errors
                == "error: can't read 'github.com/token': the vault is locked\nhint: run 'coffer unlock' and repeat the command\n"
        )
        #expect(try run("coffer.py", daemon, ["unlock"], input: Data("wrong\n".utf8)).status == 77)
        #expect(try text(daemon, "unlock", input: Self.passcode) == "unlocked\n")
        #expect(try run("coffer.py", daemon, ["get", "github.com/token"]).output == secret)
        _ = try text(daemon, "fetch", "backup.tar", back.path)
        #expect(try Data(contentsOf: back) == large)
        _ = try text(daemon, "fetch", "github.com/token", back.path)
        #expect(try Data(contentsOf: back) == secret)
        #expect(try run("coffer.py", daemon, ["get", "nobody"]).status == 66)
        #expect(try run("coffer.py", daemon, []).status == 1)
    }

    @Test(.enabled(if: ProtocolExamplesTests.hasPython))
    func `the client in Python sees the vault lock and unlock`() throws {
        let daemon = try ExampleDaemon()
        _ = try text(daemon, "init", input: Self.passcode)
        let output = daemon.folder.appending(path: "events")
        try Data().write(to: output)
        let watching = Process()
        watching.executableURL = Page.root.appending(path: "proto-docs/examples/coffer.py")
        watching.arguments = ["watch"]
        watching.environment = ["PATH": "/usr/bin:/bin", "COFFER_SOCKET": daemon.socket]
        watching.standardOutput = try FileHandle(forWritingTo: output)
        watching.standardInput = FileHandle.nullDevice
        try watching.run()
        defer {
            kill(watching.processIdentifier, SIGKILL)
            watching.waitUntilExit()
        }
        // Whether it watches already is not visible: lock and unlock until it has reported both.
        let expected =
            "protectedDataWillBecomeUnavailable\nprotectedDataDidBecomeUnavailable\nprotectedDataDidBecomeAvailable\n"
        var seen = ""
        for _ in 0..<100 where !seen.contains(expected) {
            _ = try text(daemon, "lock")
            _ = try text(daemon, "unlock", input: Self.passcode)
            seen = try String(contentsOf: output, encoding: .utf8)
        }
        #expect(seen.contains(expected))
    }

    @Test func `the exchange in the shell asks, and prints the answer`() throws {
        let daemon = try ExampleDaemon()
        let status = try run("exchange.sh", daemon, ["vault.status"])
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.text.hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"state\":\"noVault\""))
        _ = try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"])
        let missing = try run("exchange.sh", daemon, ["item.show", "{\"name\":\"nobody\"}"])
        #expect(missing.text.contains("\"code\":\"itemNotFound\""))
    }

    @Test func `the client in Swift stores, fetches, streams and watches`() throws {
        let daemon = try ExampleDaemon()
        let passcode = Data("correct horse\n".utf8)
        let made = try daemon.coffer(["init", "--no-recovery-key", "--passcode-fd", "0"], input: passcode)
        #expect(made.status == 0, "\(made.errors)")
        let outcome = try Programs.run(Programs.program("client-example"), [daemon.socket], input: passcode)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.text == """
                example/one: 25 bytes, sum 2393
                example/three: 27 bytes, sum 2607
                example/two: 25 bytes, sum 2417
                there is no item 'example/four'
                example/large: 1000000 bytes in the file store
                protectedDataWillBecomeUnavailable
                protectedDataDidBecomeUnavailable
                protectedDataDidBecomeAvailable

                """
        )
    }

    @Test func `the client in Swift makes a vault, and calls what has no function of its own`() throws {
        let daemon = try ExampleDaemon()
        let passcode = Data("correct horse\n".utf8)
        let outcome = try Programs.run(Programs.program("client-example"), [daemon.socket], input: passcode)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(14) == [
                "made a vault; its recovery key has 44 characters",
                "the second recovery key opens slot 3",
                "slot 1: passcode",
                "slot 2: recoveryKey",
                "slot 3: recoveryKey",
                #"found [for: "the example"], with a secret of 6 bytes"#,
                "changed 1",
                "lent may be read by uid:1 3 times",
                "tree/deep/",
                "tree/deep/file: 7 bytes",
                #"recorded: ["access.allow", "keychain.add", "vault.init"]"#,
                "the audit is sound",
                "lent: 9 bytes, and so many came: 9",
                "example/one: 25 bytes, sum 2393",
            ]
        )
    }

    @Test func `every line of code on the client's page is in its examples`() throws {
        let folder = Page.root.appending(path: "Sources/client/Client/CofferClient.docc")
        let page = try String(contentsOf: folder.appending(path: "UsingTheClient.md"), encoding: .utf8)
        let examples = Page.root.appending(path: "proto-docs/examples/swift")
        let source = try ["Example.swift", "Methods.swift"].flatMap { name in
            try String(contentsOf: examples.appending(path: name), encoding: .utf8).split(separator: "\n").map(trimmed)
        }
        let blocks = page.split(separator: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let lines = blocks.flatMap { $0.split(separator: "\n").dropFirst() }.map(trimmed).filter { !$0.isEmpty }
        #expect(lines.count > 20)
        for line in lines { #expect(source.contains(line), "\(line)") }
    }

    private func trimmed(_ line: Substring) -> String { line.trimmingCharacters(in: .whitespaces) }
}
