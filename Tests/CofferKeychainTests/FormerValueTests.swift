import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferPast
import CofferTestSupport
import Testing

/// The ways in which an item gets another class.
private enum Change: String, CaseIterable {
    case put, update, updateWithSecret, protect

    func make(_ store: KeychainStore, _ key: GenericPasswordKey, _ accessibility: Accessibility) throws {
        switch self {
        case .put: try store.put(key, "third", accessibility)
        case .protect:
            try store.protect(try #require(try store.find(key)), as: accessibility, now: 2000)
        case .update, .updateWithSecret:
            let item = try #require(try store.find(key))
            let secret: SecretBytes? = self == .update ? nil : try SecretBytes("third")
            try store.update(item, to: item.attributes, secret: secret, accessibility: accessibility, now: 2000)
        }
    }

    /// The former values then, the latest first.
    var values: [String] { replacesSecret ? ["second", "first"] : ["first"] }
    var replacesSecret: Bool { self == .put || self == .updateWithSecret }
}

extension KeychainStore {
    fileprivate func formerTexts(_ key: GenericPasswordKey) throws -> [String] {
        let item = try #require(try find(key))
        return try histories.values(of: item).values.map { value in
            String(decoding: try histories.secret(value.number, of: item).exposeBytes(), as: UTF8.self)
        }
    }

    /// Whether a former value has another class than its item.
    fileprivate func hasStray(_ key: GenericPasswordKey) throws -> Bool {
        let item = try #require(try find(key))
        return try histories.values(of: item).values.contains { $0.accessibility != item.accessibility }
    }
}

/// A keychain, with its database.
private struct Place {
    let fixture: Fixture
    let connection: Connection
    let keys: VaultKeys
    let store: KeychainStore

    init() throws {
        fixture = try Fixture()
        connection = try fixture.connect()
        keys = try fixture.vault.open(.unlocked)
        store = KeychainStore(connection: connection, keys: keys)
    }

    /// What a check finds of the past: the condition of each row.
    func checkPast() throws -> [String] {
        try PastStore(connection: connection, keys: keys).check(after: nil, limit: 1000) { row, owner in
            try store.check(row, of: owner, for: ["default"]) ?? .lost
        }.map { if case .damaged(let name) = $0.condition { name ?? "-" } else { "\($0.condition)" } }
    }
}

private let pairs = Accessibility.allCases.flatMap { old in Accessibility.allCases.map { (old: old, new: $0) } }

private func name(_ old: Accessibility, _ new: Accessibility) -> GenericPasswordKey { key("\(new)", service: "\(old)") }

@Suite struct `The former values of an item` {
    @Test(arguments: Change.allCases)
    fileprivate func `follow it to another class, in whatever way it gets that`(change: Change) throws {
        let place = try Place()
        let store = place.store
        for (old, new) in pairs {
            try store.put(name(old, new), "first", old)
            try store.put(name(old, new), "second", old)
            try change.make(store, name(old, new), new)
        }
        for (old, new) in pairs {
            let expected = old == new && !change.replacesSecret ? ["first"] : change.values
            let found = try store.formerTexts(name(old, new))
            #expect(found == expected, "\(old) \(new)")
            #expect(try !store.hasStray(name(old, new)), "\(old) \(new)")
        }
        #expect(try Set(place.checkPast()) == ["whole"])
    }

    @Test(arguments: Change.allCases, [TestState.locked, .beforeFirstUnlock])
    fileprivate func `want both keys for that, and are as they were where one is away`(
        change: Change,
        state: TestState
    ) throws {
        let fixture = try Fixture()
        do {
            let store = try fixture.open(.unlocked)
            for (old, new) in pairs {
                try store.put(name(old, new), "first", old)
                try store.put(name(old, new), "second", old)
            }
        }
        var changed: [GenericPasswordKey] = []
        do {
            let store = try fixture.open(state)
            for (old, new) in pairs where old != new {
                let isPossible = old.isAvailable(in: state.name) && new.permits(.create, in: state.name)
                let found = code { try change.make(store, name(old, new), new) }
                #expect(found == (isPossible ? nil : .interactionNotAllowed), "\(old) \(new)")
                if isPossible { changed.append(name(old, new)) }
            }
        }
        let store = try fixture.open(.unlocked)
        for (old, new) in pairs {
            let found = try store.formerTexts(name(old, new))
            #expect(found == (changed.contains(name(old, new)) ? change.values : ["first"]), "\(old) \(new)")
            #expect(try !store.hasStray(name(old, new)), "\(old) \(new)")
        }
    }

    @Test func `can be restored after the change, and go with their item`() throws {
        let place = try Place()
        let store = place.store
        try store.put(key("a"), "first", .whenUnlocked)
        try store.put(key("a"), "second", .afterFirstUnlock)
        let item = try #require(try store.find(key("a")))
        let number = try #require(try store.histories.values(of: item).values.first).number
        let former: SecretBytes? = try store.histories.secret(number, of: item)
        try store.update(item, to: item.attributes, secret: former, accessibility: .always, now: 3000)
        #expect(try store.text(of: key("a")) == "first")
        #expect(try store.formerTexts(key("a")) == ["second", "first"])
        #expect(try store.remove(key("a")))
        #expect(try place.checkPast() == [])
    }

