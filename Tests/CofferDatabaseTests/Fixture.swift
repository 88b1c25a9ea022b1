import CofferDatabase
import Foundation

/// A directory for one test, removed when the test ends.
final class TemporaryDirectory {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appending(path: "coffer-database-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "vault.sqlite") -> String { url.appending(path: name).path }

    func contents(_ name: String = "vault.sqlite") throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path(name))))
    }

    func write(_ bytes: [UInt8], to name: String = "vault.sqlite") throws {
        try Data(bytes).write(to: URL(filePath: path(name)))
    }

    func copy(_ name: String, to copy: String) throws {
        try FileManager.default.copyItem(atPath: path(name), toPath: path(copy))
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}

let applicationID: Int32 = 0x436F_6672

let schema = [
    Migration(
        name: "items",
        sql: """
            CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sealed BLOB) STRICT;
            CREATE TABLE tags (item INTEGER NOT NULL REFERENCES items (id), tag TEXT NOT NULL CHECK (tag <> '')) STRICT;
            """
    )
]

/// A failure that has nothing to do with the database.
struct Whim: Error {}

extension Connection {
    static func migrated(_ path: String) throws -> Connection {
        let connection = try Connection(path: path)
        try connection.migrate(schema, applicationID: applicationID)
        return connection
    }

    func add(_ name: String, bytes: Int = 1) throws(DatabaseError) {
        try execute(
            "INSERT INTO items (name, sealed) VALUES (?, ?)",
            .text(name),
            .blob(Array(repeating: 0xC0, count: bytes))
        )
    }

    var names: [String] {
        get throws {
            var names: [String] = []
            try rows("SELECT name FROM items ORDER BY name") { row in
                names.append(try row.text(0))
                return true
            }
            return names
        }
    }
}

/// The database's answer to something that has to fail: any other error, and success, are `nil`.
func failure(of body: () throws -> Void) -> DatabaseError? {
    do {
        try body()
        return nil
    } catch {
        return error as? DatabaseError
    }
}
