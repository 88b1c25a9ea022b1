import CofferCore
import Testing

/// Entitlement files: deny by default, and nothing unknown is ignored.
@Suite struct EntitlementTests {
    private static func read(_ texts: String...) throws(CofferError) -> [Entitlement] {
        let files = texts.enumerated().map { (path: "\($0.offset).conf", bytes: Array($0.element.utf8)) }
        return try Entitlement.all(in: files) { (name) throws(CofferError) in
            name == "anna" ? 1000 : nil
        } groupID: { (name) throws(CofferError) in
            name == "staff" ? 50 : nil
        }
    }

    private static let daemon = ClientIdentity(userID: 1000, groupID: 1000, unit: "session-3.scope")

    private static func client(
        _ user: UInt32 = 1000,
        group: UInt32 = 100,
        unit: String? = nil,
        userUnit: String? = nil,
        program: String? = nil
    ) -> ClientIdentity {
        ClientIdentity(userID: user, groupID: group, unit: unit, userUnit: userUnit, executablePath: program)
    }

    private static func rights(of client: ClientIdentity, _ texts: String...) throws -> AccessRights {
        var all: [Entitlement] = []
        for text in texts { all += try read(text) }
        return try AccessPolicy(daemon: daemon, entitlements: all).rights(of: client)
    }

