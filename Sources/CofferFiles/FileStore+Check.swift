package import CofferCore
internal import CofferDatabase

// Looking at every row of the tree, a few at a time. The contents of files are not looked at here.

/// What a look at a row has shown.
struct Examination {
    /// What is wrong with it; `nil` where all is well.
    var damage: Damage?
    /// The row, as far as it is one.
    var node: FileTree.Node?
    /// Whether its directory has to be made anew.
    var lacksDirectory = false

    /// What it is called, where the caller may know.
    func name(for groups: [String]) -> String? {
        guard let node, groups.contains(where: { $0.utf8.elementsEqual(node.metadata.group.utf8) }) else { return nil }
        return quotedForDisplay(node.metadata.name)
    }
}

extension FileStore {
    /// The table of what was moved out of the way; the rows of its chunks stay where they are.
    static let quarantineMigration = Migration(
        name: "files: quarantine",
        generation: 6,
        // Of any type: a row is kept as it was found.
        sql: """
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
                metadata ANY
            ) STRICT;
            DROP TRIGGER file_nodes_chunks;
            CREATE TRIGGER file_nodes_chunks AFTER DELETE ON file_nodes
                WHEN OLD.kind = 2 AND NOT EXISTS (SELECT 1 FROM file_quarantine WHERE row = OLD.id)
                BEGIN DELETE FROM file_chunks WHERE node = OLD.id; END;
            """
    )

    /// Looks at some files and directories.
    ///
    /// One that is open is left alone: what is known of it is whole, and is written again.
    ///
    /// A file whose directory is missing or damaged gets another one, under the root: nothing else is wrong with it.
    ///
    /// - Parameters:
    ///   - place: The row number that an earlier slice has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func check(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        var numbers: [Int64] = []
        try connection.rows(
            "SELECT id FROM file_nodes WHERE id > ? ORDER BY id LIMIT ?",
            .integer(place),
            .integer(Int64(order.limit))
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        var slice = CheckSlice<Int64>()
        for number in numbers {
            slice.checkedCount += 1
            slice.next = number
            guard let seen = try examine(number), let damage = seen.damage else { continue }
            let repairs = order.repairs && openFiles[number] == nil
            if repairs {
                if seen.lacksDirectory, let node = seen.node {
                    slice.quarantinedCount += try replaceDirectory(of: node, order.now)
                } else {
                    slice.quarantinedCount += try quarantine(number, damage, order.now)
                }
            }
            slice.findings.append(
                Finding(
                    .files,
                    name: seen.name(for: order.groups),
                    damage,
                    repair: seen.lacksDirectory ? .directory : .quarantine,
                    isRepaired: repairs
                )
            )
        }
        if numbers.count < order.limit { slice.next = nil }
        return slice
    }

    func examine(_ number: Int64) throws -> Examination? {
        try connection.row(
            """
            SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE id = ?
            """,
            .integer(number)
        ) { row in try self.examination(of: row) }
    }

    /// Looks at a row that has the columns of a node.
    private func examination(of row: borrowing Row) throws -> Examination {
        var seen = Examination()
        do {
            let node = try tree.decode(row, "a file")
            seen.node = node
            let tag = tree.tag(node.metadata.name[...], under: node.parent, in: node.metadata.group)
            if try row.blob(2) != tag {
                seen.damage = .name
            } else if node.parent != FileTree.root {
                switch try directory(node.parent) {
                case .there: break
                case .replaceable:
                    seen.damage = .missingOwner
                    seen.lacksDirectory = true
                case .taken: seen.damage = .missingOwner
                }
            }
        } catch let error as CofferError where error.code == .decode {
            seen.damage = FileTree.hasPossibleValues(row) ? .metadata : .row
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
        }
        return seen
    }

    // MARK: Directories

    private enum Place {
        case there
        /// Nothing is there, or nothing that can be read.
        case replaceable
        /// A file is there.
        case taken
    }

    private func directory(_ number: Int64) throws -> Place {
        do {
            let kind = try connection.row(
                """
                SELECT id, parent, name_tag, kind, class_key, content, wrapped_key, metadata FROM file_nodes WHERE id = ?
                """,
                .integer(number)
            ) { row in try tree.decode(row, "a directory").kind }
            return kind == .directory ? .there : kind == nil ? .replaceable : .taken
        } catch let error as CofferError where error.code == .decode {
            return .replaceable
        } catch let error as DatabaseError where error.kind == .damaged {
            return .replaceable
        }
    }

    /// Makes a directory for what is left without one.
    ///
    /// - Returns: How many rows were moved out of its way.
    private func replaceDirectory(of node: FileTree.Node, _ now: Int64) throws -> Int {
        try connection.transaction {
            let movedCount = try quarantine(node.parent, .metadata, now)
            let metadata = NodeMetadata(
                group: node.metadata.group,
                name:
                    "recovered-\(hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: node.parent >> (56 - 8 * $0)) }))",
                created: now,
                modified: now
            )
            _ = try tree.insert(
                metadata,
                under: FileTree.root,
                .directory,
                class: nil,
                content: nil,
                wrappedKey: [],
                as: node.parent
            )
            return movedCount
        }
    }

    // MARK: Quarantine

