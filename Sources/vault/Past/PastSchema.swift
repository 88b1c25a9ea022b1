package import CofferDatabase

extension PastStore {
    /// The tables of the past: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "past",
            // No number is given again, since the seal of a row is bound to its number. AUTOINCREMENT would write one page
            // more with each row; `past_numbers` gets a number only when the row with the highest one is removed.
            sql: """
                CREATE TABLE past (
                    number INTEGER PRIMARY KEY,
                    reason INTEGER NOT NULL,
                    owner BLOB NOT NULL,
                    entry INTEGER,
                    node INTEGER,
                    content BLOB,
                    time INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    wants_passcode INTEGER NOT NULL,
                    label BLOB NOT NULL,
                    sealed BLOB NOT NULL
                ) STRICT;
                CREATE INDEX past_owners ON past (owner, reason, entry, number);
                CREATE INDEX past_entries ON past (entry) WHERE entry IS NOT NULL;
                CREATE UNIQUE INDEX past_nodes ON past (node) WHERE node IS NOT NULL;
                CREATE UNIQUE INDEX past_contents ON past (content) WHERE content IS NOT NULL;
                CREATE INDEX past_removed ON past (number) WHERE reason = 2;
                CREATE INDEX past_aside ON past (number) WHERE reason = 3;
                CREATE INDEX past_passcode ON past (number) WHERE wants_passcode = 1;
                CREATE TABLE trash_keys (
                    trash BLOB PRIMARY KEY,
                    group_tag BLOB NOT NULL UNIQUE,
                    sealed BLOB NOT NULL,
                    entries INTEGER NOT NULL,
                    bytes INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE past_numbers (last INTEGER PRIMARY KEY) STRICT;
                CREATE TRIGGER past_last_removed AFTER DELETE ON past
                    WHEN OLD.number > (SELECT coalesce(max(number), 0) FROM past)
                    BEGIN DELETE FROM past_numbers WHERE last < OLD.number;
                        INSERT OR IGNORE INTO past_numbers VALUES (OLD.number); END;
                CREATE TRIGGER trash_added AFTER INSERT ON past WHEN NEW.reason = 2
                    BEGIN UPDATE trash_keys SET entries = entries + 1, bytes = bytes + NEW.bytes
                        WHERE trash = NEW.owner; END;
                CREATE TRIGGER trash_removed AFTER DELETE ON past WHEN OLD.reason = 2
                    BEGIN UPDATE trash_keys SET entries = entries - 1, bytes = bytes - OLD.bytes
                        WHERE trash = OLD.owner; END;
                """
        )
    ]
}
