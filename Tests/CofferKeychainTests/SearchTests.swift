import CofferCore
import CofferKeychain
import CofferMemory
import CofferTestSupport
import Testing

@Suite struct `A search by parts of texts` {
    private static let parts = ["", "a", "ali", "alice", "alice@example.net", "ä", "a\u{308}", "ice", "@", "zz"]

    /// Items that have their texts in different places, and such as need another form of metadata.
    private func fill(_ store: KeychainStore) throws {
        try store.put(key("alice"), "1")
        try store.put(key("alice@example.net", service: "mail"), "2", .always)
        try store.put(key("älice", service: "a\u{308}lice"), "3")
        try store.put(key("bob", service: "alice", group: "other"), "4")
        var labelled = ItemAttributes(.internetPassword, in: "default")
        labelled.values = [
            .server: .text("example.net"), .account: .text("bob"), .label: .text("alice"), .port: .integer(443),
            .isInvisible: .bool(true), .expiryDate: .date(1000),
        ]
        labelled.user = ["alice": "zz"]
        _ = try store.add(labelled, secret: try SecretBytes("5"), accessibility: .whenUnlocked, now: 1000)
        var guarded = ItemAttributes(.genericPassword, in: "default", [.account: .text("alice"), .service: .text("x")])
        guarded.accessControl = try AccessControl([.devicePasscode])
        _ = try store.add(guarded, secret: try SecretBytes("6"), accessibility: .whenUnlocked, now: 1000)
    }

    @Test(arguments: [KeychainAttribute.account, .service, .label, .server], [true, false])
    func `finds what a look at each item finds`(attribute: KeychainAttribute, isPrefix: Bool) throws {
        let store = try Fixture().open(.unlocked)
        try fill(store)
        var all: [KeychainItem] = []
        try store.forEachItem { all.append(try $0.get()) }
        #expect(all.count == 6)
        for part in Self.parts {
            var query = ItemQuery(groups: .all)
            if isPrefix { query.prefixes = [attribute: part] } else { query.substrings = [attribute: part] }
            let found = try store.index.search(query)
            #expect(found.lookedAt == all.count)
            #expect(found.items.map(\.row) == all.filter(query.matches).map(\.row).sorted(), "\(part)")
        }
    }

    @Test func `needs each of its parts`() throws {
        let store = try Fixture().open(.unlocked)
        try fill(store)
        var query = ItemQuery(groups: .all)
        query.prefixes = [.account: "ali"]
        query.substrings = [.service: "ai", .account: "@"]
        #expect(try store.index.search(query).items.map(\.key.path) == ["mail/alice@example.net"])
        query.substrings[.label] = "a"
        #expect(try store.index.search(query).items.isEmpty)
    }

    @Test func `keeps the first secret if that is wanted`() throws {
        let store = try Fixture().open(.unlocked)
        try fill(store)
        var query = ItemQuery(groups: .all)
        query.prefixes = [.account: "alice"]
        let page = try store.index.search(query, keepingFirst: true)
        let sealed = try #require(page.firstSecret)
        #expect(try store.secret(of: page.items[0], sealed, with: nil).exposeBytes() == Array("1".utf8))
        #expect(try store.index.search(query).firstSecret == nil)
    }
}
