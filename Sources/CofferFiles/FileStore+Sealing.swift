internal import CofferCore
internal import CofferDatabase
internal import CofferKeys

// The names of files are under the passcode. What an older version has sealed under the device key is sealed anew, a few
// rows at a time, once the passcode was given.

extension FileStore {
    /// The rows whose metadata is under the device key although the passcode is to protect it.
    static let unsealedMigration = Migration(
        name: "files: names under the passcode",
        generation: 10,
        sql: """
            CREATE TABLE file_unsealed (node INTEGER PRIMARY KEY) STRICT;
            INSERT INTO file_unsealed SELECT id FROM file_nodes;
            CREATE INDEX file_nodes_none ON file_nodes (id) WHERE kind = 2 AND class_key = 5;
            """
    )

    /// Forgets what could not be opened again before the first unlock: now it can.
    package func forgetRecentMetadata() { tree.recent.forget() }

    /// Whether there are files and directories whose names an older version has sealed under the device key.
    package func hasNamesToSeal() throws -> Bool {
        try connection.row("SELECT 1 FROM file_unsealed LIMIT 1") { _ in true } ?? false
    }

    /// The number of files whose names can be read after the first unlock only.
    package func sealedCount() throws -> Int {
        if keys.opensNames { return 0 }
        let namedCount = try connection.row(
            """
            SELECT (SELECT count(*) FROM file_nodes WHERE kind = 2 AND class_key = 5)
                + (SELECT count(*) FROM file_unsealed JOIN file_nodes ON id = node WHERE kind = 2 AND class_key <> 5)
            """
        ) { Int(try $0.integer(0)) }
        return try max(0, count() - (namedCount ?? 0))
    }

    /// Seals the metadata of some rows under the passcode, after the first unlock.
    ///
    /// - Parameter isEnough: Called after each row; whether to stop for now.
    /// - Returns: Whether nothing is left to seal.
    /// - Throws: ``DatabaseError``.
    package func sealNames(until isEnough: () -> Bool) throws -> Bool {
        guard keys.opensNames else { return true }
        while let number = try connection.row("SELECT node FROM file_unsealed LIMIT 1", read: { try $0.integer(0) }) {
            try connection.transaction {
                do {
                    if let node = try tree.node(numbered: number, "an entry") { try tree.update(node) }
                } catch let error as CofferError where error.code == .decode {
                    // Doctor finds it.
                }
                try connection.execute("DELETE FROM file_unsealed WHERE node = ?", .integer(number))
            }
            if isEnough() { return try !hasNamesToSeal() }
        }
        return true
    }
}
