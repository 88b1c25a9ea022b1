import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// One store of every version that left the building: each build has to open them all.
@Suite struct FrozenStoreTests {
    /// A daemon on a copy of a store.
    private func daemon(on version: String) throws -> DaemonProcess {
        let directory = try TemporaryDirectory()
        let state = directory.appending("state")
        let copied = try runCommand("/bin/cp", ["-r", "\(Project.root)/Tests/Vectors/stores/\(version)", state])
        try #require(copied.status == 0)
        // A checkout does not keep the modes that the daemon insists on.
        let changed = try runCommand("/bin/chmod", ["-R", "u=rwX,go=", state])
        try #require(changed.status == 0)
        return try DaemonProcess(in: directory)
    }

    @Test func `a vault of version 1 opens in this one`() throws {
        let daemon = try daemon(on: "v1")
        let client = try daemon.connect()
        #expect(try client.status().state == .beforeFirstUnlock)
        // Its keybag has a key for deposits from the first unlock on.
        func drop() throws -> Outcome {
            try Outcome { try client.put("frozen/box", [1]) { $0.accessibility = .whenUnlockedDeposit } }
        }
        #expect(try drop() == .locked)
        try client.unlock("frozen passcode")
        let letter = Array(String(repeating: "coffer frozen store v1\n", count: 3000).utf8)
        #expect(try client.get("frozen/secret") == Array("a secret of version 1".utf8))
        #expect(try client.get("frozen/token") == Array("after first unlock".utf8))
        #expect(try client.get("frozen/letter") == letter)
        #expect(try client.get("frozen/recording") == letter)
        let items = try client.list().items.map { "\($0.name) \($0.protection.name)" }.sortedByBytes()
        #expect(
            items == [
                "frozen/letter complete", "frozen/recording completeUnlessOpen", "frozen/secret WhenUnlocked",
                "frozen/token AfterFirstUnlock",
            ]
        )
        // And goes on from there.
        try client.put("frozen/secret", Array("a newer one".utf8))
        #expect(try client.get("frozen/secret") == Array("a newer one".utf8))
        _ = try client.lock(graceSeconds: 0)
        #expect(try drop() == .done)
        try client.unlock("frozen passcode")
        #expect(try client.get("frozen/box") == [1])
    }

    @Test func `an audit with records that name no group is read as it was written`() throws {
        let daemon = try daemon(on: "v2-audit")
        let audit = try daemon.coffer(["audit"])
        #expect(audit.status == 0, "\(audit.errors)")
        // Without the dates.
        let lines = audit.text.split(separator: "\n").prefix(8).map { $0.dropFirst("2026-11-23 06:44:34 UTC ".count) }
        #expect(
            lines == [
                "cofferd vault.state open, without a passcode", "user:root vault.init",
                "user:root item.put 'frozen/secret' in 'default'",
                "user:root item.get 'frozen/secret' in 'default'",
                "user:root item.get 'frozen/nothing' in 'default' refused: there is no item 'frozen/nothing'",
                "user:root keychain.find 'nowhere' refused: no keychain item matches",
                "user:root keychain.add 'bank/pin' in 'default'", "user:root item.remove 'frozen/secret' in 'default'",
            ]
        )
        let verified = try daemon.coffer(["audit", "--verify"])
        #expect(verified.status == 0, "\(verified.errors)")
    }

    /// What `packaging/freeze-store` has written.
    private func lines(_ word: String, _ count: Int) -> [UInt8] {
        Array((1...count).map { "\(word) \(String(repeating: "0", count: 6 - "\($0)".count))\($0)\n" }.joined().utf8)
    }

    /// A file's content, large ones too.
    private func read(_ name: String, _ daemon: DaemonProcess) throws -> [UInt8] {
        let result = try daemon.coffer(["get", "frozen/\(name)", "--output", "content"])
        try #require(result.status == 0, "\(result.errors)")
        return daemon.directory.contents("content") ?? []
    }

    @Test func `a vault with changed files, history and access control opens in this one`() throws {
        let daemon = try daemon(on: "v2")
        let client = try daemon.connect()
        #expect(try client.status().state == .beforeFirstUnlock)
        #expect(try read("cache", daemon) == lines("cache", 100))
        let locked = try daemon.coffer(["get", "frozen/letter"])
        #expect(locked.status == 75)
        try client.unlock("frozen passcode")

        #expect(try client.get("frozen/secret") == Array("a secret of version 2".utf8))
        let former = KeychainQuery(.genericPassword, [.service: .text("frozen"), .account: .text("secret")])
        #expect(try client.formerSecrets(of: former) == [Array("an old secret".utf8)])
        #expect(try client.get("frozen/token") == Array("after first unlock".utf8))
        let refused = try daemon.coffer(["get", "bank/pin"])
        #expect(refused.status == 77)
        let shown = try daemon.coffer(["get", "bank/pin", "--passcode-fd", "3"], passcode: "frozen passcode")
        #expect(shown.text == "a bank", "\(shown.errors)")
        let login = try client.find(KeychainQuery(.internetPassword, user: ["colour": "green"]))
        #expect(login.secrets == [Array("a login".utf8)])
        let key = KeychainQuery(.key, [.label: .text("a key"), .keyClass: .text("private")])
        #expect(try client.sign([1, 2, 3], with: key).count == 64)

        #expect(try read("letter", daemon) == lines("letter", 6000))
        #expect(try read("recording", daemon) == lines("recording", 6000))
        #expect(try read("expiring", daemon) == lines("expiring", 100))
        #expect(try read("empty", daemon) == [])
        var rewritten = lines("rewritten", 20_000)
        rewritten.replaceSubrange(100_000..<100_003, with: Array("NEW".utf8))
        #expect(try read("rewritten", daemon) == rewritten)
        #expect(try read("hole", daemon) == [UInt8](repeating: 0, count: 1_000_000) + Array("behind a hole".utf8))
        #expect(try read("cut", daemon) == Array(lines("cut", 20_000).prefix(70_001)))
        let directory = try client.fileInfo(try ItemName("frozen/private"))
        #expect(directory.isDirectory && directory.protectionClass == .complete)
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
        // And goes on from there.
        let written = try daemon.coffer(["file", "write", "frozen/rewritten", "--offset", "0"], input: Array("X".utf8))
        #expect(written.status == 0, "\(written.errors)")
        rewritten[0] = UInt8(ascii: "X")
        #expect(try read("rewritten", daemon) == rewritten)
    }

    @Test func `a vault with hard links and without a trash opens in this one, which gives it a trash`() throws {
        let daemon = try daemon(on: "v6")
        let client = try daemon.connect()
        try client.unlock("frozen passcode")
        #expect(try read("second-name", daemon) == lines("letter", 6000))
        let removed = try daemon.coffer(["remove", "frozen/second-name", "frozen/rewritten", "frozen/secret"])
        #expect(removed.status == 0, "\(removed.errors)")
        // The file with two names has lost one of them, and the others are in the trash.
        #expect(try read("letter", daemon) == lines("letter", 6000))
        let names = try client.trash().items.map(\.name)
        #expect(names == ["frozen/rewritten", "frozen/secret"])
        let restored = try daemon.coffer(["trash", "restore", "frozen/rewritten", "frozen/secret"])
        #expect(restored.status == 0, "\(restored.errors)")
        var rewritten = lines("rewritten", 20_000)
        rewritten.replaceSubrange(100_000..<100_003, with: Array("NEW".utf8))
        #expect(try read("rewritten", daemon) == rewritten)
        #expect(try client.get("frozen/secret") == Array("a secret of version 2".utf8))
        let former = KeychainQuery(.genericPassword, [.service: .text("frozen"), .account: .text("secret")])
        #expect(try client.formerSecrets(of: former) == [Array("an old secret".utf8)])
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test func `an audit that the device key alone protects is under the passcode after the first unlock`() throws {
        let daemon = try daemon(on: "v3")
        func audit() throws -> String {
            let shown = try daemon.coffer(["audit"])
            #expect(shown.status == 0, "\(shown.errors)")
            let verified = try daemon.coffer(["audit", "--verify"])
            #expect(verified.status == 0, "\(verified.text)\(verified.errors)")
            return shown.text
        }
        let former = try audit().split(separator: "\n").prefix(20)
        #expect(former.contains { $0.contains("'frozen/token'") })
        try daemon.connect().unlock("frozen passcode")
        #expect(try audit().split(separator: "\n").prefix(20) == former)
        try daemon.restart()
        let sealed = try audit()
        #expect(!sealed.contains("frozen/") && sealed.contains(" can be read after the first unlock"))
        try daemon.connect().unlock("frozen passcode")
        #expect(try audit().split(separator: "\n").prefix(20) == former)
    }

    @Test func `a vault whose names were compared as characters opens in this one, which compares bytes`() throws {
        let daemon = try daemon(on: "v3")
        let client = try daemon.connect()
        try client.unlock("frozen passcode")
        for (name, secret) in [
            ("frozen/cafe\u{301}", "decomposed"), ("\u{212b}", "a sign"), ("frozen/token", "after first unlock"),
        ] {
            #expect(try client.get(name) == Array(secret.utf8))
        }
        #expect(try read("me\u{301}nu", daemon) == lines("menu", 100))
        let queries = [
            KeychainQuery(.internetPassword, [.server: .text("cafe\u{301}.example")]),
            KeychainQuery(.internetPassword, [.account: .text("e\u{301}")]),
            KeychainQuery(.internetPassword, [.label: .text("o\u{302}")]),
            KeychainQuery(.internetPassword, user: ["cle\u{301}": "1"]),
        ]
        for query in queries { #expect(try client.find(query).secrets == [Array("a web login".utf8)]) }
        // The other spelling is free, and means another item.
        for name in ["frozen/caf\u{e9}", "\u{c5}", "frozen/m\u{e9}nu"] {
            let missing = try Outcome { _ = try client.get(name) }
            #expect(missing == .refused(.itemNotFound))
            try client.put(name, Array("another".utf8))
        }
        #expect(try client.get("frozen/cafe\u{301}") == Array("decomposed".utf8))
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
    }

    @Test func `a vault whose names were under the device key has them under the passcode after an unlock`() throws {
        let daemon = try daemon(on: "v4")
        let client = try daemon.connect()
        // Until then, they are what they were.
        #expect(try client.list().items.map(\.name).contains("frozen/secret"))
        #expect(try client.status().sealedCount == 0)
        try client.put("frozen/box", Array("a second deposit".utf8))
        try client.unlock("frozen passcode")
        func names() throws -> [String] { try client.list().items.map(\.name).sortedByBytes() }
        let all = try names()
        #expect(all.count == 20)
        #expect(try settles { try daemon.unsealedCount() == 0 })
        #expect(try names() == all)
        #expect(try client.get("frozen/box") == Array("a second deposit".utf8))
        let former = KeychainQuery(.genericPassword, [.service: .text("frozen"), .account: .text("secret")])
        #expect(try client.formerSecrets(of: former) == [Array("an old secret".utf8)])
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")

        try daemon.restart()
        let second = try daemon.connect()
        let listed = try second.list()
        let named = ["frozen/always", "frozen/cache", "frozen/public/notice"]
        #expect(listed.items.map(\.name).sortedByBytes() == named)
        let status = try second.status()
        let count = (status.keychainCount ?? 0) + (status.fileCount ?? 0)
        #expect(status.sealedCount == count - named.count)
        #expect(try read("public/notice", daemon) == lines("notice", 100))
        let directory = try Outcome { _ = try second.fileInfo(try ItemName("frozen/inbox")) }
        #expect(directory == .locked)
        // Its class is obeyed all the same.
        try second.put("frozen/inbox/new", Array("n".utf8))
        try second.unlock("frozen passcode")
        #expect(try second.fileInfo(try ItemName("frozen/inbox/new")).protectionClass == .completeUnlessOpen)
        #expect(try second.get("frozen/secret") == Array("a secret of version 2".utf8))
    }

    @Test func `a vault whose files had no attributes gives them the usual ones, and numbers that stay`() throws {
        let daemon = try daemon(on: "v5")
        let client = try daemon.connect()
        try client.unlock("frozen passcode")
        func file(_ name: String) throws -> FileInfo { try client.fileInfo(try ItemName(name)) }
        let letter = try file("frozen/letter")
        #expect(letter.inode > 0 && letter.mode == 0o644 && letter.linkCount == 1 && letter.uid == nil)
        #expect(letter.modifiedNanoseconds == letter.modified * 1_000_000)
        #expect(letter.changedNanoseconds == letter.modifiedNanoseconds)
        #expect(letter.accessedNanoseconds == letter.modifiedNanoseconds)
        #expect(try file("frozen/private").mode == 0o755)
        // And goes on from there.
        let name = try ItemName("frozen/letter")
        try client.call(FileLinkParameters(name: name, target: try ItemName("frozen/copy")))
        try client.call(FileSymlinkParameters(name: try ItemName("frozen/latest"), target: "letter"))
        try client.call(FileSetAttributesParameters(name: name, mode: 0o600))
        let check = try daemon.coffer(["doctor"])
        #expect(check.status == 0, "\(check.text)\(check.errors)")
        try daemon.restart()
        let second = try daemon.connect()
        try second.unlock("frozen passcode")
        let copy = try second.fileInfo(try ItemName("frozen/copy"))
        #expect(copy.inode == letter.inode && copy.mode == 0o600 && copy.linkCount == 2)
        #expect(try second.fileInfo(try ItemName("frozen/latest")).target == "letter")
        #expect(try read("copy", daemon) == lines("letter", 6000))
    }
}

extension DaemonProcess {
    /// The rows whose names are still under the device key, in a copy: the daemon has the catalog for itself.
    fileprivate func unsealedCount() throws -> Int {
        let copy = try TemporaryDirectory()
        for name in ["vault.sqlite", "vault.sqlite-wal"] {
            _ = try runCommand("/bin/cp", ["\(statePath)/\(name)", copy.appending(name)])
        }
        return try Connection(path: copy.appending("vault.sqlite")).row(
            "SELECT (SELECT count(*) FROM keychain_unsealed) + (SELECT count(*) FROM file_unsealed)"
        ) { Int(try $0.integer(0)) } ?? 0
    }
}
