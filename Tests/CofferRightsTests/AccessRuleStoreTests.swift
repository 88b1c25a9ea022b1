import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferKeys
import CofferSystem
import CofferTestSupport
import Testing

/// Access rules as they are kept.
@Suite struct AccessRuleStoreTests {
    /// Rules in a vault of their own.
    private struct Fixture {
        let vault: Vault
        let connection: Connection
        let store: AccessRuleStore

        init() throws {
            vault = try Vault()
            connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
            try connection.migrate(AccessRuleStore.migrations, applicationID: 1)
            store = AccessRuleStore(connection: connection, keys: try vault.open(.locked))
        }

        @discardableResult func add(_ pattern: String, _ kind: AccessRuleKind = .allow) throws -> Int64 {
            try store.add(try AccessRuleStoreTests.rule(0, kind, pattern), until: nil)
        }

        /// Adds a rule for one item that ends.
        func grant(_ name: String, uses: Int64? = nil, isNamedInEveryState: Bool = false) throws -> Int64 {
            try store.add(
                try AccessRuleStoreTests.grant(0, name, uses: uses),
                until: RuleEnd(bootID: "boot", time: 600),
                itemCreated: 1_763_766_000_000,
                isNamedInEveryState: isNamedInEveryState
            )
        }

        func opened(_ state: TestState) throws -> AccessRuleStore {
            AccessRuleStore(connection: connection, keys: try vault.open(state))
        }
    }

    private static func rule(_ number: Int64, _ kind: AccessRuleKind, _ pattern: String?) throws -> AccessRule {
        AccessRule(
            number: number,
            kind: kind,
            client: .unit("ci@*.service"),
            verbs: [.read, .delete],
            group: "work",
            pattern: try pattern.map { try NamePattern($0) },
            added: pattern == nil ? nil : 0
        )
    }

    private static func grant(_ number: Int64, _ name: String?, uses: Int64?) throws -> AccessRule {
        AccessRule(
            number: number,
            kind: .allow,
            client: .unit("ci.service"),
            verbs: [.read],
            group: "work",
            name: try name.map { try ItemName($0) },
            uses: uses,
            reason: name == nil ? nil : "déploiement",
            added: name == nil ? nil : -1
        )
    }

