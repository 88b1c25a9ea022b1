import CofferCore
import Testing

/// The verdicts of access rules.
@Suite struct AccessRulesTests {
    private static let client = ClientIdentity(
        userID: 7,
        groupID: 8,
        unit: "ci@1.service",
        executablePath: "/usr/bin/ci"
    )

    private static func rule(
        _ kind: AccessRuleKind,
        _ pattern: String?,
        _ verbs: Set<Verb> = [.read],
        for client: ClientPattern = .user(7),
        in group: String = "g"
    ) throws -> AccessRule {
        AccessRule(
            number: 1,
            kind: kind,
            client: client,
            verbs: verbs,
            group: group,
            pattern: try pattern.map { try NamePattern($0) }
        )
    }

    /// Whether rules allow to read an item of the group `g`.
    private static func reads(_ name: String, askedAs alias: String? = nil, _ rules: AccessRule...) -> Bool {
        let verdict = rules.verdict(on: .read, name, askedAs: alias ?? name, in: "g")
        if case .allowed = verdict { return true }
        return false
    }

    @Test(arguments: [
        ("deploy/token", "deploy/token", true), ("deploy/token", "deploy/tokens", false),
        ("deploy/token", "deploy", false), ("deploy/*", "deploy/token", true), ("deploy/*", "deploy/a/b", false),
        ("deploy/**", "deploy/a/b", true), ("deploy/*", "other/deploy/a", false), ("**", "anything/at/all", true),
        ("deploy/?", "deploy/\u{E9}", true), ("caf\u{E9}", "cafe\u{301}", false),
    ])
    func `a rule is for the names that its pattern matches as a whole`(
        pattern: String,
        name: String,
        isFor: Bool
    )
        throws
    {
        #expect(Self.reads(name, try Self.rule(.allow, pattern)) == isFor)
    }

    @Test func `a denial prevails in whatever order, and takes nothing else away`() throws {
        let (allow, deny) = (try Self.rule(.allow, "deploy/*"), try Self.rule(.deny, "deploy/other"))
        for rules in [[allow, deny], [deny, allow]] {
            #expect(rules.verdict(on: .read, "deploy/token", askedAs: "deploy/token", in: "g") == .allowed(allow))
            #expect(rules.verdict(on: .read, "deploy/other", askedAs: "deploy/other", in: "g") == .refused)
        }
        #expect(Self.reads("deploy/other", allow, try Self.rule(.deny, "deploy/other", [.write])))
        #expect(Self.reads("deploy/other", allow, try Self.rule(.deny, "deploy/other", in: "h")))
        #expect(!Self.reads("deploy/other", deny))
    }

    @Test func `a denial also matches the name by which an item is asked for, and an allowing rule does not`() throws {
        let allow = try Self.rule(.allow, "**")
        let byReference = "reference:00112233445566778899aabbccddeeff"
        #expect(Self.reads("login:a@b", askedAs: byReference, allow))
        #expect(!Self.reads("login:a@b", askedAs: byReference, allow, try Self.rule(.deny, "login:*")))
        #expect(!Self.reads("login:a@b", askedAs: byReference, allow, try Self.rule(.deny, "reference:*")))
        #expect(!Self.reads("login:a@b", askedAs: byReference, try Self.rule(.allow, "reference:*")))
    }

    @Test func `a rule is about its verbs and its group`() throws {
        let rules = [try Self.rule(.allow, "a", [.write], in: "h"), try Self.rule(.allow, "a", [.read, .delete])]
        #expect(rules.groups(for: .read) == ["g"])
        #expect(rules.groups(for: .write) == ["h"])
        #expect(rules.verdict(on: .delete, "a", askedAs: "a", in: "g") == .allowed(rules[1]))
        #expect(rules.verdict(on: .delete, "a", askedAs: "a", in: "h") == .refused)
        #expect(rules.verdict(on: .write, "a", askedAs: "a", in: "g") == .refused)
        #expect(([rules[0], rules[0]]).groups(for: .write) == ["h"])
    }

    @Test func `without its names, a rule that may allow something is sealed, and a denial alone refuses`() throws {
        let (allow, deny) = (try Self.rule(.allow, nil), try Self.rule(.deny, nil))
        #expect([allow].verdict(on: .read, "a", askedAs: "a", in: "g") == .sealed)
        #expect([allow, deny].verdict(on: .read, "a", askedAs: "a", in: "g") == .sealed)
        #expect([deny].verdict(on: .read, "a", askedAs: "a", in: "g") == .refused)
        #expect([allow].verdict(on: .write, "a", askedAs: "a", in: "g") == .refused)
        #expect([allow].verdict(on: .read, "a", askedAs: "a", in: "h") == .refused)
    }

    @Test(arguments: [
        (ClientPattern.user(7), true), (.user(6), false), (.group(8), true), (.unit("ci@*.service"), true),
        (.unit("ci@1.service"), true), (.unit("ci@2.service"), false), (.userUnit("ci@1.service"), false),
        (.executable("/usr/bin/ci"), true), (.executable("/usr/bin/other"), false),
    ])
    func `a rule is for the clients that its pattern fits`(pattern: ClientPattern, isFor: Bool) throws {
        let rule = try Self.rule(.allow, "a", for: pattern)
        #expect(rule.isFor(Self.client, of: 7, isProgramHeld: true) == isFor)
    }

    @Test func `a program counts as one of the owner that is held, and in a container only a unit counts`() throws {
        let program = try Self.rule(.allow, "a", for: .executable("/usr/bin/ci"))
        #expect(!program.isFor(Self.client, of: 6, isProgramHeld: true))
        #expect(!program.isFor(Self.client, of: 7, isProgramHeld: false))
        var contained = Self.client
        contained.isContained = true
        #expect(!program.isFor(contained, of: 7, isProgramHeld: true))
        let (user, unit) = (try Self.rule(.allow, "a"), try Self.rule(.allow, "a", for: .unit("ci@1.service")))
        #expect(!user.isFor(contained, of: 7, isProgramHeld: true))
        #expect(unit.isFor(contained, of: 7, isProgramHeld: true))
        // What takes something away is for whomever it fits.
        for pattern in [ClientPattern.user(7), .executable("/usr/bin/ci")] {
            #expect(try Self.rule(.deny, "a", for: pattern).isFor(contained, of: 6, isProgramHeld: false))
        }
    }

    @Test(arguments: [
        "unit:ci", "unit:*", "unit:a/b.service", "user-unit:[z-a].service", "exe:/usr/../bin/ci", "exe:/usr//ci",
        "service:no", "unit:\(String(repeating: "a", count: 1024)).service",
    ])
    func `no rule is for a client that there can't be`(pattern: String) throws {
        let client = try ClientPattern(pattern)
        #expect(throws: CofferError(.param, "")) { try client.checkRuled() }
    }

    @Test(arguments: ["uid:1", "gid:1", "unit:ci@*.service", "user-unit:app.scope", "exe:/usr/bin/ci"])
    func `rules are for users, groups, units and programs`(pattern: String) throws {
        try ClientPattern(pattern).checkRuled()
    }
}
