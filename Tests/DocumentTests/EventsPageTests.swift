import CofferCore
import CofferService
import CofferTestSupport
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

    @Test func `what ends a refusal is there for each that may be repeated, and is an event of the protocol or none`()
        throws
    {
        let rpc = try OpenRPC()
        let rows = try page.table(["refusal", "what ends it", "event"], below: "### Which event ends which refusal")
        let codes = ErrorCode.table.map(\.code.rawValue)
        let retries = try [CofferError.Retry.afterUnlock, .afterDelay(seconds: 1), .later].map { (retry) -> String in
            let error = CofferError(.param, "x", retry: retry).json["error"]?.objectValue
            return try #require(error?["retry"]?.stringValue)
        }
        let states = VaultState.allCases.map(\.rawValue)
        let selections = OpenRPC.parameters(of: try rpc.method("vault.watch")).map(\.name)
        for row in rows {
            for word in row[0].quotedWords { #expect((codes + retries + states).contains(word), "\(word)") }
            let words = row[2].quotedWords
            #expect(words.isEmpty == row[2].hasPrefix("none"), "\(row)")
            for word in words.prefix(1) { #expect(Notification(rawValue: word) != nil, "\(word)") }
            for word in words.dropFirst() { #expect(selections.contains(word), "\(word)") }
        }
        // What passes without an unlock has no event.
        for retry in retries.dropFirst() {
            #expect(rows.contains { $0[0].quotedWords.last == retry && $0[2].hasPrefix("none") }, "\(retry)")
        }
        let unlock = Notification.protectedDataDidBecomeAvailable.rawValue
        let notices = try Page("PROTOCOL.md").table(["`retry`", "when", "how a client notices"])
        #expect(notices.first { $0[0].quotedWords == [retries[0]] }?[2].quotedWords.first == unlock)
        let errors = try #require(rpc["components", "errors"]?.objectValue)
        let locked = codes.filter { errors[$0]?.objectValue?["data"]?.objectValue?["retry"] == .string(retries[0]) }
        #expect(locked == [ErrorCode.interactionNotAllowed.rawValue])
        for code in locked {
            let row = try #require(rows.first { $0[0].quotedWords.first == code }, "\(code)")
            #expect(row[2].quotedWords == [unlock])
            let closed = VaultState.allCases.filter { state in
                state != .noVault && state != .deviceKeyMissing && !ProtectionClass.complete.permits(.read, in: state)
            }
            #expect(Set(row[0].quotedWords.dropFirst()) == Set(closed.map(\.rawValue)))
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
