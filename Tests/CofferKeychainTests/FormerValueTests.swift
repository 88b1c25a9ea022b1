import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
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
        return try history(of: item).map { value in
            String(decoding: try earlierSecret(value.number, of: item).exposeBytes(), as: UTF8.self)
        }
    }

    fileprivate func checkHistory(repairs: Bool = false) throws -> CheckSlice<Int64> {
        try checkHistory(after: nil, CheckOrder(groups: ["default"], repairs: repairs, now: 5000, limit: 1000))
    }

    fileprivate func restoreAll() throws -> [String?] {
        let order = CheckOrder(groups: ["default"], repairs: false, now: 0, limit: 1000)
        let table = quarantineTable
        return try table.entries(after: 0, order).map { try #require(try table.putBack($0.number, order)).obstacle }
    }
}

extension Connection {
    /// How many former values are sealed under another class than their item.
    fileprivate func strayCount() throws -> Int64? {
        try row(
            """
            SELECT count(*) FROM keychain_history JOIN keychain_items USING (uuid)
            WHERE keychain_history.class_key <> keychain_items.class_key
            """
        ) { try $0.integer(0) }
    }
}

private let pairs = Accessibility.allCases.flatMap { old in Accessibility.allCases.map { (old: old, new: $0) } }

private func name(_ old: Accessibility, _ new: Accessibility) -> GenericPasswordKey { key("\(new)", service: "\(old)") }

@Suite struct `The former values of an item` {
    @Test(arguments: Change.allCases)
    fileprivate func `follow it to another class, in whatever way it gets that`(change: Change) throws {
        let fixture = try Fixture()
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        for (old, new) in pairs {
            try store.put(name(old, new), "first", old)
            try store.put(name(old, new), "second", old)
            try change.make(store, name(old, new), new)
        }
        for (old, new) in pairs {
            let expected = old == new && !change.replacesSecret ? ["first"] : change.values
            let found = try store.formerTexts(name(old, new))
            #expect(found == expected, "\(old) \(new)")
        }
        #expect(try connection.strayCount() == 0)
        #expect(try store.checkHistory().findings == [])
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
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        for (old, new) in pairs {
            let found = try store.formerTexts(name(old, new))
            #expect(found == (changed.contains(name(old, new)) ? change.values : ["first"]), "\(old) \(new)")
        }
        #expect(try connection.strayCount() == 0)
    }

    @Test func `can be restored after the change, and go with their item`() throws {
        let fixture = try Fixture()
        let store = try fixture.open(.unlocked)
        try store.put(key("a"), "first", .whenUnlocked)
        try store.put(key("a"), "second", .afterFirstUnlock)
        let item = try #require(try store.find(key("a")))
        let number = try #require(try store.history(of: item).first).number
        let former: SecretBytes? = try store.earlierSecret(number, of: item)
        try store.update(item, to: item.attributes, secret: former, accessibility: .always, now: 3000)
        #expect(try store.text(of: key("a")) == "first")
        #expect(try store.formerTexts(key("a")) == ["second", "first"])
        #expect(try store.remove(key("a")))
        let slice = try store.checkHistory()
        #expect(slice.checkedCount == 0)
    }
}

/// What earlier versions left when an overwrite changed the class of an item.
@Suite struct `Former values of another class than their item` {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// Makes an item with two former values of the class that it had, and one of the class that it has.
    private func strand(_ account: String, from old: Accessibility, to new: Accessibility) throws {
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        try strand(account, from: old, to: new, store, connection)
    }

    private func strand(
        _ account: String,
        from old: Accessibility,
        to new: Accessibility,
        _ store: KeychainStore,
        _ connection: Connection
    ) throws {
        for secret in ["first", "second", "third"] { try store.put(key(account), secret, old) }
        let reference = try #require(try store.find(key(account))).id
        try connection.execute(
            "CREATE TABLE kept AS SELECT * FROM keychain_history WHERE uuid = ?",
            .blob(reference.bytes)
        )
        try store.put(key(account), "present", new)
        try connection.execute("DELETE FROM keychain_history WHERE id IN (SELECT id FROM kept)")
        try connection.execute("INSERT INTO keychain_history SELECT * FROM kept")
        try connection.execute("DROP TABLE kept")
    }

    private func strayCount() throws -> Int64? { try fixture.connect().strayCount() }

