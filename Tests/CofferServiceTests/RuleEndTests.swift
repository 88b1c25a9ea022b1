import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Access rules for one item that end by themselves.
@Suite struct RuleEndTests {
    private static let owner = ClientIdentity(userID: geteuid(), groupID: getegid())
    static let stranger = ClientIdentity(userID: geteuid() + 7, groupID: getegid() + 7)
    static let build = ClientIdentity(userID: geteuid() + 8, groupID: getegid() + 8, unit: "ci.service")
    private static let mail = ClientIdentity(
        userID: geteuid(),
        groupID: getegid(),
        unit: "user@0.service",
        userUnit: "mail.service"
    )

    /// A server for which the test sets the identity of each connection, with an item of the owner.
    struct Place {
        private let next: Shared<ClientIdentity>
        let clock: ManualClock
        let server: TestServer
        let owner: BlockingClient

        init(
            in directory: TemporaryDirectory? = nil,
            clock: ManualClock = ManualClock(),
            entitlements: [Entitlement] = []
        ) throws {
            let next = Shared(RuleEndTests.owner)
            self.next = next
            self.clock = clock
            server = try TestServer(in: directory, graceSeconds: 0, clock: clock.clock) { configuration in
                configuration.identify = { _, _ in next.value }
                configuration.entitlements = entitlements
            }
            owner = try server.connect()
            if directory == nil {
                try owner.makeVault()
                try owner.put("site/token", [1])
            }
            _ = try owner.status()
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
        func fetch(_ name: String = "site/token", by client: ClientIdentity) throws -> Outcome {
            try Outcome { _ = try connect(client).get(name) }
        }

        @discardableResult func grant(
            _ name: String = "site/token",
            to client: ClientPattern,
            seconds: Int = 600,
            uses: Int? = nil,
            reason: String? = nil
        ) throws -> Int64 {
            try owner.grant(try ItemName(name), to: client, seconds: seconds, uses: uses, reason: reason)
        }

        func numbers() throws -> [Int64] { try owner.rules().rules.map(\.number) }
    }

    @Test func `before the first unlock, a rule is told by its name's tag: locked, and not denied`() throws {
        let clock = ManualClock()
        let directory: TemporaryDirectory
        let number: Int64
        do {
            let place = try Place(clock: clock)
            directory = place.server.directory
            try place.owner.put("boot/token", [2]) { $0.accessibility = .always }
            number = try place.grant(to: .user(Self.stranger.userID), reason: "the nightly build")
            try place.grant("boot/token", to: .user(Self.stranger.userID), uses: 2)
        }
        // The daemon comes up again on the same boot, without the keys.
        let again = try Place(in: directory, clock: clock)
        #expect(try again.owner.status().state == .beforeFirstUnlock)
        let listed = try again.owner.rules()
        #expect(listed.rules.map(\.name?.path) == [nil, "boot/token"] && listed.damaged.isEmpty)
        #expect(try again.fetch(by: Self.stranger) == .locked)
        #expect(try again.fetch("site/other", by: Self.stranger) == .refused(.missingEntitlement))
        #expect(try again.fetch("boot/token", by: Self.stranger) == .done)
        try again.owner.unlock()
        #expect(try again.owner.rules().rules.map(\.reason) == ["the nightly build", nil])
        #expect(try again.fetch(by: Self.stranger) == .done)
        _ = try again.owner.lock(graceSeconds: 0)
        try again.owner.removeRule(number)
        #expect(try again.numbers() == [number + 1])
    }

