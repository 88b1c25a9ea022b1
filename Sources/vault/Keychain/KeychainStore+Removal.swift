internal import CofferCore
internal import CofferDatabase

// Removing items.

extension KeychainStore {
    /// Removes a generic password.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - context: The authentication of the client.
    /// - Returns: Whether it existed.
    /// - Throws: As ``remove(_:with:)``.
    package func remove(_ key: GenericPasswordKey, with context: AuthenticationContext? = nil) throws -> Bool {
        do {
            guard let item = try find(key) else { return false }
            try remove(item, with: context)
            return true
        } catch let error as CofferError where error.code == .decode {
            try removeDamaged(ItemAttributes(key))
            return true
        }
    }

    /// Removes a row that can't be opened.
    private func removeDamaged(_ attributes: ItemAttributes) throws {
        let tag = seals.primaryTag(attributes)
        try connection.transaction {
            try connection.execute(
                "DELETE FROM keychain_tags WHERE item = (SELECT id FROM keychain_items WHERE primary_tag = ?)",
                .blob(tag)
            )
            try connection.execute("DELETE FROM keychain_items WHERE primary_tag = ?", .blob(tag))
        }
    }

    /// Removes an item and its former values.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `interactionRequired` if its access control protects it against this; ``DatabaseError``.
    package func remove(_ item: KeychainItem, with context: AuthenticationContext? = nil) throws {
        try authorizeWrite(item, context)
        try connection.transaction {
            try index.removeTags(of: item.attributes, item.row)
            try connection.execute("DELETE FROM keychain_items WHERE id = ?", .integer(item.row))
        }
    }
}
