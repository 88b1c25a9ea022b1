import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Listings of both stores, page by page.
@Suite struct ListingTests {
    private static func makeServer() throws -> (TestServer, BlockingClient) {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        return (server, client)
    }

    /// Adds secrets of the shared namespace, many in one turn.
    private static func add(_ names: [String], _ server: TestServer) throws {
        var raw = try RawConnection(server)
        for start in stride(from: 0, to: names.count, by: 64) {
            let batch = names[start..<min(start + 64, names.count)]
            for text in batch {
                let name = try ItemName(text)
                let attributes: JSONObject = ["service": .string(name.service), "account": .string(name.account)]
                try raw.send(
                    .keychainAdd,
                    ["class": "genericPassword", "attributes": .object(attributes)],
                    payload: [1]
                )
            }
            for _ in batch {
                let code = try raw.refusal()
                #expect(code == nil)
            }
        }
    }

    /// Lists everything, page by page.
    ///
    /// - Parameter between: Called after each page.
    private static func all(
        _ client: BlockingClient,
        limit: Int? = nil,
        between: () throws -> Void = {}
    ) throws -> (names: [String], pageCount: Int) {
        var names: [String] = []
        var pageCount = 0
        var after: String?
        repeat {
            let page = try client.list(after: after, limit: limit)
            #expect(page.items.count <= limit ?? Limits.pageItems)
            names += page.items.map(\.name)
            pageCount += 1
            after = page.next
            try between()
        } while after != nil
        return (names, pageCount)
    }

    private static func refusal(_ body: () throws -> Void) throws -> ErrorCode? {
        if case .refused(let code) = try Outcome(body) { code } else { nil }
    }

    @Test func `ten thousand items are listed, and others are answered meanwhile`() throws {
        let (server, client) = try Self.makeServer()
        let other = try server.connect()
        let names = (0..<10_000).map { "group \($0 % 7)/item \($0)" }
        try Self.add(names, server)
        let isDone = Shared(false)
        let listing = Background {
            defer { isDone.value = true }
            return try Self.all(client)
        }
        var answerCount = 0
        while !isDone.value {
            _ = try other.status()
            answerCount += 1
        }
        let listed = try listing.wait()
        #expect(listed.names.sortedByBytes() == names.sortedByBytes())
        #expect(listed.pageCount >= 10)
        #expect(answerCount >= 10)
    }

    @Test func `a page ends where its names are long, and where it has scanned many rows in vain`() throws {
        let (server, client) = try Self.makeServer()
        let filling = Array(repeating: String(repeating: "x", count: 240), count: 4).joined(separator: "/")
        let names = (0..<600).map { "\($0)/\(filling)" }
        try Self.add(names, server)
        let listed = try Self.all(client)
        #expect(listed.names.sortedByBytes() == names.sortedByBytes())
        #expect(listed.pageCount > 5)
        try Self.add((0..<(Limits.queryItems + 100)).map { "s/\($0)" }, server)
        var pages = [try client.list(prefix: "s/\(Limits.queryItems + 99)")]
        while let next = pages.last?.next {
            pages.append(try client.list(prefix: "s/\(Limits.queryItems + 99)", after: next))
        }
        #expect(pages.count == 2)
        #expect(pages[0].items.isEmpty)
        #expect(pages[1].items.map(\.name) == ["s/\(Limits.queryItems + 99)"])
    }

