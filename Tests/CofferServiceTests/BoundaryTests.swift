import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// Items of all sizes, and those that move between the stores.
@Suite struct BoundaryTests {
    private let server: TestServer
    private let client: BlockingClient

    init() throws {
        server = try TestServer()
        client = try server.connect()
        try client.makeVault()
    }

    private func show(_ name: String) throws -> ItemInfo { try client.show(try ItemName(name)) }

    private static let large = pseudoRandomBytes(5000)

    @Test(arguments: [
        (Accessibility.whenUnlocked, ProtectionClass.complete),
        (.afterFirstUnlock, .completeUntilFirstUserAuthentication), (.always, .none),
        (.whenUnlockedDeposit, .completeUnlessOpen),
    ])
    func `an item keeps its name, its dates, its protection and its kind, there and back`(
        accessibility: Accessibility,
        protectionClass: ProtectionClass
    ) throws {
        try client.put("a/item", [1]) {
            $0.kind = .token
            $0.accessibility = accessibility
        }
        let before = try show("a/item")
        let grown = try client.put("a/item", Self.large) { $0.store = .file }
        #expect(grown.protection == .file(protectionClass))
        let file = try show("a/item")
        #expect([file.created, file.byteCount] == [before.created, 5000])
        #expect(file.kind == .token)
        #expect(try client.list().items.map(\.protection) == [.file(protectionClass)])
        let kept = try client.put("a/item", [2])
        #expect(kept.protection == .file(protectionClass))
        let shrunk = try client.put("a/item", [2]) { $0.store = .keychain }
        #expect(shrunk.protection == .keychain(accessibility))
        let after = try show("a/item")
        #expect(after.created == before.created)
        #expect(after.kind == .token)
        #expect(
            try client.list().items.map { [$0.name, $0.protection.name] } == [[after.name, after.protection.name]]
        )
        #expect(try client.get("a/item") == [2])
    }

    @Test func `of puts at once, of whatever sizes, one wins whole, and one item is there at any time`() throws {
        let sizes = [10, 1024, 1025, 5000, 40_000, 300]
        try client.put("item", [0])
        let isDone = Shared(false)
        let writers = try sizes.enumerated().map { index, size in
            let other = try server.connect()
            return Background {
                var doneCount = 0
                for _ in 0..<25 {
                    let outcome = try Outcome {
                        try other.put("item", [UInt8](repeating: UInt8(index + 1), count: size))
                    }
                    #expect(outcome == .done || outcome == .refused(.duplicateItem))
                    if outcome == .done { doneCount += 1 }
                }
                return doneCount
            }
        }
        let reader = Background {
            let other = try server.connect()
            while !isDone.value {
                let content = try other.get("item")
                let writer = try #require(content.first)
                #expect(Set(content) == [writer])
                #expect(content.count == (writer == 0 ? 1 : sizes[Int(writer) - 1]))
                let listed = try other.list().items.map(\.name)
                #expect(listed == ["item"])
            }
        }
        let doneCounts = try writers.map { try $0.wait() }
        isDone.value = true
        try reader.wait()
        #expect(doneCounts.contains { $0 > 0 })
        let content = try client.get("item")
        let writer = Int(try #require(content.first))
        #expect(content == [UInt8](repeating: UInt8(writer), count: sizes[writer - 1]))
        let status = try client.status()
        let counts = [status.keychainCount, status.fileCount]
        #expect(counts == [1, 0] || counts == [0, 1])
    }

    @Test func `while locked what was asked for as class B is put at every size that its store holds`() throws {
        try client.put("box", [1]) { $0.protectionClass = .completeUnlessOpen }
        try client.put("file", Self.large) { $0.protectionClass = .completeUnlessOpen }
        _ = try client.lock(graceSeconds: 0)
        let tooLarge = pseudoRandomBytes(Limits.secretBytes + 1)
        for name in ["box", "file", "new"] {
            let protection: Protection = name == "file" ? .file(.completeUnlessOpen) : .keychain(.whenUnlockedDeposit)
            for content in [[2], Self.large, [3]] {
                let put = try client.put(name, content) { $0.protectionClass = .completeUnlessOpen }
                #expect(put.protection == protection)
                #expect(try show(name).protection == protection)
                let read = try Outcome { _ = try client.get(name) }
                #expect(read == .locked, "\(name)")
            }
            // What it has is kept without being named.
            let again = try client.put(name, [4])
            #expect(again.protection == protection)
            if name == "file" {
                try client.put(name, tooLarge)
                continue
            }
            let weaker = try Outcome { try client.put(name, [5]) { $0.accessibility = .always } }
            #expect(weaker == .locked)
            // Its former values can't be opened, to be sealed in the other store.
            let grown = try Outcome { try client.put(name, tooLarge) { $0.protectionClass = .completeUnlessOpen } }
            #expect(grown == .locked)
        }
        try client.unlock()
        #expect(try client.get("file") == tooLarge)
        for name in ["box", "new"] {
            #expect(try client.get(name) == [4])
            let former = try client.formerSecrets(of: KeychainQuery(.genericPassword, [.account: .text(name)]))
            #expect(former == [[3], Self.large, [2]] + (name == "box" ? [[1]] : []), "\(name)")
        }
    }

    @Test func `while locked an item of class A is not replaced, whatever size comes, and one of class B is made`()
        throws
    {
        try client.put("small", [1])
        try client.put("large", Self.large) { $0.protectionClass = .complete }
        try client.put("background", [2]) { $0.accessibility = .afterFirstUnlock }
        try client.put("created", Self.large) { $0.protectionClass = .completeUnlessOpen }
        let before = try client.list().items.map { [$0.created, $0.modified, $0.byteCount] }
        _ = try client.lock(graceSeconds: 0)
        for name in ["small", "large"] {
            for content in [[3], Self.large + [3]] {
                let outcome = try Outcome { try client.put(name, content) }
                #expect(outcome == .locked, "\(name), \(content.count) bytes")
            }
            let asked = try Outcome {
                try client.put(name, Self.large) { $0.protectionClass = .completeUnlessOpen }
            }
            #expect(asked == .locked, "\(name)")
        }
        let new = try Outcome { try client.put("new", [3]) }
        #expect(new == .locked)
        #expect(try client.list().items.map { [$0.created, $0.modified, $0.byteCount] } == before)
        // To replace all of what can be created is to create it.
        try client.put("created", Self.large + [4])
        #expect(try !show("created").isReadable)
        let recorded = try client.put("recording", Self.large) { $0.protectionClass = .completeUnlessOpen }
        #expect(recorded.protection == .file(.completeUnlessOpen))
        let grown = try client.put("background", Self.large) { $0.protectionClass = .completeUnlessOpen }
        #expect(grown.protection == .keychain(.whenUnlockedDeposit))
        #expect(try !show("background").isReadable)
        try client.unlock()
        #expect(try client.get("small") == [1])
        for name in ["large", "recording", "background"] { #expect(try client.get(name) == Self.large) }
        #expect(try client.get("created") == Self.large + [4])
    }
}
