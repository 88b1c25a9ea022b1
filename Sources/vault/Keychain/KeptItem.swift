package import CofferCore
internal import CofferDatabase
internal import CofferKeys

/// What a file keeps of the keychain item that it was, for when it becomes one again: the reference, the attributes and
/// the former values.
///
/// The former values are rows of the keychain's history, sealed as they were there.
package struct KeptItem {
    private static let version: UInt8 = 1

    /// A row of the history.
    struct Value {
        let classKey: UInt8
        let metadata: [UInt8]
        let wrappedKey: [UInt8]
        let secret: [UInt8]
    }

    let id: ItemID
    let metadata: ItemMetadata
    let values: [Value]

    init(id: ItemID, metadata: ItemMetadata, values: [Value]) {
        self.id = id
        self.metadata = metadata
        self.values = values
    }

    /// The expiry date, in milliseconds since 1970.
    package var expiryDate: Int64? { item.expiryDate }

    /// The item without a secret.
    var item: KeychainItem {
        KeychainItem(
            row: 0,
            id: id,
            attributes: metadata.attributes,
            accessibility: .whenUnlocked,
            created: metadata.created,
            modified: metadata.modified,
            secretByteCount: 0,
            isLeftBehind: false,
            moveCount: metadata.moveCount
        )
    }

    // MARK: In a file's metadata

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(raw: id.bytes)
        writer.write(counted: metadata.encoded)
        writer.write(UInt8(values.count))
        for value in values {
            writer.write(value.classKey)
            writer.write(counted: value.metadata)
            writer.write(counted: value.wrappedKey)
            writer.write(UInt32(value.secret.count))
            writer.write(raw: value.secret)
        }
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version,
            let id = ItemID(Array(try reader.readRaw(ItemID.byteCount)))
        else { throw ByteReader.Malformed() }
        self.id = id
        metadata = try ItemMetadata(decoding: Array(try reader.readCounted()))
        var values: [Value] = []
        for _ in 0..<(try reader.read(UInt8.self)) {
            values.append(
                Value(
                    classKey: try reader.read(),
                    metadata: Array(try reader.readCounted()),
                    wrappedKey: Array(try reader.readCounted()),
                    secret: Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
                )
            )
        }
        self.values = values
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

// MARK: - Between the stores

extension KeychainStore {
    /// Takes an item out of the keychain that becomes a file: its secret becomes a former value.
    ///
    /// - Parameters:
    ///   - item: The item, which has no access control.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What the file keeps of it.
    package func setAside(_ item: KeychainItem, now: Int64) throws -> [UInt8] {
        try connection.transaction {
            try keepHistory(of: item, limit: item.attributes.historyLimit, now: now)
            let metadata = ItemMetadata(
                attributes: item.attributes,
                created: item.created,
                modified: item.modified,
                secretByteCount: 0,
                secretTag: [UInt8](repeating: 0, count: ItemMetadata.secretTagBytes),
                moveCount: keys.moveCount
            )
            let kept = KeptItem(id: item.id, metadata: metadata, values: try values(of: item.id))
            try remove(item)
            return kept.encoded
        }
    }

    /// What was kept of an item; `nil` for nothing, and for an item that is in the keychain: its reference is taken.
    func kept(_ bytes: [UInt8], _ subject: String) throws -> KeptItem? {
        if bytes.isEmpty { return nil }
        do {
            let kept = try KeptItem(decoding: bytes)
            return try find(kept.id) == nil ? kept : nil
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "what it keeps of a keychain item has an unknown form")
        }
    }

    /// Gives the former values that a file keeps the accessibility that corresponds to its new class.
    ///
    /// - Parameters:
    ///   - bytes: What the file keeps.
    ///   - accessibility: The accessibility.
    /// - Returns: What it keeps from now on.
    /// - Throws: `interactionNotAllowed` if a class key is not in memory, `decode` if one of them is damaged.
    package func rewrap(kept bytes: [UInt8], to accessibility: Accessibility) throws -> [UInt8] {
        guard let kept = try kept(bytes, "a file") else { return bytes }
        return try connection.transaction {
            try addHistory(kept)
            try rewrapHistory(of: kept.item, to: accessibility)
            let values = try values(of: kept.id)
            try removeHistory(of: kept.id)
            return KeptItem(id: kept.id, metadata: kept.metadata, values: values).encoded
        }
    }

    /// Gives an item its former values back, with its class where the keys are in memory.
    func restoreHistory(_ kept: KeptItem) throws {
        try addHistory(kept)
        guard let item = try find(kept.id) else { return }
        for value in try history(of: item) { try alignHistory(value.number) }
    }

    /// The former values of an item, as rows.
    ///
    /// - Throws: `decode` if one can't be a value, or if they are too many.
    func values(of id: ItemID) throws -> [KeptItem.Value] {
        var values: [KeptItem.Value] = []
        try connection.rows(
            "SELECT class_key, metadata, wrapped_key, secret FROM keychain_history WHERE uuid = ? ORDER BY id",
            .blob(id.bytes)
        ) { row in
            let value = KeptItem.Value(
                classKey: UInt8(truncatingIfNeeded: try row.integer(0)),
                metadata: try row.blob(1),
                wrappedKey: try row.blob(2),
                secret: try row.blob(3)
            )
            guard values.count < Int(UInt8.max), max(value.metadata.count, value.wrappedKey.count) <= UInt16.max else {
                throw CofferError.damaged("a former value of an item", found: "its row has impossible values")
            }
            values.append(value)
            return true
        }
        return values
    }

    private func addHistory(_ kept: KeptItem) throws { try addHistory(kept.values, of: kept.id) }

    /// Adds former values, as they were in their rows.
    func addHistory(_ values: [KeptItem.Value], of id: ItemID) throws {
        for value in values {
            try connection.execute(
                """
                INSERT INTO keychain_history (uuid, class_key, metadata, wrapped_key, secret) VALUES (?, ?, ?, ?, ?)
                """,
                .blob(id.bytes),
                .integer(Int64(value.classKey)),
                .blob(value.metadata),
                .blob(value.wrappedKey),
                .blob(value.secret)
            )
        }
    }
}
