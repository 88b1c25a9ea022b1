public import CofferCore
package import CofferMemory
public import CofferWire

extension BlockingClient {
    // MARK: Looking for items

    /// Looks for items and shows them, without their secrets.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - limit: How many are wanted.
    ///   - order: Their order; that in which they were added if nothing is said.
    ///   - cursor: What the page before ended with.
    /// - Returns: A page; where it has a cursor, there is more.
    /// - Throws: `itemNotFound` where there are none; `missingEntitlement`; `param` where the query makes no sense.
    public func keychainItems(
        _ query: KeychainQuery,
        limit: KeychainLimit = .all,
        order: KeychainOrder? = nil,
        cursor: String? = nil
    ) throws(CofferError) -> KeychainPage {
        let params = KeychainFindParameters(query, limit: limit, cursor: cursor, order: order, returns: [.attributes])
        return try call(.keychainFind, params, returning: KeychainPage.self).value
    }

    /// What a query with data brought back.
    package struct FoundItems: ~Copyable {
        /// The items.
        package let page: KeychainPage
        private let payload: SecretBytes?

        fileprivate init(page: KeychainPage, payload: consuming SecretBytes?) throws(CofferError) {
            let announced = page.items.compactMap(\.byteCount).reduce(0, +)
            guard announced == payload.byteCount else {
                throw CofferError(
                    .protocolViolation,
                    "the daemon's answer has \(payload.byteCount) bytes of data, and announces \(announced)"
                )
            }
            self.page = page
            self.payload = payload
        }

        /// Reads the secret of an item where it lies.
        ///
        /// - Parameters:
        ///   - index: The place of the item in the page.
        ///   - body: Gets the bytes, for as long as it runs; none where the secret did not come.
        package borrowing func withSecret<Result, Failure: Error>(
            at index: Int,
            _ body: (RawSpan) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let start = page.items[..<index].compactMap(\.byteCount).reduce(0, +)
            let end = start + (page.items[index].byteCount ?? 0)
            switch payload {
            case .none: return try body(RawSpan())
            case .some(let payload):
                return try payload.withBytes { (bytes) throws(Failure) in try body(bytes.extracting(start..<end)) }
            }
        }

        /// Takes the payload out: the secret, where there is one item.
        package consuming func takePayload() -> SecretBytes? { payload }
    }

    /// Looks for items, and reads their secrets where they were asked for.
    ///
    /// - Parameter params: What is looked for, and what is to be given of it.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where nothing that was found can be read now.
    package func findKeychainItems(_ params: KeychainFindParameters) throws(CofferError) -> FoundItems {
        let returned = try call(.keychainFind, params, returning: KeychainPage.self)
        let page = returned.value
        return try FoundItems(page: page, payload: returned.takePayload())
    }

    // MARK: Changing items

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - params: What it is.
    ///   - secret: Its secret: of a certificate its DER; `nil` where a key is made, or the secret is empty.
    /// - Returns: The reference; the payload is the data where it was asked for.
    /// - Throws: `duplicateItem` where there is one of the same primary key; `dataTooLarge`; `authFailed` for
    ///   `WhenPasscodeSetThisDeviceOnly` in a vault without a passcode.
    package func addKeychainItem(
        _ params: KeychainAddParameters,
        secret: borrowing SecretBytes?
    ) throws(CofferError) -> Returned<KeychainAddResult> {
        try call(.keychainAdd, params, payload: secret, returning: KeychainAddResult.self)
    }

    /// Makes a pair of keys inside the daemon, and stores it.
    ///
    /// - Parameters:
    ///   - type: The kind of keys.
    ///   - attributes: Attributes of the private key.
    ///   - user: Attributes of the user's own.
    ///   - accessibility: In which states of the vault the private key is there; `WhenUnlocked` if nothing is said.
    /// - Returns: The persistent reference of the private key.
    /// - Throws: `duplicateItem` where there is one of the same primary key.
    public func makeKeychainKey(
        _ type: KeyType,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [String: String] = [:],
        accessibility: Accessibility? = nil
    ) throws(CofferError) -> ItemID {
        let params = KeychainAddParameters(
            .key,
            attributes,
            user: user,
            accessibility: accessibility,
            generates: type
        )
        return try addKeychainItem(params, secret: nil).value.reference
    }

    /// Changes the attributes of every item that is found.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - change: What is changed.
    /// - Returns: How many there were.
    /// - Throws: `itemNotFound`; `duplicateItem` where two items would have the same primary key: nothing is changed then.
    public func updateKeychainItems(
        _ query: KeychainQuery,
        _ change: KeychainChange
    ) throws(CofferError) -> Int { Int(try updateKeychainItems(query, change, secret: nil).count) }

