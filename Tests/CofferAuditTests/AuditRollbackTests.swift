import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// An audit that was emptied or rolled back, as a whole or in part: inconsistent ends are detected.
@Suite struct AuditRollbackTests {
    /// The log of a vault whose earlier time is kept beside it.
    private final class Place {
        let vault: Vault
        let connection: Connection
        private(set) var log: AuditLog
        private var formerAnchor: [UInt8] = []

        init() throws {
            vault = try Vault(hasPasscode: false)
            connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
            try connection.migrate(AuditLog.migrations, applicationID: 1)
            try connection.execute("CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT")
            log = try AuditLog(connection: connection, keys: try vault.open(), isNew: true)
        }

        /// Opens the log once more, as a daemon that comes up does, and says what is found.
        func reopen() throws -> [String] {
            log = try AuditLog(connection: connection, keys: try vault.open(), isNew: false)
            return try log.verify(after: 0).findings
        }

        func write(_ action: String = "item.get") throws {
            log.note(AuditRecord(time: 1, client: nil, action: action, state: .unlocked))
            try connection.transaction { try log.write(at: 1) }
            _ = log.confirm()
        }

        /// The state of the vault changes.
        func lock() throws {
            try write("vault.state")
            log.moveAnchor()
        }

        func change(_ sql: StaticString) throws { try connection.execute(sql) }

        /// Keeps all of it as it is now.
        func keep() throws {
            try change("CREATE TABLE former_blocks AS SELECT * FROM audit_blocks")
            try change("CREATE TABLE former_head AS SELECT * FROM audit_head")
            try change("CREATE TABLE former_settings AS SELECT * FROM catalog_settings")
            formerAnchor = anchor ?? []
        }

        func putBackTables() throws {
            try change("DELETE FROM audit_blocks")
            try change("INSERT INTO audit_blocks SELECT * FROM former_blocks")
            try putBackHead()
        }

        func putBackHead() throws { try change("INSERT OR REPLACE INTO audit_head SELECT * FROM former_head") }

        func putBackWitness() throws {
            try change("INSERT OR REPLACE INTO catalog_settings SELECT * FROM former_settings")
        }

        func putBackAnchor() throws { try writeAnchor(formerAnchor) }

        var anchor: [UInt8]? { vault.temporary.contents("anchor") }

        func writeAnchor(_ bytes: [UInt8]) throws {
            try vault.temporary.write(bytes, to: "anchor", mode: 0o600)
        }

        func removeAnchor() throws { try FileManager.default.removeItem(atPath: vault.temporary.appending("anchor")) }
    }

    /// What is done without a key, and what is found of it.
    enum Tampering: String, CaseIterable {
        case emptied, emptiedWithHead, emptiedWithWitness, emptiedWithAnchor, emptiedWithAll
        case olderTables, olderHead, witnessRemoved, witnessChanged, olderWitness
        case anchorRemoved, anchorChanged, olderAnchor, olderDatabase, olderDatabaseThatGoesOn

        var words: String {
            switch self {
            case .emptied: "the records 1 to"
            case .emptiedWithHead, .emptiedWithAnchor, .olderTables, .olderHead: "the audit is older than the catalog"
            case .emptiedWithWitness: "the catalog is older than the keybag"
            case .emptiedWithAll, .witnessRemoved, .witnessChanged:
                "the catalog's record of the end of its audit is missing"
            case .olderWitness: "the catalog's record of the end of its audit was replaced"
            case .anchorRemoved, .anchorChanged:
                "the file 'anchor', which records the end of the audit, is missing or damaged"
            case .olderAnchor: "the file 'anchor', which records the end of the audit, was replaced"
            case .olderDatabase: "the catalog is older than the keybag"
            case .olderDatabaseThatGoesOn: "the catalog continues an older copy"
            }
        }
    }

