import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// The audit alone: records are read as they were written, and tampering is detected.
@Suite struct AuditLogTests {
    /// The log of a vault, and its tables.
    private struct Place {
        let vault: Vault
        let connection: Connection
        let log: AuditLog

        init() throws {
            vault = try Vault(hasPasscode: false)
            connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
            try connection.migrate(AuditLog.migrations, applicationID: 1)
            try connection.execute("CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT")
            log = try AuditLog(connection: connection, keys: try vault.open(), isNew: true)
        }

        /// Opens the log once more, as a daemon that comes up does.
        func reopened() throws -> AuditLog {
            try AuditLog(connection: connection, keys: try vault.open(), isNew: false)
        }

        /// Writes some records as a block of their own.
        func write(_ records: AuditRecord..., to log: AuditLog? = nil) throws {
            let log = log ?? self.log
            for record in records { log.note(record) }
            try connection.transaction { try log.write(at: 1) }
            _ = log.confirm()
        }

        /// Five blocks: of the records 1 and 2, 3 and 4, and so on.
        func writeBlocks() throws {
            for number in 0..<5 { try write(get("a\(number)"), get("b\(number)")) }
        }

        func findings(_ log: AuditLog? = nil) throws -> [String] { try (log ?? self.log).verify(after: 0).findings }

        func change(_ sql: StaticString) throws { try connection.execute(sql) }
    }

    private static let client = ClientIdentity(userID: 1000, groupID: 100, unit: "a.service", executablePath: "/bin/a")

    private static func get(_ name: String, time: Int64 = 1) -> AuditRecord {
        AuditRecord(
            time: time,
            client: client,
            action: "item.get",
            items: [AuditedItem(name: name, group: "default")],
            state: .unlocked
        )
    }

    private static let everything = AuditRecord(
        number: 1,
        time: 1_795_303_244_244,
        client: ClientIdentity(
            userID: .max - 1,
            groupID: 0,
            unit: "",
            userUnit: "ü.service",
            isContained: true,
            machine: "box"
        ),
        action: "keychain.find",
        items: [AuditedItem(name: "\u{0}é", group: "g", reference: ItemID()), AuditedItem(name: nil, group: nil)],
        itemCount: 70_000,
        state: .deviceKeyMissing,
        refusal: AuditedRefusal(.interactionNotAllowed, "locked"),
        reason: "",
        count: 3
    )

    @Test func `a record comes back as it was, with all that it may have`() throws {
        let place = try Place()
        try place.write(Self.everything)
        for log in [place.log, try place.reopened()] {
            let page = try log.page(after: 0, AuditQuery(), limit: 10)
            #expect(page.records == [Self.everything])
            #expect(page.next == nil && !page.isDamaged && page.summary == nil)
        }
    }

    @Test(arguments: VaultState.allCases) func `every state comes back`(state: VaultState) throws {
        let place = try Place()
        try place.write(AuditRecord(time: 1, client: nil, action: "vault.state", state: state))
        #expect(try place.log.page(after: 0, AuditQuery(), limit: 1).records.map(\.state) == [state])
    }

    @Test func `numbers go on over blocks and openings, and nothing is found`() throws {
        let place = try Place()
        try place.writeBlocks()
        let again = try place.reopened()
        try place.write(Self.get("c"), to: again)
        let records = try again.page(after: 0, AuditQuery(), limit: 100).records
        #expect(records.map(\.number) == Array(1...11))
        let check = try again.verify(after: 0)
        #expect(check.findings == [] && check.checkedCount == 11 && check.next == nil)
    }

    @Test func `identical requests are one record with a count, and different ones are not`() throws {
        let place = try Place()
        for record in [Self.get("a", time: 5), Self.get("b"), Self.get("a", time: 9)] { place.log.note(record) }
        place.log.postpone()
        // Names are compared as bytes.
        try place.write(Self.get("a"), Self.get("\u{e9}"), Self.get("e\u{301}"))
        let records = try place.log.page(after: 0, AuditQuery(), limit: 10).records
        #expect(records.map(\.count) == [3, 1, 1, 1])
        #expect(records[0].time == 5)
    }

    // MARK: Pages

