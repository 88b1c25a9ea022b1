import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import Foundation
import Testing

/// What does not fit, and what is damaged, as the command line tells it: what failed, why, and what to do.
@Suite struct KeychainLimitsTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        return daemon
    }

    private func add(_ daemon: DaemonProcess, _ arguments: [String], _ secret: [UInt8] = [1]) throws -> CommandResult {
        try daemon.coffer(["keychain", "add"] + arguments, input: secret)
    }

    private func expectTooLarge(_ result: CommandResult, limit: Int) {
        #expect(result.status == 64)
        #expect(result.text == "")
        #expect(result.errors.contains("error: ") && result.errors.contains("\(limit)"), "\(result.errors)")
        #expect(result.errors.contains("hint: "), "\(result.errors)")
    }

    @Test func `one byte too many of a secret is refused, with the limit and what to do`() throws {
        let daemon = try vault()
        let full = pseudoRandomBytes(32_768)
        #expect(try add(daemon, ["--account", "a"], full).status == 0)
        #expect(try daemon.coffer(["keychain", "find", "--account", "a"]).output == full)
        expectTooLarge(try add(daemon, ["--account", "b"], full + [0]), limit: 32_768)
        expectTooLarge(
            try daemon.coffer(["keychain", "update", "--account", "a", "--secret"], input: full + [0]),
            limit: 32_768
        )
        #expect(try daemon.coffer(["keychain", "find", "--account", "a"]).output == full)
    }

    @Test func `attributes that are too long or too many are refused, with the limit and what to do`() throws {
        let daemon = try vault()
        #expect(try add(daemon, ["--label", String(repeating: "x", count: 3900)]).status == 0)
        expectTooLarge(
            try add(daemon, ["--account", "b", "--label", String(repeating: "x", count: 4096)]),
            limit: 4096
        )
        let user = (0..<64).flatMap { ["--attribute", "n\($0)=v"] }
        #expect(try add(daemon, ["--account", "c"] + user).status == 0)
        expectTooLarge(try add(daemon, ["--account", "d"] + user + ["--attribute", "more=v"]), limit: 64)
        expectTooLarge(
            try daemon.coffer(["keychain", "update", "--account", "c", "--set-attribute", "more=v"]),
            limit: 64
        )
    }

    @Test(arguments: [[], [0], [10], [13, 10, 13, 10], [0xFF, 0xFE, 0], Array(0...255)] as [[UInt8]])
    func `any bytes are a secret`(secret: [UInt8]) throws {
        let daemon = try vault()
        #expect(try add(daemon, ["--account", "a"], secret).status == 0)
        #expect(try daemon.coffer(["keychain", "find", "--account", "a"]).output == secret)
        try daemon.directory.write([], to: "out")
        #expect(try daemon.coffer(["keychain", "find", "--account", "a", "--output", "out"]).status == 0)
        #expect(daemon.directory.contents("out") == secret)
    }

    @Test func `a damaged item is named and ends with 65, and every other one answers`() throws {
        let daemon = try vault()
        for name in ["a", "b", "c"] {
            #expect(try add(daemon, ["--service", "s", "--account", name], Array(name.utf8)).status == 0)
        }
        #expect(daemon.stop() == 0)
        do {
            let connection = try Connection(path: "\(daemon.statePath)/vault.sqlite")
            try connection.execute(
                """
                UPDATE keychain_items SET (wrapped_key, secret) =
                    (SELECT wrapped_key, secret FROM keychain_items WHERE id = 2) WHERE id = 1
                """
            )
        }
        let again = try DaemonProcess(in: daemon.directory)
        for arguments in [["keychain", "find", "--account", "a"], ["get", "s/a"], ["show", "s/a"]] {
            let damaged = try again.coffer(arguments)
            #expect(damaged.status == 65)
            #expect(damaged.errors.contains("s/a"), "\(damaged.errors)")
            #expect(damaged.text == "")
        }
        for name in ["b", "c"] {
            #expect(try again.coffer(["keychain", "find", "--account", name]).text == name)
            #expect(try again.coffer(["get", "s/\(name)"]).text == name)
        }
        let all = try again.coffer(["keychain", "find", "--all"])
        #expect(all.status == 0)
        #expect(all.text.split(separator: "\n").count == 2)
        let list = try again.coffer(["list"])
        #expect(list.status == 65)
        #expect(list.text == "s/b\ns/c\n")
    }
}
