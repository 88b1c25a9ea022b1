import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A page of an index has a wrong byte in a key: the row is intact, but a lookup by name does not find it.
@Suite struct IndexDamageTests {
    /// The item whose index entry is damaged.
    enum Victim: String, CaseIterable {
        case secret = "service/7"
        case file = "letter"

        var content: [UInt8] { self == .secret ? Array("secret 7".utf8) : pseudoRandomBytes(40_000) }
        var newContent: [UInt8] { self == .secret ? Array("another".utf8) : pseudoRandomBytes(50_000, seed: 2) }
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try withServer { (client) throws in
            try client.makeVault(passcode: nil)
            for number in 0..<20 { try client.put("service/\(number)", Array("secret \(number)".utf8)) }
            try client.put(Victim.file.rawValue, Victim.file.content)
        }
    }

    /// Calls a closure with a server that is shut down afterwards.
    private func withServer(_ body: (BlockingClient) throws -> Void) throws {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        // A process that a parallel test starts inherits the lock for an instant.
        _ = try settles { try Outcome({ _ = try client.status() }) != .refused(.notAvailable) }
        try withExtendedLifetime(server) { try body(client) }
    }

    private func tamper(_ body: (Connection) throws -> Void) throws {
        try body(try Connection(path: directory.appending("state/vault.sqlite")))
    }

    /// Changes a byte of the victim's key in the index.
    private func damageIndex(of victim: Victim) throws {
        let (page, key) = try place(of: victim)
        var bytes = try #require(directory.contents("state/vault.sqlite"))
        let start = (page - 1) * 4096
        let offset = try #require((start..<start + 4096 - key.count).first { Array(bytes[$0..<$0 + key.count]) == key })
        bytes[offset + key.count / 2] ^= 0x10
        try directory.write(bytes, to: "state/vault.sqlite")
    }

    private func place(of victim: Victim) throws -> (page: Int, key: [UInt8]) {
        let connection = try Connection(path: directory.appending("state/vault.sqlite"))
        let index = victim == .secret ? "sqlite_autoindex_keychain_items_2" : "sqlite_autoindex_file_nodes_2"
        let page = try connection.row("SELECT rootpage FROM sqlite_schema WHERE name = ?", .text(index)) {
            Int(try $0.integer(0))
        }
        let key =
            victim == .secret
            ? try connection.row("SELECT primary_tag FROM keychain_items WHERE id = 8") { try $0.blob(0) }
            : try connection.row("SELECT name_tag FROM file_nodes") { try $0.blob(0) }
        return (try #require(page), try #require(key))
    }

    /// Checks the whole vault.
    private func check(_ client: BlockingClient, repairs: Bool = false) throws -> [Finding] {
        var findings: [Finding] = []
        var cursor: String?
        repeat {
            let page = try client.checkVault(repairs: repairs, cursor: cursor)
            findings += page.findings
            cursor = page.cursor
        } while cursor != nil
        return findings
    }

    @Test(arguments: Victim.allCases)
    func `is found by a check, and mended by a repair`(victim: Victim) throws {
        try damageIndex(of: victim)
        try withServer { (client) throws in
            #expect(try Outcome { _ = try client.get(victim.rawValue) } == .refused(.itemNotFound))
            #expect(try check(client).map(\.damage.rawValue) == ["index"])
            let repaired = try check(client, repairs: true)
            #expect(repaired.map(\.damage.rawValue) == ["index"])
            #expect(repaired.map(\.isRepaired).contains(false) == false)
            #expect(try check(client) == [])
            #expect(try client.get(victim.rawValue) == victim.content)
            try client.put(victim.rawValue, victim.newContent)
            #expect(try client.get(victim.rawValue) == victim.newContent)
            #expect(try Outcome { _ = try client.get("no such item") } == .refused(.itemNotFound))
        }
    }

    @Test(arguments: Victim.allCases)
    func `once it was met, what it hides is served, and is not stored a second time`(victim: Victim) throws {
        try damageIndex(of: victim)
        try withServer { (client) throws in
            #expect(try check(client).map(\.damage.rawValue) == ["index"])
            #expect(try client.get(victim.rawValue) == victim.content)
            // The index entry that a new file would delete is missing; a new value of a secret leaves the index alone.
            let new = victim.newContent
            let isStored = victim == .secret
            #expect(try Outcome { try client.put(victim.rawValue, new) } == (isStored ? .done : .refused(.decode)))
            #expect(try client.get(victim.rawValue) == (isStored ? new : victim.content))
        }
    }

    @Test(arguments: Victim.allCases)
    func `that let in a second item of a name is mended, and the newer one stays`(victim: Victim) throws {
        try damageIndex(of: victim)
        try withServer { (client) throws in
            // No damage was detected yet.
            try client.put(victim.rawValue, victim.newContent)
            let repaired = try check(client, repairs: true)
            #expect(repaired.map(\.damage.rawValue).contains("duplicate"))
            #expect(repaired.map(\.isRepaired).contains(false) == false)
            #expect(try check(client) == [])
            #expect(try client.get(victim.rawValue) == victim.newContent)
            let entries = try client.quarantine().entries + client.quarantine(cursor: "file:0").entries
            #expect(entries.map(\.damage.rawValue) == ["duplicate"])
            _ = try client.remove(ItemName(victim.rawValue))
            let page = try client.restoreQuarantined()
            if let cursor = page.cursor { _ = try client.restoreQuarantined(cursor: cursor) }
            #expect(try client.get(victim.rawValue) == victim.content)
        }
    }

    @Test func `while damage that was met is not checked, a name that is not found may be there`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET primary_tag = x'00', metadata = x'00' WHERE id = 8") }
        try withServer { (client) throws in
            #expect(try Outcome { _ = try client.get("service/7") } == .refused(.itemNotFound))
            #expect(try client.list().damagedCount == 1)
            for name in ["service/7", "no such item"] {
                let refusal = #expect(throws: CofferError.self) { _ = try client.get(name) }
                #expect(refusal?.code == .decode)
                #expect(refusal?.message.contains("damage") == true)
                #expect(refusal?.hint?.contains("'coffer doctor --repair'") == true)
            }
            #expect(try Outcome { try client.put("service/7", [1]) } == .refused(.decode))
            #expect(try Outcome { try client.put("file", pseudoRandomBytes(50_000)) } == .refused(.decode))
            // Items that are found are read and written as usual.
            try client.put("service/8", [8])
            #expect(try client.get("service/8") == [8])
            // A check that is incomplete, or leaves the damage, changes nothing.
            #expect(try check(client).count == 1)
            #expect(try Outcome { _ = try client.get("service/7") } == .refused(.decode))
            _ = try check(client, repairs: true)
            #expect(try Outcome { _ = try client.get("service/7") } == .refused(.itemNotFound))
            try client.put("service/7", [1])
        }
    }
}
