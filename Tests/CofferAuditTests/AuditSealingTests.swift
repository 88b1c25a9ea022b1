import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// The records are under the passcode: before the first unlock they are written and verified, and not read.
@Suite struct AuditSealingTests {
    private struct Place {
        let vault: Vault
        let connection: Connection

        init(hasPasscode: Bool = true) throws {
            vault = try Vault(hasPasscode: hasPasscode)
            connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
            try connection.migrate(AuditLog.migrations, applicationID: 1)
            try connection.execute("CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT")
            _ = try log(vault.open(), isNew: true)
        }

        func log(_ keys: VaultKeys, isNew: Bool = false) throws -> AuditLog {
            try AuditLog(connection: connection, keys: keys, isNew: isNew)
        }

        /// The log as a daemon that comes up has it, before the first unlock.
        func opened() throws -> AuditLog { try log(vault.open()) }

        /// Writes a block with each of these names.
        func write(_ names: [String], to log: AuditLog) throws {
            for name in names {
                log.note(AuditSealingTests.record(name))
                try connection.transaction { try log.write(at: 1) }
                _ = log.confirm()
            }
        }

        func change(_ sql: StaticString) throws { try connection.execute(sql) }

        func count(_ sql: StaticString) throws -> Int64 { try connection.row(sql) { try $0.integer(0) } ?? 0 }
    }

    private static func record(_ name: String, _ group: String = "default") -> AuditRecord {
        AuditRecord(
            time: 7,
            client: ClientIdentity(userID: 1000, groupID: 100, unit: "a.service"),
            action: "item.get",
            items: [AuditedItem(name: name, group: group)],
            state: .unlocked
        )
    }

    private static func names(_ page: AuditPage) -> [String?] { page.records.map { $0.items.first?.name } }

    private static func everything(_ log: AuditLog) throws -> (names: [String?], sealedCount: Int, isDamaged: Bool) {
        var all: (names: [String?], sealedCount: Int, isDamaged: Bool) = ([], 0, false)
        var after: Int64 = 0
        while true {
            let page = try log.page(after: after, AuditQuery(), limit: 100)
            all.names += names(page)
            all.sealedCount += page.sealedCount
            all.isDamaged = all.isDamaged || page.isDamaged
            guard let next = page.next else { return all }
            after = next
        }
    }

    private static func verify(_ log: AuditLog) throws -> (checked: Int64, sealed: Int64, findings: [String]) {
        var all: (checked: Int64, sealed: Int64, findings: [String]) = (0, 0, [])
        var after: Int64 = 0
        while true {
            let part = try log.verify(after: after)
            all.checked += part.checkedCount
            all.sealed += part.sealedCount
            all.findings += part.findings
            guard let next = part.next else { return all }
            after = next
        }
    }

    // MARK: Before the first unlock

    @Test func `what was written before and after the first unlock can be read after it only`() throws {
        let place = try Place()
        let keys = try place.vault.open(.unlocked)
        try place.write(["a", "b"], to: try place.log(keys))
        let next = try place.vault.open()
        let log = try place.log(next)
        try place.write(["c", "d"], to: log)
        let page = try log.page(after: 0, AuditQuery(item: "a"), limit: 10)
        #expect(page.records == [] && page.sealedCount == 4 && page.next == nil && !page.isDamaged)
        #expect(try log.page(after: 3, AuditQuery(), limit: 10).sealedCount == 1)
        #expect(try Self.verify(log) == (4, 4, []))
        try next.unlock()
        let all = try Self.everything(log)
        #expect(all == (["a", "b", "c", "d"], 0, false))
        #expect(try Self.verify(log) == (4, 0, []))
        next.lock()
        #expect(try Self.everything(log).names.count == 4)
        next.forget()
        #expect(try Self.everything(log) == ([], 4, false))
    }

    @Test func `sealed records are counted once over all pages, whatever their blocks`() throws {
        let place = try Place()
        let log = try place.opened()
        for number in 0..<150 {
            for part in 0..<(number % 3 + 1) { log.note(Self.record("\(number)/\(part)")) }
            try place.connection.transaction { try log.write(at: 1) }
            _ = log.confirm()
        }
        #expect(try Self.everything(log) == ([], 300, false))
        #expect(try Self.verify(log) == (300, 300, []))
    }

