import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferKeys
import CofferSystem
import CofferTestSupport
import Testing

/// Leases as they are kept.
@Suite struct LeaseStoreTests {
    /// Leases in a vault of their own.
    private struct Fixture {
        let vault: Vault
        let connection: Connection
        let store: LeaseStore

        init() throws {
            vault = try Vault()
            connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
            try connection.migrate(LeaseStore.migrations, applicationID: 1)
            store = LeaseStore(connection: connection, keys: try vault.open(.locked))
        }
    }

    private static func terms(_ name: String, reason: String = "", bootID: String = "boot") throws -> LeaseTerms {
        LeaseTerms(
            group: "default",
            name: try ItemName(name),
            itemCreated: 1_763_766_000_000,
            client: .unit("ci.service"),
            bootID: bootID,
            end: 600,
            granted: -1,
            reason: reason
        )
    }

    @Test func `a lease is read as it was granted, while locked and after a restart`() throws {
        let fixture = try Fixture()
        let (one, other) = (try Self.terms("site/token", reason: "déploiement"), try Self.terms("b"))
        #expect(try fixture.store.add(one, uses: 3, isNamedInEveryState: true) == 1)
        #expect(try fixture.store.add(other, uses: nil, isNamedInEveryState: true) == 2)
        let expected = [
            Lease(number: 1, terms: one, usesLeft: 3, isNamedInEveryState: true),
            Lease(number: 2, terms: other, usesLeft: nil, isNamedInEveryState: true),
        ]
        #expect(try fixture.store.all == expected)
        let again = LeaseStore(connection: fixture.connection, keys: try fixture.vault.open(.beforeFirstUnlock))
        #expect(try again.all == expected)
    }

    @Test func `the names of a lease are under the passcode, unless they are its item's in every state`() throws {
        let fixture = try Fixture()
        let terms = try Self.terms("site/token", reason: "déploiement")
        _ = try fixture.store.add(terms, uses: 3, isNamedInEveryState: false)
        _ = try fixture.store.add(try Self.terms("wifi"), uses: nil, isNamedInEveryState: true)
        let lease = Lease(number: 1, terms: terms, usesLeft: 3, isNamedInEveryState: false)
        #expect(try fixture.store.all.first == lease)
        let closed = LeaseStore(connection: fixture.connection, keys: try fixture.vault.open(.beforeFirstUnlock))
        #expect(try closed.all.map(\.terms.name.path) == ["wifi"])
        #expect(try closed.damaged.isEmpty)
        let sealed = try #require(try closed.sealed.first)
        #expect(sealed.number == 1 && sealed.group == "default" && sealed.client == .unit("ci.service"))
        #expect(sealed.lives(at: 599, of: "boot") && !sealed.lives(at: 600, of: "boot"))
        #expect(sealed.nameTag == closed.tag(of: terms.name, in: "default"))
        #expect(sealed.nameTag != closed.tag(of: terms.name, in: "other"))
        let known = sealed.lease(for: terms.name)
        #expect(known.terms.reason.isEmpty && known.usesLeft == 3)
        try closed.remove(1)
        #expect(try closed.sealed.isEmpty)
    }

    @Test func `each use is counted, the last one ends the lease, and one without a bound goes on`() throws {
        let store = try Fixture().store
        _ = try store.add(try Self.terms("a"), uses: 2, isNamedInEveryState: true)
        _ = try store.add(try Self.terms("b"), uses: nil, isNamedInEveryState: true)
        for left in [[1, nil], [nil], [nil]] {
            for lease in try store.all { try store.countUse(of: lease) }
            let found = try store.all.map(\.usesLeft)
            #expect(found == left)
        }
    }

    @Test func `a use whose change is undone was none`() throws {
        let fixture = try Fixture()
        _ = try fixture.store.add(try Self.terms("a"), uses: 1, isNamedInEveryState: true)
        let lease = try #require(try fixture.store.all.first)
        #expect(throws: CancellationError.self) {
            try fixture.connection.transaction {
                try fixture.store.countUse(of: lease)
                throw CancellationError()
            }
        }
        fixture.store.reread()
        #expect(try fixture.store.all == [lease])
    }

    @Test func `a number never comes to mean another lease`() throws {
        let store = try Fixture().store
        let first = try store.add(try Self.terms("a"), uses: nil, isNamedInEveryState: true)
        try store.remove(first)
        let second = try store.add(try Self.terms("b"), uses: nil, isNamedInEveryState: true)
        #expect(second > first)
    }

    @Test func `a lease lives until its time, in its boot and in no other`() throws {
        let lease = Lease(number: 1, terms: try Self.terms("a"), usesLeft: nil, isNamedInEveryState: true)
        #expect(lease.lives(at: 0, of: "boot"))
        #expect(lease.lives(at: 599, of: "boot"))
        #expect(!lease.lives(at: 600, of: "boot"))
        #expect(!lease.lives(at: 0, of: "another"))
        #expect(!lease.lives(at: 0, of: nil))
    }

    @Test func `a lease that was changed, or moved to another number, is damaged and gives nothing`() throws {
        let fixture = try Fixture()
        for name in ["a", "b", "c"] {
            _ = try fixture.store.add(try Self.terms(name), uses: nil, isNamedInEveryState: true)
        }
        try fixture.connection.execute(
            "UPDATE leases SET sealed = (SELECT sealed FROM leases WHERE number = 3) WHERE number = 1"
        )
        try fixture.connection.execute("UPDATE leases SET sealed = x'00' WHERE number = 2")
        fixture.store.reread()
        #expect(try fixture.store.all.map(\.number) == [3])
        #expect(try fixture.store.damaged == [1, 2])
        try fixture.store.remove(1)
        #expect(try fixture.store.damaged == [2])
    }

    @Test func `neither names nor reasons are on the disk in the clear`() throws {
        let fixture = try Fixture()
        _ = try fixture.store.add(
            try Self.terms("unmistakable/name", reason: "unmistakable reason"),
            uses: nil,
            isNamedInEveryState: true
        )
        for file in ["vault.sqlite", "vault.sqlite-wal"] {
            let bytes = fixture.vault.temporary.contents(file) ?? []
            for word in ["unmistakable", "ci.service"] { #expect(!bytes.contains(Array(word.utf8)), "\(file)") }
        }
    }
}
