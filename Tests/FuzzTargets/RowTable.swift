/// A table of the catalog, and how a value in one of its rows is replaced by another.
package struct RowTable: Sendable {
    /// The table.
    package let name: String
    /// Its columns.
    package let columns: [String]
    /// Replaces a value: `?1` the other one, `?2` whether it becomes a number with a fraction, `?3` the column and `?4` the row, both
    /// counted from 0.
    package let update: StaticString

    private init(_ name: String, _ columns: [String], _ update: StaticString) {
        self.name = name
        self.columns = columns
        self.update = update
    }

    /// Every table of the stores, with every column that can have another value.
    package static let all: [RowTable] = keychain + files + access + past

    private static let keychain = [
        RowTable(
            "keychain_items",
            ["id", "uuid", "class_key", "primary_tag", "metadata", "wrapped_key", "secret"],
            """
            UPDATE keychain_items SET
                id = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE id END,
                uuid = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE uuid END,
                class_key = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE class_key END,
                primary_tag = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE primary_tag END,
                metadata = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE metadata END,
                wrapped_key = CASE ?3 WHEN 5 THEN iif(?2, ?1 + 0.5, ?1) ELSE wrapped_key END,
                secret = CASE ?3 WHEN 6 THEN iif(?2, ?1 + 0.5, ?1) ELSE secret END
            WHERE (id) = (SELECT id FROM keychain_items ORDER BY id LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "keychain_tags",
            ["tag", "item"],
            """
            UPDATE keychain_tags SET
                tag = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE tag END,
                item = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE item END
            WHERE (tag, item) = (SELECT tag, item FROM keychain_tags ORDER BY tag, item LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "keychain_count",
            ["items"],
            """
            UPDATE keychain_count SET
                items = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE items END
            WHERE (rowid) = (SELECT rowid FROM keychain_count ORDER BY rowid LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "keychain_quarantine",
            ["id", "damage", "moved", "row", "uuid", "class_key", "primary_tag", "metadata", "wrapped_key", "secret"],
            """
            UPDATE keychain_quarantine SET
                id = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE id END,
                damage = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE damage END,
                moved = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE moved END,
                row = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE row END,
                uuid = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE uuid END,
                class_key = CASE ?3 WHEN 5 THEN iif(?2, ?1 + 0.5, ?1) ELSE class_key END,
                primary_tag = CASE ?3 WHEN 6 THEN iif(?2, ?1 + 0.5, ?1) ELSE primary_tag END,
                metadata = CASE ?3 WHEN 7 THEN iif(?2, ?1 + 0.5, ?1) ELSE metadata END,
                wrapped_key = CASE ?3 WHEN 8 THEN iif(?2, ?1 + 0.5, ?1) ELSE wrapped_key END,
                secret = CASE ?3 WHEN 9 THEN iif(?2, ?1 + 0.5, ?1) ELSE secret END
            WHERE (id) = (SELECT id FROM keychain_quarantine ORDER BY id LIMIT 1 OFFSET ?4)
            """
        ),
    ]

    private static let files = [
        RowTable(
            "file_nodes",
            ["id", "parent", "name_tag", "kind", "class_key", "content", "wrapped_key", "metadata"],
            """
            UPDATE file_nodes SET
                id = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE id END,
                parent = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE parent END,
                name_tag = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE name_tag END,
                kind = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE kind END,
                class_key = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE class_key END,
                content = CASE ?3 WHEN 5 THEN iif(?2, ?1 + 0.5, ?1) ELSE content END,
                wrapped_key = CASE ?3 WHEN 6 THEN iif(?2, ?1 + 0.5, ?1) ELSE wrapped_key END,
                metadata = CASE ?3 WHEN 7 THEN iif(?2, ?1 + 0.5, ?1) ELSE metadata END
            WHERE (id) = (SELECT id FROM file_nodes ORDER BY id LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "file_chunks",
            ["node", "chunk", "slot", "bytes", "tag"],
            """
            UPDATE file_chunks SET
                node = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE node END,
                chunk = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE chunk END,
                slot = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE slot END,
                bytes = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE bytes END,
                tag = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE tag END
            WHERE (node, chunk) = (SELECT node, chunk FROM file_chunks ORDER BY node, chunk LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "file_count",
            ["files"],
            """
            UPDATE file_count SET
                files = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE files END
            WHERE (rowid) = (SELECT rowid FROM file_count ORDER BY rowid LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "file_dead_contents",
            ["content"],
            """
            UPDATE file_dead_contents SET
                content = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE content END
            WHERE (content) = (SELECT content FROM file_dead_contents ORDER BY content LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "file_logged_chunks",
            ["content", "slot", "stored"],
            """
            UPDATE file_logged_chunks SET
                content = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE content END,
                slot = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE slot END,
                stored = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE stored END
            WHERE (content, slot) = (SELECT content, slot FROM file_logged_chunks ORDER BY content, slot LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "file_quarantine",
            [
                "id", "damage", "moved", "row", "parent", "name_tag", "kind", "class_key", "content", "wrapped_key",
                "metadata",
            ],
            """
            UPDATE file_quarantine SET
                id = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE id END,
                damage = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE damage END,
                moved = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE moved END,
                row = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE row END,
                parent = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE parent END,
                name_tag = CASE ?3 WHEN 5 THEN iif(?2, ?1 + 0.5, ?1) ELSE name_tag END,
                kind = CASE ?3 WHEN 6 THEN iif(?2, ?1 + 0.5, ?1) ELSE kind END,
                class_key = CASE ?3 WHEN 7 THEN iif(?2, ?1 + 0.5, ?1) ELSE class_key END,
                content = CASE ?3 WHEN 8 THEN iif(?2, ?1 + 0.5, ?1) ELSE content END,
                wrapped_key = CASE ?3 WHEN 9 THEN iif(?2, ?1 + 0.5, ?1) ELSE wrapped_key END,
                metadata = CASE ?3 WHEN 10 THEN iif(?2, ?1 + 0.5, ?1) ELSE metadata END
            WHERE (id) = (SELECT id FROM file_quarantine ORDER BY id LIMIT 1 OFFSET ?4)
            """
        ),
    ]

    private static let access = [
        RowTable(
            "audit_blocks",
            ["first", "sealed", "chain"],
            """
            UPDATE audit_blocks SET
                first = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE first END,
                sealed = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE sealed END,
                chain = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE chain END
            WHERE (first) = (SELECT first FROM audit_blocks ORDER BY first LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "audit_head",
            ["sealed"],
            """
            UPDATE audit_head SET
                sealed = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE sealed END
            WHERE (only) = (SELECT only FROM audit_head ORDER BY only LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "access_rules",
            ["number", "sealed"],
            """
            UPDATE access_rules SET
                number = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE number END,
                sealed = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE sealed END
            WHERE (number) = (SELECT number FROM access_rules ORDER BY number LIMIT 1 OFFSET ?4)
            """
        ),
    ]

    // At the end, so that the inputs that were found say the same as before.
    private static let past = [
        RowTable(
            "file_histories",
            ["node", "history", "keep", "tag"],
            """
            UPDATE file_histories SET
                node = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE node END,
                history = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE history END,
                keep = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE keep END,
                tag = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE tag END
            WHERE (node) = (SELECT node FROM file_histories ORDER BY node LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "past",
            [
                "number", "reason", "owner", "entry", "node", "content", "time", "bytes", "wants_passcode", "label",
                "sealed",
            ],
            """
            UPDATE past SET
                number = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE number END,
                reason = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE reason END,
                owner = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE owner END,
                entry = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE entry END,
                node = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE node END,
                content = CASE ?3 WHEN 5 THEN iif(?2, ?1 + 0.5, ?1) ELSE content END,
                time = CASE ?3 WHEN 6 THEN iif(?2, ?1 + 0.5, ?1) ELSE time END,
                bytes = CASE ?3 WHEN 7 THEN iif(?2, ?1 + 0.5, ?1) ELSE bytes END,
                wants_passcode = CASE ?3 WHEN 8 THEN iif(?2, ?1 + 0.5, ?1) ELSE wants_passcode END,
                label = CASE ?3 WHEN 9 THEN iif(?2, ?1 + 0.5, ?1) ELSE label END,
                sealed = CASE ?3 WHEN 10 THEN iif(?2, ?1 + 0.5, ?1) ELSE sealed END
            WHERE (number) = (SELECT number FROM past ORDER BY number LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "trash_keys",
            ["trash", "group_tag", "sealed", "entries", "bytes"],
            """
            UPDATE trash_keys SET
                trash = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE trash END,
                group_tag = CASE ?3 WHEN 1 THEN iif(?2, ?1 + 0.5, ?1) ELSE group_tag END,
                sealed = CASE ?3 WHEN 2 THEN iif(?2, ?1 + 0.5, ?1) ELSE sealed END,
                entries = CASE ?3 WHEN 3 THEN iif(?2, ?1 + 0.5, ?1) ELSE entries END,
                bytes = CASE ?3 WHEN 4 THEN iif(?2, ?1 + 0.5, ?1) ELSE bytes END
            WHERE (trash) = (SELECT trash FROM trash_keys ORDER BY trash LIMIT 1 OFFSET ?4)
            """
        ),
        RowTable(
            "past_numbers",
            ["last"],
            """
            UPDATE past_numbers SET
                last = CASE ?3 WHEN 0 THEN iif(?2, ?1 + 0.5, ?1) ELSE last END
            WHERE (last) = (SELECT last FROM past_numbers ORDER BY last LIMIT 1 OFFSET ?4)
            """
        ),
    ]
}
