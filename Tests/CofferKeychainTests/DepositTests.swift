import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferTestSupport
import Testing

/// The drop box for small secrets: it is filled in every state, and emptied while unlocked.
@Suite struct `A deposit` {
    private static let closed: [TestState] = [.locked, .lockedExpired]

    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func item(_ store: KeychainStore, _ key: GenericPasswordKey = key("a")) throws -> KeychainItem {
        try #require(try store.find(key))
    }

    @Test(arguments: closed)
    func `that is replaced while locked leaves its former value, which nobody can read until the unlock`(
        state: TestState
    ) throws {
        do { try fixture.open(.unlocked).put(key("a"), "first", .whenUnlockedDeposit) }
        do {
            let store = try fixture.open(state)
            try store.put(key("a"), "second", .whenUnlockedDeposit)
            let item = try item(store)
            let values = try store.histories.values(of: item).values
            #expect(values.map(\.accessibility) == [.whenUnlockedDeposit])
            let former = code { _ = try store.histories.secret(values[0].number, of: item) }
            #expect(former == .interactionNotAllowed)
            #expect(code { _ = try store.secret(of: item) } == .interactionNotAllowed)
            // By an update as well, of the secret or of an attribute.
            var attributes = item.attributes
            attributes.values[.comment] = .text("dropped")
            let secret: SecretBytes? = try SecretBytes("third")
            try store.update(item, to: attributes, secret: secret, accessibility: .whenUnlockedDeposit, now: 3000)
        }
        let store = try fixture.open(.unlocked)
        let item = try item(store)
        let text = try store.text(of: key("a"))
        #expect(text == "third")
        #expect(item.attributes.values[.comment] == .text("dropped"))
        let former = try store.histories.values(of: item).values.map { value in
            String(decoding: try store.histories.secret(value.number, of: item).exposeBytes(), as: UTF8.self)
        }
        #expect(former == ["second", "first"])
        #expect(try store.survey().damaged == 0)
    }

    @Test(arguments: closed + [.beforeFirstUnlock], Accessibility.allCases.filter { $0 != .whenUnlockedDeposit })
    func `becomes nothing else while it can't be read, even without a history`(
        state: TestState,
        other: Accessibility
    ) throws {
        do {
            let store = try fixture.open(.unlocked)
            var attributes = ItemAttributes(key("a"))
            attributes.historyLimit = 0
            _ = try store.add(
                attributes,
                secret: try SecretBytes("first"),
                accessibility: .whenUnlockedDeposit,
                now: 1
            )
        }
        do {
            let store = try fixture.open(state)
            #expect(code { try store.put(key("a"), "second", other) } == .interactionNotAllowed)
            let protecting = code { try store.protect(try item(store), as: other, now: 2) }
            #expect(protecting == .interactionNotAllowed)
        }
        let text = try fixture.open(.unlocked).text(of: key("a"))
        #expect(text == "first")
    }

    @Test func `that is replaced before the first unlock gets what it had back after it`() throws {
        var attributes = ItemAttributes(key("a"))
        attributes.values[.comment] = .text("the mail that came last")
        attributes.user["colour"] = "green"
        attributes.historyLimit = 2
        let first = try SecretBytes("first")
        let id = try fixture.open(.unlocked)
            .add(attributes, secret: first, accessibility: .whenUnlockedDeposit, now: 1).id
        for (number, secret) in ["second", "third", "fourth"].enumerated() {
            // Each by a daemon of its own, the last by an update.
            let store = try fixture.open(.beforeFirstUnlock)
            #expect(code { _ = try self.item(store) } == .interactionNotAllowed)
            if number < 2 {
                try store.put(key("a"), secret, .whenUnlockedDeposit, now: Int64(number + 2))
            } else {
                var query = ItemQuery(groups: ["default"])
                query.itemClass = .genericPassword
                query.exact = [.account: .text("a")]
                let rows = try store.sealedDeposits(query)
                #expect(rows.count == 1)
                let new = try SecretBytes(secret)
                let replaced = try store.replace(sealedDeposit: rows[0], of: query, by: new, now: 4)
                #expect(replaced?.id == id)
                query.exact[.comment] = .text("the mail that came last")
                #expect(try store.sealedDeposits(query) == [], "what has no tag can't be known")
            }
            #expect(try store.count() == 1)
        }
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        #expect(try hasAside(connection))
        try store.restoreReplaced()
        #expect(try !hasAside(connection))
        let item = try self.item(store)
        #expect(item.id == id && item.created == 1 && item.modified == 4)
        #expect(item.attributes == attributes)
        #expect(try store.text(of: key("a")) == "fourth")
        let values = try store.histories.values(of: item).values
        #expect(values.map(\.replaced) == [4, 3])
        #expect(values.map(\.byteCount) == [5, 6])
        let former = try values.map { value in
            String(decoding: try store.histories.secret(value.number, of: item).exposeBytes(), as: UTF8.self)
        }
        #expect(former == ["third", "second"])
        #expect(try store.survey().damaged == 0)
    }

