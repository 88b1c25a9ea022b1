import CofferClient
import CofferCore
import CofferDatabase
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Access rules: rights to the items whose names match a pattern.
@Suite struct AccessRuleTests {
    private static let owner = ClientIdentity(userID: geteuid(), groupID: getegid())
    static let stranger = ClientIdentity(userID: geteuid() + 7, groupID: getegid() + 7)
    private static let build = ClientIdentity(userID: geteuid() + 8, groupID: getegid() + 8, unit: "ci@7.service")
    private static let mail = ClientIdentity(
        userID: geteuid(),
        groupID: getegid(),
        unit: "user@0.service",
        userUnit: "mail.service"
    )
    private static let anyBuild = ClientPattern.unit("ci@*.service")

    /// A server for which the test sets the identity of each connection, with items of the owner.
    struct Place {
        private let next: Shared<ClientIdentity>
        let server: TestServer
        let owner: BlockingClient

        init(in directory: TemporaryDirectory? = nil, entitlements: [Entitlement] = []) throws {
            let next = Shared(AccessRuleTests.owner)
            self.next = next
            server = try TestServer(in: directory, graceSeconds: 0) { configuration in
                configuration.identify = { _, process in
                    var identity = next.value
                    // The program is what the kernel says.
                    if identity.executablePath != nil { identity.executableFile = process.executableFile }
                    return identity
                }
                configuration.entitlements = entitlements
            }
            owner = try server.connect()
            if directory == nil {
                try owner.makeVault()
                try owner.put("deploy/token", [1])
                try owner.put("deploy/other", [2])
            }
            // A process that another test starts holds a copy of the lock for an instant.
            _ = try settles { try Outcome({ _ = try owner.status() }) == .done }
        }

        /// An admitted connection of a client.
        func connect(_ client: ClientIdentity) throws -> BlockingClient {
            next.value = client
            let connection = try server.connect()
            // The answer shows that the connection was admitted.
            _ = try connection.status()
            return connection
        }

        /// The outcome of a fetch on a connection of its own.
        func fetch(_ name: String = "deploy/token", by client: ClientIdentity) throws -> Outcome {
            try Outcome { _ = try connect(client).get(name) }
        }
    }

    static let denied = Outcome.refused(.missingEntitlement)