    @Test func `pages are gone through without missing a record or giving one twice`() throws {
        let place = try Place()
        try place.writeBlocks()
        for limit in 1...11 {
            var numbers: [Int64] = []
            var after: Int64 = 0
            while true {
                let page = try place.log.page(after: after, AuditQuery(), limit: limit)
                numbers += page.records.map(\.number)
                guard let next = page.next else { break }
                after = next
            }
            #expect(numbers == Array(1...10), "\(limit)")
        }
    }

    @Test func `a query takes what has all that it names`() throws {
        let place = try Place()
        let reference = ItemID()
        try place.write(
            Self.get("a", time: 1),
            Self.get("b", time: 2),
            AuditRecord(
                time: 3,
                client: ClientIdentity(userID: 1, groupID: 1, unit: "user@1.service", userUnit: "mail.service"),
                action: "keychain.find",
                items: [AuditedItem(name: "a", group: "g", reference: reference)],
                state: .locked,
                refusal: AuditedRefusal(.itemNotFound, "nothing")
            )
        )
        func numbers(_ query: AuditQuery) throws -> [Int64] {
            try place.log.page(after: 0, query, limit: 10).records.map(\.number)
        }
        #expect(try numbers(AuditQuery(item: "a")) == [1, 3])
        #expect(try numbers(AuditQuery(item: reference.hexadecimal)) == [3])
        #expect(try numbers(AuditQuery(unit: "a.service")) == [1, 2])
        #expect(try numbers(AuditQuery(unit: "mail.service")) == [3])
        #expect(try numbers(AuditQuery(since: 2)) == [2, 3])
        #expect(try numbers(AuditQuery(isRefused: true)) == [3])
        #expect(try numbers(AuditQuery(item: "a", unit: "a.service", since: 2)) == [])
        #expect(try numbers(AuditQuery(item: "a", group: "default")) == [1])
        #expect(try numbers(AuditQuery(group: "elsewhere")) == [])
    }

    // MARK: Tampering

    /// Tampering with the database, and the findings.
    enum Tampering: String, CaseIterable {
        case changed, swapped, firstRemoved, middleRemoved, lastRemoved, allRemoved, headRemoved
        case headChanged, olderHead, repeated, chainChanged
    }

