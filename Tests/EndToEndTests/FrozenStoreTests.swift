import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// One store of every version that was released: each build has to open them all.
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

    @Test func `a vault of a build from before the first release is refused by name, and stays as it is`() throws {
        let daemon = try daemon(on: "former")
        func files() throws -> String {
            try runCommand("/bin/sh", ["-c", "cd '\(daemon.statePath)' && find . -type f -exec sha256sum {} + | sort"])
                .text
        }
        let before = try files()
        for arguments in [["status"], ["get", "frozen/secret"], ["unlock"], ["init"]] {
            let refused = try daemon.coffer(arguments, passcode: arguments == ["unlock"] ? "frozen passcode" : nil)
            #expect(refused.status == 65, "\(arguments) \(refused.errors)")
            let reason = "made by a build of Coffer from before the first release"
            #expect(refused.errors.contains(reason), "\(refused.errors)")
            #expect(refused.errors.contains("coffer export"), "\(refused.errors)")
        }
        #expect(try files() == before)
    }

    /// What `packaging/tools/freeze-store` has written.
    private func lines(_ word: String, _ count: Int) -> [UInt8] {
        Array((1...count).map { "\(word) \(String(repeating: "0", count: 6 - "\($0)".count))\($0)\n" }.joined().utf8)
    }

    /// A file's content, large ones too.
    private func read(_ name: String, _ daemon: DaemonProcess) throws -> [UInt8] {
        let result = try daemon.coffer(["get", "frozen/\(name)", "--output", "content"])
        try #require(result.status == 0, "\(result.errors)")
        return daemon.directory.contents("content") ?? []
    }

    @Test func `a vault of version 1 opens in this one`() throws {
        let daemon = try daemon(on: "v1")
        let client = try daemon.connect()
        #expect(try client.status().state == .beforeFirstUnlock)
        #expect(try read("cache", daemon) == lines("cache", 100))
        let locked = try daemon.coffer(["get", "frozen/letter"])
        #expect(locked.status == 75)
        try client.unlock("frozen passcode")

        #expect(try client.get("frozen/secret") == Array("a secret".utf8))
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

    @Test func `its names are under the passcode, and its trash and its versions are there`() throws {
        let daemon = try daemon(on: "v1")
        let client = try daemon.connect()
        let named = ["frozen/always", "frozen/cache", "frozen/public/notice"]
        #expect(try client.list().items.map(\.name).sortedByBytes() == named)
        let directory = try Outcome { _ = try client.fileInfo(try ItemName("frozen/inbox")) }
        #expect(directory == .locked)
        // Its class is obeyed all the same.
        try client.put("frozen/inbox/new", Array("n".utf8))
        try client.unlock("frozen passcode")
        #expect(try client.fileInfo(try ItemName("frozen/inbox/new")).protectionClass == .completeUnlessOpen)
        // The other spelling means another item.
        #expect(try client.get("frozen/cafe\u{301}") == Array("decomposed".utf8))
        let missing = try Outcome { _ = try client.get("frozen/caf\u{e9}") }
        #expect(missing == .refused(.itemNotFound))
        #expect(try read("second-name", daemon) == lines("letter", 6000))
        let restored = try daemon.coffer(["trash", "restore", "frozen/gone"])
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try client.get("frozen/gone") == Array("removed".utf8))
        let former = try daemon.coffer(["file", "read", "frozen/versioned", "--version", "1"])
        #expect(former.text == "the first", "\(former.errors)")
        let verified = try daemon.coffer(["audit", "--verify"])
        #expect(verified.status == 0, "\(verified.text)\(verified.errors)")
    }
}
