package import CofferCore
internal import CofferDatabase
package import CofferMemory

// Reading the secrets of items.

extension KeychainStore {
    /// Finds a generic password and opens its secret.
    ///
    /// - Parameters:
    ///   - key: The key of the password.
    ///   - context: The authentication of the client.
    /// - Returns: The item with its secret; `nil` if there is none.
    /// - Throws: As ``secret(of:with:)``.
    package func open(
        _ key: GenericPasswordKey,
        with context: AuthenticationContext? = nil
    ) throws -> OpenedItem? {
        try row(tagged: seals.primaryTag(key)) { row in
            let item = try seals.item(in: row, key.quoted)
            return OpenedItem(item: item, secret: try seals.openSecret(of: item, in: row, with: context))
        }
    }

    /// Opens the secret of an item that was found.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    /// - Throws: `interactionNotAllowed` if its class key is not in memory; `interactionRequired` if its access control
    ///   is not met, `authFailed` if an application password is wrong, or a passcode is required in a vault without
    ///   one; `itemNotFound` if it was removed; `decode`; ``DatabaseError``.
    package func secret(of item: KeychainItem, with context: AuthenticationContext? = nil) throws -> SecretBytes {
        let secret = try connection.row(
            """
            SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items
            WHERE id = ?
            """,
            .integer(item.row)
        ) { row in try seals.openSecret(of: item, in: row, with: context) }
        guard let secret else { throw CofferError(.itemNotFound, "\(item.attributes.quoted) was removed") }
        return secret
    }

    /// Opens the secret of an item that was found, as it is in its row.
    ///
    /// - Parameter sealed: The secret of that row, which has not changed since.
    /// - Throws: As ``secret(of:with:)``.
    package func secret(
        of item: KeychainItem,
        _ sealed: SealedSecret,
        with context: AuthenticationContext?
    ) throws -> SecretBytes {
        do {
            return try seals.openSecret(
                of: item,
                unsafe sealed.wrappedKey.span.bytes,
                unsafe sealed.secret.span.bytes,
                with: context
            )
        } catch {
            connection.faults.note(ifDamage: error)
            throw error
        }
    }

    /// Opens the secrets of items, one after the other in one buffer; `nil` for no items.
    package func secrets(of items: [KeychainItem], with context: AuthenticationContext?) throws -> SecretBytes? {
        if items.isEmpty { return nil }
        if items.count == 1 { return try secret(of: items[0], with: context) }
        var all = try SecretBytes(zeros: items.reduce(0) { $0 + $1.secretByteCount })
        var offset = 0
        for item in items {
            let secret = try secret(of: item, with: context)
            guard secret.count == item.secretByteCount else {
                throw CofferError.damaged(item.attributes.quoted, found: "its secret has another length than it says")
            }
            secret.withBytes { all.copy($0, to: offset) }
            offset += secret.count
        }
        return all
    }

    /// Finds a generic password and opens its secret.
    ///
    /// - Parameter key: The key of the password.
    /// - Returns: The secret; `nil` if there is no such item.
    /// - Throws: As ``open(_:with:)``.
    package func secret(of key: GenericPasswordKey) throws -> SecretBytes? { try open(key)?.takeSecret() }

    /// Calls a closure for every item of the store, in no particular order.
    ///
    /// - Parameter each: Called with an item, or with the error if its row is damaged.
    package func forEachItem(_ each: (Result<KeychainItem, CofferError>) throws -> Void) throws {
        try connection.rows(
            "SELECT id, uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items"
        ) { row in
            let outcome: Result<KeychainItem, CofferError>
            do {
                outcome = .success(try seals.item(in: row))
            } catch let error as CofferError {
                connection.faults.note(ifDamage: error)
                outcome = .failure(error)
            } catch let error as DatabaseError where error.kind == .damaged {
                // A value of a type that the schema does not allow: damage of this row only.
                connection.faults.note(ifDamage: error)
                outcome = .failure(error.cofferError)
            }
            try each(outcome)
            return true
        }
    }
}
