import CofferCore
import CofferService
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/EVENTS.md`.
@Suite struct EventsPageTests {
    private typealias Notification = CofferWire.Notification

    private let page: Page

    init() throws { page = try Page("EVENTS.md") }

    @Test func `every notification is in the table with its members`() throws {
        let rows = try page.table(["notification", "members", "when"])
        #expect(rows.map { $0[0] } == Notification.allCases.map { "`\($0.rawValue)`" })
        let progress = ProgressParameters(done: 1, total: 2, request: .integer(1)).json.members.map(\.key)
        let attempts = FailedAttempts(count: 1, retrySeconds: 1, isEnded: true)
        let events: [VaultEvent] = [
            .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable,
            .inactiveDataDidBecomeUnavailable, .firstUnlockDataDidBecomeUnavailable,
            .itemsDidChange([]), .attemptDidFail(attempts), .auditDidGrow([]), .eventsMissed(1),
        ]
        #expect(rows.map { Notification(rawValue: $0[0].quotedWords[0]) } == [.progress] + events.map(\.notification))
        for (row, members) in zip(rows, [progress] + events.map { $0.json.members.map(\.key) }) {
            #expect(row[1].quotedWords.prefix(members.count) == members[...], "\(row[0])")
        }
    }

    @Test func `the members of a change are in the table, and what may have happened`() throws {
        let rows = try page.table(["member", "type", "what"])
        let change = ItemChange(
            .renamed,
            in: .keychain,
            group: "g",
            name: "a",
            formerName: "b",
            itemClass: .key,
            reference: ItemID(),
            inode: 1
        )
        #expect(rows.flatMap { $0[0].quotedWords } == change.json.members.map(\.key))
        #expect(rows[0][2].quotedWords == ItemChange.Kind.allCases.map(\.rawValue))
        #expect(rows[1][2].quotedWords == StoreName.allCases.map(\.rawValue))
    }

    @Test func `the bounds in words are those of the code`() {
        #expect(page.text.contains("beyond\n  \(Limits.toldChanges) of a turn"))
        #expect(page.text.contains("once \(Limits.eventBytes) bytes wait for it"))
    }
}

/// The tables of `proto-docs/ORDER.md`.
@Suite struct OrderPageTests {
    private let page: Page

    init() throws { page = try Page("ORDER.md") }

    @Test func `the bounds in words are those of the code`() {
        #expect(page.text.contains("At most \(Limits.requestsInFlight) requests, or \(Limits.requestBytes) bytes"))
        #expect(page.text.contains("descriptor \(Limits.transfersPerConnection) run at a time"))
    }
}