    /// An entitlement of the foreign client.
    static func entitlement(_ lines: String) throws -> [Entitlement] {
        let text = "[Client]\nUID=\(stranger.userID)\n\(lines)\n"
        return try Entitlement.all(in: [("test", Array(text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
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

    // MARK: Who, and what

    @Test func `a grant is for whom its pattern fits, and for nobody else`() throws {
        let clients = [Self.stranger, Self.build, Self.mail]
        let patterns: [ClientPattern] = [
            .user(Self.stranger.userID), .group(Self.build.groupID), .unit("ci.service"), .userUnit("mail.service"),
            .unit("user@0.service"), .user(1_999_999),
        ]
        for pattern in patterns {
            let place = try Place()
            try place.grant(to: pattern)
            for client in clients {
                let expected: Outcome
                switch (pattern.fits(client), client == Self.mail) {
                case (true, _): expected = .done
                // It has rights of its own, but no such item.
                case (false, true): expected = .refused(.itemNotFound)
                case (false, false): expected = Self.denied
                }
                let found = try place.fetch(by: client)
                #expect(found == expected, "\(pattern) \(client)")
            }
        }
    }

    @Test func `it lets its item be fetched and shown, and nothing else be done or seen`() throws {
        let place = try Place()
        try place.owner.put("site/other", [2])
        try place.grant(to: .user(Self.stranger.userID))
        let client = try place.connect(Self.stranger)
        #expect(try client.get("site/token") == [1])
        #expect(try client.show(try ItemName("site/token")).byteCount == 1)
        let name = try ItemName("site/token")
        let attempts: [(String, (BlockingClient) throws -> Void)] = [
            ("get", { _ = try $0.get("site/other") }),
            ("show", { _ = try $0.show(try ItemName("site/other")) }),
            ("missing", { _ = try $0.get("site/none") }),
            ("list", { _ = try $0.list() }),
            ("put", { try $0.put("site/token", [9]) }),
            ("remove", { try $0.remove(name) }),
            ("move", { try $0.move(name, to: try ItemName("a")) }),
            ("protect", { _ = try $0.protect(name, as: .keychain(.always)) }),
            ("find", { _ = try $0.find(KeychainQuery(.genericPassword)) }),
            ("stat", { _ = try $0.fileInfo(name) }),
            ("lock", { _ = try $0.lock(graceSeconds: 0) }),
            ("grant", { try $0.grant(name, to: .user(1), seconds: 1) }),
            ("access", { _ = try $0.rules() }),
            ("revoke", { try $0.removeRule(1) }),
        ]
        for (what, attempt) in attempts {
            let found = try Outcome { try attempt(client) }
            #expect(found == Self.denied, "\(what)")
        }
        #expect(try place.owner.get("site/token") == [1])
    }

    @Test func `what a client has itself comes first, and what it may not read stays so`() throws {
        let place = try Place()
        try place.grant(to: .userUnit("mail.service"), uses: 1)
        let mail = try place.connect(Self.mail)
        try mail.put("site/token", [3])
        #expect(try mail.get("site/token") == [3])
        #expect(try place.owner.rules().rules.map(\.uses) == [1])
        try mail.remove(try ItemName("site/token"))
        #expect(try mail.get("site/token") == [1])
        try expect(.refused(.itemNotFound)) { _ = try mail.get("site/token") }
    }

    @Test func `a client that may write only gets the granted item, and not its own of that name`() throws {
        let writer = try Self.entitlement("Groups=writers\nVerbs=write")
        let place = try Place(entitlements: writer)
        let client = try place.connect(Self.stranger)
        try client.put("site/token", [3])
        try expect(Self.denied) { _ = try client.get("site/token") }
        try place.grant(to: .user(Self.stranger.userID))
        #expect(try client.get("site/token") == [1])
    }

    @Test func `who is refused by an entitlement is not let in by a rule`() throws {
        let refusal = try Self.entitlement("Verbs=")
        let place = try Place(entitlements: refusal)
        try place.grant(to: .user(Self.stranger.userID))
        #expect(try place.fetch(by: Self.stranger) == Self.denied)
    }

    @Test func `only what can be read is granted, and to somebody`() throws {
        let place = try Place()
        try expect(.refused(.itemNotFound)) { try place.grant("none", to: .user(1)) }
        let wrong: [ClientPattern] = [.executable("ci"), .unit("ci"), .userUnit("a/b.service"), .outsideServices]
        for pattern in wrong {
            let found = try Outcome { try place.grant(to: pattern) }
            #expect(found == .refused(.param), "\(pattern)")
        }
        for (seconds, uses, reason) in [(0, 1, "a"), (2_592_001, 1, "a"), (1, 0, "a"), (1, 1_000_001, "a"), (1, 1, "")]
        {
            let found = try Outcome { try place.grant(to: .user(1), seconds: seconds, uses: uses, reason: reason) }
            #expect(found == .refused(.param), "\(seconds) \(uses)")
        }
        let long = String(repeating: "a", count: Limits.accessRuleReasonBytes + 1)
        try expect(.refused(.param)) { try place.grant(to: .user(1), reason: long) }
        #expect(try place.numbers() == [])
    }

    // MARK: Its end

    @Test func `it ends with its time, for who is connected and for who is not`() throws {
        let place = try Place()
        try place.grant(to: .user(Self.stranger.userID), seconds: 600)
        let client = try place.connect(Self.stranger)
        place.clock.advance(by: 599)
        #expect(try client.get("site/token") == [1])
        #expect(try place.owner.rules().rules.map(\.seconds) == [1])
        place.clock.advance(by: 1)
        try expect(Self.denied) { _ = try client.get("site/token") }
        try expect(Self.denied) { _ = try client.status() }
        #expect(try place.fetch(by: Self.stranger) == Self.denied)
        #expect(try place.numbers() == [])
    }

    @Test func `it ends with its last use, and what delivers nothing is none`() throws {
        let place = try Place()
        try place.grant(to: .unit("ci.service"), uses: 2)
        let client = try place.connect(Self.build)
        _ = try client.show(try ItemName("site/token"))
        try expect(.refused(.param)) { _ = try client.get("site/token", offset: 9) }
        _ = try place.owner.lock(graceSeconds: 0)
        try expect(.refused(.interactionNotAllowed)) { _ = try client.get("site/token") }
        #expect(try place.owner.rules().rules.map(\.uses) == [2])
        try place.owner.unlock()
        #expect(try client.get("site/token") == [1])
        #expect(try place.owner.rules().rules.map(\.uses) == [1])
        #expect(try client.get("site/token", offset: 0, length: 1) == [1])
        try expect(Self.denied) { _ = try client.get("site/token") }
        try expect(Self.denied) { _ = try client.show(try ItemName("site/token")) }
        #expect(try place.numbers() == [])
    }

    @Test func `uses are counted however many ask at once`() throws {
        let place = try Place()
        try place.grant(to: .unit("ci.service"), uses: 5)
        _ = try place.connect(Self.build)
        let clients = try (0..<4).map { _ in try place.connect(Self.build) }
        let runs = clients.map { client in
            Background {
                var count = 0
                for _ in 0..<4 where try Outcome({ _ = try client.get("site/token") }) == .done { count += 1 }
                return count
            }
        }
        let counts = try runs.map { try $0.wait() }
        #expect(counts.reduce(0, +) == 5)
    }

    @Test func `it ends when it is removed, by who holds its group`() throws {
        let place = try Place()
        let number = try place.grant(to: .userUnit("mail.service"))
        let client = try place.connect(Self.mail)
        #expect(try client.get("site/token") == [1])
        try expect(.refused(.itemNotFound)) { try place.owner.removeRule(number + 1) }
        try place.owner.removeRule(number)
        try expect(.refused(.itemNotFound)) { _ = try client.get("site/token") }
        try expect(.refused(.itemNotFound)) { try place.owner.removeRule(number) }
    }

    @Test func `the rules of a group are for those who hold it to see and to remove`() throws {
        let other = try Self.entitlement("Groups=others\nVerbs=admin read write")
        let place = try Place(entitlements: other)
        let number = try place.grant(to: .unit("ci.service"))
        let client = try place.connect(Self.stranger)
        #expect(try client.rules().rules == [])
        try expect(.refused(.itemNotFound)) { try client.removeRule(number) }
        let name = try ItemName("site/token")
        try expect(.refused(.itemNotFound)) { try client.grant(name, to: .user(1), seconds: 9) }
        try client.put("site/token", [4])
        let own = try client.grant(name, to: .unit("ci.service"), seconds: 9)
        #expect(try client.rules().rules.map(\.number) == [own])
        #expect(try place.numbers() == [number, own], "the owner reaches every group")
        // Two rules match: the older one is used.
        #expect(try place.connect(Self.build).get("site/token") == [1])
        try place.owner.removeRule(number)
        #expect(try place.connect(Self.build).get("site/token") == [4])
    }

    @Test func `it ends with its item, and not with the value`() throws {
        let place = try Place()
        let name = try ItemName("site/token")
        try place.grant(to: .unit("ci.service"))
        let client = try place.connect(Self.build)
        try place.owner.put("site/token", [5])
        #expect(try client.get("site/token") == [5])
        try place.owner.put("site/token", pseudoRandomBytes(100_000))
        #expect(try client.show(name).protection.store == .file)
        #expect(try client.get("site/token") == pseudoRandomBytes(100_000))

        let made = try place.owner.show(name).created
        repeat {
            try place.owner.remove(name)
            try place.owner.put("site/token", [6])
        } while try place.owner.show(name).created == made
        try expect(Self.denied) { _ = try client.get("site/token") }
        #expect(try place.numbers() == [])

        try place.grant(to: .unit("ci.service"))
        #expect(try client.get("site/token") == [6])
        try place.owner.move(name, to: try ItemName("site/renamed"))
        for path in ["site/token", "site/renamed"] {
            try expect(Self.denied) { _ = try client.get(path) }
        }
        #expect(try place.numbers() == [])
    }

    @Test func `it ends where another item takes the place of its own`() throws {
        let place = try Place()
        for (path, content) in [("a/file", [7]), ("b/file", [8])] as [(String, [UInt8])] {
            try place.owner.put(path, content) { $0.kind = .database }
        }
        try place.grant("a/file", to: .unit("ci.service"))
        let client = try place.connect(Self.build)
        #expect(try client.get("a/file") == [7])
        let (source, target) = (try ItemName("b/file"), try ItemName("a/file"))
        try #require(try place.owner.show(source).created != place.owner.show(target).created)
        try place.owner.move(source, to: target, replace: true)
        try expect(Self.denied) { _ = try client.get("a/file") }
    }

    @Test func `a restart of the daemon changes nothing, and a boot ends it`() throws {
        let clock = ManualClock()
        let directory: TemporaryDirectory
        do {
            let place = try Place(clock: clock)
            directory = place.server.directory
            try place.grant(to: .unit("ci.service"), uses: 2, reason: "the nightly build")
            #expect(try place.fetch(by: Self.build) == .done)
        }
        do {
            let place = try Place(in: directory, clock: clock)
            // Before the first unlock the fetch is refused, and no use is counted.
            #expect(try place.owner.rules().rules.map(\.name) == [nil])
            #expect(try place.fetch(by: Self.build) == .refused(.interactionNotAllowed))
            try place.owner.unlock()
            let rules = try place.owner.rules().rules
            #expect(rules.map(\.uses) == [1])
            #expect(rules.map(\.reason) == ["the nightly build"])
            #expect(rules.map(\.client) == [.unit("ci.service")])
        }
        let place = try Place(in: directory, clock: ManualClock(bootID: "another"))
        try place.owner.unlock()
        #expect(try place.fetch(by: Self.build) == Self.denied)
        #expect(try place.numbers() == [])
    }

    @Test func `it ends with the vault`() throws {
        let place = try Place()
        try place.grant(to: .unit("ci.service"))
        let client = try place.connect(Self.build)
        let vault = try #require(try place.owner.status().vaultID)
        try place.owner.erase(vaultID: vault)
        try expect(Self.denied) { _ = try client.get("site/token") }
        try place.owner.makeVault()
        try place.owner.put("site/token", [1])
        try expect(Self.denied) { _ = try client.get("site/token") }
    }

    // MARK: What it is for

    @Test func `a file is read to a descriptor or a handle's chunks, and each reading is one use`() throws {
        let place = try Place()
        let content = pseudoRandomBytes(400_000)
        try place.owner.put("a/big", content) { $0.protectionClass = .complete }
        let file = try place.owner.openFile(try ItemName("a/big"), for: .readWrite)
        try file.put([9], at: 0)
        try file.close()
        try place.grant("a/big", to: .unit("ci.service"), uses: 2)
        let client = try place.connect(Self.build)
        let output = try TemporaryDirectory()
        let target = try #require(FileHandle(forWritingAtPath: try output.write([], to: "out")))
        let params = ItemGetParameters(name: try ItemName("a/big"))
        _ = try place.owner.lock(graceSeconds: 0)
        try expect(.refused(.interactionNotAllowed)) { _ = try client.get(params, into: target.fileDescriptor) }
        #expect(try place.owner.rules().rules.map(\.uses) == [2])
        try place.owner.unlock()
        _ = try client.get(params, into: target.fileDescriptor)
        #expect(output.contents("out") == [9] + content.dropFirst())
        #expect(try client.get("a/big", offset: 0, length: 2).count == 2)
        try expect(Self.denied) { _ = try client.get("a/big", offset: 0, length: 2) }
    }

    @Test func `an item that wants a person wants one under a rule, too`() throws {
        let place = try Place()
        let params = KeychainAddParameters(
            .genericPassword,
            [.service: .text("bank"), .account: .text("pin")],
            accessControl: try AccessControl([.devicePasscode])
        )
        let secret: SecretBytes? = try SecretBytes("1234".utf8)
        _ = try place.owner.addKeychainItem(params, secret: secret)
        try place.grant("bank/pin", to: .unit("ci.service"), uses: 1)
        let client = try place.connect(Self.build)
        try expect(.refused(.interactionRequired)) { _ = try client.get("bank/pin") }
        let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        try expect(Self.denied) { try client.authenticate(.passcode, passcode, reuseSeconds: 0) }
        #expect(try place.owner.rules().rules.map(\.uses) == [1])
    }

    @Test func `a list of many rules comes in pages, and there are not more than the limit`() throws {
        let place = try Place()
        let reason = String(repeating: "\u{1}", count: Limits.accessRuleReasonBytes)
        for _ in 0..<Limits.accessRules { try place.grant(to: .user(1), reason: reason) }
        try expect(.refused(.notAvailable)) { try place.grant(to: .user(1)) }
        var numbers: [Int64] = []
        var pageCount = 0
        var after: Int64?
        repeat {
            let page = try place.owner.rules(after: after)
            numbers += page.rules.map(\.number)
            after = page.next
            pageCount += 1
        } while after != nil
        #expect(numbers == Array(1...Int64(Limits.accessRules)))
        #expect(pageCount > 1)
        // A rule that has ended makes room for a new one.
        place.clock.advance(by: 600)
        #expect(try place.grant(to: .user(1)) == Int64(Limits.accessRules) + 1)
    }
}
