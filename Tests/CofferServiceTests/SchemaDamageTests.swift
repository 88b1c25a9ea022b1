import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import Foundation
import Testing

/// A catalog with a foreign schema is reported as damage, not as an internal error of cofferd.
@Suite struct SchemaDamageTests {
    private static let healthy = Result { () throws -> TemporaryDirectory in
        let directory = try TemporaryDirectory()
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try client.put("service/a", [1])
        try client.put("file", pseudoRandomBytes(40_000))
        return directory
    }

    private let directory: TemporaryDirectory

    init() throws {
        let healthy = try Self.healthy.get()
        directory = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: healthy.appending("state"), toPath: directory.appending("state"))
    }

    private func tamper(_ body: (Connection) throws -> Void) throws {
        try body(try Connection(path: directory.appending("state/vault.sqlite")))
    }

    /// The refusal of a server that starts with it; `nil` if it serves.
    private func refusal() throws -> CofferError? {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        _ = try settles { try Outcome({ _ = try client.status() }) != .refused(.notAvailable) }
        return try withExtendedLifetime(server) {
            do {
                _ = try client.get("service/a")
                try client.put("service/b", [2])
                _ = try client.list()
                return nil
            } catch let error as CofferError {
                return error
            }
        }
    }

    private func expectDamaged(_ words: String) throws {
        let refusal = try #require(try refusal())
        #expect(refusal.code == .decode)
        #expect(refusal.message.contains(words), "\(refusal.message)")
        #expect(refusal.hint?.contains("report") == false)
    }

    @Test func `a trigger that swallows what is stored is refused by its name`() throws {
        try tamper {
            try $0.execute(
                "CREATE TRIGGER t BEFORE INSERT ON keychain_items BEGIN SELECT RAISE(IGNORE); END"
            )
        }
        try expectDamaged("'t'")
    }

    @Test(arguments: ["keychain_tags", "schema_migrations", "catalog_settings"])
    func `a view without an end in the place of a table is refused and not read`(table: String) throws {
        try tamper { connection in
            switch table {
            case "keychain_tags":
                try connection.execute("DROP TABLE keychain_tags")
                try connection.execute(
                    """
                    CREATE VIEW keychain_tags (tag, item) AS
                    WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT x'00', n FROM r
                    """
                )
            case "schema_migrations":
                try connection.execute("DROP TABLE schema_migrations")
                try connection.execute(
                    """
                    CREATE VIEW schema_migrations (position, name) AS
                    WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, 'x' FROM r WHERE n < 0
                    """
                )
            default:
                try connection.execute("DROP TABLE catalog_settings")
                try connection.execute("CREATE VIEW catalog_settings AS SELECT 'vaultID' AS name, x'00' AS value")
            }
        }
        try expectDamaged("'\(table)'")
    }

    @Test func `a table, an index or a trigger more is refused by its name`() throws {
        try tamper { try $0.execute("CREATE TABLE stranger (a)") }
        try expectDamaged("'stranger'")
        try tamper {
            try $0.execute("DROP TABLE stranger")
            try $0.execute("CREATE INDEX other ON file_nodes (metadata)")
        }
        try expectDamaged("'other'")
        try tamper { try $0.execute("DROP INDEX other") }
        #expect(try refusal() == nil)
    }

    @Test func `a table, an index or a trigger less is refused by its name`() throws {
        try tamper { try $0.execute("DROP TRIGGER keychain_items_added") }
        try expectDamaged("'keychain_items_added'")
    }

    @Test func `a dropped table is damage`() throws {
        try tamper { try $0.execute("DROP TABLE access_rules") }
        try expectDamaged("'access_rules'")
    }

    @Test func `a migration that is not on the list any more is damage`() throws {
        // The last one changes only rows, and may run again.
        try tamper {
            try $0.execute(
                "DELETE FROM schema_migrations WHERE position >= (SELECT max(position) - 1 FROM schema_migrations)"
            )
        }
        try expectDamaged("its ")
    }

    @Test(arguments: [47, 46, 59, 31, 100])
    func `a changed byte of the header is damage`(offset: Int) throws {
        var bytes = try #require(directory.contents("state/vault.sqlite"))
        bytes[offset] ^= 0x10
        try directory.write(bytes, to: "state/vault.sqlite")
        if let refusal = try refusal() { #expect(refusal.code == .decode, "\(refusal)") }
    }

    @Test(arguments: ["metadata BLOB", "CREATE TABLE keychain_items", "past (owner", "items + 1", "STRICT"])
    func `a changed letter in the text of the schema is damage`(text: String) throws {
        var bytes = try #require(directory.contents("state/vault.sqlite"))
        let needle = Array(text.utf8)
        let places = (0..<bytes.count - needle.count).lazy
        let offset = try #require(places.first { Array(bytes[$0..<$0 + needle.count]) == needle })
        for place in [offset, offset + needle.count - 1] {
            bytes[place] ^= 0x01
            try directory.write(bytes, to: "state/vault.sqlite")
            let refusal = try #require(try refusal())
            #expect(refusal.code == .decode, "\(refusal)")
            bytes[place] ^= 0x01
        }
    }
}
