import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// Names and attributes are bytes, in both stores: two spellings of what looks the same are two names.
@Suite struct NamesTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    /// A daemon with an unlocked vault.
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private func expect(_ daemon: DaemonProcess, _ arguments: [String], input: String = "", _ output: String) throws {
        let result = try daemon.coffer(arguments, input: Array(input.utf8))
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        #expect(result.output == Array(output.utf8), "\(arguments)")
    }

    @Test(arguments: [
        ("password", "password"), ("document", "document"), ("password", "document"), ("document", "password"),
    ])
    func `a put of the other spelling replaces nothing`(first: String, second: String) throws {
        let daemon = try vault()
        for (name, kind) in [(Self.composed, first), (Self.decomposed, second)] {
            let stored = try daemon.coffer(["put", name, "--kind", kind], input: Array("\(kind) \(name)".utf8))
            #expect(stored.status == 0, "\(stored.errors)")
        }
        try expect(daemon, ["get", Self.composed], "\(first) \(Self.composed)")
        try expect(daemon, ["get", Self.decomposed], "\(second) \(Self.decomposed)")
        try expect(daemon, ["list", Self.composed], "\(Self.composed)\n")
        try expect(daemon, ["list"], "\(Self.decomposed)\n\(Self.composed)\n")
        try expect(daemon, ["remove", Self.composed], "")
        try expect(daemon, ["get", Self.decomposed], "\(second) \(Self.decomposed)")
    }

    @Test func `when the first match is locked, the answer is never the secret of another item`() throws {
        let daemon = try vault()
        let add = ["keychain", "add", "--service", "mail"]
        for (account, accessible) in [("anna", "WhenUnlocked"), ("bert", "AfterFirstUnlock")] {
            let added = try daemon.coffer(
                add + ["--account", account, "--accessible", accessible],
                input: Array(account.utf8)
            )
            #expect(added.status == 0, "\(added.errors)")
        }
        try expect(daemon, ["keychain", "find", "--service", "mail"], "anna")
        try expect(daemon, ["lock", "--now"], "locked\n")
        let locked = try daemon.coffer(["keychain", "find", "--service", "mail"])
        #expect(locked.status == 75)
        #expect(locked.output == [])
        #expect(locked.errors.contains("anna"), "\(locked.errors)")
        try expect(daemon, ["keychain", "find", "--service", "mail", "--sort=-creationDate"], "bert")
    }

    @Test func `what an item does not have counts as empty when it is looked for, as when it is added`() throws {
        let daemon = try vault()
        let added = try daemon.coffer(["keychain", "add"], input: Array("nameless".utf8))
        #expect(added.status == 0, "\(added.errors)")
        let web = ["--class", "internet-password"]
        let other = try daemon.coffer(["keychain", "add", "--server", "example.org"] + web, input: Array("web".utf8))
        #expect(other.status == 0, "\(other.errors)")
        let again = try daemon.coffer(["keychain", "add", "--account", "", "--service", ""], input: Array("x".utf8))
        #expect(again.status == 73)
        try expect(daemon, ["keychain", "find", "--account", ""], "nameless")
        try expect(daemon, ["keychain", "find", "--service", "", "--account", ""], "nameless")
        try expect(daemon, ["keychain", "find", "--other", "port=0"] + web, "web")
        let none = try daemon.coffer(["keychain", "find", "--other", "port=1"] + web)
        #expect(none.status == 66)
    }
}
