import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Shares: rules by which a user who is no administrator lets others read items of a group of its own.
@Suite struct ShareTests {
    private static let owner = ClientIdentity(userID: geteuid(), groupID: getegid())
    private static let nina = ClientIdentity(userID: geteuid() + 7, groupID: sharers)
    private static let omar = ClientIdentity(userID: geteuid() + 8, groupID: sharers)
    private static let third = ClientIdentity(userID: geteuid() + 9, groupID: getegid() + 9)
    private static let sharers = getegid() + 100

    private let next: Shared<ClientIdentity>
    private let server: TestServer
    private let owner: BlockingClient

    init() throws {
        let text = """
            [Client]
            GID=\(Self.sharers)
            Service=no
            Groups=user:
            Verbs=read write delete share
            """
        let entitlements = try Entitlement.all(in: [("sharing.conf", Array(text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
        let next = Shared(Self.owner)
        self.next = next
        server = try TestServer(graceSeconds: 0) { configuration in
            configuration.identify = { _, _ in next.value }
            configuration.entitlements = entitlements
        }
        owner = try server.connect()
        try owner.makeVault()
        try owner.put("wifi", [9])
    }

    /// An admitted connection of a client.
    private func connect(_ client: ClientIdentity) throws -> BlockingClient {
        next.value = client
        let connection = try server.connect()
        _ = try connection.status()
        return connection
    }

    private static let denied = Outcome.refused(.missingEntitlement)

    private func group(_ client: ClientIdentity) -> String { "user:\(client.userID)" }

    /// A connection of a user that shares an item with another.
    private func shareWifi() throws -> BlockingClient {
        let nina = try connect(Self.nina)
        try nina.put("wifi", [1])
        try nina.allow(.user(Self.third.userID), [.read], "wifi")
        return nina
    }

    @Test func `a user shares one item with another user, who reads it and nothing else`() throws {
        let nina = try shareWifi()
        try nina.put("bank", [2])
        let third = try connect(Self.third)
        for group in [nil, group(Self.nina)] { #expect(try third.get("wifi", group: group) == [1]) }
        let name = try ItemName("wifi")
        let attempts: [(String, () throws -> Void)] = [
            ("another item", { _ = try third.get("bank", group: group(Self.nina)) }),
            ("the owner's item", { _ = try third.get("wifi", group: "default") }),
            ("list", { _ = try third.call(ItemListParameters(group: group(Self.nina))) }),
            ("put", { try third.put("wifi", [3]) { $0.group = group(Self.nina) } }),
            ("remove", { try third.call(ItemRemoveParameters(name: name, group: group(Self.nina))) }),
            ("pass on", { try third.allow(.user(1), [.read], "wifi", in: group(Self.nina)) }),
            ("list rules", { _ = try third.rules() }),
            ("end the share", { try third.removeRule(1) }),
        ]
        for (what, attempt) in attempts {
            #expect(try Outcome(attempt) == Self.denied, "\(what)")
        }
        try nina.put("wifi", [4])
        #expect(try third.get("wifi") == [4])
    }

    @Test func `a user who shares sees and changes neither the owner's items nor those of others`() throws {
        let (nina, omar) = (try shareWifi(), try connect(Self.omar))
        let attempts: [(String, () throws -> Void)] = [
            ("get", { _ = try omar.get("wifi", group: group(Self.nina)) }),
            ("the owner's", { _ = try omar.get("wifi", group: "default") }),
            ("put", { try omar.put("wifi", [3]) { $0.group = group(Self.nina) } }),
            ("lock", { _ = try omar.lock(graceSeconds: 0) }),
            ("entitlements", { _ = try omar.call(EntitlementListParameters()) }),
        ]
        for (what, attempt) in attempts { #expect(try Outcome(attempt) == Self.denied, "\(what)") }
        #expect(try Outcome { _ = try omar.get("wifi") } == .refused(.itemNotFound))
        #expect(try nina.get("wifi") == [1])
        #expect(try omar.rules().rules.isEmpty)
    }

    @Test func `of access rules, a user who shares adds only one for a user, to read one item of its own group`() throws
    {
        let nina = try shareWifi()
        let other = ClientPattern.user(Self.third.userID)
        let attempts: [(String, () throws -> Void)] = [
            ("a pattern", { try nina.allow(other, [.read], "w*") }),
            ("to write", { try nina.allow(other, [.write], "wifi") }),
            ("to read and remove", { try nina.allow(other, [.read, .delete], "wifi") }),
            ("a group of users", { try nina.allow(.group(7), [.read], "wifi") }),
            ("a unit", { try nina.allow(.unit("a.service"), [.read], "wifi") }),
            ("a program", { try nina.allow(.executable("/bin/true"), [.read], "wifi") }),
            ("the owner's group", { try nina.allow(other, [.read], "wifi", in: "default") }),
            ("another's group", { try nina.allow(other, [.read], "wifi", in: group(Self.omar)) }),
            ("an exception", { try nina.deny(other, [.read], "wifi") }),
        ]
        for (what, attempt) in attempts { #expect(try Outcome(attempt) == Self.denied, "\(what)") }
        #expect(try nina.rules().rules.count == 1)
    }

    @Test func `a user ends its own shares, and no rule of the administrator`() throws {
        let nina = try shareWifi()
        let third = ClientPattern.user(Self.third.userID)
        let exception = try owner.deny(third, [.read], "bank", in: group(Self.nina)).number
        let others = try owner.allow(third, [.read], "wifi")
        #expect(try nina.rules().rules.map(\.number) == [1])
        for number in [exception, others] {
            #expect(try Outcome { try nina.removeRule(number) } == .refused(.itemNotFound))
        }
        try nina.removeRule(1)
        #expect(try Outcome { _ = try connect(Self.third).get("wifi", group: group(Self.nina)) } == Self.denied)
        #expect(try connect(Self.third).get("wifi") == [9])
    }

    @Test func `an exception of the administrator prevails over a share, and the administrator ends one`() throws {
        let nina = try shareWifi()
        let third = try connect(Self.third)
        let exception = try owner.deny(.user(Self.third.userID), [.read], "**", in: group(Self.nina)).number
        #expect(try Outcome { _ = try third.get("wifi") } == Self.denied)
        try owner.removeRule(exception)
        #expect(try third.get("wifi") == [1])
        try owner.removeRule(1)
        #expect(try Outcome { _ = try third.get("wifi") } == Self.denied)
        #expect(try nina.rules().rules.isEmpty)
    }

    @Test func `each user lists what is shared with it, and nothing else`() throws {
        _ = try shareWifi()
        try owner.allow(.user(Self.omar.userID), [.read], "wifi")
        let params = AccessListParameters(isOfCaller: true)
        let found = try connect(Self.third).call(params).value.rules
        #expect(found.map(\.group) == [group(Self.nina)] && found.map(\.pattern?.text) == ["wifi"])
        #expect(try connect(Self.omar).call(params).value.rules.map(\.group) == ["default"])
        #expect(try connect(Self.nina).call(params).value.rules.isEmpty)
    }

    @Test func `one user's shares leave place for those of others, and all of them for the administrator`() throws {
        let nina = try connect(Self.nina)
        for number in 0..<Limits.sharesOfUser { try nina.allow(.user(UInt32(number)), [.read], "a") }
        #expect(try Outcome { try nina.allow(.user(1000), [.read], "a") } == .refused(.notAvailable))
        // The same share again is the one that there is.
        try nina.allow(.user(0), [.read], "a")
        for sharer in 1..<(Limits.accessRules / 2 / Limits.sharesOfUser) {
            let other = try connect(ClientIdentity(userID: geteuid() + 50 + UInt32(sharer), groupID: Self.sharers))
            for number in 0..<Limits.sharesOfUser { try other.allow(.user(UInt32(number)), [.read], "a") }
        }
        #expect(try Outcome { try connect(Self.omar).allow(.user(1), [.read], "a") } == .refused(.notAvailable))
        try owner.allow(.user(1), [.read], "a")
    }

    @Test func `each user's group is its own by 'user:', and no entitlement gives one by name`() throws {
        let nina = try connect(Self.nina)
        try nina.put("a", [1]) { $0.group = "user:" }
        #expect(try owner.call(ItemListParameters(group: group(Self.nina))).value.items.map(\.name) == ["a"])
        #expect(try nina.get("a", group: "user:") == [1])
        let text = "[Client]\nUID=1\nGroups=user:7\nVerbs=read"
        #expect(throws: CofferError.self) {
            try Entitlement.all(in: [("e", Array(text.utf8))]) { (_) throws(CofferError) in
                0
            } groupID: { (_) throws(CofferError) in
                0
            }
        }
    }
}

extension BlockingClient {
    fileprivate func get(_ name: String, group: String?) throws -> [UInt8] {
        try get(ItemGetParameters(name: try ItemName(name), group: group)).payload.exposeBytes()
    }
}