    @Test(arguments: Tampering.allCases) func `tampering is found`(tampering: Tampering) throws {
        let place = try Place()
        try place.writeBlocks()
        try place.change("CREATE TABLE former AS SELECT * FROM audit_head")
        try place.write(Self.get("c"))
        #expect(try place.findings() == [])
        let words: [String]
        switch tampering {
        case .changed:
            try place.change("UPDATE audit_blocks SET sealed = zeroblob(length(sealed)) WHERE first = 3")
            words = ["the block at record 3 is not what was written there"]
        case .chainChanged:
            try place.change("UPDATE audit_blocks SET chain = zeroblob(32) WHERE first = 9")
            words = [
                "the block at record 9 is not what was written there",
                "the block at record 11 is not what was written there",
            ]
        case .swapped:
            try place.change("UPDATE audit_blocks SET first = first + 100 WHERE first IN (3, 5)")
            try place.change("UPDATE audit_blocks SET first = 108 - first WHERE first > 100")
            words = ["the block at record 3", "the block at record 5"]
        case .firstRemoved:
            try place.change("DELETE FROM audit_blocks WHERE first = 1")
            words = ["the records 1 to 2 are missing"]
        case .middleRemoved:
            try place.change("DELETE FROM audit_blocks WHERE first IN (5, 7)")
            words = ["the records 5 to 8 are missing"]
        case .lastRemoved:
            try place.change("DELETE FROM audit_blocks WHERE first = 11")
            words = ["record 11 is missing"]
        case .allRemoved:
            try place.change("DELETE FROM audit_blocks")
            words = ["the records 1 to 11 are missing"]
        case .headRemoved:
            try place.change("DELETE FROM audit_head")
            words = ["the records up to"]
        case .headChanged:
            try place.change("UPDATE audit_head SET sealed = zeroblob(length(sealed))")
            words = ["the records up to"]
        case .olderHead:
            try place.change("UPDATE audit_head SET sealed = (SELECT sealed FROM former)")
            words = ["the audit is older than the catalog"]
        case .repeated:
            try place.change(
                "INSERT INTO audit_blocks SELECT 13, sealed, chain FROM audit_blocks WHERE first = 11"
            )
            words = ["record 12 is missing", "the block at record 13"]
        }
        let findings = try place.findings(try place.reopened())
        #expect(!findings.isEmpty)
        for word in words { #expect(findings.contains { $0.hasPrefix(word) }, "\(word): \(findings)") }
    }

    @Test func `who has lost its head goes on, and each check says so`() throws {
        let place = try Place()
        try place.writeBlocks()
        try place.change("DELETE FROM audit_head")
        let again = try place.reopened()
        try place.write(Self.get("d"), to: again)
        for log in [again, try place.reopened()] {
            let findings = try place.findings(log)
            #expect(findings.count == 1 && findings[0].contains("are unverified"), "\(findings)")
            let records = try log.page(after: 0, AuditQuery(), limit: 100).records
            #expect(records.count == 11 && records[10].items[0].name == "d")
        }
    }

    @Test func `what can't be read is passed over, and said`() throws {
        let place = try Place()
        try place.writeBlocks()
        try place.change("UPDATE audit_blocks SET sealed = x'00' WHERE first = 3")
        let page = try place.log.page(after: 0, AuditQuery(), limit: 100)
        #expect(page.isDamaged)
        #expect(page.records.map(\.number) == [1, 2, 5, 6, 7, 8, 9, 10])
    }

    @Test func `the names are not in the database`() throws {
        let place = try Place()
        let name = "a-name-that-nobody-has-\(ItemID().hexadecimal)"
        try place.write(Self.get(name))
        let path = "\(try place.vault.directory.resolvedPath())/vault.sqlite"
        for file in [path, path + "-wal"] {
            let bytes = FileManager.default.contents(atPath: file) ?? Data()
            #expect(bytes.range(of: Data(name.utf8)) == nil)
        }
    }

    // MARK: Room

    @Test func `readings of the audit are recorded at any time that a clock shows`() throws {
        let place = try Place()
        for time in [Int64.min, .max, 0] {
            try place.write(AuditRecord(time: time, client: Self.client, action: "audit.list", state: .unlocked))
            let page = try place.log.page(after: 0, AuditQuery(), limit: 100, for: (Self.client, .max))
            #expect(!page.isDamaged)
        }
        let times = try place.log.page(after: 0, AuditQuery(), limit: 100).records.map(\.time)
        #expect(times == [.min, .max, 0])
    }

    @Test func `readings of the audit are recorded once a minute and client, and left out of their answers`() throws {
        let place = try Place()
        let other = ClientIdentity(userID: 1, groupID: 1)
        func read(_ client: ClientIdentity, at time: Int64) throws {
            try place.write(AuditRecord(time: time, client: client, action: "audit.list", state: .unlocked))
        }
        func readings(for client: ClientIdentity, at time: Int64) throws -> [Int64] {
            try place.log.page(after: 0, AuditQuery(), limit: 100, for: (client, time)).records.map(\.time)
        }
        for time in [0, 1, Limits.auditReadingMilliseconds - 1] as [Int64] { try read(Self.client, at: time) }
        try read(other, at: 2)
        let next = Limits.auditReadingMilliseconds
        #expect(try readings(for: Self.client, at: next - 1) == [2])
        #expect(try readings(for: other, at: next - 1) == [0])
        // That of the last minute is an earlier one now.
        #expect(try readings(for: Self.client, at: next) == [0, 2])
        try read(Self.client, at: next)
        #expect(try readings(for: Self.client, at: next + 1) == [0, 2])
        // A refused one is always recorded, and a clock may be set back.
        for _ in 0..<2 {
            try place.write(
                AuditRecord(
                    time: 5,
                    client: other,
                    action: "audit.list",
                    state: .locked,
                    refusal: AuditedRefusal(.missingEntitlement, "no")
                )
            )
        }
        #expect(try readings(for: Self.client, at: next + 1) == [0, 2, 5, 5])
        try read(Self.client, at: 3)
        #expect(try readings(for: other, at: 10).suffix(1) == [3])
    }

    @Test func `reading a full audit drops nothing`() throws {
        let place = try Place()
        let name = String(repeating: "n", count: Limits.nameBytes)
        let names = (0..<Limits.auditedItems).map { AuditedItem(name: "\($0)" + name, group: "default") }
        var number: Int64 = 0
        func fill() throws {
            number += 1
            try place.write(
                AuditRecord(time: number, client: Self.client, action: "file.list", items: names, state: .locked)
            )
        }
        func droppedCount() throws -> Int64 {
            try place.log.page(after: 0, AuditQuery(), limit: 1).summary?.recordCount ?? 0
        }
        while try droppedCount() == 0 { try fill() }
        let before = try droppedCount()
        for minute in 0..<200 {
            let time = Int64(minute) * Limits.auditReadingMilliseconds
            try place.write(AuditRecord(time: time, client: Self.client, action: "audit.list", state: .locked))
        }
        #expect(try droppedCount() == before)
        try fill()
        #expect(try droppedCount() > before)
    }

    @Test func `the oldest make room, and a summary tells of them`() throws {
        let place = try Place()
        // So long that few blocks are too many.
        let name = String(repeating: "n", count: Limits.nameBytes)
        let names = (0..<Limits.auditedItems).map { AuditedItem(name: "\($0)" + name, group: name) }
        let blockCount = Limits.auditBytes / (Limits.auditBlockBytes / 2)
        for block in 0..<blockCount {
            let record = AuditRecord(
                time: Int64(block),
                client: Self.client,
                action: "file.list",
                items: names,
                state: .locked,
                refusal: block.isMultiple(of: 2) ? nil : AuditedRefusal(.io, "no")
            )
            try place.write(record)
        }
        let stored = try place.connection.row("SELECT sum(length(sealed)) FROM audit_blocks") { try $0.integer(0) }
        #expect(try #require(stored) <= Int64(Limits.auditBytes))
        for log in [place.log, try place.reopened()] {
            let page = try log.page(after: 0, AuditQuery(), limit: 1)
            let summary = try #require(page.summary)
            #expect(summary.recordCount > 1 && page.records.map(\.number) == [summary.recordCount + 1])
            #expect(summary.firstTime == 0 && summary.lastTime == summary.recordCount - 1)
            let tally = try #require(summary.tallies.first)
            #expect(tally.client == "unit:a.service" && summary.tallies.count == 1)
            #expect(tally.allowedCount + tally.refusedCount == summary.recordCount)
            #expect((0...1).contains(tally.allowedCount - tally.refusedCount))
            var after: Int64 = 0
            var checkedCount: Int64 = 0
            while true {
                let part = try log.verify(after: after)
                #expect(part.findings == [])
                checkedCount += part.checkedCount
                guard let next = part.next else { break }
                after = next
            }
            #expect(checkedCount == Int64(blockCount) - summary.recordCount)
        }
        // What is left has to begin where the summary ends.
        try place.connection.execute(
            "DELETE FROM audit_blocks WHERE first = (SELECT min(first) FROM audit_blocks)"
        )
        #expect(try place.findings() != [])
    }

    @Test func `a summary names clients up to the limit, and counts the others together`() {
        var summary = AuditSummary()
        for number in 0..<Limits.auditTallies + 7 {
            let client = ClientIdentity(userID: 1, groupID: 1, unit: "u\(number).service")
            summary.add(AuditRecord(number: 1, time: 1, client: client, action: "item.get", state: .locked))
        }
        #expect(summary.tallies.count == Limits.auditTallies + 1)
        #expect(summary.tallies.last == AuditSummary.Tally(client: nil, allowedCount: 7, refusedCount: 0))
    }

    // MARK: What can't be written

    @Test func `what a turn has done is recorded as undone where the turn is undone`() throws {
        let place = try Place()
        place.log.note(Self.get("before"))
        place.log.postpone()
        place.log.note(Self.get("a"))
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try place.connection.transaction {
                try place.log.write(at: 1)
                throw Undo()
            }
        }
        place.log.undo(because: CofferError(.diskFull, "the disk is full"))
        try place.write()
        let records = try place.log.page(after: 0, AuditQuery(), limit: 10).records
        #expect(records.map(\.refusal?.code) == [nil, .diskFull])
        #expect(records.map(\.number) == [1, 2])
        #expect(try place.findings() == [])
    }

    @Test func `records that did not fit while nothing could be written are counted`() throws {
        let place = try Place()
        for number in 0..<(Limits.auditWaitingRecords + 7) { place.log.note(Self.get("a\(number)")) }
        place.log.postpone()
        try place.write()
        var lost: [AuditRecord] = []
        var after: Int64 = 0
        while true {
            let page = try place.log.page(after: after, AuditQuery(), limit: 1000)
            lost += page.records.filter { $0.action == "audit.lost" }
            guard let next = page.next else { break }
            after = next
        }
        #expect(lost.map(\.count) == [7])
    }
}
