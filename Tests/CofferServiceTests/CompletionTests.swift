import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The names that the daemon completes: in each state, and for each client, none that a listing would not have.
@Suite struct CompletionTests {
    private static func offered(
        _ client: BlockingClient,
        _ prefix: String = "",
        group: String? = nil
    ) throws -> [String] {
        try client.call(ItemListParameters(prefix: prefix, group: group, wantsCompletions: true)).value.names
    }

    private static func listed(_ client: BlockingClient, group: String? = nil) throws -> [String] {
        try client.call(ItemListParameters(group: group)).value.items.map(\.name).sorted()
    }

    private static func makeItems(_ client: BlockingClient) throws {
        for accessibility in Accessibility.allCases {
            try client.put("secret-\(accessibility.rawValue)", [1]) { $0.accessibility = accessibility }
        }
        for protectionClass in ProtectionClass.allCases {
            try client.put("file-\(protectionClass.rawValue)", [1]) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
    }

    /// The seconds from a lock to each state: a grace of 10, class CX 600 after it, and 72 hours.
    @Test func `in each state, the names are those that a listing has, whether they were kept or are read`() throws {
        let timed = try TimedServer()
        try Self.makeItems(timed.client)
        let count = Accessibility.allCases.count + ProtectionClass.allCases.count
        #expect(try Self.offered(timed.client).count == count)
        _ = try timed.client.lock()
        for (seconds, state) in [
            (0, VaultState.locking), (10, .locked), (600, .lockedExpired), (259_200, .beforeFirstUnlock),
        ] {
            timed.clock.advance(by: Double(seconds))
            #expect(try timed.state() == state)
            for turn in ["first", "again"] {
                let names = try Self.offered(timed.client)
                #expect(try names == Self.listed(timed.client), "\(state), \(turn)")
                #expect((names.count == count) == (state != .beforeFirstUnlock), "\(state), \(turn)")
            }
            #expect(try Self.offered(timed.client, "secret-WhenU").isEmpty == (state == .beforeFirstUnlock))
        }
        #expect(try Self.offered(timed.client) == ["file-none", "secret-Always", "secret-AlwaysThisDeviceOnly"])
        try timed.client.unlock()
        #expect(try Self.offered(timed.client).count == count)
    }

    // MARK: Clients

    private static let owner = ClientIdentity(userID: geteuid(), groupID: getegid())
    private static let nina = ClientIdentity(userID: geteuid() + 7, groupID: getegid() + 100)
    private static let third = ClientIdentity(userID: geteuid() + 9, groupID: getegid() + 9)

    @Test func `a client is offered names of groups that it may list, although those of all groups are kept`() throws {
        let text = "[Client]\nGID=\(getegid() + 100)\nService=no\nGroups=user:\nVerbs=read write share\n"
        let entitlements = try Entitlement.all(in: [("a.conf", Array(text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
        let next = Shared(Self.owner)
        let server = try TestServer(graceSeconds: 0) { configuration in
            configuration.identify = { _, _ in next.value }
            configuration.entitlements = entitlements
        }
        func connect(_ client: ClientIdentity) throws -> BlockingClient {
            next.value = client
            let connection = try server.connect()
            _ = try connection.status()
            return connection
        }
        let owner = try connect(Self.owner)
        try owner.makeVault()
        try owner.put("owners", [1])
        let nina = try connect(Self.nina)
        let group = "user:\(Self.nina.userID)"
        for name in ["ninas", "shared"] { try nina.put(name, [1]) }
        // Now the names of all groups are kept.
        #expect(try Self.offered(owner) == ["owners"])
        #expect(try Self.offered(owner, group: group) == ["ninas", "shared"])
        #expect(try Self.offered(nina) == ["ninas", "shared"])
        #expect(throws: CofferError(.missingEntitlement, "")) { try Self.offered(nina, group: "default") }
        // A rule for one item lists nothing, in whichever form it is asked.
        try nina.allow(.user(Self.third.userID), [.read], "shared")
        let third = try connect(Self.third)
        for asked in [nil, group, "default"] {
            #expect(throws: CofferError(.missingEntitlement, "")) { try Self.offered(third, group: asked) }
            #expect(throws: CofferError(.missingEntitlement, "")) { try Self.listed(third, group: asked) }
        }
    }
}
