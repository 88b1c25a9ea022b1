import CofferService
import CofferTestSupport
import Testing

/// The table of `proto-docs/SESSIONS.md`.
@Suite struct SessionsPageTests {
    private static let causes: [LockCause] = [
        .sleep, .sessionLock(userID: 1000), .logout(userID: 1000), .idle, .lastDisconnect,
    ]

    private static func rows() throws -> [[String]] {
        try Page("SESSIONS.md").table([
            "what happens", "option", "setting", "by default", "grace", "reason in the audit",
        ])
    }

    @Test func `every cause has its row, with the reason that is recorded`() throws {
        #expect(try Self.rows().map { $0[5].quotedWords } == Self.causes.map { [$0.reason] })
    }

    @Test func `every option and setting is one of the daemon's`() throws {
        let help = try Programs.run(Programs.program("cofferd"), ["--help"]).text
        for row in try Self.rows() {
            #expect(
                help.contains("  \(row[1].quotedWords[0]) ") || help.contains("  \(row[1].quotedWords[0])\n"),
                "\(row)"
            )
            #expect(help.contains("\(row[2].quotedWords[0])="), "\(row)")
        }
    }

    @Test func `what is not said is as the table says`() throws {
        let policy = Presence.Policy()
        let isOn = [policy.locksOnSleep, policy.locksOnSessionLock, policy.locksOnLogout]
        #expect(try Self.rows().prefix(3).map { $0[3].hasPrefix("yes") } == isOn)
    }
}