    func quarantine(_ number: Int64, _ damage: Damage, _ now: Int64) throws -> Int {
        try connection.transaction {
            try connection.execute(
                """
                INSERT INTO file_quarantine
                    (damage, moved, row, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
                SELECT ?, ?, id, parent, name_tag, kind, class_key, content, wrapped_key, metadata
                FROM file_nodes WHERE id = ?
                """,
                .text(damage.rawValue),
                .integer(now),
                .integer(number)
            )
            try connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(number))
            return connection.changes
        }
    }

    /// What was moved out of the way, and whether it could go back now.
    ///
    /// - Parameters:
    ///   - place: The number that an earlier page has ended with; 0 from the beginning.
    ///   - order: How.
    /// - Returns: The entries, by ascending number.
    /// - Throws: ``DatabaseError``.
    package func quarantined(after place: Int64, _ order: CheckOrder) throws -> [QuarantineEntry] {
        var numbers: [Int64] = []
        try connection.rows(
            "SELECT id FROM file_quarantine WHERE id > ? ORDER BY id LIMIT ?",
            .integer(place),
            .integer(Int64(order.limit))
        ) { row in
            numbers.append(try row.integer(0))
            return true
        }
        return try numbers.compactMap { try quarantined($0, order) }
    }

    /// A row that was moved out of the way.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - order: How.
    /// - Returns: The entry; `nil` where there is none of that number.
    /// - Throws: ``DatabaseError``.
    package func quarantined(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        let isTaken = try connection.row(
            """
            SELECT EXISTS (
                SELECT 1 FROM file_nodes JOIN file_quarantine AS moved ON file_nodes.id = moved.row
                    OR file_nodes.content = moved.content
                    OR file_nodes.parent = moved.parent AND file_nodes.name_tag = moved.name_tag
                WHERE moved.id = ?
            )
            """,
            .integer(number)
        ) { try $0.integer(0) == 1 }
        return try connection.row(
            """
            SELECT row, parent, name_tag, kind, class_key, content, wrapped_key, metadata, damage, moved
            FROM file_quarantine WHERE id = ?
            """,
            .integer(number)
        ) { row in
            let seen = try self.examination(of: row)
            let taken = isTaken == true ? "there is something else in its place" : nil
            return QuarantineEntry(
                store: .file,
                number: number,
                stage: .files,
                reference: nil,
                name: seen.name(for: order.groups),
                damage: Damage(rawValue: try row.text(8)) ?? .row,
                moved: try row.integer(9),
                obstacle: seen.damage?.words ?? taken
            )
        }
    }

    /// Puts a row back where it was, if it is authentic now and its place is free.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - order: How.
    /// - Returns: The row, with what stands in the way where it stayed; `nil` where there is none of that number.
    /// - Throws: ``DatabaseError``.
    package func putBack(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        guard let entry = try quarantined(number, order) else { return nil }
        if entry.obstacle != nil { return entry }
        try connection.transaction {
            try connection.execute(
                """
                INSERT INTO file_nodes (id, parent, name_tag, kind, class_key, content, wrapped_key, metadata)
                SELECT row, parent, name_tag, kind, class_key, content, wrapped_key, metadata
                FROM file_quarantine WHERE id = ?
                """,
                .integer(number)
            )
            try connection.execute("DELETE FROM file_quarantine WHERE id = ?", .integer(number))
        }
        return entry
    }

    /// Destroys a row that was moved out of the way, with the content that it alone names.
    ///
    /// - Parameter number: Its number.
    /// - Throws: ``DatabaseError``.
    package func discardQuarantined(_ number: Int64) throws {
        var content: ItemID?
        var parent: Int64?
        try connection.rows("SELECT content, parent FROM file_quarantine WHERE id = ?", .integer(number)) { row in
            content = (try? row.optionalBlob(0)).flatMap { $0 }.flatMap { ItemID($0) }
            parent = try? row.integer(1)
            return true
        }
        try connection.transaction {
            try connection.execute(
                """
                DELETE FROM file_chunks WHERE node = (SELECT row FROM file_quarantine WHERE id = ?)
                    AND NOT EXISTS (SELECT 1 FROM file_nodes WHERE id = node)
                """,
                .integer(number)
            )
            try connection.execute("DELETE FROM file_quarantine WHERE id = ?", .integer(number))
            if let parent { try tree.prune(parent) }
            guard let content, try !tree.contains(content) else { return }
            try connection.execute(
                "INSERT OR IGNORE INTO file_dead_contents (content) VALUES (?)",
                .blob(content.bytes)
            )
            toRemove.append(content)
        }
    }

    // MARK: The count

    /// Counts the files, all at once.
    ///
    /// - Parameter order: How.
    /// - Returns: What was found.
    /// - Throws: ``DatabaseError``.
    package func checkCount(_ order: CheckOrder) throws -> CheckSlice<Int64> {
        var slice = CheckSlice<Int64>()
        slice.checkedCount = 1
        let isRight = try connection.row(
            """
            SELECT (SELECT group_concat(files) FROM file_count) = CAST(count(*) AS TEXT) FROM file_nodes WHERE kind = 2
            """
        ) { row in try row.optionalInteger(0) == 1 }
        if isRight == true { return slice }
        if order.repairs {
            try connection.transaction {
                try connection.execute("DELETE FROM file_count")
                try connection.execute("INSERT INTO file_count SELECT count(*) FROM file_nodes WHERE kind = 2")
            }
        }
        slice.findings = [Finding(.counts, name: "the files", .count, repair: .rewrite, isRepaired: order.repairs)]
        return slice
    }
}

extension FileTree {
    /// Whether a row has a kind, and what belongs to that kind.
    fileprivate static func hasPossibleValues(_ row: borrowing Row) -> Bool {
        guard let number = try? row.integer(3), let kind = Kind(rawValue: number) else { return false }
        guard let code = try? row.integer(4), let content = try? row.optionalBlob(5) else { return kind == .directory }
        let protectionClass = ProtectionClass.allCases.first { Self.code(of: $0) == code }
        guard let wrappedKey = try? row.blob(6), wrappedKey.count == wrappedKeyBytes(of: protectionClass) else {
            return false
        }
        return (kind == .file) == (content.count == ItemID.byteCount) && (kind == .file) == (code != 0)
    }
}