    /// Tampering with the database, before the first unlock.
    @Test(
        arguments: [
            "UPDATE audit_blocks SET sealed = CAST(x'01' || substr(sealed, 2) AS BLOB) WHERE first = 3",
            "UPDATE audit_blocks SET sealed = zeroblob(length(sealed)) WHERE first = 3",
            "UPDATE audit_blocks SET chain = zeroblob(32) WHERE first = 3",
            "DELETE FROM audit_blocks WHERE first = 1", "DELETE FROM audit_blocks WHERE first = 3",
            "DELETE FROM audit_blocks WHERE first = 5", "DELETE FROM audit_blocks", "DELETE FROM audit_head",
            "INSERT INTO audit_blocks SELECT 6, sealed, chain FROM audit_blocks WHERE first = 5",
            "INSERT INTO audit_blocks SELECT 9223372036854775807, sealed, chain FROM audit_blocks WHERE first = 5",
        ] as [StaticString]
    )
    func `tampering is found before the first unlock, too`(sql: StaticString) throws {
        let place = try Place()
        try place.write(["a", "b", "c", "d", "e"], to: try place.opened())
        try place.change(sql)
        let findings = try Self.verify(try place.opened()).findings
        #expect(!findings.isEmpty)
    }

    @Test func `a full audit waits for the first unlock, then counts what it drops unread`() throws {
        let place = try Place()
        let keys = try place.vault.open()
        let log = try place.log(keys)
        let name = String(repeating: "n", count: Limits.nameBytes)
        let items = (0..<Limits.auditedItems).map { AuditedItem(name: "\($0)" + name, group: "default") }
        func fill() throws {
            log.note(AuditRecord(time: 5, client: nil, action: "file.list", items: items, state: .beforeFirstUnlock))
            try place.connection.transaction { try log.write(at: 1) }
            _ = log.confirm()
        }
        func size() throws -> Int64 { try place.count("SELECT ifnull(sum(length(sealed)), 0) FROM audit_blocks") }
        while try size() <= Int64(Limits.auditBytes + Limits.auditReadingBytes / 2) { try fill() }
        #expect(try log.page(after: 0, AuditQuery(), limit: 1).summary == nil)
        while try log.page(after: 0, AuditQuery(), limit: 1).summary == nil { try fill() }
        #expect(try size() <= Int64(Limits.auditBytes + Limits.auditReadingBytes))
        let unread = try #require(try log.page(after: 0, AuditQuery(), limit: 1).summary)
        #expect(unread.recordCount > 0 && unread.unreadCount == unread.recordCount && unread.tallies == [])
        #expect(try Self.verify(log).findings == [])

        try keys.unlock()
        try fill()
        #expect(try size() <= Int64(Limits.auditBytes))
        let read = try #require(try log.page(after: 0, AuditQuery(), limit: 1).summary)
        #expect(read.unreadCount == unread.unreadCount && read.firstTime == 5)
        #expect(read.tallies.map(\.allowedCount) == [read.recordCount - read.unreadCount])
        #expect(try Self.verify(try place.log(keys)).findings == [])
        #expect(try place.opened().page(after: 0, AuditQuery(), limit: 1).summary == read)
    }

    // MARK: Tags

    @Test func `a tag stands for a name in its group, in one vault`() throws {
        let place = try Place()
        let log = try place.opened()
        func tag(_ name: String?, _ group: String?) -> String? { log.tag(of: AuditedItem(name: name, group: group)) }
        let item = AuditedItem(name: "a", group: "default")
        let own = try #require(log.tag(of: item))
        #expect(try own.count == 16 && place.opened().tag(of: item) == own)
        #expect(Set([own, tag("b", "default"), tag("a", "mail"), tag("a", nil), tag("adefault", "")]).count == 5)
        #expect(tag(nil, "default") == nil)
        #expect(try Place(hasPasscode: false).opened().tag(of: item) != own)
    }
}
