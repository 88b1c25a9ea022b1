import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `vault.check`, `vault.quarantine`, and the damage that queries report.
@Suite struct DoctorTests {
    /// A server that lives as long as this value.
    private struct Damaged {
        let server: TestServer
        let client: BlockingClient
    }

    /// A vault with a number of items, changed by SQL while no server runs.
    private func vault(
        _ count: Int,
        passcode: String? = nil,
        _ change: (Connection) throws -> Void
    ) throws -> Damaged {
        let directory = try TemporaryDirectory()
        try fill(directory, count, passcode)
        try tamper(directory, change)
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try wait(for: client)
        return Damaged(server: server, client: client)
    }

    private func fill(_ directory: TemporaryDirectory, _ count: Int, _ passcode: String?) throws {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try client.makeVault(passcode: passcode)
        for number in 0..<count { try client.put("service/\(number)", Array("secret \(number)".utf8)) }
        try client.put("dir/file", pseudoRandomBytes(40_000))
    }

    private func tamper(_ directory: TemporaryDirectory, _ change: (Connection) throws -> Void) throws {
        let connection = try Connection(path: directory.appending("state/vault.sqlite"))
        try connection.transaction { try change(connection) }
    }

    /// Checks the whole vault.
    private func check(_ client: BlockingClient, repairs: Bool = false) throws -> [CheckPage] {
        var pages: [CheckPage] = []
        var cursor: String?
        repeat {
            pages.append(try client.checkVault(repairs: repairs, cursor: cursor))
            cursor = pages[pages.count - 1].cursor
        } while cursor != nil && pages.count < 1000
        return pages
    }

    @Test func `a check goes through everything, a bounded part at a time, while others are served`() throws {
        let damaged = try vault(200) { _ in }
        let pages = try check(damaged.client)
        #expect(pages.flatMap(\.findings) == [])
        func checked(_ stage: CheckStage) -> Int { pages.filter { $0.stage == stage }.map(\.checkedCount).reduce(0, +) }
        #expect(checked(.keychainItems) == 200)
        #expect(checked(.keychainTags) == 400)
        #expect(checked(.past) == 0)
        #expect(checked(.files) == 2)
        #expect(checked(.counts) == 2)
        #expect(checked(.contents) == 1)
        let byteCounts = pages.filter { $0.byteCount > 0 }
        #expect(byteCounts.map(\.stage) == [.files, .contents] && byteCounts.allSatisfy { $0.byteCount == 40_000 })
        #expect(pages.allSatisfy { $0.checkedCount <= Limits.queryBatch })
        #expect(pages.map(\.stage) == pages.map(\.stage).sorted { $0.place < $1.place }, "one after the other")
    }

    @Test func `damage is found in the middle of many, and repaired, and nothing else is touched`() throws {
        let damaged = try vault(150) { connection in
            try connection.execute("UPDATE keychain_items SET metadata = x'00' WHERE id IN (3, 77)")
            try connection.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 150")
        }
        let found = try check(damaged.client).flatMap(\.findings)
        #expect(found.map(\.damage) == [.metadata, .metadata, .exchangedSecret])
        #expect(found.map(\.name) == [nil, nil, "'service/149'"])
        let repaired = try check(damaged.client, repairs: true)
        #expect(repaired.flatMap(\.findings).map(\.damage) == found.map(\.damage))
        #expect(repaired.map(\.quarantinedCount).reduce(0, +) == 3)
        #expect(repaired.filter { $0.stage == .keychainItems }.map(\.checkedCount).reduce(0, +) == 150)
        // Another connection sees the repair, and so does the next server.
        let other = try damaged.server.connect()
        #expect(try check(other).flatMap(\.findings) == [])
        #expect(try other.status().keychainCount == 147)
        #expect(try other.quarantine().entries.count == 3)
        #expect(try other.get("service/100") == Array("secret 100".utf8))
    }

    @Test func `a locked vault is checked as far as it can be, and says how far`() throws {
        let damaged = try vault(5, passcode: DaemonProcess.passcode) { connection in
            try connection.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1")
        }
        #expect(try damaged.client.status().state == .beforeFirstUnlock)
        let pages = try check(damaged.client)
        #expect(pages.flatMap(\.findings).map(\.damage) == [], "the names can't be read before the first unlock")
        func sealedCount(_ stage: CheckStage) -> Int {
            pages.filter { $0.stage == stage }.map(\.sealedCount).reduce(0, +)
        }
        #expect(sealedCount(.keychainItems) == 5)
        #expect(sealedCount(.contents) == 1)
        try damaged.client.unlock()
        let after = try check(damaged.client)
        #expect(after.flatMap(\.findings).map(\.damage) == [.exchangedSecret])
        #expect(after.map(\.sealedCount).reduce(0, +) == 0)
    }

