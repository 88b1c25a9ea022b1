internal import CofferCore
package import CofferDatabase
internal import CofferKeys
internal import CofferMemory
@_spi(_Unicode) private import Swift

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
        Migration(
            name: "keychain: texts as bytes",
            generation: 9,
            sql: "INSERT OR IGNORE INTO keychain_untagged SELECT id FROM keychain_items;"
        ),
        Migration(
            name: "keychain: names under the passcode",
            generation: 10,
            sql: """
                INSERT OR IGNORE INTO keychain_untagged SELECT id FROM keychain_items;
                CREATE TABLE keychain_unsealed (item INTEGER PRIMARY KEY) STRICT;
                INSERT INTO keychain_unsealed SELECT id FROM keychain_items WHERE class_key NOT IN (18, 21);
                CREATE INDEX keychain_items_always ON keychain_items (id) WHERE class_key IN (18, 21);
                CREATE TABLE keychain_replaced (
                    id INTEGER PRIMARY KEY,
                    item INTEGER NOT NULL,
                    metadata BLOB NOT NULL,
                    wrapped_key BLOB NOT NULL,
                    secret BLOB NOT NULL
                ) STRICT;
                CREATE INDEX keychain_replaced_items ON keychain_replaced (item, id);
                CREATE TRIGGER keychain_items_replaced AFTER DELETE ON keychain_items
                    WHEN NOT EXISTS (SELECT 1 FROM keychain_quarantine WHERE row = OLD.id AND stage = 'keychainItems')
                    BEGIN DELETE FROM keychain_replaced WHERE item = OLD.id; END;
                """
        ),
    ]

    /// Renews the tags of items that were stored before tags existed, while they were made of texts in Unicode's form C,
    /// or before synchronizable items had one.
    ///
    /// If there are no such items, it costs one look-up.
    package func renewTags() throws {
        var rows: [Int64] = []
        try connection.rows("SELECT item FROM keychain_untagged") { row in
            rows.append(try row.integer(0))
            return true
        }
        if rows.isEmpty { return }
        try connection.transaction {
            for number in rows {
                // A damaged item is not found by attributes; the others are.
                if let item = try? item(at: number) { try renewTags(of: item) }
            }
            try connection.execute("DELETE FROM keychain_untagged")
        }
    }

    private func renewTags(of item: KeychainItem) throws {
        let composed = item.attributes.composed
        if primaryTag(composed) != primaryTag(item.attributes) {
            try reseal(item, item.attributes, item.accessibility, item.modified)
        }
        let tags = ItemTags.tags(of: item.attributes, under: keys.catalog.search)
        for attribute in ItemTags.indexed {
            guard let value = composed.values[attribute] else { continue }
            let former = ItemTags.tag(attribute, value, in: composed.group, under: keys.catalog.search)
            if !tags.contains(former) { try removeTag(former, item.row) }
        }
        for tag in tags { try addTag(tag, item.row) }
    }
}

extension ItemAttributes {
    /// The attributes with their texts in Unicode's form C, by which items were found before.
    fileprivate var composed: ItemAttributes {
        var composed = self
        composed.values = values.mapValues { value in
            guard case .text(let text) = value else { return value }
            return .text(
                String(
                    decoding: text._nfc.flatMap { UTF8.encode($0) ?? UTF8.encodedReplacementCharacter },
                    as: UTF8.self
                )
            )
        }
        return composed
    }
}
