package import CofferDatabase

extension KeychainStore {
    /// The migrations of the store, in their order.
    ///
    /// Never edited: a change is a new migration.
    package static let migrations = [
        Migration(
            name: "keychain: generic passwords",
            sql: """
                CREATE TABLE keychain_items (
                    id INTEGER PRIMARY KEY,
                    uuid BLOB NOT NULL UNIQUE,
                    class_key INTEGER NOT NULL,
                    primary_tag BLOB NOT NULL UNIQUE,
                    metadata BLOB NOT NULL,
                    wrapped_key BLOB NOT NULL,
                    secret BLOB NOT NULL
                ) STRICT;
                """
        ),
        Migration(
            name: "keychain: items that want a passcode",
            generation: 2,
            sql: "CREATE INDEX keychain_items_akpu ON keychain_items (id) WHERE class_key = 22;"
        ),
        Migration(
            name: "keychain: count",
            generation: 2,
            sql: """
                CREATE TABLE keychain_count (items INTEGER NOT NULL) STRICT;
                INSERT INTO keychain_count SELECT count(*) FROM keychain_items;
                CREATE TRIGGER keychain_items_added AFTER INSERT ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items + 1; END;
                CREATE TRIGGER keychain_items_removed AFTER DELETE ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items - 1; END;
                """
        ),
        Migration(
            name: "keychain: tags and history",
            generation: 3,
            sql: """
                CREATE TABLE keychain_tags (tag BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (tag, item))
                    STRICT, WITHOUT ROWID;
                CREATE TABLE keychain_history (
                    id INTEGER PRIMARY KEY,
                    uuid BLOB NOT NULL,
                    class_key INTEGER NOT NULL,
                    metadata BLOB NOT NULL,
                    wrapped_key BLOB NOT NULL,
                    secret BLOB NOT NULL
                ) STRICT;
                CREATE INDEX keychain_history_items ON keychain_history (uuid, id);
                CREATE INDEX keychain_history_akpu ON keychain_history (id) WHERE class_key = 22;
                CREATE TABLE keychain_untagged (item INTEGER PRIMARY KEY) STRICT;
                INSERT INTO keychain_untagged SELECT id FROM keychain_items;
                """
        ),
        Migration(
            name: "keychain: quarantine",
            generation: 4,
            // Without types: a row is kept as it was found.
            sql: """
                CREATE TABLE keychain_quarantine (
                    id INTEGER PRIMARY KEY,
                    stage TEXT NOT NULL,
                    damage TEXT NOT NULL,
                    moved INTEGER NOT NULL,
                    row INTEGER NOT NULL,
                    uuid ANY,
                    class_key ANY,
                    primary_tag ANY,
                    metadata ANY,
                    wrapped_key ANY,
                    secret ANY
                ) STRICT;
                """
        ),
    ]

    /// Adds tags to items that were stored before tags existed.
    ///
    /// If there are no such items, it costs one look-up.
    package func tagOlderItems() throws {
        var rows: [Int64] = []
        try connection.rows("SELECT item FROM keychain_untagged") { row in
            rows.append(try row.integer(0))
            return true
        }
        if rows.isEmpty { return }
        try connection.transaction {
            for number in rows {
                // A damaged item is not found by attributes; the others are.
                if let item = try? item(at: number) { try addTags(of: item.attributes, number) }
            }
            try connection.execute("DELETE FROM keychain_untagged")
        }
    }
}
