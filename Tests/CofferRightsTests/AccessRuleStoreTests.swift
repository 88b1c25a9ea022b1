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
            try store.add(kind, .unit("ci@*.service"), [.read, .delete], try NamePattern(pattern), in: "work")
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
            pattern: try pattern.map { try NamePattern($0) }
        )
    }

    @Test func `a rule is read as it was added, in the same store and in another`() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("deploy/*") == 1)
        #expect(try fixture.add("deploy/\u{E9}", .deny) == 2)
        let expected = [try Self.rule(1, .allow, "deploy/*"), try Self.rule(2, .deny, "deploy/\u{E9}")]
        #expect(try fixture.store.all == expected)
        #expect(try fixture.opened(.locked).all == expected)
    }

    @Test func `before the first unlock, who a rule is for is known, and for what is not`() throws {
        let fixture = try Fixture()
        try fixture.add("deploy/*")
        let closed = try fixture.opened(.beforeFirstUnlock)
        #expect(try closed.all == [try Self.rule(1, .allow, nil)])
        #expect(try closed.damaged.isEmpty)
        // One that is added then is sealed to the passcode, too.
        #expect(try closed.add(.deny, .user(1), [.write], try NamePattern("a"), in: "g") == 2)
        #expect(try closed.all.last?.pattern == nil)
        #expect(try fixture.opened(.locked).all.last?.pattern == NamePattern("a"))
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
        for file in ["vault.sqlite", "vault.sqlite-wal"] {
            let bytes = fixture.vault.temporary.contents(file) ?? []
            for word in ["unmistakable", "ci@*", "work"] { #expect(!bytes.contains(Array(word.utf8)), "\(file)") }
        }
    }
}
