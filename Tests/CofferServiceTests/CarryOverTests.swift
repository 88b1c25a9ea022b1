import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// A descriptor store, as in the service manager.
private final class Store: Sendable {
    private let kept = Mutex<[UInt8]?>(nil)
    private let lines = Mutex<[String]>([])

    var content: [UInt8]? { kept.withLock { $0 } }
    var said: [String] { lines.withLock { $0 } }

    func carryOver(found: CarryOver.Found) -> CarryOver {
        CarryOver(
            found: found,
            keep: { [self] (memory) throws(SystemError) in
                let bytes = try SealedMemory.contents(of: memory, byteCount: CarryOver.byteCount)
                kept.withLock { $0 = bytes }
            },
            remove: { [self] () throws(SystemError) in kept.withLock { $0 = nil } },
            report: { [self] line in lines.withLock { $0.append(line) } }
        )
    }
}

@Suite struct CarryOverTests {
    /// A server on the vault in a directory, which carries keys over in the store.
    private func start(
        in directory: TemporaryDirectory,
        _ store: Store,
        _ found: CarryOver.Found = .nothing
    ) throws -> TestServer {
        try TestServer(in: directory, graceSeconds: 0) { $0.carryOver = store.carryOver(found: found) }
    }

    @Test func `keys are kept from the first unlock on, and taken by the next server`() throws {
        let directory = try TemporaryDirectory()
        let store = Store()
        do {
            let first = try start(in: directory, store)
            let client = try first.connect()
            #expect(store.content == nil)
            try client.makeVault()
            try client.put("c", [1]) { $0.accessibility = .afterFirstUnlock }
            try client.put("a", [2]) { $0.accessibility = .whenUnlocked }
        }
        let bytes = try #require(store.content, "an orderly end leaves them")
        try directory.remove("socket")
        let next = try start(in: directory, store, .bytes(bytes))
        let client = try next.connect()
        let state = try client.status().state
        #expect(state == .lockedExpired)
        let secret = try client.get("c")
        #expect(secret == [1])
        let locked = try Outcome { _ = try client.get("a") }
        #expect(locked == .locked)
        #expect(store.said == [])
    }

    @Test(arguments: ["nonsense", "unusable", "no vault"])
    func `whatever else was left is not used, and removed, and said to be`(kind: String) throws {
        let directory = try TemporaryDirectory()
        let store = Store()
        if kind != "no vault" {
            let earlier = try start(in: directory, Store())
            try earlier.connect().makeVault()
        }
        try? directory.remove("socket")
        let found: CarryOver.Found =
            kind == "unusable"
            ? .unusable("it is something else") : .bytes(Array(repeating: 0, count: CarryOver.byteCount))
        let server = try start(in: directory, store, found)
        let client = try server.connect()
        let state = try client.status().state
        #expect(state == (kind == "no vault" ? .noVault : .beforeFirstUnlock))
        #expect(store.content == nil)
        let lineCount = store.said.count
        #expect(lineCount == 1)
    }

    @Test func `a lock is kept, so that the time to forgetting goes on over a restart`() throws {
        let directory = try TemporaryDirectory()
        let store = Store()
        let clock = BootClock.system
        let server = try start(in: directory, store)
        let client = try server.connect()
        try client.makeVault()
        let unlocked = try #require(store.content)
        _ = try client.lock(graceSeconds: 0)
        let locked = try #require(store.content)
        #expect(unlocked[10..<18].allSatisfy { $0 == 0 })
        let since = locked[10..<18].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let now = clock.now
        #expect(since <= now && now - since < 60_000_000_000)
    }

    @Test func `an erased vault leaves nothing, and the next one in its place keeps its own`() throws {
        let store = Store()
        let server = try start(in: try TemporaryDirectory(), store)
        let client = try server.connect()
        try client.makeVault()
        let first = try #require(store.content)
        try client.erase(vaultID: try #require(try client.status().vaultID))
        #expect(store.content == nil)
        try client.makeVault()
        let second = try #require(store.content)
        #expect(second != first)
    }

    @Test func `a vault without a passcode has nothing to keep`() throws {
        let store = Store()
        let server = try start(in: try TemporaryDirectory(), store)
        try server.connect().makeVault(passcode: nil)
        #expect(store.content == nil)
    }
}