    /// Changes every item that is found, and its secret.
    ///
    /// - Parameters:
    ///   - query: What they are to have.
    ///   - change: What is changed besides the secret.
    ///   - secret: The new secret; `nil` where it stays.
    /// - Returns: How many there were, and what there is to know about the change.
    /// - Throws: `itemNotFound`; `duplicateItem`; `interactionNotAllowed` where one of them is locked.
    package func updateKeychainItems(
        _ query: KeychainQuery,
        _ change: KeychainChange,
        secret: borrowing SecretBytes?
    ) throws(CofferError) -> KeychainUpdateResult {
        let params = KeychainUpdateParameters(query, change)
        return try call(.keychainUpdate, params, payload: secret, returning: KeychainUpdateResult.self).value
    }

    /// Deletes every item that is found, in every state of the vault.
    ///
    /// - Parameter query: What they are to have.
    /// - Returns: How many there were.
    /// - Throws: `itemNotFound`.
    public func deleteKeychainItems(_ query: KeychainQuery) throws(CofferError) -> Int {
        Int(try call(.keychainDelete, query, returning: CountResult.self).value.count)
    }

    // MARK: Using keys

    /// Signs with a private key, which stays where it is.
    ///
    /// - Parameters:
    ///   - message: What is signed; at most ``Limits/framePayloadBytes``.
    ///   - query: What the key is to have; its type is `ed25519`.
    /// - Returns: The signature, of 64 bytes.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`; `param` where it is no such key, or more than one.
    public func sign(_ message: [UInt8], with query: KeychainQuery) throws(CofferError) -> [UInt8] {
        let payload: SecretBytes?
        do { payload = try unsafe SecretBytes(copying: message.span.bytes) } catch { throw .noSecretMemory }
        return try sign(payload, with: query)
    }

    /// Signs with a private key, which stays where it is.
    ///
    /// - Parameters:
    ///   - message: What is signed; at most ``Limits/framePayloadBytes``.
    ///   - query: What the key is to have; its type is `ed25519`.
    /// - Returns: The signature, of 64 bytes.
    package func sign(_ message: borrowing SecretBytes?, with query: KeychainQuery) throws(CofferError) -> [UInt8] {
        if message.byteCount > Limits.framePayloadBytes {
            throw CofferError(
                .dataTooLarge,
                "the message has more than \(Limits.framePayloadBytes) bytes",
                hint: "sign a hash of it"
            )
        }
        let returned = try call(.keychainSign, query, payload: message, returning: Empty.self)
        return try returned.takePayload().ofSize(64, "signature").exposeBytes()
    }

    /// Agrees on a secret with the owner of another key.
    ///
    /// - Parameters:
    ///   - peer: The other side's public key, of 32 bytes.
    ///   - query: What our private key is to have; its type is `x25519`.
    /// - Returns: The shared secret, of 32 bytes: to be put through a key derivation, not used as it is.
    package func agree(with peer: [UInt8], by query: KeychainQuery) throws(CofferError) -> SecretBytes {
        let params = KeychainAgreeParameters(query, peer: peer)
        let returned = try call(.keychainAgree, params, returning: Empty.self)
        return try returned.takePayload().ofSize(32, "shared secret")
    }

    /// The public key of a key or a certificate.
    ///
    /// - Parameter query: What it is to have.
    /// - Throws: `itemNotFound`; `param` where there is more than one.
    public func publicKey(of query: KeychainQuery) throws(CofferError) -> KeychainPublicKey {
        try call(.keychainPublicKey, query, returning: KeychainPublicKey.self).value
    }

    // MARK: Former values

    /// Lists the former values of an item's secret, the newest first.
    ///
    /// - Parameter query: What the item is to have.
    /// - Throws: `itemNotFound`; `param` where there is more than one.
    public func keychainHistory(of query: KeychainQuery) throws(CofferError) -> [KeychainFormerValue] {
        try call(.keychainHistory, KeychainHistoryParameters(query), returning: KeychainHistory.self).value.values
    }

    /// Reads a former value of an item's secret.
    ///
    /// - Parameters:
    ///   - number: Its number, as the history has it.
    ///   - query: What the item is to have.
    /// - Returns: The value; `nil` where it has no bytes.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`.
    package func formerValue(_ number: Int, of query: KeychainQuery) throws(CofferError) -> SecretBytes? {
        let params = KeychainHistoryParameters(query, number: Int64(number), returns: [.data])
        return try call(.keychainHistory, params, returning: KeychainHistory.self).takePayload()
    }

    /// Makes a former value the secret again; the present one becomes a former value.
    ///
    /// - Parameters:
    ///   - number: Its number, as the history has it.
    ///   - query: What the item is to have.
    /// - Throws: `itemNotFound`; `interactionNotAllowed`.
    public func restoreFormerValue(_ number: Int, of query: KeychainQuery) throws(CofferError) {
        let params = KeychainRestoreParameters(query, number: Int64(number))
        _ = try call(.keychainRestore, params, returning: Empty.self)
    }
}

extension SecretBytes? {
    /// What has to have come with an answer.
    fileprivate consuming func ofSize(_ count: Int, _ what: String) throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes) where bytes.count == count: return bytes
        default: throw CofferError(.protocolViolation, "the daemon's answer has no \(what) of \(count) bytes")
        }
    }
}
