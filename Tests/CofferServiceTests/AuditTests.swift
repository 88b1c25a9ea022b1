import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The audit records requests and refusals of every client.
@Suite struct AuditTests {
    /// A server for which the test sets the identity of each connection, with a journal.
    private struct Place {
        let next = Shared(Place.person)
        let journal = Shared<[AuditRecord]>([])
        let clock = ManualClock()
        let server: TestServer
        let owner: BlockingClient

        static let person = ClientIdentity(userID: geteuid(), groupID: getegid())

        init(
            _ entitlements: String = "",
            passcode: String? = DaemonProcess.passcode,
            journalHasNames: Bool = true,
            journalHasReads: Bool = true
        ) throws {
            let (next, journal) = (next, journal)
            server = try TestServer(clock: clock.clock) { configuration in
                configuration.identify = { _, _ in next.value }
                configuration.journal.write = { records in journal.value += records }
                configuration.journal.hasNames = journalHasNames
                configuration.journal.hasReads = journalHasReads
                configuration.entitlements =
                    (try? Entitlement.all(in: [("test", Array(entitlements.utf8))]) { (_) throws(CofferError) in
                        0
                    } groupID: { (_) throws(CofferError) in
                        0
                    })
                    ?? []
            }
            owner = try server.connect()
            try owner.makeVault(passcode: passcode)
        }

        /// Whether the journal becomes as wanted, when the time passes after which reads are recorded.
        ///
        /// The turn of a read may set that time only after its answer has come.
        func becomesTrue(_ isWanted: ([AuditRecord]) -> Bool) -> Bool {
            CofferServiceTests.becomesTrue {
                clock.advance(by: Double(Limits.auditDelayMilliseconds) / 1000)
                return isWanted(journal.value)
            }
        }

        func connect(as client: ClientIdentity) throws -> BlockingClient {
            next.value = client
            defer { next.value = Self.person }
            let connection = try server.connect()
            _ = try connection.status()
            return connection
        }

        /// The records as `action item, item: refusal`, except those of the daemon and of reading the audit.
        func records(_ query: AuditQuery = AuditQuery()) throws -> [String] {
            try all(query).filter { $0.client != nil && !$0.action.hasPrefix("audit.") }.map(Self.line)
        }

        func all(_ query: AuditQuery = AuditQuery()) throws -> [AuditRecord] {
            var records: [AuditRecord] = []
            var after: Int64 = 0
            while true {
                let page = try owner.auditRecords(query, after: after)
                records += page.records
                guard let next = page.next else { return records }
                after = next
            }
        }

        static func line(_ record: AuditRecord) -> String {
            let items = record.items.map { $0.name ?? $0.reference?.hexadecimal ?? "?" }.joined(separator: ", ")
            let refusal = record.refusal.map { ": " + $0.code.rawValue } ?? ""
            return record.action + (items.isEmpty ? "" : " " + items) + refusal
        }
    }

    private static func service(_ name: String) -> ClientIdentity {
        ClientIdentity(userID: geteuid(), groupID: getegid(), unit: "user@0.service", userUnit: name)
    }

    /// The methods that are not recorded when they succeed.
    private static let unrecorded: Set<CofferWire.Method> = [
        .entitlementExplain, .entitlementList, .hello, .requestCancel, .vaultStatus, .contextEnd, .fileAllocate,
        .fileClose, .fileExtent, .fileRead, .fileSync, .fileSyncTree,
        .filePunch, .fileSpace, .fileTruncate, .fileWrite, .backupContents, .backupRead, .backupStatus,
    ]

    @Test(arguments: CofferWire.Method.allCases.filter { $0 != .vaultErase })
    func `every method leaves a record, but for those that are named here`(method: CofferWire.Method) throws {
        let place = try Place()
        var raw = try RawConnection(place.server)
        try raw.send(method, ["name": "some/name", "to": "other/name"])
        let refusal = try raw.refusal()
        let records = try place.all().filter {
            $0.action == method.rawValue && $0.items.contains { $0.name == "some/name" }
        }
        #expect(records.map(\.refusal?.code) == (Self.unrecorded.contains(method) ? [] : [refusal]))
    }