    private func tamper(_ tampering: Tampering, _ place: Place) throws {
        switch tampering {
        case .emptied: try place.change("DELETE FROM audit_blocks")
        case .emptiedWithHead, .emptiedWithWitness, .emptiedWithAnchor, .emptiedWithAll:
            try place.change("DELETE FROM audit_blocks")
            try place.change("DELETE FROM audit_head")
            if [.emptiedWithWitness, .emptiedWithAll].contains(tampering) {
                try place.change("DELETE FROM catalog_settings")
            }
            if [.emptiedWithAnchor, .emptiedWithAll].contains(tampering) { try place.removeAnchor() }
        case .olderTables: try place.putBackTables()
        case .olderHead:
            try place.putBackHead()
            try place.change("DELETE FROM audit_blocks WHERE first NOT IN (SELECT first FROM former_blocks)")
        case .witnessRemoved: try place.change("DELETE FROM catalog_settings")
        case .witnessChanged: try place.change("UPDATE catalog_settings SET value = zeroblob(length(value))")
        case .olderWitness: try place.putBackWitness()
        case .anchorRemoved: try place.removeAnchor()
        case .anchorChanged:
            var bytes = try #require(place.anchor)
            bytes[20] ^= 1
            try place.writeAnchor(bytes)
        case .olderAnchor: try place.putBackAnchor()
        case .olderDatabase:
            try place.putBackTables()
            try place.putBackWitness()
        case .olderDatabaseThatGoesOn:
            // Its daemon has not written the anchor yet, so the anchor is rolled back afterwards.
            let anchor = try #require(place.anchor)
            try place.putBackTables()
            try place.putBackWitness()
            try place.putBackAnchor()
            _ = try place.reopen()
            for _ in 0..<9 { try place.write() }
            try place.writeAnchor(anchor)
        }
    }

    @Test(arguments: Tampering.allCases)
    func `a removal or a rollback is detected, and stays detected`(tampering: Tampering) throws {
        let place = try Place()
        for _ in 0..<3 { try place.write() }
        try place.lock()
        try place.write()
        try place.keep()
        try place.write()
        try place.lock()
        for _ in 0..<2 { try place.write() }
        #expect(try place.reopen() == [])
        try tamper(tampering, place)
        for turn in 0..<3 {
            let findings = try place.reopen()
            #expect(findings.contains { $0.hasPrefix(tampering.words) }, "\(turn): \(findings)")
            // Later requests are recorded as usual.
            try place.write()
            try place.lock()
        }
    }

    @Test func `numbers that were taken away are not given out again`() throws {
        let place = try Place()
        for _ in 0..<5 { try place.write() }
        try place.lock()
        try place.change("DELETE FROM audit_blocks")
        try place.change("DELETE FROM audit_head")
        let findings = try place.reopen()
        #expect(findings.contains("the records 1 to 6 are missing"), "\(findings)")
        try place.write()
        #expect(try place.log.page(after: 0, AuditQuery(), limit: 10).records.map(\.number) == [7])
        let again = try place.reopen()
        #expect(again.contains("the records 1 to 6 are missing"), "\(again)")
    }

    @Test func `all of it from one earlier time is not found`() throws {
        let place = try Place()
        try place.lock()
        try place.write()
        try place.keep()
        try place.lock()
        try place.putBackTables()
        try place.putBackWitness()
        try place.putBackAnchor()
        #expect(try place.reopen() == [])
    }

    // MARK: What is no tampering

    @Test func `a daemon that ends between a commit and the anchor has an anchor that lags, and nothing is found`()
        throws
    {
        let place = try Place()
        for _ in 0..<4 {
            try place.write("vault.state")
            #expect(try place.reopen() == [])
            try place.lock()
            #expect(try place.reopen() == [])
        }
    }

    @Test func `where the anchor can't be written, it lags, and nothing is found`() throws {
        let place = try Place()
        try place.lock()
        let anchor = try #require(place.anchor)
        // What is to become the next one can't be made.
        try FileManager.default.createDirectory(
            atPath: place.vault.temporary.appending("anchor.new"),
            withIntermediateDirectories: false
        )
        try place.lock()
        try place.write()
        #expect(place.anchor == anchor)
        #expect(try place.reopen() == [])
        try FileManager.default.removeItem(atPath: place.vault.temporary.appending("anchor.new"))
        try place.lock()
        #expect(place.anchor != anchor)
        #expect(try place.reopen() == [])
    }

    @Test func `a vault that was made and never used has nothing to find`() throws {
        let place = try Place()
        #expect(try place.reopen() == [])
        #expect(place.anchor == nil)
        try place.lock()
        #expect(place.anchor != nil)
        #expect(try place.reopen() == [])
    }

    @Test func `what an end tells moves with the state of the vault, and with nothing else`() throws {
        let place = try Place()
        try place.lock()
        let anchor = place.anchor
        try place.write()
        place.log.moveAnchor()
        #expect(place.anchor == anchor)
        place.log.close()
        #expect(place.anchor != anchor)
        #expect(place.anchor?.count == 82)
        #expect(try place.reopen() == [])
    }
}
