package import CofferCore
internal import CofferDatabase

// Where damaged rows go: whole and as they are, so that their names are free again and nothing is lost. A row that was damaged by
// what was done to another one may be good again later, and goes back then.

extension KeychainStore {
    // MARK: In

    /// Moves an item out of the way, its former values with it.
    ///
    /// - Returns: How many rows that were.
    func quarantineItem(_ number: Int64, _ seen: Examination, _ damage: Damage, _ now: Int64) throws -> Int {
        try connection.transaction {
            try connection.execute(
                """
                INSERT INTO keychain_quarantine
                    (stage, damage, moved, row, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
                SELECT 'keychainItems', ?, ?, id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
                FROM keychain_items WHERE id = ?
                """,
                .text(damage.rawValue),
                .integer(now),
                .integer(number)
            )
            try connection.execute(
                """
                INSERT INTO keychain_quarantine (stage, damage, moved, row, uuid, class_key, metadata, wrapped_key, secret)
                SELECT 'formerValues', 'missingOwner', ?, id, uuid, class_key, metadata, wrapped_key, secret
                FROM keychain_history WHERE uuid = (SELECT uuid FROM keychain_items WHERE id = ?) ORDER BY id
                """,
                .integer(now),
                .integer(number)
            )
            let formerCount = connection.changes
            try connection.execute(
                "DELETE FROM keychain_history WHERE uuid = (SELECT uuid FROM keychain_items WHERE id = ?)",
                .integer(number)
            )
            if let attributes = seen.attributes {
                try removeTags(of: attributes, number)
            } else {
                try connection.execute("DELETE FROM keychain_tags WHERE item = ?", .integer(number))
            }
            try connection.execute("DELETE FROM keychain_items WHERE id = ?", .integer(number))
            return 1 + formerCount
        }
    }

    /// Moves a former value out of the way.
    ///
    /// - Returns: How many rows that were.
    func quarantineHistory(_ number: Int64, _ damage: Damage, _ now: Int64) throws -> Int {
        try connection.transaction {
            try connection.execute(
                """
                INSERT INTO keychain_quarantine (stage, damage, moved, row, uuid, class_key, metadata, wrapped_key, secret)
                SELECT 'formerValues', ?, ?, id, uuid, class_key, metadata, wrapped_key, secret
                FROM keychain_history WHERE id = ?
                """,
                .text(damage.rawValue),
                .integer(now),
                .integer(number)
            )
            try connection.execute("DELETE FROM keychain_history WHERE id = ?", .integer(number))
            return 1
        }
    }

    // MARK: Looking

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
            "SELECT id FROM keychain_quarantine WHERE id > ? ORDER BY id LIMIT ?",
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
        try isolated(number)?.entry(for: order.groups)
    }

    private func isolated(_ number: Int64) throws -> Isolated? {
        let head = try connection.row(
            "SELECT stage, damage, moved FROM keychain_quarantine WHERE id = ?",
            .integer(number)
        ) { row in
            Isolated(
                number: number,
                stage: CheckStage(rawValue: try row.text(0)) ?? .keychainItems,
                damage: Damage(rawValue: try row.text(1)) ?? .row,
                moved: try row.integer(2)
            )
        }
        guard var isolated = head else { return nil }
        switch isolated.stage {
        case .formerValues:
            isolated.seen =
                try connection.row(
                    "SELECT row, class_key, metadata, wrapped_key, secret, uuid FROM keychain_quarantine WHERE id = ?",
                    .integer(number)
                ) { row in try self.examination(ofHistory: row) } ?? Examination()
            // One that was moved for its class alone is brought to that of its item when it goes back.
            if isolated.seen.damage == .otherClass { isolated.seen.damage = nil }
            // The values of a damaged item wait for it.
            let isWaiting = isolated.seen.damage == nil && isolated.seen.attributes == nil
            if isWaiting { isolated.seen.damage = .missingOwner }
        default:
            isolated.seen =
                try connection.row(
                    """
                    SELECT row, uuid, class_key, primary_tag, metadata, wrapped_key, secret
                    FROM keychain_quarantine WHERE id = ?
                    """,
                    .integer(number)
                ) { row in try self.examination(of: row) } ?? Examination()
            isolated.isTaken = try isTaken(isolated.seen)
        }
        return isolated
    }

    private func isTaken(_ seen: Examination) throws -> Bool {
        guard seen.damage == nil, let attributes = seen.attributes, let reference = seen.reference else { return false }
        if try isTaken(attributes) { return true }
        return try connection.row(
            "SELECT 1 FROM keychain_items WHERE uuid = ?",
            .blob(reference.bytes)
        ) { _ in true } ?? false
    }

    // MARK: Out

    /// Puts a row back where it was, if it is authentic now and its place is free.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - order: How.
    /// - Returns: The row, with what stands in the way where it stayed; `nil` where there is none of that number.
    /// - Throws: ``DatabaseError``.
    package func putBack(_ number: Int64, _ order: CheckOrder) throws -> QuarantineEntry? {
        guard let isolated = try isolated(number) else { return nil }
        let entry = isolated.entry(for: order.groups)
        guard entry.obstacle == nil, let attributes = isolated.seen.attributes else { return entry }
        try connection.transaction {
            if isolated.stage == .formerValues {
                try connection.execute(
                    """
                    INSERT INTO keychain_history (id, uuid, class_key, metadata, wrapped_key, secret)
                    SELECT iif(EXISTS (SELECT 1 FROM keychain_history WHERE id = row), NULL, row),
                        uuid, class_key, metadata, wrapped_key, secret
                    FROM keychain_quarantine WHERE id = ?
                    """,
                    .integer(number)
                )
                try alignHistory(connection.lastInsertedRowID)
            } else {
                try connection.execute(
                    """
                    INSERT INTO keychain_items (id, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
                    SELECT iif(EXISTS (SELECT 1 FROM keychain_items WHERE id = row), NULL, row),
                        uuid, class_key, primary_tag, metadata, wrapped_key, secret
                    FROM keychain_quarantine WHERE id = ?
                    """,
                    .integer(number)
                )
                try addTags(of: attributes, connection.lastInsertedRowID)
            }
            try discardQuarantined(number)
        }
        return entry
    }

    /// Destroys a row that was moved out of the way.
    ///
    /// - Parameter number: Its number.
    /// - Throws: ``DatabaseError``.
    package func discardQuarantined(_ number: Int64) throws {
        try connection.execute("DELETE FROM keychain_quarantine WHERE id = ?", .integer(number))
    }
}

/// A row out of the way, and what a look at it shows now.
private struct Isolated {
    let number: Int64
    let stage: CheckStage
    /// What was wrong with it.
    let damage: Damage
    let moved: Int64
    var seen = Examination()
    var isTaken = false

    init(number: Int64, stage: CheckStage, damage: Damage, moved: Int64) {
        self.number = number
        self.stage = stage
        self.damage = damage
        self.moved = moved
    }

    private var obstacle: String? {
        if let found = seen.damage { return found.words }
        if isTaken { return "there is another item in its place" }
        // What did not open then is not taken for whole unseen.
        if damage == .secret && seen.isSealed { return "whether its secret opens shows when the vault is unlocked" }
        return nil
    }

    func entry(for groups: [String]) -> QuarantineEntry {
        QuarantineEntry(
            store: .keychain,
            number: number,
            stage: stage,
            reference: seen.reference,
            name: seen.name(for: groups),
            damage: damage,
            moved: moved,
            obstacle: obstacle
        )
    }
}