    /// Whether something waits for its item.
    private func hasAside(_ connection: Connection) throws -> Bool {
        try connection.row("SELECT 1 FROM past WHERE reason = 3 LIMIT 1") { _ in true } ?? false
    }

    @Test func `that is quarantined and put back gets back what it had before it was replaced`() throws {
        do { try fixture.open(.unlocked).put(key("a"), "first", .whenUnlockedDeposit) }
        do { try fixture.open(.beforeFirstUnlock).put(key("a"), "second", .whenUnlockedDeposit) }
        let connection = try fixture.connect()
        let metadata = try connection.row("SELECT metadata FROM keychain_items WHERE id = 1") { try $0.blob(0) }
        try connection.execute("UPDATE keychain_items SET metadata = x'00' WHERE id = 1")
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        let order = CheckOrder(groups: ["default"], repairs: true, now: 1)
        let slice = try store.checkItems(after: nil, order)
        #expect(slice.quarantinedCount == 1)
        try store.restoreReplaced()
        #expect(try hasAside(connection), "it waits for its item")
        // As doctor would have found it intact, from a backup.
        try connection.execute("UPDATE keychain_quarantine SET metadata = ?", .blob(try #require(metadata)))
        for entry in try store.quarantineTable.entries(after: 0, order) {
            let back = try store.quarantineTable.putBack(entry.number, order)
            #expect(back?.obstacle == nil)
        }
        try store.restoreReplaced()
        #expect(try store.histories.values(of: try self.item(store)).values.count == 1)
        #expect(try !hasAside(connection))
    }

    @Test func `that is damaged keeps no other from getting back what it had`() throws {
        do {
            let store = try fixture.open(.unlocked)
            for name in ["a", "b"] { try store.put(key(name), "first", .whenUnlockedDeposit) }
        }
        do {
            let store = try fixture.open(.beforeFirstUnlock)
            for name in ["a", "b"] { try store.put(key(name), "second", .whenUnlockedDeposit) }
        }
        let connection = try fixture.connect()
        try connection.execute("UPDATE keychain_items SET metadata = x'00' WHERE id = 1")
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        try store.restoreReplaced()
        let values = try store.histories.values(of: try self.item(store, key("b"))).values
        #expect(values.count == 1)
        #expect(try hasAside(connection), "what belongs to the damaged one waits for doctor")
    }

    @Test(arguments: [TestState.locked, .lockedExpired])
    func `is what an item that can be read becomes while locked, with its history`(state: TestState) throws {
        do {
            let store = try fixture.open(.unlocked)
            try store.put(key("a"), "first", .afterFirstUnlock)
            try store.put(key("a"), "second", .afterFirstUnlock)
        }
        do {
            let store = try fixture.open(state)
            try store.protect(try item(store), as: .whenUnlockedDeposit, now: 2000)
            #expect(code { _ = try store.text(of: key("a")) } == .interactionNotAllowed)
            let values = try store.histories.values(of: try item(store)).values
            #expect(values.map(\.accessibility) == [.whenUnlockedDeposit])
        }
        let store = try fixture.open(.unlocked)
        let text = try store.text(of: key("a"))
        #expect(text == "second")
    }

    @Test func `has no access control, however it would get one`() throws {
        let store = try fixture.open(.unlocked)
        let control = try AccessControl([.userPresence])
        var attributes = ItemAttributes(key("a"))
        attributes.accessControl = control
        let added = code {
            _ = try store.add(attributes, secret: try SecretBytes("x"), accessibility: .whenUnlockedDeposit, now: 1)
        }
        #expect(added == .param)
        #expect(try store.count() == 0)
        _ = try store.add(attributes, secret: try SecretBytes("x"), accessibility: .whenUnlocked, now: 1)
        let item = try item(store)
        #expect(code { try store.protect(item, as: .whenUnlockedDeposit, now: 2) } == .param)
        #expect(code { try store.put(key("a"), "y", .whenUnlockedDeposit) } == .param)
        try store.put(key("b"), "x", .whenUnlockedDeposit)
        let other = try self.item(store, key("b"))
        var controlled = other.attributes
        controlled.accessControl = control
        let updated = code {
            try store.update(other, to: controlled, secret: nil, accessibility: .whenUnlockedDeposit, now: 2)
        }
        #expect(updated == .param)
    }

    @Test func `has a longer wrapped key, which is bound to its item`() throws {
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        for name in ["a", "b"] { try store.put(key(name), name, .whenUnlockedDeposit) }
        var lengths: [Int] = []
        try connection.rows("SELECT wrapped_key FROM keychain_items") { row in
            lengths.append(try row.blob(0).count)
            return true
        }
        #expect(lengths == [104, 104])
        try connection.execute(
            "UPDATE keychain_items SET wrapped_key = (SELECT wrapped_key FROM keychain_items ORDER BY id DESC LIMIT 1)"
        )
        #expect(code { _ = try store.text(of: key("a")) } == .decode)
    }
}