    @Test func `locked, missing and denied are recorded as three different things, beside what was given`() throws {
        let place = try Place("[Client]\nUserUnit=mail.service\nVerbs=write\nGroups=mail\n")
        try place.owner.put("site/token", [1])
        _ = try place.owner.get("site/token")
        let mail = try place.connect(as: Self.service("mail.service"))
        _ = try place.owner.lock(graceSeconds: 0)
        _ = try? place.owner.get("site/token")
        _ = try? place.owner.get("site/nothing")
        _ = try? mail.get("site/token")
        let records = try place.records()
        #expect(
            records == [
                "vault.init", "item.put site/token", "item.get site/token", "vault.lock",
                "item.get site/token: interactionNotAllowed", "item.get site/nothing: itemNotFound",
                "item.get site/token: missingEntitlement",
            ]
        )
        let all = try place.all().filter { $0.action == "item.get" }
        #expect(all.map(\.state) == [.unlocked, .locked, .locked, .locked])
        #expect(all.map { $0.client?.userUnit } == [nil, nil, nil, "mail.service"])
        #expect(all.last?.items.first?.group == "mail")
        #expect(try place.records(AuditQuery(unit: "mail.service")).count == 1)
        #expect(try place.records(AuditQuery(isRefused: true)).count == 3)
    }

    @Test func `who may not even connect is recorded`() throws {
        let place = try Place()
        place.next.value = ClientIdentity(userID: geteuid() + 1, groupID: 7)
        let outcome = try Outcome { _ = try place.server.connect().status() }
        #expect(outcome == .refused(.missingEntitlement))
        place.next.value = Place.person
        let record = try #require(try place.all(AuditQuery(isRefused: true)).first)
        #expect(record.action == "connect" && record.refusal?.code == .missingEntitlement)
        #expect(record.client == ClientIdentity(userID: geteuid() + 1, groupID: 7))
    }

    @Test func `a query is recorded with the items that it gave`() throws {
        let place = try Place()
        let first = try place.owner.add(.internetPassword, [.server: .text("a.example"), .account: .text("ann")])
        let second = try place.owner.add(.internetPassword, [.server: .text("a.example"), .account: .text("bob")])
        _ = try place.owner.find(KeychainQuery(.internetPassword, [.server: .text("a.example")]))
        _ = try? place.owner.find(KeychainQuery(.internetPassword, [.server: .text("b.example")]))
        _ = try place.owner.deleteKeychainItems(KeychainQuery(reference: second))
        let records = try place.all().filter { $0.action.hasPrefix("keychain.") }
        #expect(
            records.map(Place.line) == [
                "keychain.add ann@a.example", "keychain.add bob@a.example",
                "keychain.find ann@a.example, bob@a.example",
                "keychain.find b.example: itemNotFound", "keychain.delete bob@a.example",
            ]
        )
        #expect(records[2].items.map(\.reference) == [first, second])
        #expect(try place.records(AuditQuery(item: second.hexadecimal)).count == 3)
    }

    @Test func `more items than a record names are counted`() throws {
        let place = try Place()
        let count = Limits.auditedItems + 3
        for number in 0..<count { try place.owner.put("a/\(number)", [1]) }
        _ = try place.owner.find(KeychainQuery(.genericPassword))
        let record = try #require(try place.all().last { $0.action == "keychain.find" })
        #expect(record.items.count == Limits.auditedItems && record.itemCount == count)
    }

    // MARK: When

    @Test func `a change is recorded before its answer, and what only looks within a moment`() throws {
        let place = try Place()
        try place.owner.put("a/b", [1])
        #expect(place.journal.value.last.map(Place.line) == "item.put a/b")
        let count = place.journal.value.count
        for _ in 0..<3 { _ = try place.owner.get("a/b") }
        #expect(place.journal.value.count == count)
        #expect(place.becomesTrue { $0.count > count })
        #expect(place.journal.value.dropFirst(count).map(\.count) == [3])
        // The numbers are those of the vault.
        #expect(
            place.journal.value.suffix(2).map(\.number)
                == (try place.all().filter { $0.action.hasPrefix("item.") }).map(\.number)
        )
    }

    @Test func `a long put is recorded by the time that it is answered`() throws {
        let place = try Place()
        try place.owner.put("scan", [UInt8](repeating: 1, count: 100_000)) { $0.kind = .database }
        #expect(place.journal.value.last.map(Place.line) == "item.put scan")
    }

    @Test func `who watches is told what others do, if it may read the audit`() throws {
        let place = try Place("[Client]\nUserUnit=mail.service\nVerbs=read\nGroups=mail\n")
        var watcher = try RawConnection(place.server)
        try watcher.send(.vaultWatch, ["audit": true])
        _ = try watcher.refusal()
        try place.owner.put("a/b", [1])
        let events = try watcher.eventsUntilAnswer()
        let told = events.flatMap { event -> [AuditRecord] in
            if case .auditDidGrow(let records) = event { records } else { [] }
        }
        #expect(told.map(Place.line).contains("item.put a/b"))
        #expect(events.allSatisfy { if case .auditDidGrow = $0 { true } else { false } })
        let mail = try place.connect(as: Self.service("mail.service"))
        for body in [{ try mail.watch(.audit) }, { _ = try mail.auditRecords() }, { _ = try mail.verifyAudit() }] {
            let outcome = try Outcome(body)
            #expect(outcome == .refused(.missingEntitlement))
        }
    }

    @Test func `the daemon records the states that it goes through by itself`() throws {
        let place = try Place()
        _ = try place.owner.lock()
        place.clock.advance(by: 10)
        place.clock.advance(by: 600)
        let states = try place.all().filter { $0.client == nil }.map(\.state)
        #expect(states == [.unlocked, .locking, .locked, .lockedExpired])
    }

    @Test func `without a vault the journal alone is told`() throws {
        let place = try Place()
        let status = try place.owner.status()
        try place.owner.erase(vaultID: try #require(status.vaultID))
        #expect(place.journal.value.last.map(Place.line) == "vault.erase")
        #expect(place.journal.value.last?.number == 0)
        try place.owner.makeVault()
        #expect(try place.records() == ["vault.init"])
    }

    @Test func `without leave, the journal has a tag for each name, and no words that may have one`() throws {
        let place = try Place(journalHasNames: false)
        for _ in 0..<2 { try place.owner.put("telling/name", [1]) }
        _ = try? place.owner.get("telling/nothing")
        _ = try place.owner.add(.genericPassword, [.service: .text("telling"), .account: .text("pin")])
        _ = try? place.owner.find(KeychainQuery(.internetPassword, [.server: .text("telling.example")]))
        #expect(place.becomesTrue { $0.contains { $0.action == "keychain.find" } })
        // The words of a rule are the client's, its number is not.
        try place.owner.grant(try ItemName("telling/name"), to: .user(4242), seconds: 600, reason: "for telling/name")
        _ = try place.connect(as: ClientIdentity(userID: 4242, groupID: 1)).get("telling/name")
        #expect(place.becomesTrue { $0.contains { $0.reason == "rule 1" } })
        let told = place.journal.value
        #expect(!"\(told)".contains("telling"))
        let puts = told.filter { $0.action == "item.put" }.compactMap(\.items.first)
        #expect(puts.count == 2 && puts[0] == puts[1] && puts[0].group == "default")
        #expect(puts[0].name?.wholeMatch(of: #/[0-9a-f]{16}/#) != nil)
        let get = try #require(told.first { $0.action == "item.get" })
        #expect(get.items.first?.name != puts[0].name)
        #expect(get.refusal == AuditedRefusal(.itemNotFound, "itemNotFound"))
        // The vault has them all the same.
        #expect(try place.records().contains("item.put telling/name"))
        // Without a vault there is no key for a tag.
        let status = try place.owner.status()
        try place.owner.erase(vaultID: try #require(status.vaultID))
        _ = try? place.owner.put("telling/name", [1])
        let late = try #require(place.journal.value.last)
        #expect(late.action == "item.put" && late.items.first?.name == nil && late.refusal?.message == "notAvailable")
    }

    @Test func `the journal gets what was changed, opened or refused, and reads only if it is to have them`() throws {
        for hasReads in [false, true] {
            let place = try Place(journalHasReads: hasReads)
            try place.owner.put("a", [1])
            _ = try place.owner.get("a")
            _ = try place.owner.list()
            _ = try? place.owner.get("b")
            try place.owner.openFile(ItemName("new"), for: .write, .create).close()
            // Written with the change, after all the reads.
            _ = try place.owner.remove(ItemName("a"))
            let reads = hasReads ? ["item.get a", "item.list"] : []
            let lines = place.journal.value.filter { $0.client != nil && $0.action != "vault.init" }.map(Place.line)
            #expect(lines == ["item.put a"] + reads + ["item.get b: itemNotFound", "file.open new", "item.remove a"])
            #expect(try place.records().contains("item.get a"))
        }
    }

    @Test func `the whole audit is as it was written, after all of that`() throws {
        let place = try Place(passcode: nil)
        for number in 0..<600 {
            try place.owner.put("n/\(number)", [1])
            _ = try place.owner.get("n/\(number)")
        }
        var checkedCount: Int64 = 0
        var after: Int64 = 0
        while true {
            let part = try place.owner.verifyAudit(after: after)
            #expect(part.findings == [])
            checkedCount += part.checkedCount
            guard let next = part.next else { break }
            after = next
        }
        #expect(checkedCount > 1200)
        let numbers = try place.all().map(\.number)
        #expect(numbers == Array(1...Int64(numbers.count)))
    }
}
