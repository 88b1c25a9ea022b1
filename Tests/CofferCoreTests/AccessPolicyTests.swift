import CofferCore
import Testing

/// Who holds what, where nothing is written.
@Suite struct AccessPolicyTests {
    /// What a client is given.
    private enum Given: Equatable {
        case owner
        case service(String)
        case refused
    }

    private static func given(
        _ user: UInt32,
        _ unit: String? = nil,
        _ userUnit: String? = nil,
        by daemon: ClientIdentity
    ) -> Given {
        let client = ClientIdentity(userID: user, groupID: 100, unit: unit, userUnit: userUnit)
        do throws(CofferError) {
            let rights = try AccessPolicy(daemon: daemon).rights(of: client)
            if rights.groups == ["default"] && rights.verbs == Set(Verb.allCases) { return .owner }
            #expect(rights.verbs == [.read, .write, .delete])
            #expect(rights.groups.count == 1)
            return .service(rights.groups.first ?? "none")
        } catch {
            #expect(error.code == .missingEntitlement)
            return .refused
        }
    }

    /// The daemon of a person, under the person's service manager.
    private static let ofPerson = ClientIdentity(
        userID: 1000,
        groupID: 1000,
        unit: "user@1000.service",
        userUnit: "cofferd.service"
    )
    /// The daemon of the machine.
    private static let ofSystem = ClientIdentity(userID: 990, groupID: 990, unit: "cofferd.service")
    /// A daemon that a user started by hand.
    private static let byHand = ClientIdentity(userID: 1000, groupID: 1000, unit: "session-3.scope")

    @Test func `a person's terminal, desktop and programs hold the default group`() {
        let places: [(unit: String?, userUnit: String?)] = [
            (nil, nil), ("session-3.scope", nil), ("init.scope", nil), ("user@1000.service", nil),
            ("user@1000.service", "init.scope"), ("user@1000.service", "vte-spawn-7ac2.scope"),
            ("user@1000.service", "app-gnome-firefox-1234.scope"),
            ("user@1000.service", "app-org.kde.konsole@1f.service"),
            ("user@1000.service", "app-mail@autostart.service"), ("user@1000.service", "run-u12.service"),
            ("user@1000.service", "run-r1f0c.service"), ("user@1000.service", "run-p12-i34.service"),
            ("user@1000.service", "dbus-:1.2-org.gnome.Terminal@0.service"), ("run-r1f0c.service", nil),
            ("user@1001.service", nil),
        ]
        for daemon in [Self.ofPerson, Self.byHand] {
            for place in places {
                let given = Self.given(1000, place.unit, place.userUnit, by: daemon)
                #expect(given == .owner, "\(place)")
            }
        }
    }

    @Test func `a service of the owner holds its own group, by its name and its manager`() {
        for daemon in [Self.ofPerson, Self.byHand] {
            let own = Self.given(1000, "user@1000.service", "mail.service", by: daemon)
            #expect(own == .service("user-unit:mail.service"))
            let instance = Self.given(1000, "user@1000.service", "sync@work.service", by: daemon)
            #expect(instance == .service("user-unit:sync@work.service"))
            let run = Self.given(1000, "user@1000.service", "run-backups.service", by: daemon)
            #expect(run == .service("user-unit:run-backups.service"), "it has a name of its own")
            let system = Self.given(1000, "mail.service", nil, by: daemon)
            #expect(system == .service("unit:mail.service"))
            let app = Self.given(1000, "app-server.service", nil, by: daemon)
            #expect(app == .service("unit:app-server.service"), "there are no desktops under the system's manager")
        }
    }

    @Test func `everybody else is refused by a person's daemon, root and the system's services included`() {
        for daemon in [Self.ofPerson, Self.byHand] {
            for user: UInt32 in [0, 1001, 990, .max] {
                for place: (String?, String?) in [
                    (nil, nil), ("session-3.scope", nil), ("mail.service", nil), ("user@1000.service", "mail.service"),
                    ("user@1000.service", "vte-spawn-7ac2.scope"), ("user@1000.service", "cofferd.service"),
                ] {
                    let given = Self.given(user, place.0, place.1, by: daemon)
                    #expect(given == .refused, "\(user) \(place)")
                }
            }
        }
    }

    @Test func `the machine's daemon admits services of the system, regardless of their user, and no other client`() {
        for user: UInt32 in [0, 33, 990, 1000] {
            let given = Self.given(user, "backup.service", nil, by: Self.ofSystem)
            #expect(given == .service("unit:backup.service"))
        }
        for user: UInt32 in [0, 33, 1000] {
            for place: (String?, String?) in [
                (nil, nil), ("session-3.scope", nil), ("user@1000.service", nil), ("user@1000.service", "mail.service"),
                ("run-r1f0c.service", nil), ("cofferd.service", nil),
            ] {
                let given = Self.given(user, place.0, place.1, by: Self.ofSystem)
                #expect(given == .refused, "\(user) \(place)")
            }
        }
        #expect(Self.given(990, nil, nil, by: Self.ofSystem) == .owner)
    }

    @Test func `what runs in the daemon's own unit as its own user is the owner`() {
        #expect(Self.given(1000, "user@1000.service", "cofferd.service", by: Self.ofPerson) == .owner)
        #expect(Self.given(990, "cofferd.service", nil, by: Self.ofSystem) == .owner)
        let other = Self.given(1000, "cofferd.service", nil, by: Self.ofPerson)
        #expect(other == .service("unit:cofferd.service"), "of the same name, under another manager")
    }

    @Test func `no service of one manager has the group of one of the other`() {
        let system = Self.given(1000, "mail.service", nil, by: Self.ofPerson)
        let own = Self.given(1000, "user@1000.service", "mail.service", by: Self.ofPerson)
        #expect(system != own)
    }
}

/// The names of access groups.
@Suite struct AccessGroupTests {
    @Test(arguments: [
        ("/usr/bin/mail", "program:/usr/bin/mail"), ("/opt/My App/a\\b", #"program:/opt/My\x20App/a\x5cb"#),
        ("/ä\u{1}", #"program:/\xc3\xa4\x01"#),
    ])
    func `a program's group is its path, with what no group may contain escaped`(path: String, group: String) throws {
        #expect(AccessGroup.program(at: path) == group)
        try AccessGroup.check(group)
    }

    @Test func `a program without a path, or with one that is too long, has no group`() {
        #expect(AccessGroup.program(at: nil) == nil)
        let longest = "/" + String(repeating: "a", count: Limits.groupBytes - "program:/".utf8.count)
        #expect(AccessGroup.program(at: longest)?.utf8.count == Limits.groupBytes)
        #expect(AccessGroup.program(at: longest + "a") == nil)
        #expect(AccessGroup.program(at: "/" + String(repeating: "ä", count: 200)) == nil)
    }

    @Test func `the owner may name every group, has that of its program, and searches its own`() throws {
        let daemon = ClientIdentity(userID: 1000, groupID: 1000)
        let owner = ClientIdentity(userID: 1000, groupID: 1000, executablePath: "/bin/a")
        let rights = try AccessPolicy(daemon: daemon).rights(of: owner)
        #expect(rights.reach == .all && rights.programGroup == "program:/bin/a" && rights.groups == ["default"])
        let service = ClientIdentity(userID: 1000, groupID: 1000, userUnit: "a.service", executablePath: "/bin/a")
        let others = try AccessPolicy(daemon: daemon).rights(of: service)
        #expect(others.reach == ["user-unit:a.service"] && others.programGroup == nil)
    }
}
