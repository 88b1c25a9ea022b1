import CofferCore
import Testing

/// Patterns in `Unit=`, by the rules of systemctl(1), and what no pattern may find.
@Suite struct UnitPatternTests {
    private static func entitlements(_ unit: String) throws(CofferError) -> [Entitlement] {
        let text = "[Client]\nUnit=\(unit)\nGroups=default\nVerbs=read\n"
        return try Entitlement.all(in: [("a.conf", Array(text.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            35
        }
    }

    @Test(
        arguments: [
            ("backup@*.service", "backup@home.service", true), ("backup@*.service", "backup@.service", true),
            ("backup@*.service", #"backup@a\x2fb.service"#, true),
            ("backup@*.service", "backup@a.service@b.service", true),
            ("backup@*.service", "backup.service", false), ("backup@*.service", "xbackup@a.service", false),
            ("backup@*.service", "backup@a.service.scope", false), ("backup@*.service", "backup@a.scope", false),
            ("backup@*.service", "Backup@a.service", false), ("backup@*.service", "backup@a.service ", false),
            ("job-?.service", "job-1.service", true), ("job-?.service", "job-.service", false),
            ("job-?.service", "job-12.service", false), ("job-[0-9].service", "job-7.service", true),
            ("job-[0-9].service", "job-a.service", false), ("job-[!0-9].service", "job-a.service", true),
            ("job-[^0-9].service", "job-7.service", false), ("job-[a-].service", "job--.service", true),
            (#"a\x2d*.service"#, #"a\x2db.service"#, true), (#"a\*.service"#, "a*.service", false),
            (#"a\*.service"#, #"a\b.service"#, true),
            ("*.service", "cron.service", true), ("*.service", "user@1000.service", false),
            ("[u]ser@*.service", "user@1000.service", false), ("user@*.service", "user@1000.service", true),
            ("*.scope", "session-3.scope", true), ("*.scope", "cron.service", false),
            ("a*b*c*.service", "abbbc.service", true), ("a*b*c*.service", "abbb.service", false),
        ]
    )
    func `a pattern finds what systemctl would, and never by chance all of a user`(
        pattern: String,
        unit: String,
        isFound: Bool
    ) throws {
        let found = try #require(try Self.entitlements(pattern).first)
        #expect(found.fits(ClientIdentity(userID: 7, groupID: 7, unit: unit)) == isFound)
        #expect(!found.fits(ClientIdentity(userID: 7, groupID: 7)))
        #expect(!found.fits(ClientIdentity(userID: 7, groupID: 7, userUnit: unit)))
    }

    @Test func `a pattern that would need many ways back takes one`() throws {
        let pattern = String(repeating: "a*", count: 120) + "b.service"
        let name = String(repeating: "a", count: 240) + ".service"
        let found = try #require(try Self.entitlements(pattern).first)
        #expect(!found.fits(ClientIdentity(userID: 7, groupID: 7, unit: name)))
    }
}