    func expect(
        _ expected: Outcome,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) throws {
        let found = try Outcome(body)
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    /// An entitlement of the foreign client.
    private static func entitlement(_ lines: String) throws -> [Entitlement] {
        let text = "[Client]\nUID=\(stranger.userID)\n\(lines)\n"
        return try Entitlement.all(in: [("test", Array(text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
    }

    // MARK: Who, and what

    @Test func `a rule is for whom its pattern fits, for what its pattern matches, and for what it is about`() throws {
        let place = try Place()
        try place.owner.put("a/token", [3])
        try place.owner.allow(Self.anyBuild, [.read], "deploy/*")
        #expect(try place.fetch(by: Self.build) == .done)
        #expect(try place.fetch("deploy/other", by: Self.build) == .done)
        #expect(try place.fetch("a/token", by: Self.build) == Self.denied)
        #expect(try place.fetch(by: Self.stranger) == Self.denied)
        // What is not there is missing, and not denied.
        #expect(try place.fetch("deploy/nothing", by: Self.build) == .refused(.itemNotFound))
    }

    @Test func `one that reads lets its items be fetched and shown, and nothing else be done or seen`() throws {
        let place = try Place()
        try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/token")
        let client = try place.connect(Self.stranger)
        let name = try ItemName("deploy/token")
        #expect(try client.get("deploy/token") == [1])
        #expect(try client.show(name).byteCount == 1)
        let attempts: [(String, (BlockingClient) throws -> Void)] = [
            ("get", { _ = try $0.get("deploy/other") }),
            ("list", { _ = try $0.list() }),
            ("put", { try $0.put("deploy/token", [9]) }),
            ("remove", { try $0.remove(name) }),
            ("move", { try $0.move(name, to: try ItemName("a")) }),
            ("protect", { _ = try $0.protect(name, as: .keychain(.always)) }),
            ("find", { _ = try $0.find(KeychainQuery(.genericPassword)) }),
            ("open", { _ = try $0.openFile(name, for: .read) }),
            ("lock", { _ = try $0.lock(graceSeconds: 0) }),
            ("allow", { try $0.allow(.user(1), [.read], "a") }),
            ("rules", { _ = try $0.rules() }),
            ("remove rule", { try $0.removeRule(1) }),
        ]
        for (what, attempt) in attempts {
            let found = try Outcome { try attempt(client) }
            #expect(found == Self.denied, "\(what)")
        }
        #expect(try place.owner.get("deploy/token") == [1])
    }

    @Test func `whom only a rule lets in waits for an unlock, and hears of nothing else`() throws {
        let place = try Place()
        _ = try place.owner.grant(
            try ItemName("deploy/token"),
            to: .user(Self.stranger.userID),
            seconds: 600,
            uses: nil,
            reason: nil
        )
        try place.owner.allow(Self.anyBuild, [.read], "deploy/*")
        let clients = try [Self.stranger, Self.build].map { try place.connect($0) }
        _ = try place.owner.lock(graceSeconds: 0)
        for client in clients {
            let refused = #expect(throws: CofferError.self) { _ = try client.get("deploy/token") }
            #expect(refused?.retry == .afterUnlock)
            try client.watch()
            for selection in [EventSelection.items, .attempts, .audit] {
                #expect(try Outcome { try client.watch(selection) } == .refused(.missingEntitlement))
            }
        }
        try place.owner.unlock()
        try place.owner.put("deploy/new", [2])
        for client in clients {
            guard case .protectedDataDidBecomeAvailable = try client.nextEvent() else {
                Issue.record("another event")
                continue
            }
            #expect(try client.get("deploy/token") == [1])
            #expect(try client.nextEvent(until: .now + .milliseconds(50)) == nil)
        }
    }

    @Test func `one that writes and deletes lets its items be stored and removed, and not be read`() throws {
        let place = try Place()
        try place.owner.allow(Self.anyBuild, [.write], "drop/**")
        let client = try place.connect(Self.build)
        // It has a group of its own only if it is a service of the daemon's user.
        try client.put("drop/a/b", [5])
        #expect(try place.owner.get("drop/a/b") == [5])
        try expect(Self.denied) { _ = try client.get("drop/a/b") }
        try expect(Self.denied) { try client.put("deploy/token", [5]) }
        try expect(Self.denied) { try client.remove(try ItemName("drop/a/b")) }
        try place.owner.allow(Self.anyBuild, [.delete], "drop/*/b")
        try client.remove(try ItemName("drop/a/b"))
        try expect(.refused(.itemNotFound)) { _ = try place.owner.get("drop/a/b") }
    }

    @Test func `a rule is for its group, and the one with the item counts if none is named`() throws {
        let place = try Place()
        try place.owner.put("deploy/shared", [7]) { $0.group = "work" }
        try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/*")
        try place.owner.allow(.user(Self.stranger.userID), [.read, .write], "deploy/*", in: "work")
        let client = try place.connect(Self.stranger)
        #expect(try client.get("deploy/shared") == [7])
        #expect(try client.get("deploy/token") == [1])
        #expect(try client.get("deploy/shared", group: "work") == [7])
        try expect(.refused(.itemNotFound)) { _ = try client.get("deploy/token", group: "work") }
        try expect(Self.denied) { _ = try client.get("deploy/token", group: "another") }
        // Only one of the rules lets it write.
        try client.put("deploy/new", [8])
        #expect(try place.owner.get("deploy/new", group: "work") == [8])
    }

    @Test func `what a client has itself comes first, and it names the group of a rule to change something there`()
        throws
    {
        let place = try Place()
        try place.owner.allow(.userUnit("mail.service"), [.read, .write, .delete], "deploy/*")
        let mail = try place.connect(Self.mail)
        #expect(try mail.get("deploy/token") == [1])
        try mail.put("deploy/token", [3])
        #expect(try mail.get("deploy/token") == [3])
        #expect(try mail.get("deploy/token", group: "default") == [1])
        try mail.put("deploy/token", [4]) { $0.group = "default" }
        #expect(try place.owner.get("deploy/token") == [4])
        try mail.remove(try ItemName("deploy/token"))
        #expect(try mail.get("deploy/token") == [4])
        try expect(.refused(.itemNotFound)) { try mail.remove(try ItemName("deploy/token")) }
        try expect(.refused(.itemNotFound)) { _ = try mail.get("deploy/nothing") }
        try expect(Self.denied) { try mail.put("other", [4]) { $0.group = "default" } }
    }

    @Test func `a rule adds to what an entitlement gives, and admits nobody whom one refuses`() throws {
        let reader = try Self.entitlement("Groups=default\nVerbs=read")
        let place = try Place(entitlements: reader)
        let client = try place.connect(Self.stranger)
        #expect(try client.get("deploy/token") == [1])
        try expect(Self.denied) { try client.put("deploy/token", [3]) { $0.group = "default" } }
        try place.owner.allow(.user(Self.stranger.userID), [.write], "deploy/token")
        try client.put("deploy/token", [3]) { $0.group = "default" }
        #expect(try client.get("deploy/token") == [3])
        let refusal = try Place(entitlements: try Self.entitlement("Verbs="))
        try refusal.owner.allow(.user(Self.stranger.userID), [.read], "**")
        #expect(try refusal.fetch(by: Self.stranger) == Self.denied)
    }

    @Test func `an item by another of its names is what the name says by which it is listed`() throws {
        let place = try Place()
        try place.owner.makeLogin()
        let reference = try #require(try place.owner.list().items.first { $0.name == "login:a@b" }?.reference)
        let client = Self.stranger
        let other = "reference:\(reference.hexadecimal)"
        try place.owner.allow(.user(client.userID), [.read], "**")
        #expect(try place.fetch("login:a@b", by: client) == .done)
        #expect(try place.fetch(other, by: client) == .done)
        try place.owner.deny(.user(client.userID), [.read], "login:*")
        #expect(try place.fetch("login:a@b", by: client) == Self.denied)
        #expect(try place.fetch(other, by: client) == Self.denied)
        #expect(try place.fetch(by: client) == .done)
    }

    // MARK: Programs

    /// A process of the owner in a service, which runs this program.
    private static func program() throws -> (client: ClientIdentity, path: String) {
        var client = mail
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        client.executablePath = path
        return (client, path)
    }

    @Test func `a rule for a program counts for connections that were made since, of the owner alone`() throws {
        let place = try Place()
        let (client, path) = try Self.program()
        let before = try place.connect(client)
        try place.owner.allow(.executable(path), [.read], "deploy/token")
        // Nothing watches the program of this process.
        try expect(.refused(.itemNotFound)) { _ = try before.get("deploy/token") }
        #expect(try place.fetch(by: client) == .done)
        var foreign = client
        foreign.userID += 7
        foreign.userUnit = nil
        #expect(try place.fetch(by: foreign) == Self.denied)
        var another = client
        another.executablePath = "/usr/bin/true"
        #expect(try place.fetch(by: another) == .refused(.itemNotFound))
    }

    // MARK: Exceptions

    @Test func `a denial prevails over every rule that allows, and over nothing else`() throws {
        let place = try Place()
        let denial = try place.owner.deny(Self.anyBuild, [.read], "deploy/other")
        #expect(denial.held.isEmpty)
        try place.owner.allow(Self.anyBuild, [.read], "deploy/*")
        try place.owner.allow(.group(Self.build.groupID), [.read], "**")
        #expect(try place.fetch(by: Self.build) == .done)
        #expect(try place.fetch("deploy/other", by: Self.build) == Self.denied)
        try place.owner.removeRule(denial.number)
        #expect(try place.fetch("deploy/other", by: Self.build) == .done)
        // The owner has rights of its own.
        let own = try place.owner.deny(.user(Self.owner.userID), [.read, .write], "**")
        #expect(own.held == [.read, .write])
        #expect(try place.owner.get("deploy/other") == [2])
    }

    @Test func `a denial admits nobody`() throws {
        let place = try Place()
        try place.owner.deny(.user(Self.stranger.userID), [.read], "deploy/other")
        #expect(try place.fetch(by: Self.stranger) == Self.denied)
    }

    // MARK: Its end

    @Test func `a rule counts for who is connected, until it is removed`() throws {
        let place = try Place()
        let number = try place.owner.allow(.userUnit("mail.service"), [.read], "deploy/*")
        let other = try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/*")
        let (mail, stranger) = (try place.connect(Self.mail), try place.connect(Self.stranger))
        #expect(try mail.get("deploy/token") == [1])
        #expect(try stranger.get("deploy/token") == [1])
        try place.owner.removeRule(number)
        try place.owner.removeRule(other)
        try expect(.refused(.itemNotFound)) { _ = try mail.get("deploy/token") }
        try expect(Self.denied) { _ = try stranger.get("deploy/token") }
        try expect(Self.denied) { _ = try stranger.status() }
        try expect(.refused(.itemNotFound)) { try place.owner.removeRule(number) }
        #expect(try place.owner.rules().rules.isEmpty)
    }

    @Test func `while a rule is damaged, none allows anything`() throws {
        let directory: TemporaryDirectory
        do {
            let place = try Place()
            directory = place.server.directory
            try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/*")
            try place.owner.deny(.user(Self.stranger.userID), [.read], "deploy/other")
        }
        do {
            let connection = try Connection(path: directory.appending("state/vault.sqlite"))
            try connection.execute("UPDATE access_rules SET sealed = x'00' WHERE number = 2")
        }
        let again = try Place(in: directory)
        try again.owner.unlock()
        #expect(try again.fetch(by: Self.stranger) == Self.denied)
        #expect(try again.owner.rules().damaged == [2])
        try again.owner.removeRule(2)
        #expect(try again.fetch(by: Self.stranger) == .done)
    }

    // MARK: Adding and listing

    @Test func `the same rule again is the rule that there is`() throws {
        let place = try Place()
        let first = try place.owner.allow(Self.anyBuild, [.read, .write], "deploy/*")
        #expect(try place.owner.allow(Self.anyBuild, [.write, .read], "deploy/*") == first)
        let others = [
            try place.owner.allow(Self.anyBuild, [.read], "deploy/*"),
            try place.owner.allow(Self.anyBuild, [.read, .write], "deploy/*", in: "work"),
            try place.owner.deny(Self.anyBuild, [.read, .write], "deploy/*").number,
        ]
        #expect(Set(others + [first]).count == 4)
        #expect(try place.owner.rules().rules.map(\.number) == [first] + others)
        #expect(try place.owner.rules(after: first).rules.map(\.number) == others)
    }

    @Test func `what can't be a rule is refused, and so is one too many`() throws {
        let place = try Place()
        for (client, pattern) in [
            (ClientPattern.unit("ci"), "a"), (.executable("/usr/../ci"), "a"), (.user(1), "a//b"), (.user(1), "/"),
        ] {
            try expect(.refused(.param)) { try place.owner.allow(client, [.read], pattern) }
        }
        for verbs in [Set<Verb>(), [.admin], [.read, .lock]] {
            try expect(.refused(.param)) { try place.owner.allow(.user(1), verbs, "a") }
        }
        for number in 0..<Limits.accessRules { try place.owner.allow(.user(1), [.read], "a/\(number)") }
        try expect(.refused(.notAvailable)) { try place.owner.allow(.user(1), [.read], "a/more") }
        #expect(try place.owner.allow(.user(1), [.read], "a/7") == 8)
        #expect(try place.owner.rules().rules.count == Limits.accessRules)
    }

    @Test func `whoever allows something to itself holds it, and sees the rules of its own groups`() throws {
        let other = try Self.entitlement("Groups=others\nVerbs=admin read")
        let place = try Place(entitlements: other)
        let number = try place.owner.allow(.user(1), [.read], "deploy/*")
        let client = try place.connect(Self.stranger)
        #expect(try client.rules().rules.isEmpty)
        try expect(.refused(.itemNotFound)) { try client.removeRule(number) }
        // An administrator may let others do what it may not, and not itself, by whatever names it.
        let own0 = try client.allow(.user(1), [.read, .write], "a")
        for itself: ClientPattern in [.user(Self.stranger.userID), .group(Self.stranger.groupID)] {
            try expect(Self.denied) { try client.allow(itself, [.read, .write], "a") }
        }
        try client.removeRule(own0)
        try expect(Self.denied) { try client.allow(.user(1), [.read], "a", in: "default") }
        let own = try client.allow(.user(1), [.read], "a")
        #expect(try client.deny(.user(1), [.write], "a").number == own + 1)
        #expect(try client.rules().rules.map(\.group) == ["others", "others"])
        #expect(try place.owner.rules().rules.map(\.number) == [number, own, own + 1])
    }

    @Test func `the audit names the rule that allowed a request, and what a new rule says`() throws {
        let place = try Place()
        let number = try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/*")
        #expect(try place.fetch(by: Self.stranger) == .done)
        #expect(try place.fetch("other", by: Self.stranger) == Self.denied)
        try place.owner.removeRule(number)
        let records = try place.owner.auditRecords().records
        let added = try #require(records.first { $0.action == "access.allow" })
        #expect(added.reason == "allows uid:\(Self.stranger.userID) read 'deploy/*'")
        let reads = records.filter { $0.action == "item.get" && $0.client?.userID == Self.stranger.userID }
        #expect(reads.map(\.reason) == ["rule \(number)", nil])
        #expect(reads.first?.items.map(\.group) == ["default"] && reads.first?.refusal == nil)
        #expect(records.contains { $0.action == "access.remove" && $0.reason == "removes rule \(number)" })
    }
}

extension BlockingClient {
    /// Stores an internet password, whose name is no path.
    fileprivate func makeLogin() throws {
        try add(.internetPassword, [.server: .text("b"), .account: .text("a")], [9])
    }

    fileprivate func get(_ name: String, group: String) throws -> [UInt8] {
        try get(ItemGetParameters(name: try ItemName(name), group: group)).payload.exposeBytes()
    }
}
