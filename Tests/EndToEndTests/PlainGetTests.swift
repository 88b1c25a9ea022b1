import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// `coffer get NAME` is carried out before the arguments are parsed, and has to be the same verb.
@Suite struct PlainGetTests {
    private static func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("plain", [UInt8]("secret\n".utf8))
        try client.put("a/b", [0, 255])
        _ = try daemon.coffer(["put", "large"], input: [UInt8](repeating: 7, count: 300_000))
        _ = try daemon.coffer(["put", "old", "--expires", "2020-01-01"], input: [1])
        let login = ["keychain", "add", "--class", "internet-password", "--server", "s", "--account", "n"]
        _ = try daemon.coffer(login, input: [2])
        return daemon
    }

    /// The same verb with an option that only the argument parser reads.
    private func expectSame(_ daemon: DaemonProcess, _ name: String) throws {
        let plain = try daemon.coffer(["get", name])
        let parsed = try daemon.coffer(["get", "--timeout", "30", name])
        #expect(plain.output == parsed.output, "\(name)")
        #expect(plain.status == parsed.status, "\(name)")
        #expect(plain.errors == parsed.errors, "\(name)")
    }

    @Test(arguments: [
        "plain", "a/b", "large", "old", "a", "missing", "login:n@s", "", "/", "a//b", "--help", "-h", "key:none",
        "reference:00",
    ])
    func `a plain get prints and reports what a parsed one does`(name: String) throws {
        try expectSame(try Self.vault(), name)
    }

    @Test func `a plain get of a locked item reports what a parsed one does`() throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["lock"]).status == 0)
        try expectSame(daemon, "plain")
    }

    @Test func `a plain get without a daemon reports what a parsed one does`() throws {
        let daemon = try Self.vault()
        daemon.stop()
        let plain = try daemon.coffer(["get", "plain", "--no-start"])
        let parsed = try daemon.coffer(["get", "--timeout", "30", "plain", "--no-start"])
        #expect(plain.status != 0 && plain.status == parsed.status)
        #expect(plain.errors == parsed.errors && plain.output.isEmpty)
    }

    @Test func `the audit has a refused plain get once`() throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["get", "missing"]).status == 66)
        let records = try daemon.coffer(["audit", "--json"]).text.split(separator: "\n")
        #expect(records.count { $0.contains(#""item.get""#) && $0.contains("missing") } == 1)
    }
}
