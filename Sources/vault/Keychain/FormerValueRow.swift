internal import CofferCore
internal import CofferDatabase

/// The row of a former value outside of its table: everything is sealed as it was there.
struct FormerValueRow {
    let classKey: UInt8
    let metadata: [UInt8]
    let wrappedKey: [UInt8]
    let secret: [UInt8]
}

extension KeychainStore {
    /// The former values of an item, as rows.
    ///
    /// - Throws: `decode` if one can't be a value, or if they are too many.
    func values(of id: ItemID) throws -> [FormerValueRow] {
        var values: [FormerValueRow] = []
        try connection.rows(
            "SELECT class_key, metadata, wrapped_key, secret FROM keychain_history WHERE uuid = ? ORDER BY id",
            .blob(id.bytes)
        ) { row in
            let value = FormerValueRow(
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

    /// Adds former values, as they were in their rows.
    func addHistory(_ values: [FormerValueRow], of id: ItemID) throws {
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
