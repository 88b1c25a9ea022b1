package import CofferDatabase

extension KeychainStore {
    /// The tables of the store, which follow those of the past: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "keychain",
            // The quarantine has no types: a row is kept as it was found.
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
                CREATE INDEX keychain_items_akpu ON keychain_items (id) WHERE class_key = 22;
                CREATE INDEX keychain_items_always ON keychain_items (id) WHERE class_key IN (18, 21);
                CREATE TABLE keychain_count (items INTEGER NOT NULL) STRICT;
                INSERT INTO keychain_count VALUES (0);
                CREATE TRIGGER keychain_items_added AFTER INSERT ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items + 1; END;
                CREATE TRIGGER keychain_items_removed AFTER DELETE ON keychain_items
                    BEGIN UPDATE keychain_count SET items = items - 1; END;
                CREATE TABLE keychain_tags (tag BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (tag, item))
                    STRICT, WITHOUT ROWID;
                CREATE TABLE keychain_quarantine (
                    id INTEGER PRIMARY KEY,
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
                CREATE TRIGGER keychain_items_past AFTER DELETE ON keychain_items
                    WHEN NOT EXISTS (SELECT 1 FROM keychain_quarantine WHERE uuid = OLD.uuid)
                    BEGIN DELETE FROM past WHERE owner = OLD.uuid AND entry IS NULL; END;
                """
        )
    ]
}
