package import CofferDatabase

extension FileStore {
    /// The tables of the store, which follow those of the past: every change of them is a migration after these.
    package static let migrations = [
        Migration(
            name: "files",
            // The quarantine has no types: a row is kept as it was found. The rows of the chunks of files that are in
            // quarantine, or outside of the tree, stay in their table.
            sql: """
                CREATE TABLE file_nodes (
                    id INTEGER PRIMARY KEY,
                    parent INTEGER NOT NULL,
                    name_tag BLOB NOT NULL,
                    kind INTEGER NOT NULL,
                    class_key INTEGER NOT NULL,
                    content BLOB UNIQUE,
                    wrapped_key BLOB NOT NULL,
                    metadata BLOB NOT NULL,
                    target INTEGER,
                    UNIQUE (parent, name_tag)
                ) STRICT;
                CREATE INDEX file_directories ON file_nodes (parent) WHERE kind = 1;
                CREATE INDEX file_links ON file_nodes (target) WHERE kind = 4;
                CREATE INDEX file_nodes_none ON file_nodes (id) WHERE kind = 2 AND class_key = 5;
                CREATE TABLE file_dead_contents (content BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
                CREATE TABLE file_count (files INTEGER NOT NULL) STRICT;
                INSERT INTO file_count VALUES (0);
                CREATE TRIGGER file_nodes_added AFTER INSERT ON file_nodes WHEN NEW.kind = 2
                    BEGIN UPDATE file_count SET files = files + 1; END;
                CREATE TRIGGER file_nodes_removed AFTER DELETE ON file_nodes WHEN OLD.kind = 2
                    BEGIN UPDATE file_count SET files = files - 1; END;
                CREATE TABLE file_quarantine (
                    id INTEGER PRIMARY KEY,
                    damage TEXT NOT NULL,
                    moved INTEGER NOT NULL,
                    row INTEGER NOT NULL,
                    parent ANY,
                    name_tag ANY,
                    kind ANY,
                    class_key ANY,
                    content ANY,
                    wrapped_key ANY,
                    metadata ANY,
                    target ANY
                ) STRICT;
                CREATE TABLE file_chunks (
                    node INTEGER NOT NULL,
                    chunk INTEGER NOT NULL,
                    slot INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    tag BLOB NOT NULL,
                    PRIMARY KEY (node, chunk)
                ) STRICT, WITHOUT ROWID;
                CREATE TRIGGER file_nodes_chunks AFTER DELETE ON file_nodes
                    WHEN OLD.kind = 2 AND NOT EXISTS (SELECT 1 FROM file_quarantine WHERE row = OLD.id)
                        AND NOT EXISTS (SELECT 1 FROM past WHERE node = OLD.id)
                    BEGIN DELETE FROM file_chunks WHERE node = OLD.id; END;
                CREATE TABLE file_logged_chunks (
                    content BLOB NOT NULL,
                    slot INTEGER NOT NULL,
                    stored BLOB NOT NULL,
                    PRIMARY KEY (content, slot)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE file_deferred (node INTEGER PRIMARY KEY) STRICT;
                CREATE TABLE file_histories (
                    node INTEGER PRIMARY KEY,
                    history BLOB NOT NULL UNIQUE,
                    keep INTEGER,
                    tag BLOB NOT NULL
                ) STRICT;
                CREATE TRIGGER file_nodes_history AFTER DELETE ON file_nodes
                    WHEN EXISTS (SELECT 1 FROM file_histories WHERE node = OLD.id)
                        AND NOT EXISTS (SELECT 1 FROM file_quarantine WHERE row = OLD.id)
                        AND NOT EXISTS (SELECT 1 FROM past WHERE node = OLD.id)
                    BEGIN
                        DELETE FROM past WHERE reason = 3 AND entry IS NULL
                            AND owner = (SELECT history FROM file_histories WHERE node = OLD.id);
                        DELETE FROM file_histories WHERE node = OLD.id;
                    END;
                """
        )
    ]
}