    @Test func `a rule is read as it was added, in the same store and in another`() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("deploy/*") == 1)
        #expect(try fixture.add("deploy/\u{E9}", .deny) == 2)
        let expected = [try Self.rule(1, .allow, "deploy/*"), try Self.rule(2, .deny, "deploy/\u{E9}")]
        #expect(try fixture.store.all.map(\.rule) == expected)
        #expect(try fixture.opened(.locked).all.map(\.rule) == expected)
    }

    @Test func `before the first unlock, who a rule is for is known, and for what is not`() throws {
        let fixture = try Fixture()
        try fixture.add("deploy/*")
        let closed = try fixture.opened(.beforeFirstUnlock)
        #expect(try closed.all.map(\.rule) == [try Self.rule(1, .allow, nil)])
        #expect(try closed.damaged.isEmpty)
        // One that is added then is sealed to the passcode, too.
        #expect(try closed.add(try Self.rule(0, .deny, "a"), until: nil) == 2)
        #expect(try closed.all.last?.rule.pattern == nil)
        #expect(try fixture.opened(.locked).all.last?.rule.pattern == NamePattern("a"))
    }

    @Test func `a grant is read as it was added, and what the passcode protects of it only with that`() throws {
        let fixture = try Fixture()
        #expect(try fixture.grant("site/token", uses: 3) == 1)
        #expect(try fixture.grant("wifi", isNamedInEveryState: true) == 2)
        let expected = [try Self.grant(1, "site/token", uses: 3), try Self.grant(2, "wifi", uses: nil)]
        #expect(try fixture.store.all.map(\.rule) == expected)
        #expect(try fixture.opened(.locked).all == fixture.store.all)
        let closed = try fixture.opened(.beforeFirstUnlock)
        #expect(try closed.all.map(\.rule) == [try Self.grant(1, nil, uses: 3), expected[1]])
        #expect(try closed.damaged.isEmpty)
    }

    @Test func `a rule is for the item that it was added for, by whichever name was asked, in every state`() throws {
        let fixture = try Fixture()
        let made: Int64 = 1_763_766_000_000
        _ = try fixture.grant("site/token")
        for store in [fixture.store, try fixture.opened(.beforeFirstUnlock)] {
            let stored = try #require(try store.all.first)
            func isFor(_ name: String, _ item: NamedItem) throws -> Bool {
                guard let rule = store.rule(stored, askedFor: try ItemName(name), item) else { return false }
                return [rule].verdict(on: .read, item.listed ?? name, askedAs: name, in: "work") == .allowed(rule)
            }
            #expect(try isFor("site/token", .found(listed: "site/token", created: made)))
            #expect(try isFor("login:x", .found(listed: "site/token", created: made)))
            #expect(try isFor("site/token", .unreadable))
            #expect(try !isFor("site/token", .found(listed: "site/token", created: made + 1)))
            #expect(try !isFor("site/token", .missing))
            #expect(try !isFor("other", .found(listed: "other", created: made)))
            #expect(try !isFor("other", .unreadable))
        }
    }

    @Test func `before the first unlock, a rule for one name is told by its tag, and a pattern may be for any`() throws
    {
        let fixture = try Fixture()
        try fixture.add("deploy/token")
        try fixture.add("deploy/*", .deny)
        let closed = try fixture.opened(.beforeFirstUnlock)
        func known(_ name: String) throws -> [AccessRule] {
            try closed.all.compactMap { closed.rule($0, askedFor: try ItemName(name), .unreadable) }
        }
        #expect(try known("deploy/token").map(\.isForOneName) == [true, nil])
        #expect(try known("other").map(\.isForOneName) == [nil])
    }

    @Test func `each use is counted in every state, the last one ends the rule, and one without a bound goes on`()
        throws
    {
        let fixture = try Fixture()
        _ = try fixture.grant("a", uses: 3)
        _ = try fixture.grant("b")
        let closed = try fixture.opened(.beforeFirstUnlock)
        for rule in try closed.all { try closed.countUse(of: rule) }
        let store = try fixture.opened(.locked)
        #expect(try store.all.first?.rule == Self.grant(1, "a", uses: 2))
        for left in [[1, nil], [nil], [nil]] as [[Int64?]] {
            for rule in try store.all { try store.countUse(of: rule) }
            let found = try store.all.map(\.rule.uses)
            #expect(found == left)
        }
    }

    @Test func `a use whose change is undone was none`() throws {
        let fixture = try Fixture()
        _ = try fixture.grant("a", uses: 1)
        let rule = try #require(try fixture.store.all.first)
        #expect(throws: CancellationError.self) {
            try fixture.connection.transaction {
                try fixture.store.countUse(of: rule)
                throw CancellationError()
            }
        }
        fixture.store.reread()
        #expect(try fixture.store.all == [rule])
    }

    @Test func `a rule counts until its time, in its boot and in no other`() throws {
        let fixture = try Fixture()
        _ = try fixture.grant("a")
        let rule = try #require(try fixture.store.all.first)
        #expect(rule.counts(at: 0, of: "boot") && rule.counts(at: 599, of: "boot"))
        #expect(!rule.counts(at: 600, of: "boot") && !rule.counts(at: 0, of: "another") && !rule.counts(at: 0, of: nil))
        #expect(rule.rule(at: 0).seconds == 1 && rule.rule(at: 600).seconds == 0)
        try fixture.add("deploy/*")
        #expect(try fixture.store.all.last?.counts(at: .max, of: nil) == true)
    }

    @Test func `a number never comes to mean another rule`() throws {
        let fixture = try Fixture()
        let first = try fixture.add("a")
        try fixture.store.remove(first)
        #expect(try fixture.store.all.isEmpty)
        #expect(try fixture.add("b") > first)
    }

    @Test func `a rule that was changed, or moved to another number, is damaged`() throws {
        let fixture = try Fixture()
        for pattern in ["a", "b", "c"] { try fixture.add(pattern) }
        try fixture.connection.execute(
            "UPDATE access_rules SET sealed = (SELECT sealed FROM access_rules WHERE number = 3) WHERE number = 1"
        )
        try fixture.connection.execute("UPDATE access_rules SET sealed = x'00' WHERE number = 2")
        fixture.store.reread()
        #expect(try fixture.store.all.map(\.number) == [3])
        #expect(try fixture.store.damaged == [1, 2])
        try fixture.store.remove(1)
        #expect(try fixture.store.damaged == [2])
    }

    @Test func `a change that is undone was none`() throws {
        let fixture = try Fixture()
        #expect(throws: CancellationError.self) {
            try fixture.connection.transaction {
                try fixture.add("a")
                throw CancellationError()
            }
        }
        fixture.store.reread()
        #expect(try fixture.store.all.isEmpty)
    }

    @Test func `neither clients nor names are on the disk in the clear`() throws {
        let fixture = try Fixture()
        try fixture.add("unmistakable/name")
        _ = try fixture.grant("unmistakable/item", isNamedInEveryState: true)
        for file in ["vault.sqlite", "vault.sqlite-wal"] {
            let bytes = fixture.vault.temporary.contents(file) ?? []
            for word in ["unmistakable", "ci@*", "ci.service", "work", "déploiement"] {
                #expect(!bytes.contains(Array(word.utf8)), "\(file)")
            }
        }
    }
}