    @Test func `what is written is granted, with comments and white space between`() throws {
        let text = """
            # The nightly backup.
            [Client]
              Unit = backup.service
            User=anna\r
            Executable=/usr/bin/restic
            ; reads everything
            Groups=unit:backup.service\tdefault
            Verbs=read  audit
            DefaultProtection=AfterFirstUnlock
            """
        let found = try #require(try Self.read(text).first)
        #expect(found.line == 2)
        #expect(
            found.clients == [.unit("backup.service"), .user(1000), .executable("/usr/bin/restic")]
        )
        let rights = found.rights(of: Self.client())
        #expect(rights.groups == ["unit:backup.service", "default"])
        #expect(rights.verbs == [.read, .audit])
        #expect(rights.protection == .keychain(.afterFirstUnlock))
        #expect(rights.reason == "'0.conf', line 2, says so")
        let file = try Self.read("[Client]\nUID=1\nGroups=a\nVerbs=read\nDefaultProtection=complete")
        #expect(file.first?.protection == .file(.complete))
    }

    @Test func `a class of items is named, and an identity is none`() throws {
        let key = try #require(try Self.read("[Client]\nUID=1\nGroups=a\nVerbs=read\nClass=key").first)
        #expect(key.itemClass == .key && key.rights(of: Self.client(1)).itemClass == .key)
        #expect(try Self.read("[Client]\nUID=1\nGroups=a\nVerbs=read").first?.itemClass == nil)
        for word in ["identity", "keys", "", "key certificate"] {
            #expect(throws: CofferError(.param, "")) {
                try Self.read("[Client]\nUID=1\nGroups=a\nVerbs=read\nClass=\(word)")
            }
        }
    }

    @Test func `only what says so acts on behalf of others`() throws {
        let rights = try [nil, "OnBehalfOf=yes"].map { line in
            try Self.rights(of: Self.client(1), "[Client]\nUID=1\nGroups=a\nVerbs=read\n\(line ?? "")")
        }
        #expect(rights.map(\.actsOnBehalf) == [false, true])
        #expect(!rights[0].isSame(as: rights[1]), "who loses it is disconnected")
        #expect(try !Self.rights(of: Self.client()).actsOnBehalf, "the owner acts for itself")
    }

    @Test func `a group is named, or given by its number, and not both`() throws {
        #expect(try Self.read("[Client]\nGroup=staff\nVerbs=lock").first?.clients == [.group(50)])
        #expect(throws: CofferError.self) { try Self.read("[Client]\nGroup=staff\nGID=50\nVerbs=lock") }
    }

    @Test func `a section for a group that does not exist matches no client, and the others count`() throws {
        let text = "[Client]\nGroup=gone\nGroups=a\nVerbs=read\n[Client]\nUID=0\nVerbs=lock"
        #expect(try Self.read(text).map(\.line) == [5])
        #expect(
            try Self.warnings(text, ofVaultOf: 0) == [
                "'a', line 1: there is no group 'gone', so this [Client] matches no client"
            ]
        )
        #expect(try Self.warnings("[Client]\nVaultOwner=anna\nGroup=gone\nVerbs=lock", ofVaultOf: 1001) == [])
        #expect(throws: CofferError.self) { try Self.read("[Client]\nGroup=gone\nVerbs=everything") }
    }

    @Test func `a section for the vault of a user that does not exist is about no vault`() throws {
        let text = "[Client]\nVaultOwner=gone\nUID=0\nVerbs=lock"
        #expect(try Self.read(text) == [])
        #expect(try Self.warnings(text, ofVaultOf: 0) == [])
        #expect(try Self.warnings(text, ofVaultOf: nil).count == 1)
    }

    @Test func `a user that does not exist is an error, and so is a look-up that fails`() throws {
        #expect(throws: CofferError(.param, "")) { try Self.read("[Client]\nUser=gone\nVerbs=lock") }
        #expect(throws: CofferError.self) {
            try Entitlement.all(in: [("a", Array("[Client]\nGroup=staff\nVerbs=lock".utf8))]) {
                (_) throws(CofferError) in
                nil
            } groupID: { (_) throws(CofferError) in
                throw CofferError(.io, "the directory of users does not answer")
            }
        }
    }

    private static func warnings(_ text: String, ofVaultOf owner: UInt32?) throws -> [String] {
        var warnings: [String] = []
        _ = try Entitlement.all(in: [("a", Array(text.utf8))], ofVaultOf: owner) { (name) throws(CofferError) in
            name == "anna" ? 1000 : nil
        } groupID: { (_) throws(CofferError) in
            nil
        } warn: {
            warnings.append($0)
        }
        return warnings
    }

    @Test func `a section for one user's vault says nothing about another's`() throws {
        let text = Array("[Client]\nVaultOwner=anna\nUID=0\nVerbs=lock\n[Client]\nUID=1\nVerbs=lock".utf8)
        func lines(ofVaultOf owner: UInt32?) throws -> [Int] {
            try Entitlement.all(in: [("a", text)], ofVaultOf: owner) { (_) throws(CofferError) in
                1000
            } groupID: { (_) throws(CofferError) in
                35
            }
            .map(\.line)
        }
        #expect(try lines(ofVaultOf: 1000) == [1, 5])
        #expect(try lines(ofVaultOf: 1001) == [5])
        #expect(try lines(ofVaultOf: nil) == [1, 5])
        #expect(throws: CofferError.self) { try Self.read("[Client]\nVaultOwner=anna\nVerbs=lock") }
    }

    @Test func `all that is given has to hold`() throws {
        let found = try Self.read(
            "[Client]\nUnit=a.service\nUID=7\nGID=8\nExecutable=/bin/a\nGroups=g\nVerbs=read"
        )
        let entitlement = try #require(found.first)
        let right = Self.client(7, group: 8, unit: "a.service", program: "/bin/a")
        #expect(entitlement.fits(right))
        for wrong in [
            Self.client(8, group: 8, unit: "a.service", program: "/bin/a"),
            Self.client(7, group: 7, unit: "a.service", program: "/bin/a"),
            Self.client(7, group: 8, unit: "b.service", program: "/bin/a"),
            Self.client(7, group: 8, unit: nil, userUnit: "a.service", program: "/bin/a"),
            Self.client(7, group: 8, unit: "a.service", program: "/bin/b"),
            Self.client(7, group: 8, unit: "a.service"),
        ] { #expect(!entitlement.fits(wrong), "\(wrong)") }
    }

    @Test func `the first section that matches a client decides, alone`() throws {
        let first = "[Client]\nUserUnit=mail.service\nGroups=mail\nVerbs=read\n"
        let second = "[Client]\nUID=1000\nGroups=default mail\nVerbs=read write delete\n"
        let mail = Self.client(userUnit: "mail.service")
        let rights = try Self.rights(of: mail, first, second)
        #expect(rights.groups == ["mail"] && rights.verbs == [.read])
        let other = try Self.rights(of: mail, second, first)
        #expect(other.groups == ["default", "mail"])
    }

    @Test func `no client is exempt from entitlements, neither the owner nor root`() throws {
        let text = "[Client]\nUID=1000\nGroups=default\nVerbs=read\n[Client]\nUID=0\nVerbs=lock\n"
        let owner = try Self.rights(of: Self.client(), text)
        #expect(owner.verbs == [.read])
        // It speaks of all of a user's processes, and so of its services.
        let service = try Self.rights(of: Self.client(userUnit: "mail.service"), text)
        #expect(service.groups == ["default"])
        let root = try Self.rights(of: Self.client(0), text)
        #expect(root.groups.isEmpty && root.verbs == [.lock])
        #expect(throws: CofferError(.missingEntitlement, "")) { try Self.rights(of: Self.client(1001), text) }
    }

    @Test func `a client that no section matches is as without entitlements`() throws {
        let text = "[Client]\nUnit=backup.service\nUID=0\nGroups=default\nVerbs=read\n"
        #expect(try Self.rights(of: Self.client(), text) == Self.rights(of: Self.client()))
        let mail = Self.client(userUnit: "mail.service")
        #expect(try Self.rights(of: mail, text) == Self.rights(of: mail))
        #expect(throws: CofferError(.missingEntitlement, "")) { try Self.rights(of: Self.client(0), text) }
    }

    @Test func `limits are part of what is granted`() throws {
        let text = "[Client]\nUID=1000\nVerbs=lock\nMaxConnections=8\nMaxRequestsPerSecond=1000000\n"
        let limited = try Self.rights(of: Self.client(), text)
        #expect(limited.limits.connections == 8 && limited.limits.requestsPerSecond == 1_000_000)
        let free = try Self.rights(of: Self.client(), "[Client]\nUID=1000\nVerbs=lock\n")
        #expect(free.limits == ClientLimits())
        #expect(!limited.isSame(as: free))
    }

    @Test func `one principal is a service, or else a user`() {
        let service = Self.client(unit: "user@1000.service", userUnit: "mail.service")
        #expect(service.principal == .userUnit("mail.service"))
        #expect(Self.client(unit: "backup.service").principal == .unit("backup.service"))
        #expect(Self.client(7, unit: "session-3.scope").principal == .user(7))
        #expect(Self.client(7, unit: "user@7.service", userUnit: "app-mail.service").principal == .user(7))
    }

    @Test func `no verbs at all is a refusal`() throws {
        let text = "[Client]\nUserUnit=game.service\nVerbs=\n"
        #expect(throws: CofferError(.missingEntitlement, "")) {
            try Self.rights(of: Self.client(userUnit: "game.service"), text)
        }
    }

    @Test(
        arguments: [
            ("[Klient]\nUID=1\nVerbs=lock", 1, "no section [Klient]"),
            ("[Client]\nUID=1\nVerbs=lock\nVerb=read", 4, "no setting 'Verb'"),
            ("[Client]\nUID=1\nUID=2\nVerbs=lock", 3, "UID is there twice"),
            ("[Client]\nVerbs=lock", 1, "needs a setting that identifies it"),
            ("[Client]\nExecutable=/bin/a\nVerbs=lock", 1, "needs a setting that identifies it"),
            ("[Client]\nUID=1\nUser=anna\nVerbs=lock", 1, "exclude each other"),
            ("[Client]\nUID=1\nGroups=a", 1, "needs Verbs"),
            ("[Client]\nUID=1\nVerbs=lock delete", 1, "needs Groups"),
            ("[Client]\nUID=1\nVerbs=reed", 3, "no verb 'reed'"),
            ("[Client]\nUID=1\nVerbs=Read", 3, "no verb 'Read'"),
            ("[Client]\nUID=1\nVerbs=lock lock", 3, "'lock' is there twice"),
            ("[Client]\nUID=1\nVerbs=lock,read", 3, "no verb 'lock,read'"),
            ("[Client]\nUID=-1\nVerbs=lock", 2, "not the number"),
            ("[Client]\nUID=+1\nVerbs=lock", 2, "not the number"),
            ("[Client]\nUID=\nVerbs=lock", 2, "not the number"),
            ("[Client]\nUID=4294967295\nVerbs=lock", 2, "not the number"),
            ("[Client]\nGID=staff\nVerbs=lock", 2, "not the number"),
            ("[Client]\nUser=bob\nVerbs=lock", 2, "no user 'bob'"),
            ("[Client]\nUnit=backup\nVerbs=lock", 2, "no unit"),
            ("[Client]\nUnit=*\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nUnit=a[b.service\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nUnit=a/*.service\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nUnit=[z-a].service\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nUnit=[].service\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nUnit=é*.service\nVerbs=lock", 2, "no pattern of units"),
            ("[Client]\nService=no\nVerbs=lock", 1, "needs a setting that identifies it"),
            ("[Client]\nUID=0\nService=yes\nVerbs=lock", 3, "expected 'no'"),
            ("[Client]\nUserUnit=a.service b.service\nVerbs=lock", 2, "no unit"),
            ("[Client]\nUID=1\nExecutable=bin/a\nVerbs=lock", 3, "not the path"),
            ("[Client]\nUID=1\nExecutable=/bin/../a\nVerbs=lock", 3, "not the path"),
            ("[Client]\nUID=1\nGroups=a a\nVerbs=read", 3, "twice"),
            ("[Client]\nUID=1\nGroups=ä\nVerbs=read", 3, "not an access group"),
            ("[Client]\nUID=1\nGroups=\nVerbs=read", 1, "needs Groups"),
            ("[Client]\nUID=1\nVerbs=lock\nDefaultProtection=strong", 4, "no 'strong'"),
            ("[Client]\nUID=1\nVerbs=lock\nOnBehalfOf=no", 4, "expected 'yes'"),
            ("[Client]\nUID=1\nVerbs=lock\nMaxConnections=0", 4, "not a number from 1 to \(Limits.connections)"),
            ("[Client]\nUID=1\nVerbs=lock\nMaxConnections=", 4, "not a number from 1"),
            ("[Client]\nUID=1\nVerbs=lock\nMaxConnections=4097", 4, "not a number from 1"),
            ("[Client]\nUID=1\nVerbs=lock\nMaxRequestsPerSecond=-1", 4, "not a number from 1"),
            ("[Client]\nUID=1\nVerbs=lock\nMaxRequestsPerSecond=1000001", 4, "to \(Limits.requestsPerSecond)"),
            ("UID=1", 1, "before the first section"), ("[Client]\nUID", 2, "Key=value"),
        ] as [(String, Int, String)]
    )
    func `an error is reported with its line, and nothing of the file counts`(
        text: String,
        line: Int,
        words: String
    ) throws {
        do throws(CofferError) {
            let found = try Self.read("[Client]\nUID=1\nVerbs=lock", text)
            Issue.record("it was taken: \(found)")
        } catch {
            #expect(error.code == .param)
            #expect(error.message.hasPrefix("'1.conf', line \(line): "), "\(error.message)")
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test func `bounds are held`() throws {
        let head = "[Client]\nUID=1\nVerbs=read\nGroups="
        let many = (0..<Limits.groups).map { "g\($0)" }.joined(separator: " ")
        #expect(try Self.read(head + many).first?.groups.count == Limits.groups)
        #expect(throws: CofferError(.param, "")) { try Self.read(head + many + " more") }
        let long = String(repeating: "a", count: Limits.groupBytes)
        #expect(try Self.read(head + long).count == 1)
        #expect(throws: CofferError(.param, "")) { try Self.read(head + long + "a") }
        let comment = "#" + String(repeating: "a", count: Limits.configurationBytes - 1)
        #expect(try Self.read(comment).isEmpty)
        #expect(throws: CofferError(.param, "")) { try Self.read(comment + "a") }
        let bytes: [UInt8] = [UInt8(ascii: "#"), 0xff]
        #expect(throws: CofferError(.param, "")) {
            try Entitlement.all(in: [("a", bytes)]) { (_) throws(CofferError) in
                0
            } groupID: { (_) throws(CofferError) in
                0
            }
        }
    }

    @Test func `the group of every unit can be written`() throws {
        let unit = #"a-b_c.d:e\x2df@g.service"#
        let found = try Self.read("[Client]\nUnit=\(unit)\nGroups=unit:\(unit)\nVerbs=read")
        #expect(found.first?.groups == ["unit:\(unit)"])
    }
}
