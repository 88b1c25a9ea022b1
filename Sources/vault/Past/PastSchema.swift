package import CofferDatabase

extension TrashStore {
    /// The tables of the store: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "trash",
            // The number of an entry is never reused.
            sql: """
                CREATE TABLE trash_keys (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    group_tag BLOB NOT NULL UNIQUE,
                    sealed BLOB NOT NULL,
                    entries INTEGER NOT NULL,
                    bytes INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE trash (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    trash_key INTEGER NOT NULL,
                    removed INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    wants_passcode INTEGER NOT NULL,
                    node INTEGER,
                    label BLOB NOT NULL,
                    sealed BLOB NOT NULL
                ) STRICT;
                CREATE INDEX trash_entries ON trash (trash_key, number);
                CREATE INDEX trash_nodes ON trash (node) WHERE node IS NOT NULL;
                CREATE INDEX trash_passcode ON trash (number) WHERE wants_passcode = 1;
                CREATE TRIGGER trash_added AFTER INSERT ON trash
                    BEGIN UPDATE trash_keys SET entries = entries + 1, bytes = bytes + NEW.bytes
                        WHERE number = NEW.trash_key; END;
                CREATE TRIGGER trash_removed AFTER DELETE ON trash
                    BEGIN UPDATE trash_keys SET entries = entries - 1, bytes = bytes - OLD.bytes
                        WHERE number = OLD.trash_key; END;
                """
        )
    ]
}

extension VersionStore {
    /// The tables of the store: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "versions",
            // The number of a version is never reused. A history goes with the row of its file, or of its directory, unless
            // that is in quarantine or in the trash.
            sql: """
                CREATE TABLE file_histories (
                    number INTEGER PRIMARY KEY,
                    node INTEGER NOT NULL UNIQUE,
                    keep INTEGER,
                    tag BLOB NOT NULL
                ) STRICT;
                CREATE TABLE file_versions (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    history INTEGER NOT NULL,
                    node INTEGER NOT NULL UNIQUE,
                    bytes INTEGER NOT NULL,
                    sealed BLOB NOT NULL
                ) STRICT;
                CREATE INDEX file_versions_history ON file_versions (history, number);
                CREATE TRIGGER file_nodes_history AFTER DELETE ON file_nodes
                    WHEN EXISTS (SELECT 1 FROM file_histories WHERE node = OLD.id)
                        AND NOT EXISTS (SELECT 1 FROM file_quarantine WHERE row = OLD.id)
                        AND NOT EXISTS (SELECT 1 FROM file_kept WHERE node = OLD.id)
                    BEGIN DELETE FROM file_histories WHERE node = OLD.id; END;
                """
        )
    ]
}