    @Test func `a query passes over damaged rows, counts them once, and gives the others`() throws {
        let damaged = try vault(100) { connection in
            try connection.execute("UPDATE keychain_items SET metadata = x'00' WHERE id IN (1, 30, 70)")
        }
        for size in [1, 7, 64, 1000] {
            var cursor: String?
            var names: Set<String> = []
            var damagedCount = 0
            repeat {
                let page = try damaged.client.keychainItems(
                    KeychainQuery(.genericPassword),
                    limit: .count(size),
                    cursor: cursor
                )
                for item in page.items {
                    if case .text(let name) = item.attributes?[.account] { names.insert(name) }
                }
                damagedCount += page.damagedCount
                cursor = page.cursor
            } while cursor != nil
            #expect(names.count == 97, "\(size) at a time")
            #expect(damagedCount == 3, "\(size) at a time")
        }
        let sorted = try damaged.client.keychainItems(KeychainQuery(.genericPassword), order: .creationDate)
        #expect(sorted.damagedCount == 3)
        #expect(sorted.items.count == 97)
        var listed: Set<String> = []
        var damagedCount = 0
        var after: String?
        repeat {
            let page = try damaged.client.list(after: after, limit: 10)
            damagedCount += page.damagedCount
            listed.formUnion(page.items.map(\.name))
            after = page.next
        } while after != nil
        #expect(damagedCount == 3)
        let secrets = try damaged.client.list(store: .keychain)
        #expect(secrets.damagedCount == 3)
        let secretNames = secrets.items.map(\.name)
        #expect(secretNames.count == 97)
        #expect(listed.isSuperset(of: secretNames))
    }

    @Test func `what is whole again goes back, and what is named is destroyed`() throws {
        let directory = try TemporaryDirectory()
        try fill(directory, 3, nil)
        var kept: [UInt8]?
        try tamper(directory) { connection in
            kept = try connection.row("SELECT secret FROM keychain_items WHERE id = 1") { try $0.blob(0) }
            try connection.execute("UPDATE keychain_items SET secret = x'00' WHERE id < 3")
            try connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE kind = 2")
        }
        let entries = try with(directory) { client in
            _ = try check(client, repairs: true)
            return try allEntries(client)
        }
        #expect(entries.map(\.store) == [.keychain, .keychain, .file])
        #expect(entries.allSatisfy { $0.obstacle != nil })
        try tamper(directory) { connection in
            try connection.execute(
                "UPDATE keychain_quarantine SET secret = ? WHERE row = 1",
                .blob(try #require(kept))
            )
        }
        try with(directory) { client in
            let restored = try client.restoreQuarantined()
            #expect(restored.entries.map { $0.obstacle == nil } == [true, false])
            #expect(try client.get("service/0") == Array("secret 0".utf8))
            for entry in try allEntries(client) { try client.discardQuarantined(entry) }
            #expect(try allEntries(client) == [])
            #expect(try Outcome { try client.discardQuarantined(entries[1]) } == .refused(.itemNotFound))
            #expect(try check(client).flatMap(\.findings) == [])
        }
    }

    /// Calls a closure with a server that is shut down afterwards.
    private func with<Result>(
        _ directory: TemporaryDirectory,
        _ body: (BlockingClient) throws -> Result
    ) throws -> Result {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try wait(for: client)
        return try withExtendedLifetime(server) { try body(client) }
    }

    /// A process that a parallel test starts inherits the lock for an instant.
    private func wait(for client: BlockingClient) throws {
        _ = try settles { try Outcome({ _ = try client.status() }) != .refused(.notAvailable) }
    }

    private func allEntries(_ client: BlockingClient) throws -> [QuarantineEntry] {
        let first = try client.quarantine()
        guard let cursor = first.cursor else { return first.entries }
        return try first.entries + client.quarantine(cursor: cursor).entries
    }

    @Test(arguments: [
        "", "x", "keychainItems", "keychainItems:x", "keychainItems:1:00", "keychainTags:1:0", "files:1:2:3",
        "contents:x",
    ])
    func `a cursor that no page gave is refused`(cursor: String) throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        #expect(try Outcome { _ = try client.checkVault(cursor: cursor) } == .refused(.param))
        #expect(try Outcome { _ = try client.quarantine(cursor: cursor) } == .refused(.param))
    }
}

extension CheckStage {
    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