    @Test func `are read, and brought to its class by a repair`() throws {
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        let changes = pairs.filter { $0.old != $0.new }
        for (old, new) in changes { try strand("\(old) \(new)", from: old, to: new, store, connection) }
        #expect(try connection.strayCount() == Int64(2 * changes.count))
        func expectAll() throws {
            for (old, new) in changes {
                #expect(try store.formerTexts(key("\(old) \(new)")) == ["third", "second", "first"], "\(old) \(new)")
            }
        }
        try expectAll()
        let found = try store.checkHistory().findings
        #expect(found.count == 2 * changes.count)
        #expect(Set(found.map { "\($0.damage) \($0.repair)" }) == ["otherClass rewrite"])
        let repaired = try store.checkHistory(repairs: true)
        #expect(repaired.findings.allSatisfy { $0.isRepaired })
        #expect(repaired.quarantinedCount == 0)
        #expect(try store.checkHistory().findings == [])
        #expect(try connection.strayCount() == 0)
        try expectAll()
    }

    @Test(arguments: [
        (Accessibility.whenUnlocked, Accessibility.afterFirstUnlock), (.afterFirstUnlock, .whenUnlocked),
        (.always, .whenUnlocked), (.whenUnlocked, .always),
    ])
    func `are locked, not damaged, while a key is away, and left as they are`(
        old: Accessibility,
        new: Accessibility
    ) throws {
        try strand("a", from: old, to: new)
        do {
            let store = try fixture.open(.locked)
            let item = try #require(try store.find(key("a")))
            let values = try store.history(of: item)
            #expect(values.count == 3)
            let found = code { _ = try store.earlierSecret(values[2].number, of: item) }
            #expect(found == .interactionNotAllowed)
            let slice = try store.checkHistory(repairs: true)
            #expect(slice.findings == [])
            #expect(slice.sealedCount == (new == .whenUnlocked ? 3 : 2))
        }
        #expect(try strayCount() == 2)
        let store = try fixture.open(.unlocked)
        #expect(try store.formerTexts(key("a")) == ["third", "second", "first"])
    }

    @Test func `do not keep their item from getting a new secret, and follow its next change of class`() throws {
        try strand("a", from: .whenUnlocked, to: .afterFirstUnlock)
        do {
            let store = try fixture.open(.locked)
            try store.put(key("a"), "new", .afterFirstUnlock)
            let found = code { try store.put(key("a"), "other", .always) }
            #expect(found == .interactionNotAllowed)
            #expect(try store.text(of: key("a")) == "new")
        }
        do {
            let store = try fixture.open(.unlocked)
            try store.put(key("a"), "other", .always)
            #expect(try store.formerTexts(key("a")) == ["new", "present", "third", "second", "first"])
        }
        #expect(try strayCount() == 0)
    }

    @Test(arguments: [TestState.unlocked, .locked])
    func `go back from quarantine, to the class of their item if its key is there`(state: TestState) throws {
        try strand("a", from: .whenUnlocked, to: .afterFirstUnlock)
        do {
            // As the repairs of earlier versions did.
            let connection = try fixture.connect()
            try connection.execute(
                """
                INSERT INTO keychain_quarantine (stage, damage, moved, row, uuid, class_key, metadata, wrapped_key, secret)
                SELECT 'formerValues', 'row', 1, id, uuid, class_key, metadata, wrapped_key, secret
                FROM keychain_history WHERE class_key = 16
                """
            )
            try connection.execute("DELETE FROM keychain_history WHERE class_key = 16")
        }
        do {
            let store = try fixture.open(state)
            #expect(try store.restoreAll() == [nil, nil])
        }
        #expect(try strayCount() == (state == .unlocked ? 0 : 2))
        let store = try fixture.open(.unlocked)
        #expect(try store.formerTexts(key("a")) == ["third", "second", "first"])
    }

    @Test func `go with an item that the removal of the passcode destroys`() throws {
        try strand("a", from: .whenUnlocked, to: .whenPasscodeSetThisDeviceOnly)
        let store = try fixture.open(.unlocked)
        try store.removeWantingPasscode()
        let slice = try store.checkHistory()
        #expect(slice.checkedCount == 0)
    }

    @Test func `can't be opened by another class that was written into their row`() throws {
        try strand("a", from: .always, to: .whenUnlocked)
        try fixture.connect().execute("UPDATE keychain_history SET class_key = 16")
        let store = try fixture.open(.unlocked)
        let item = try #require(try store.find(key("a")))
        let found = code { _ = try store.history(of: item) }
        #expect(found == .decode)
        #expect(try store.checkHistory().findings.map(\.damage) == [.metadata, .metadata])
    }
}
