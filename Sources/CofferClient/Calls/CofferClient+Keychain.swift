public import CofferCore
internal import CofferMemory
public import CofferWire

/// Items of the keychain that a query found, with their secrets.
public struct KeychainMatches: Sendable {
    /// The items.
    public let page: KeychainPage
    /// The secret of each item of the page; `nil` where it did not come.
    public let secrets: [Secret?]

    init(_ page: KeychainPage, payload: Secret) throws(CofferError) {
        let announced = page.items.compactMap(\.byteCount).reduce(0, +)
        guard announced == payload.count else {
            throw CofferError(
                .protocolViolation,
                "the daemon's answer has \(payload.count) bytes of data, and announces \(announced)"
            )
        }
        var secrets: [Secret?] = []
        var place = 0
        for item in page.items {
            guard let count = item.byteCount else {
                secrets.append(nil)
                continue
            }
            let range = place..<(place + count)
            secrets.append(
                try payload.withBytes { (bytes) throws(CofferError) in try Secret(copying: bytes.extracting(range)) }
            )
            place = range.upperBound
        }
        self.page = page
        self.secrets = secrets
    }
}

extension CofferClient {
    // MARK: Looking for items

    /// Looks for items and shows them, without their secrets.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - order: Their order; that in which they were added if nothing is said.
    /// - Returns: The items, asked for page by page when somebody goes through them; `itemNotFound` where there are none.
    public nonisolated func keychainItems(
        _ query: KeychainQuery,
        order: KeychainOrder? = nil
    ) -> Pages<KeychainItemInfo> {
        Pages { (cursor) async throws(CofferError) in
            let params = KeychainFindParameters(
                query,
                limit: .all,
                cursor: cursor,
                order: order,
                returns: [.attributes]
            )
            let page = try await self.call(.keychainFind, params, returning: KeychainPage.self).value
            return (page.items, page.cursor)
        }
    }

    /// Looks for items, and reads their secrets.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - limit: How many are wanted.
    ///   - order: Their order; that in which they were added if nothing is said.
    ///   - cursor: What the page before ended with.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where nothing that was found can be read now; `interactionRequired`.
    public func keychainSecrets(
        _ query: KeychainQuery,
        limit: KeychainLimit = .count(1),
        order: KeychainOrder? = nil,
        cursor: String? = nil
    ) async throws(CofferError) -> KeychainMatches {
        let params = KeychainFindParameters(
            query,
            limit: limit,
            cursor: cursor,
            order: order,
            returns: [.attributes, .data]
        )
        let returned = try await call(.keychainFind, params, returning: KeychainPage.self)
        return try KeychainMatches(returned.value, payload: returned.payload)
    }

    // MARK: Changing items

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - itemClass: Its class.
    ///   - attributes: Its attributes.
    ///   - user: Its attributes of the user's own.
    ///   - secret: Its secret: of a certificate its DER.
    ///   - accessibility: In which states of the vault it is there; `WhenUnlocked` if nothing is said.
    ///   - accessControl: What has to be shown before the secret is given.
    ///   - historyCount: How many former values of the secret are kept; the usual number if nothing is said.
    /// - Returns: The persistent reference, and what there is to know.
    /// - Throws: `duplicateItem` where there is one of the same primary key; `dataTooLarge`; `authFailed` for
    ///   `WhenPasscodeSetThisDeviceOnly` in a vault without a passcode.
    @discardableResult
    public func addKeychainItem(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [String: String] = [:],
        secret: Secret,
        accessibility: Accessibility? = nil,
        accessControl: AccessControl? = nil,
        historyCount: Int? = nil
    ) async throws(CofferError) -> (reference: ItemID, warnings: [String]) {
        let params = KeychainAddParameters(
            itemClass,
            attributes,
            user: user,
            accessibility: accessibility,
            historyCount: historyCount,
            accessControl: accessControl
        )
        let added = try await call(.keychainAdd, params, payload: secret, returning: KeychainAddResult.self).value
        return (added.reference, added.warnings)
    }

    /// Makes a pair of keys inside the daemon, and stores it.
    ///
    /// - Parameters:
    ///   - type: The kind of keys.
    ///   - attributes: Attributes of the private key.
    ///   - user: Attributes of the user's own.
    ///   - accessibility: In which states of the vault the private key is there; `WhenUnlocked` if nothing is said.
    ///   - accessControl: What has to be shown before it is used.
    /// - Returns: The persistent reference of the private key.
    /// - Throws: `duplicateItem` where there is one of the same primary key.
    public func makeKeychainKey(
        _ type: KeyType,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [String: String] = [:],
        accessibility: Accessibility? = nil,
        accessControl: AccessControl? = nil
    ) async throws(CofferError) -> ItemID {
        let params = KeychainAddParameters(
            .key,
            attributes,
            user: user,
            accessibility: accessibility,
            accessControl: accessControl,
            generates: type
        )
        return try await call(.keychainAdd, params, returning: KeychainAddResult.self).value.reference
    }

