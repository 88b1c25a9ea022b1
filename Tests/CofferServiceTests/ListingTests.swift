import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Listings of both stores, a page at a time.
@Suite struct ListingTests {
    private static func makeServer() throws -> (TestServer, BlockingClient) {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        return (server, client)
    }

    /// Adds secrets of the one namespace, many in a turn.
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

    private static func sorted(_ names: some Sequence<String>) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func all(_ client: BlockingClient, limit: Int? = nil) throws -> (names: [String], pageCount: Int) {
        var names: [String] = []
        var pageCount = 0
        var after: String?
        repeat {
            let page = try client.list(after: after, limit: limit)
            names += page.items.map(\.name)
            pageCount += 1
            after = page.next
        } while after != nil
        return (names, pageCount)
    }

    @Test func `ten thousand items are listed with one look, and others are answered meanwhile`() throws {
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
        #expect(listed.names == Self.sorted(names))
        #expect(listed.pageCount >= 10)
        #expect(server.listingScanCount == 1)
        #expect(answerCount >= 10)
    }

    @Test func `names that don't fit into what is looked at ahead are looked for again, and all are there once`() throws
    {
        let (server, client) = try Self.makeServer()
        let filling = Array(repeating: String(repeating: "x", count: 240), count: 4).joined(separator: "/")
        let names = (0..<2400).map { "\($0 * 7919 % 2400)/\(filling)" }
        try Self.add(names, server)
        let listed = try Self.all(client)
        #expect(listed.names == Self.sorted(names))
        #expect(listed.pageCount > 20)
        let window = Limits.listingBytes / (filling.utf8.count + 64)
        #expect(server.listingScanCount <= names.count / window + 1)
    }

    @Test func `each page shows what is there when it is made`() throws {
        let (server, client) = try Self.makeServer()
        let other = try server.connect()
        var model: Set<String> = []
        var numbers = SeededGenerator(seed: 6)
        func name() -> String {
            "\("abc".randomElement(using: &numbers) ?? "a")/\(Int.random(in: 0..<60, using: &numbers))"
        }
        func put(_ name: String) throws {
            let isFile = Bool.random(using: &numbers)
            try other.put(name, [1]) { $0.store = isFile ? .file : .keychain }
            model.insert(name)
        }
        func change() throws {
            let (one, another) = (name(), name())
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<5: try put(one)
            case 5..<8:
                if model.remove(one) != nil { try other.remove(try ItemName(one)) }
            default:
                guard model.contains(one), !model.contains(another) else { return }
                guard case .file = try other.show(try ItemName(one)).protection else { return }
                _ = try other.moveFile(try ItemName(one), to: try ItemName(another))
                model.remove(one)
                model.insert(another)
            }
        }
        for _ in 0..<60 { try put(name()) }
        for _ in 0..<8 {
            var after: String?
            repeat {
                let limit = Int.random(in: 1...9, using: &numbers)
                let page = try client.list(after: after, limit: limit)
                let rest = Self.sorted(
                    model.filter { name in after.map { $0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true }
                )
                #expect(page.items.map(\.name) == Array(rest.prefix(limit)))
                after = page.next
                for _ in 0..<3 { try change() }
            } while after != nil
        }
        // As often as listings began, and no more: changes are looked at for themselves.
        #expect(server.listingScanCount == 8)
    }

    @Test func `a directory that gets another name takes its files along on the next page`() throws {
        let (server, client) = try Self.makeServer()
        for name in ["a/1", "b/1", "b/2", "d/1"] { try client.put(name, [1]) { $0.store = .file } }
        let first = try client.list(limit: 1)
        #expect(first.items.map(\.name) == ["a/1"])
        _ = try server.connect().moveFile(try ItemName("b"), to: try ItemName("c"))
        let rest = try client.list(after: first.next)
        #expect(rest.items.map(\.name) == ["c/1", "c/2", "d/1"])
    }

    @Test func `many changes between two pages cost a look at everything, and nothing is missed`() throws {
        let (server, client) = try Self.makeServer()
        try Self.add((0..<10).map { "a/\($0)" }, server)
        let first = try client.list(limit: 5)
        let added = (0..<1500).map { "b/\($0)" }
        try Self.add(added, server)
        var names = first.items.map(\.name)
        var after = first.next
        while after != nil {
            let page = try client.list(after: after)
            names += page.items.map(\.name)
            after = page.next
        }
        #expect(names == Self.sorted((0..<10).map { "a/\($0)" } + added))
        #expect(server.listingScanCount == 2)
    }

    @Test func `a listing that others overtake, or a lock, goes on all the same`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        for number in 0..<9 { try client.put("item \(number)", [1]) }
        let first = try client.list(limit: 3)
        // So many that the first one's look ahead is given up for theirs.
        for _ in 0..<(Limits.listings + 2) {
            let page = try server.connect().list(limit: 2)
            #expect(page.items.count == 2)
        }
        let second = try client.list(after: first.next, limit: 3)
        #expect(second.items.map(\.isReadable) == [true, true, true])
        _ = try client.lock(graceSeconds: 0)
        let third = try client.list(after: second.next, limit: 3)
        #expect(third.items.map(\.name) == ["item 6", "item 7", "item 8"])
        #expect(third.items.map(\.isReadable) == [false, false, false])
    }

    @Test func `prefix, pattern, store and bytes choose what is listed`() throws {
        let (server, client) = try Self.makeServer()
        defer { withExtendedLifetime(server) {} }
        let secrets = ["health/weight", "health/2026/pulse", "heal", "z", "é", "Z"]
        for name in secrets { try client.put(name, [1]) }
        try client.put("health/report", [1]) { $0.store = .file }
        func names(_ prefix: String?, _ pattern: String?, _ store: StoreName? = nil) throws -> [String] {
            let pattern = try pattern.map { try NamePattern($0) }
            return try client.list(prefix: prefix, pattern: pattern, store: store).items.map(\.name)
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

/// Numbers that are the same each time.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
