import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What is removed can be taken back, as it was, for as long as the trash keeps it; and what is destroyed is gone.
@Suite struct TrashTests {
    private func vault(_ arguments: [String] = []) throws -> (daemon: DaemonProcess, client: BlockingClient) {
        let daemon = try DaemonProcess(arguments)
        let client = try daemon.connect()
        try client.makeVault()
        return (daemon, client)
    }

    private func contents(_ daemon: DaemonProcess) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
            .filter { $0.split(separator: "/").last?.count == 32 && !$0.hasPrefix("staging") }
    }

    /// Waits for work that the daemon does after an answer.
    private func eventually(_ isSo: () throws -> Bool) throws {
        #expect(try settles(isSo))
    }

    private static let accessibilities = Accessibility.allCases
    private static let classes = ProtectionClass.allCases

    /// The states in which something may be removed, and how a vault gets there.
    private enum Removal: CaseIterable {
        case unlocked, locked, beforeFirstUnlock
    }

    private func enter(_ removal: Removal, _ daemon: DaemonProcess, _ client: BlockingClient) throws -> BlockingClient {
        switch removal {
        case .unlocked: return client
        case .locked:
            _ = try client.lock(graceSeconds: 0)
            return client
        case .beforeFirstUnlock:
            try daemon.restart()
            return try daemon.connect()
        }
    }

    @Test(arguments: Removal.allCases, accessibilities)
    private func `a secret of each class comes back as it was, in whichever state it was removed`(
        removal: Removal,
        accessibility: Accessibility
    ) throws {
        let (daemon, first) = try vault()
        try first.put("a/old", Array("former".utf8)) { $0.accessibility = accessibility }
        if accessibility != .whenUnlockedDeposit {
            try first.put("a/old", Array("present".utf8)) { $0.accessibility = accessibility }
        }
        let item = try first.show(try ItemName("a/old"))
        let client = try enter(removal, daemon, first)
        let outcome = try Outcome { try client.discard("a/old") }
        // A secret may have an access control, which can't be read before the first unlock.
        let isSealed = removal == .beforeFirstUnlock && !accessibility.isNamedInEveryState
        #expect(outcome == (isSealed ? .locked : .done))
        if isSealed { return }
        let missing = try Outcome { _ = try client.get("a/old") }
        #expect(missing == .refused(.itemNotFound))
        let entry = try #require(try client.trash().items.first)
        #expect(entry.name == "a/old" && entry.accessibility == accessibility)
        #expect((2_591_000...2_592_000).contains(entry.secondsLeft))
        let restored = try client.restoreFromTrash(entry.number)
        #expect(restored.created == item.created && restored.modified == item.modified)
        #expect(restored.reference == item.reference)
        #expect(restored.protection == .keychain(accessibility))
        #expect(restored.isReadable == accessibility.isAvailable(in: try client.status().state))
        #expect(try client.trash().items.isEmpty)
        try client.unlock()
        let isDeposit = accessibility == .whenUnlockedDeposit
        #expect(try client.get("a/old") == Array((isDeposit ? "former" : "present").utf8))
        let former = KeychainQuery(.genericPassword, [.service: .text("a"), .account: .text("old")])
        #expect(try client.formerSecrets(of: former) == (isDeposit ? [] : [Array("former".utf8)]))
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test(arguments: Removal.allCases, classes)
    private func `a file of each class comes back as it was, in whichever state it was removed`(
        removal: Removal,
        protectionClass: ProtectionClass
    ) throws {
        let (daemon, first) = try vault()
        var content = pseudoRandomBytes(150_000)
        try first.put("d/file", content) { $0.protectionClass = protectionClass }
        let written = try daemon.coffer(["file", "write", "d/file", "--offset", "70000"], input: Array("NEW".utf8))
        #expect(written.status == 0, "\(written.errors)")
        content.replaceSubrange(70_000..<70_003, with: Array("NEW".utf8))
        let client = try enter(removal, daemon, first)
        let entry = try #require(try client.discard("d/file"))
        let missing = try Outcome { _ = try client.get("d/file", length: 1) }
        #expect(missing == .refused(.itemNotFound))
        let isSealed = removal == .beforeFirstUnlock && !protectionClass.isNamedInEveryState
        let listed = try #require(try client.trash().items.first)
        #expect(listed.number == entry && listed.name == (isSealed ? nil : "d/file"))
        // The contents stay over a restart, at which what nothing names is removed.
        try daemon.restart()
        let second = try daemon.connect()
        let early = try Outcome { try second.restoreFromTrash(entry) }
        #expect(early == (protectionClass.isNamedInEveryState ? .done : .locked))
        try second.unlock()
        if early != .done { try second.restoreFromTrash(entry) }
        let read = try daemon.coffer(["get", "d/file", "--output", "content"])
        #expect(read.status == 0, "\(read.errors)")
        #expect(daemon.directory.contents("content") == content)
        #expect(try second.show(try ItemName("d/file")).protection == .file(protectionClass))
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test func `a name that is taken is refused, and another one is accepted`() throws {
        let (daemon, client) = try vault()
        try client.put("a/b", [1])
        try client.discard("a/b")
        try client.put("a/b", [2])
        let number = try daemon.coffer(["trash", "restore", "1"])
        #expect(number.status == 66)
        #expect(number.errors.contains("use '--entry 1'"), "\(number.errors)")
        let refused = try daemon.coffer(["trash", "restore", "a/b"])
        #expect(refused.status == 73)
        #expect(refused.errors.contains("--as NAME"))
        let restored = try daemon.coffer(["trash", "restore", "a/b", "--as", "a/c"])
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try client.get("a/b") == [2])
        #expect(try client.get("a/c") == [1])
        // A name is in one store at a time, whichever the item comes from.
        try client.put("f", pseudoRandomBytes(50_000))
        try client.discard("f")
        try client.put("f", [3])
        let clash = try daemon.coffer(["trash", "restore", "f"])
        #expect(clash.status == 73)
        #expect(try daemon.coffer(["trash", "restore", "f", "--as", "g/f"]).status == 0)
        #expect(try client.get("g/f") == pseudoRandomBytes(50_000))
    }

    @Test func `emptying destroys keys at once, and rows and contents afterwards`() throws {
        let (daemon, client) = try vault()
        for number in 0..<20 {
            try client.put("s/\(number)", [1])
            try client.discard("s/\(number)")
        }
        try client.put("f", pseudoRandomBytes(100_000))
        try client.discard("f")
        #expect(try contents(daemon).count == 1)
        let status = try client.status()
        #expect(status.trashCount == 21 && status.trashByteCount > 100_000)
        let emptied = try daemon.coffer(["trash", "empty", "--yes", "--json"])
        #expect(emptied.text.contains("\"count\":21"), "\(emptied.text)\(emptied.errors)")
        #expect(try client.trash().items.isEmpty)
        #expect(try client.status().trashCount == 0)
        try eventually { try contents(daemon).isEmpty }
        try client.put("s/again", [1])
        try client.discard("s/again")
        #expect(try client.trash().items.map(\.name) == ["s/again"])
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test func `--now and a trash of no days remove at once`() throws {
        let (daemon, client) = try vault()
        try client.put("a", [1])
        #expect(try daemon.coffer(["remove", "--now", "a"]).status == 0)
        #expect(try client.trash().items.isEmpty)
        let (other, second) = try vault(["--trash-days", "0"])
        try second.put("a", pseudoRandomBytes(50_000))
        #expect(try other.coffer(["remove", "a"]).status == 0)
        #expect(try second.trash().items.isEmpty)
        try eventually { try contents(other).isEmpty }
    }

    @Test func `the oldest make room for what is removed later, and what is too large is refused`() throws {
        let (daemon, client) = try vault(["--trash-size", "1"])
        for number in 0..<4 {
            try client.put("f/\(number)", pseudoRandomBytes(400_000))
            try client.discard("f/\(number)")
        }
        try eventually { try client.trash().items.map(\.name) == ["f/2", "f/3"] }
        try eventually { try contents(daemon).count == 2 }
        try client.put("large", pseudoRandomBytes(1_100_000))
        let refused = try daemon.coffer(["remove", "large"])
        #expect(refused.status != 0 && refused.errors.contains("--now"))
        #expect(try client.get("large", length: 1).count == 1)
        #expect(try daemon.coffer(["remove", "--now", "large"]).status == 0)
    }

    @Test func `what wants a passcode goes with it, out of the trash as well`() throws {
        let (daemon, client) = try vault()
        try client.put("pin", [1]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
        try client.put("token", [2]) { $0.accessibility = .whenPasscodeSetThisDeviceOnly }
        try client.discard("pin")
        let removed = try daemon.coffer(
            ["passcode", "remove", "--yes", "--passcode-fd", "3"],
            passcode: DaemonProcess.passcode
        )
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try client.trash().items.isEmpty)
    }

    @Test func `an access control that protects an item protects it against the trash`() throws {
        let (daemon, client) = try vault()
        let added = try daemon.coffer(
            [
                "keychain", "add", "--service", "bank", "--account", "pin", "--access-control",
                "devicePasscode,protectWrites",
            ],
            input: [1]
        )
        #expect(added.status == 0, "\(added.errors)")
        #expect(try Outcome { try client.discard("bank/pin") } == .refused(.interactionRequired))
        let removed = try daemon.coffer(["remove", "bank/pin", "--passcode-fd", "3"], passcode: DaemonProcess.passcode)
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try daemon.coffer(["trash", "restore", "bank/pin"]).status == 0)
        #expect(try Outcome { _ = try client.get("bank/pin") } == .refused(.interactionRequired))
    }

    @Test(arguments: ["secret", "file"])
    func `a kill in the middle leaves an item in one place, whole`(kind: String) throws {
        let (daemon, client) = try vault()
        let content = pseudoRandomBytes(kind == "secret" ? 500 : 200_000)
        try client.put("item", content) {
            $0.kind = kind == "secret" ? .token : .document
            if kind == "secret" { $0.accessibility = .afterFirstUnlock }
        }
        for round in 0..<25 {
            let mover = try daemon.connect()
            let moving = Background {
                for _ in 0..<1000 {
                    do {
                        if let entry = try mover.discard("item") { try mover.restoreFromTrash(entry) }
                    } catch { break }
                }
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            try moving.wait()
            try daemon.restart()
            let after = try daemon.connect()
            try after.unlock()
            let entries = try after.trash().items
            let isThere = try after.list().items.count == 1
            #expect(entries.count == (isThere ? 0 : 1), "round \(round)")
            if let entry = entries.first { try after.restoreFromTrash(entry.number) }
            #expect(try daemon.coffer(["get", "item"]).output == content, "round \(round)")
        }
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
        #expect(try contents(daemon).count == (kind == "secret" ? 0 : 1), "no content is left behind")
    }

    @Test func `a name of several is removed, and the last one goes to the trash with the file`() throws {
        let (daemon, client) = try vault()
        let content = pseudoRandomBytes(50_000)
        try client.put("one", content)
        #expect(try daemon.coffer(["file", "link", "one", "two"]).status == 0)
        #expect(try client.discard("one") == nil)
        #expect(try client.get("two") == content)
        let entry = try #require(try client.discard("two"))
        try client.restoreFromTrash(entry, as: "three/four")
        #expect(try client.get("three/four") == content)
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test func `a folder comes back by its name, or by a pattern, each name as it was last`() throws {
        let (daemon, client) = try vault()
        for name in ["imported/a", "imported/b/c", "other", "importedx"] { try client.put(name, Array(name.utf8)) }
        try client.put("imported/a", Array("newer".utf8))
        #expect(try daemon.coffer(["remove", "imported/a"]).status == 0)
        try client.put("imported/a", Array("last".utf8))
        func removeAll() throws { #expect(try daemon.coffer(["remove", "--yes", "**"]).status == 0) }
        try removeAll()
        #expect(try daemon.coffer(["trash", "restore", "imported"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "imported/a\nimported/b/c\n")
        #expect(try client.get("imported/a") == Array("last".utf8))
        try removeAll()
        #expect(try daemon.coffer(["trash", "restore", "imported/*", "importe?x"]).status == 0)
        #expect(try daemon.coffer(["list"]).text == "imported/a\nimportedx\n")
        #expect(try daemon.coffer(["trash", "restore", "imported/", "--as", "x"]).status == 64)
        #expect(try daemon.coffer(["trash", "restore", "nothing/*"]).status == 66)
        let refused = try daemon.coffer(["trash", "empty"])
        #expect(refused.status == 64 && refused.errors.contains("--yes"), "\(refused.errors)")
        #expect(try daemon.coffer(["trash", "empty", "other"]).text == "destroyed 1 item\n")
        #expect(try daemon.coffer(["trash", "empty", "imported"]).status == 64)
        #expect(try daemon.coffer(["trash", "empty", "imported", "--yes"]).text == "destroyed 2 items\n")
    }
}