    /// Changes every item that is found.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - change: What is changed besides the secret.
    ///   - secret: The new secret; `nil` where it stays.
    /// - Returns: How many there were, and what there is to know about the change.
    /// - Throws: `itemNotFound`; `duplicateItem` where two items would have the same primary key: nothing is changed then;
    ///   `interactionNotAllowed` where one of them is locked.
    @discardableResult
    public func updateKeychainItems(
        _ query: KeychainQuery,
        _ change: KeychainChange = KeychainChange(),
        secret: Secret? = nil
    ) async throws(CofferError) -> (count: Int, warnings: [String]) {
        let params = KeychainUpdateParameters(query, change)
        let updated = try await call(
            .keychainUpdate,
            params,
            payload: secret,
            returning: KeychainUpdateResult.self
        ).value
        return (Int(updated.count), updated.warnings)
    }

    /// Deletes every item that is found, in every state of the vault.
    ///
    /// - Parameter query: What they are to have.
    /// - Returns: How many there were.
    /// - Throws: `itemNotFound`.
    @discardableResult
    public func deleteKeychainItems(_ query: KeychainQuery) async throws(CofferError) -> Int {
        Int(try await call(.keychainDelete, query, returning: CountResult.self).value.count)
    }

    // MARK: Using keys

    /// Signs with a private key, which stays where it is.
    ///
    /// - Parameters:
    ///   - message: What is signed; at most ``CofferCore/Limits/framePayloadBytes``.
    ///   - query: What the key is to have; its type is `ed25519`.
    /// - Returns: The signature, of 64 bytes.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`; `param` where it is no such key, or more than one.
    public func sign(_ message: Secret, with query: KeychainQuery) async throws(CofferError) -> [UInt8] {
        let returned = try await call(.keychainSign, query, payload: message, returning: Empty.self)
        return try returned.payload.ofSize(64, "signature").exposeBytes()
    }

    /// Agrees on a secret with the owner of another key.
    ///
    /// - Parameters:
    ///   - peer: The other side's public key, of 32 bytes.
    ///   - query: What our private key is to have; its type is `x25519`.
    /// - Returns: The shared secret, of 32 bytes: to be put through a key derivation, not used as it is.
    public func agree(with peer: [UInt8], by query: KeychainQuery) async throws(CofferError) -> Secret {
        let params = KeychainAgreeParameters(query, peer: peer)
        let returned = try await call(.keychainAgree, params, returning: Empty.self)
        return try returned.payload.ofSize(32, "shared secret")
    }

    /// The public key of a key or a certificate.
    ///
    /// - Parameter query: What it is to have.
    /// - Throws: `itemNotFound`; `param` where there is more than one.
    public func publicKey(of query: KeychainQuery) async throws(CofferError) -> KeychainPublicKey {
        try await call(.keychainPublicKey, query, returning: KeychainPublicKey.self).value
    }

    // MARK: Former values

    /// Lists the former values of an item's secret, the newest first.
    ///
    /// - Parameter query: What the item is to have.
    /// - Throws: `itemNotFound`; `param` where there is more than one.
    public func keychainHistory(of query: KeychainQuery) async throws(CofferError) -> [KeychainFormerValue] {
        let params = KeychainHistoryParameters(query)
        return try await call(.keychainHistory, params, returning: KeychainHistory.self).value.values
    }

    /// Reads a former value of an item's secret.
    ///
    /// - Parameters:
    ///   - number: Its number, as the history has it.
    ///   - query: What the item is to have.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`.
    public func formerValue(_ number: Int, of query: KeychainQuery) async throws(CofferError) -> Secret {
        let params = KeychainHistoryParameters(query, number: Int64(number), returns: [.data])
        return try await call(.keychainHistory, params, returning: KeychainHistory.self).payload
    }

    /// Makes a former value the secret again; the present one becomes a former value.
    ///
    /// - Parameters:
    ///   - number: Its number, as the history has it.
    ///   - query: What the item is to have.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`.
    public func restoreFormerValue(_ number: Int, of query: KeychainQuery) async throws(CofferError) {
        let params = KeychainRestoreParameters(query, number: Int64(number))
        _ = try await call(.keychainRestore, params, returning: Empty.self)
    }
}

extension Secret {
    /// What has to have come with an answer.
    fileprivate func ofSize(_ count: Int, _ what: String) throws(CofferError) -> Secret {
        if self.count == count { return self }
        throw CofferError(.protocolViolation, "the daemon's answer has no \(what) of \(count) bytes")
    }
}
