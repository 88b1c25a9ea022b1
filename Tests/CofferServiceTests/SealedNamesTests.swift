import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// What is under way when names are sealed again, after the vault has been locked for days, and what comes back with
/// the passcode.
@Suite struct SealedNamesTests {
    private let clock = ManualClock()
    private let server: TestServer
    private let client: BlockingClient

    init() throws {
        server = try TestServer(clock: clock.clock)
        client = try server.connect()
        try client.makeVault()
    }

    private func forget() throws {
        _ = try client.lock(graceSeconds: 0)
        clock.advance(by: 259_200)
        #expect(try client.status().state == .beforeFirstUnlock)
    }

    @Test(arguments: [ProtectionClass.completeUnlessOpen, .completeUntilFirstUserAuthentication])
    func `what was written to an open file is synced when its name is sealed`(protectionClass: ProtectionClass) throws {
        let name = try ItemName("d/file")
        let file = try client.openFile(name, for: .write, .create, protectionClass: protectionClass)
        try file.put([1, 2, 3])
        try forget()
        let isOpen = protectionClass == .completeUnlessOpen
        let writing = try Outcome { try file.put([4], at: 3) }
        #expect(writing == (isOpen ? .done : .locked))
        let closing = try Outcome { try file.close() }
        #expect(closing == .done)
        #expect(try client.listFiles(recursive: true).sealedCount == 2)
        try client.unlock()
        #expect(try client.get("d/file") == (isOpen ? [1, 2, 3, 4] : [1, 2, 3]))
    }

    @Test func `a file that is replaced before the first unlock keeps its date, its kind and all attributes`() throws {
        // It was a deposit with a former value, and has grown.
        for bytes in [1, 2] { try client.put("inbox/a", [UInt8(bytes)]) { $0.protectionClass = .completeUnlessOpen } }
        try client.put("inbox/a", [UInt8](repeating: 3, count: 40_000)) { $0.kind = .document }
        let name = try ItemName("inbox/a")
        let note = FileSetExtendedAttributeParameters(name: name, attribute: "user.note")
        _ = try client.call(note, payload: try SecretBytes([7]))
        let before = try client.show(name)
        #expect(before.protection == .file(.completeUnlessOpen))
        clock.advance(by: 60)
        for count in [40_001, 40_002] {
            try forget()
            let put = try client.put("inbox/a", [UInt8](repeating: 4, count: count))
            #expect(put.protection == .file(.completeUnlessOpen))
        }
        try client.unlock()
        let after = try client.show(name)
        #expect(after.created == before.created && after.kind == .document && after.byteCount == 40_002)
        #expect(after.user == ["note": "\u{7}"])
        let sizes = try client.call(FileVersionsParameters(name: name)).value.versions.map(\.byteCount)
        #expect(sizes == [40_001, 40_000, 1, 1])
    }

    @Test func `a directory is named as long as it is part of a name, and goes when it is empty`() throws {
        try client.put("boot/secret", [1]) { $0.store = .file }
        try client.put("gone/only", [1]) { $0.store = .file }
        try forget()
        #expect(try client.listFiles(recursive: true).entries.isEmpty)
        // Its directory is sealed until the passcode comes.
        try client.put("boot/splash", [2]) {
            $0.store = .file
            $0.protectionClass = ProtectionClass.none
        }
        #expect(try client.get("boot/splash") == [2])
        #expect(try client.listFiles(recursive: true).entries.isEmpty)
        try client.removeFile(try ItemName("gone/only"))
        try client.unlock()
        func names() throws -> [String] { try client.listFiles(recursive: true).entries.map(\.name).sortedByBytes() }
        let expected = ["boot", "boot/secret", "boot/splash"]
        for _ in 0..<1000 where try names() != expected {}
        #expect(try names() == expected)
        try forget()
        #expect(try names() == ["boot", "boot/splash"])
    }

    @Test func `the names of other groups are neither told nor taken for a match`() throws {
        for group in ["one", "other"] { try client.put("name in \(group)", [1]) { $0.group = group } }
        try forget()
        let found = try Outcome {
            _ = try client.find(
                KeychainQuery(.genericPassword, [.accessGroup: .text("one"), .account: .text("name in other")])
            )
        }
        #expect(found == .refused(.itemNotFound))
        let missing = try Outcome { _ = try client.get("name in other") }
        #expect(missing == .refused(.itemNotFound), "the caller's own group has none")
    }

    @Test func `an identity whose key may be sealed is locked, and not missing`() throws {
        let path = "\(Project.root)/Tests/Vectors/keys/ed25519-certificate.pem"
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let der = Array(try #require(Data(base64Encoded: base64)))
        try client.add(.certificate, [.label: .text("mine")], der, accessible: .always)
        let missing = try Outcome { _ = try client.find(KeychainQuery(.identity)) }
        #expect(missing == .refused(.itemNotFound))
        let raw = try Data(contentsOf: URL(filePath: "\(Project.root)/Tests/Vectors/keys/ed25519.raw"))
        try client.add(.key, [.keyClass: .text("private"), .keyType: .text("ed25519")], Array(raw))
        #expect(try client.find(KeychainQuery(.identity), returns: [.attributes]).page.items.count == 1)
        try forget()
        for returns in [[.attributes], [.data]] as [Set<KeychainReturn>] {
            let sealed = try Outcome {
                _ = try client.find(KeychainQuery(.identity), limit: .count(1), returns: returns)
            }
            #expect(sealed == .locked)
        }
        let all = try Outcome { _ = try client.find(KeychainQuery(.identity)) }
        #expect(all == .locked)
    }

    @Test func `a file of class none stays listed when its directory's default changes`() throws {
        try client.makeDirectory(try ItemName("open"), class: ProtectionClass.none)
        try client.put("open/x", [1]) { $0.store = .file }
        try client.protectFile(try ItemName("open"), as: .complete, .newFiles)
        try forget()
        #expect(try client.list().items.map(\.name) == ["open/x"])
        // What only a directory is, is no item: that is known of a sealed one, too.
        try client.unlock()
        try client.makeDirectory(try ItemName("closed"))
        try forget()
        let missing = try Outcome { _ = try client.get("closed") }
        #expect(missing == .refused(.itemNotFound))
        let made = try client.makeDirectory(try ItemName("closed"), parents: true)
        #expect(made.isDirectory && made.created == 0)
        let own = try client.makeDirectory(try ItemName("own"))
        #expect(own.created > 0)
        let change = try client.protectFile(try ItemName("own"), as: .completeUnlessOpen, .everything)
        #expect(change.changedCount == 1)
    }
}
