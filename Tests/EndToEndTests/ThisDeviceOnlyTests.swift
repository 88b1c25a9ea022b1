import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A vault that goes to another machine without its device key, by its recovery key.
@Suite struct `What is ThisDeviceOnly` {
    private static let kept = ["WhenUnlocked", "AfterFirstUnlock", "Always"]
    private static let left = [
        "WhenUnlockedThisDeviceOnly", "AfterFirstUnlockThisDeviceOnly", "AlwaysThisDeviceOnly",
        "WhenPasscodeSetThisDeviceOnly",
    ]

    /// A vault with one item of each accessibility, each replaced once, which was moved.
    private func moved() throws -> (daemon: DaemonProcess, recovery: (text: String, errors: String)) {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("correct horse".utf8), to: "pass")
        try daemon.directory.write(Array("another horse".utf8), to: "other")
        _ = try run(daemon, "coffer init --kdf interactive --recovery-key-file key --passcode-fd 3 3<pass")
        for name in Self.kept + Self.left {
            for secret in ["first", "second"] {
                _ = try run(daemon, "printf \(secret) | coffer put i/\(name) --accessible \(name)")
            }
        }
        daemon.stop()
        try FileManager.default.removeItem(atPath: daemon.statePath + "/device.key")
        try daemon.restart()
        let change = "coffer passcode change --kdf interactive --recovery-key-fd 3 --new-passcode-fd 4 3<key 4<other"
        let moved = try run(daemon, change)
        return (daemon, (moved.text, moved.errors))
    }

    private func run(_ daemon: DaemonProcess, _ line: String) throws -> CommandResult {
        let result = try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
        try #require(result.status == 0, "\(line): \(result.errors)")
        return result
    }

    @Test func `is left behind by a recovery key, named, and all else is there`() throws {
        let (daemon, recovery) = try moved()
        #expect(recovery.text == "changed the passcode; the vault is this machine's now\n")
        #expect(recovery.errors.contains("4 items can never be opened again without the device key before:\n"))
        for name in Self.left { #expect(recovery.errors.contains("  i/\(name)\n")) }
        for name in Self.kept {
            #expect(try daemon.coffer(["get", "i/\(name)"]).text == "second")
            #expect(!recovery.errors.contains("  i/\(name)\n"))
        }
        let listing = try daemon.coffer(["list", "--long"]).text
        for name in Self.left {
            let refused = try daemon.coffer(["get", "i/\(name)"])
            #expect(refused.status == 69)
            #expect(refused.errors.contains("'i/\(name)' was left behind: it belongs to the device"))
            #expect(refused.errors.contains("hint: it can never be opened again: remove it, or store a new secret"))
            let shown = try daemon.coffer(["show", "i/\(name)"]).text
            #expect(shown.contains("never: the device key that opens it is lost"))
            #expect(listing.contains("i/\(name)  left behind\n"))
        }
    }

    @Test func `stays left behind over another change and a restart, and is removed locked or not`() throws {
        let (daemon, _) = try moved()
        try daemon.directory.write(Array("a third horse".utf8), to: "third")
        _ = try run(daemon, "coffer passcode change --passcode-fd 3 --new-passcode-fd 4 3<other 4<third")
        daemon.stop()
        try daemon.restart()
        let name = Self.left[0]
        #expect(try daemon.coffer(["get", "i/\(name)"]).status == 75, "before the first unlock its name is sealed")
        _ = try run(daemon, "coffer unlock --passcode-fd 3 3<third")
        _ = try run(daemon, "coffer lock --now")
        #expect(try daemon.coffer(["get", "i/\(name)"]).status == 69, "it says so also while locked")
        _ = try run(daemon, "coffer remove i/\(name)")
        #expect(try daemon.coffer(["get", "i/\(name)"]).status == 66)
        _ = try run(daemon, "coffer unlock --passcode-fd 3 3<third")
        _ = try run(daemon, "coffer move i/\(Self.left[1]) j")
        #expect(try daemon.coffer(["get", "j"]).status == 69, "another name does not make it readable")
        #expect(try daemon.coffer(["protect", "j", "WhenUnlocked"]).status == 69)
        _ = try run(daemon, "coffer doctor")
    }

    @Test(arguments: left)
    func `is of this device again with a new secret, without the values before`(name: String) throws {
        let (daemon, _) = try moved()
        _ = try run(daemon, "printf third | coffer put i/\(name) --accessible \(name)")
        #expect(try daemon.coffer(["get", "i/\(name)"]).text == "third")
        #expect(try daemon.coffer(["keychain", "history", "--service", "i", "--account", name]).text == "")
        daemon.stop()
        try daemon.restart()
        _ = try run(daemon, "coffer unlock --recovery-key-fd 3 3<key")
        let again = try daemon.coffer(["get", "i/\(name)"]).text
        #expect(again == "third", "beside its device key, the recovery key opens it")
    }

    @Test func `is counted by a query that wants secrets, and marked in one that does not`() throws {
        let (daemon, _) = try moved()
        let client = try daemon.connect()
        let query = KeychainQuery(.genericPassword, [.service: .text("i")])
        let page = try client.call(KeychainFindParameters(query, limit: .all, returns: [.attributes, .data])).value
        #expect(page.items.count { $0.byteCount != nil } == 3)
        #expect(page.items.count(where: \.isLeftBehind) == 4)
        #expect(page.leftBehindCount == 4)
        let marked = try run(daemon, "coffer keychain find --service i --all --json").text
        #expect(marked.components(separatedBy: "\"leftBehind\":true").count == 5)
        let one = try daemon.coffer(["keychain", "find", "--service", "i", "--account", Self.left[0]])
        #expect(one.status == 69)
    }
}