    @Test(arguments: [3, 8, 50])
    func `what stays comes once, and what moves to the other store at least once`(limit: Int) throws {
        let (server, client) = try Self.makeServer()
        let other = try server.connect()
        var numbers = SeededGenerator(seed: UInt64(limit))
        func store() -> StoreName { Bool.random(using: &numbers) ? .file : .keychain }
        func put(_ name: String, in store: StoreName) throws { try other.put(name, [1]) { $0.store = store } }
        let staying = (0..<20).map { "stay/\($0 % 4)/\($0)" }
        let homes = Dictionary(uniqueKeysWithValues: staying.map { ($0, store()) })
        let wandering = (0..<5).map { "wander/\($0 % 2)/\($0)" }
        for name in staying + wandering { try put(name, in: homes[name] ?? store()) }
        var passing: Set<String> = []
        var resting: [String] = []
        func change() throws {
            let name = "\("abc".randomElement(using: &numbers) ?? "a")/\(Int.random(in: 0..<60, using: &numbers))"
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<4:
                try put(name, in: store())
                passing.insert(name)
            case 4..<6: if passing.remove(name) != nil { try other.remove(try ItemName(name)) }
            case 6..<8:
                // A new content makes a new row for a file.
                if let kept = staying.randomElement(using: &numbers) { try put(kept, in: homes[kept] ?? .file) }
            default: if let moved = resting.popLast() { try put(moved, in: store()) }
            }
        }
        for _ in 0..<3 {
            resting = wandering.shuffled(using: &numbers)
            let listed = try Self.all(client, limit: limit) { for _ in 0..<3 { try change() } }.names
            let isOnce = listed.filter { $0.hasPrefix("stay/") }.sortedByBytes() == staying.sortedByBytes()
            #expect(isOnce)
            #expect(Set(listed).isSuperset(of: wandering))
        }
        let rest = try Self.all(client, limit: limit).names
        #expect(rest.sortedByBytes() == (staying + wandering + passing).sortedByBytes())
    }

    @Test func `a directory that gets another name takes its files along on the next page`() throws {
        let (server, client) = try Self.makeServer()
        let names = (0..<9).map { "d/\($0)" }
        for name in names { try client.put(name, [1]) { $0.store = .file } }
        let first = try client.list(limit: 4)
        _ = try server.connect().moveFile(try ItemName("d"), to: try ItemName("new/e"))
        let rest = try client.list(after: first.next)
        let renamed = rest.items.map { $0.name.replacing("new/e/", with: "d/") }
        // Its position in the order of the tree changes: after the cursor, or before it.
        #expect(renamed.isEmpty || renamed.sortedByBytes() == names)
        let all = try Self.all(client).names
        #expect(all.sortedByBytes() == (0..<9).map { "new/e/\($0)" })
    }

    @Test func `a position is good on another connection, after a lock and after a restart`() throws {
        let directory = try TemporaryDirectory()
        var names: [String] = []
        var after: String?
        for limit in [3, 3, 30] {
            let server = try TestServer(in: directory)
            let client = try server.connect()
            if names.isEmpty {
                try client.makeVault()
                for number in 0..<9 {
                    try client.put("item \(number)", [1]) { wishes in
                        wishes.store = number < 5 ? .file : .keychain
                        if number < 5 { wishes.protectionClass = .complete }
                    }
                }
            } else {
                try client.unlock()
                _ = try client.lock(graceSeconds: 0)
            }
            let page = try client.list(after: after, limit: limit)
            #expect(page.items.allSatisfy { $0.isReadable == (after == nil) })
            names += page.items.map(\.name)
            after = page.next
        }
        #expect(after == nil)
        #expect(names.sortedByBytes() == (0..<9).map { "item \($0)" })
    }

    @Test(arguments: ["", "item 1", "secrets", "secrets:x", "files:1", "files:1:AA==", "files:1:!", "lost:1", "new:x"])
    func `what is no position is refused`(text: String) throws {
        let (server, client) = try Self.makeServer()
        defer { withExtendedLifetime(server) {} }
        let code = try Self.refusal { _ = try client.list(after: text) }
        #expect(code == .param)
    }

    @Test(arguments: ["AA==", "!", "item 1"])
    func `what is no cursor of a directory is refused`(text: String) throws {
        let (server, client) = try Self.makeServer()
        defer { withExtendedLifetime(server) {} }
        let code = try Self.refusal { _ = try client.listFiles(cursor: text) }
        #expect(code == .param)
    }

    @Test func `prefix, pattern, store and bytes choose what is listed`() throws {
        let (server, client) = try Self.makeServer()
        defer { withExtendedLifetime(server) {} }
        let secrets = ["health/weight", "health/2026/pulse", "heal", "z", "é", "Z"]
        for name in secrets { try client.put(name, [1]) }
        try client.put("health/report", [1]) { $0.store = .file }
        func names(_ prefix: String?, _ pattern: String?, _ store: StoreName? = nil) throws -> [String] {
            let pattern = try pattern.map { try NamePattern($0) }
            return try client.list(prefix: prefix, pattern: pattern, store: store).items.map(\.name).sortedByBytes()
        }
        #expect(try names(nil, "health/*") == ["health/report", "health/weight"])
        #expect(try names(nil, "health/**") == ["health/2026/pulse", "health/report", "health/weight"])
        #expect(try names("health/r", "**/*t") == ["health/report"])
        #expect(try names(nil, "?") == ["Z", "z", "é"])
        #expect(try names("heal", nil, .keychain) == ["heal", "health/2026/pulse", "health/weight"])
        #expect(try names(nil, "**/*", .file) == ["health/report"])
        #expect(try names("nothing", "*") == [])
    }
}
