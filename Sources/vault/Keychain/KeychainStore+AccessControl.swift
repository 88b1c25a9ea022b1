package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

// Access controls: authorization and changes.

extension KeychainStore {
    // MARK: Asking

    /// Refuses a change of an item that its access control protects against changes.
    func authorizeWrite(_ item: KeychainItem, _ context: AuthenticationContext?) throws {
        guard let control = item.attributes.accessControl, control.flags.contains(.protectWrites) else { return }
        try authorizeFully(item, context, for: .write)
    }

    /// Refuses what requires the same authentication as reading, and checks an application password.
    func authorizeFully(
        _ item: KeychainItem,
        _ context: AuthenticationContext?,
        for operation: ItemOperation
    ) throws {
        try seals.authorize(item, context, for: operation)
        if PasswordBinding(item.attributes.accessControl) != .none { _ = try secret(of: item, with: context) }
    }

    /// Why the secret of an item may not be returned with the presented factors; `nil` if it may.
    ///
    /// - Parameters:
    ///   - item: The item, whose class key is in memory.
    ///   - context: The authentication of the client.
    /// - Throws: `decode`; ``DatabaseError``.
    package func refusal(of item: KeychainItem, _ context: AuthenticationContext) throws -> CofferError? {
        guard item.attributes.accessControl != nil else { return nil }
        do {
            try authorizeFully(item, context, for: .read)
            return nil
        } catch let error as CofferError where error.code == .interactionRequired || error.code == .authFailed {
            return error
        }
    }

    /// The password to which a new secret of an item is bound: that of its current secret.
    func password(of item: KeychainItem, _ context: AuthenticationContext?) throws -> StretchedPassword? {
        let binding = PasswordBinding(item.attributes.accessControl)
        if binding == .none { return nil }
        if binding == .required && context?.password == nil {
            throw CofferError.wantsAuthentication(item.attributes.quoted, .applicationPassword, for: .write)
        }
        return try connection.row(
            "SELECT wrapped_key, secret FROM keychain_items WHERE id = ?",
            .integer(item.row)
        ) { row in
            try row.withBlob(0) { stored in
                let itemKey = try seals.itemKey(in: stored, of: item, for: .write)
                guard binding == .required else {
                    let kept = stored.extracting(droppingFirst: item.accessibility.wrappedKeyBytes)
                    return StretchedPassword(try ItemSeals.keptPassword(itemKey, kept, of: item))
                }
                // With another password, the former values could not be opened any more.
                _ = try row.withBlob(1) { sealed in
                    try seals.unbind(itemKey, RawSpan(), of: item, context) { key in
                        try AEAD.open(sealed, under: key, context: ItemSeals.secretContext(item.id))
                    }
                }
                return context?.password
            }
        } ?? nil
    }

    // MARK: Another access control

    /// Changes the access control of an item: its secret and its former values are sealed again.
    ///
    /// - Returns: The changed item.
    func rebind(
        _ item: KeychainItem,
        to control: AccessControl?,
        _ context: AuthenticationContext?
    ) throws -> KeychainItem {
        try authorizeFully(item, context, for: .write)
        var attributes = item.attributes
        attributes.accessControl = control
        try seals.checkControl(attributes)
        let rebound = item.with(attributes)
        guard PasswordBinding(control) != PasswordBinding(item.attributes.accessControl) else { return rebound }
        try checkWritable(item, as: item.accessibility)
        try connection.transaction {
            try histories.rebind(of: item, to: attributes, context)
            let secret = try secret(of: item, with: context)
            let sealed = try seals.seal(secret, of: item.id, as: item.accessibility, attributes, context?.password)
            let metadata = seals.metadata(
                attributes,
                sealed,
                of: item.secretByteCount,
                created: item.created,
                modified: item.modified
            )
            try write(metadata, sealed, item, item.accessibility)
        }
        return rebound
    }
}