    @Test func `go to the trash with their item and come back, as many and as large as there can be`() throws {
        let place = try Place()
        let (store, past) = (place.store, PastStore(connection: place.connection, keys: place.keys))
        try place.connection.execute("CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL)")
        var attributes = ItemAttributes(key("a"))
        attributes.values[.comment] = .text(String(repeating: "n", count: 3900))
        attributes.historyLimit = Limits.historyValues
        func secret(_ number: Int) throws -> SecretBytes {
            try SecretBytes(copying: [UInt8](repeating: UInt8(number), count: Limits.secretBytes).span.bytes)
        }
        _ = try store.add(attributes, secret: secret(0), accessibility: .whenUnlocked, now: 1)
        for number in 1...Limits.historyValues {
            let item = try #require(try store.find(key("a")))
            let new: SecretBytes? = try secret(number)
            try store.update(item, to: attributes, secret: new, accessibility: .whenUnlocked, now: Int64(number))
        }
        let before = try store.histories.values(of: try #require(try store.find(key("a")))).values.map(\.number)
        let removed = try #require(try store.find(key("a")))
        let number = try store.discard(removed, at: TrashMoment(wall: 5, boot: 5, bootID: "boot"))
        #expect(try store.find(key("a")) == nil)
        #expect(try Set(place.checkPast()) == ["whole"])
        let image = try past.takeOut(try #require(try past.entry(number, of: "default")))
        let item = try store.putBack(image, as: nil, "'a'")
        let values = try store.histories.values(of: item)
        #expect(values.damaged.isEmpty)
        #expect(values.values.map(\.number) == before)
        for (place, value) in values.values.enumerated() {
            let former = try store.histories.secret(value.number, of: item).exposeBytes()
            #expect(former == [UInt8](repeating: UInt8(Limits.historyValues - 1 - place), count: Limits.secretBytes))
        }
    }

    @Test func `wait for an item that may be in quarantine under another reference`() throws {
        let place = try Place()
        let store = place.store
        for secret in ["first", "second"] { try store.put(key("a"), secret) }
        let reference = try #require(try store.find(key("a"))).id
        try place.connection.execute("UPDATE keychain_items SET uuid = randomblob(16)")
        #expect(try place.checkPast() == ["lost"])
        let order = CheckOrder(groups: ["default"], repairs: true, now: 1)
        let slice = try store.checkItems(after: nil, order)
        #expect(slice.quarantinedCount == 1)
        #expect(try place.checkPast() == ["whole"])
        try place.connection.execute("UPDATE keychain_quarantine SET uuid = ?", .blob(reference.bytes))
        for entry in try store.quarantineTable.entries(after: 0, order) {
            #expect(try store.quarantineTable.putBack(entry.number, order)?.obstacle == nil)
        }
        #expect(try store.formerTexts(key("a")) == ["first"])
    }

    @Test func `go with an item that the removal of the passcode destroys`() throws {
        let place = try Place()
        let store = place.store
        try store.put(key("a"), "first", .whenUnlocked)
        try store.put(key("a"), "second", .whenPasscodeSetThisDeviceOnly)
        try store.removeWantingPasscode()
        #expect(try place.checkPast() == [])
    }
}

@Suite struct `A damaged former value` {
    private let place: Place
    private var store: KeychainStore { place.store }

    /// Three values that an item had; the second one is damaged.
    init() throws {
        place = try Place()
        for secret in ["first", "second", "third", "present"] { try store.put(key("a"), secret) }
        try place.connection.execute("UPDATE past SET sealed = zeroblob(length(sealed)) WHERE number = 2")
    }

    private var formerTexts: [String] { get throws { try store.formerTexts(key("a")) } }

    @Test func `is named by its number, and the others are read`() throws {
        let item = try #require(try store.find(key("a")))
        #expect(try store.histories.values(of: item).damaged == [2])
        #expect(try formerTexts == ["third", "first"])
        #expect(code { _ = try store.histories.secret(2, of: item) } == .decode)
        #expect(try place.checkPast() == ["whole", "'service/a'", "whole"])
    }

    @Test(arguments: Change.allCases)
    fileprivate func `keeps its item from nothing`(change: Change) throws {
        try change.make(store, key("a"), .afterFirstUnlock)
        let item = try #require(try store.find(key("a")))
        let values = try store.histories.values(of: item)
        #expect(values.damaged == [2])
        #expect(values.values.allSatisfy { $0.accessibility == .afterFirstUnlock })
        #expect(try formerTexts == (change.replacesSecret ? ["present"] : []) + ["third", "first"])
    }

    @Test(arguments: ["node = 1", "time = 1", "bytes = bytes + 1", "reason = 1, number = 9"])
    func `is one whose row says something else`(change: String) throws {
        let connection = place.connection
        switch change {
        case "node = 1": try connection.execute("UPDATE past SET node = 1 WHERE number = 1")
        case "time = 1": try connection.execute("UPDATE past SET time = 1 WHERE number = 1")
        case "bytes = bytes + 1": try connection.execute("UPDATE past SET bytes = bytes + 1 WHERE number = 1")
        default: try connection.execute("UPDATE past SET number = 9 WHERE number = 1")
        }
        #expect(try formerTexts == ["third"])
    }

    @Test func `is one of another item, and one that no item has is lost`() throws {
        try store.put(key("b"), "first")
        try store.put(key("b"), "second")
        let connection = place.connection
        try connection.execute("UPDATE past SET owner = (SELECT owner FROM past WHERE number = 1) WHERE number = 4")
        #expect(try formerTexts == ["third", "first"])
        try connection.execute("UPDATE past SET owner = randomblob(16) WHERE number = 4")
        #expect(try place.checkPast().last == "lost")
    }

    @Test func `goes when newer ones take its place`() throws {
        let item = try #require(try store.find(key("a")))
        var attributes = item.attributes
        attributes.historyLimit = 1
        try store.update(item, to: attributes, secret: nil, accessibility: item.accessibility, now: 3000)
        #expect(try place.checkPast() == ["whole"])
    }
}
