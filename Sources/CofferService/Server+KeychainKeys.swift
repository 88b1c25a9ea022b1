internal import CofferCore
internal import CofferKeychain
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

// Private keys are used where they lie; earlier values of secrets are looked at and put back.

extension Server {
    // MARK: Keys

    /// Signs with a private key, without reading it out.
    func sign(_ query: KeychainQuery, _ attachments: Attachments, from caller: Caller) throws(CofferError) -> Answer {
        let payload = attachments.takePayload()
        try attachments.refuseLeftovers(of: .keychainSign)
        let message: SecretBytes
        do { message = try payload.orEmpty() } catch { throw .init(mapping: error, "can't sign") }
        return try withItem(of: query, from: caller, to: "sign") { item, catalog in
            let signature = try catalog.keychain.signature(of: message, by: item, with: caller.context)
            return Reply(Empty(), payload: signature)
        }
    }

    /// Agrees with a peer on a shared secret, without reading the private key out.
    func agree(_ params: KeychainAgreeParameters, from caller: Caller) throws(CofferError) -> Answer {
        try withItem(of: params.query, from: caller, to: "agree on a secret") { item, catalog in
            let secret = try catalog.keychain.sharedSecret(of: item, with: params.peer, caller.context)
            return Reply(Empty(), payload: secret, protection: .keychain(item.accessibility))
        }
    }

    /// The public half of a key, or the public key of a certificate.
    func publicKey(_ query: KeychainQuery, from caller: Caller) throws(CofferError) -> Answer {
        try withItem(of: query, from: caller, to: "show the public key") { item, catalog in
            Reply(try catalog.keychain.publicKey(of: item, with: caller.context))
        }
    }

    // MARK: History

    /// What the secret of an item was before.
    func history(_ params: KeychainHistoryParameters, from caller: Caller) throws(CofferError) -> Answer {
        try withItem(of: params.query, from: caller, to: "look into the history") { item, catalog in
            try Self.history(of: item, params, catalog.keychain, caller)
        }
    }

    private static func history(
        of item: KeychainItem,
        _ params: KeychainHistoryParameters,
        _ keychain: KeychainStore,
        _ caller: Caller
    ) throws -> Reply {
        var values = try keychain.history(of: item)
        if let number = params.number { values = values.filter { $0.number == number } }
        let shown = values.map {
            KeychainFormerValue(number: Int($0.number), replaced: $0.replaced, byteCount: $0.byteCount)
        }
        guard params.returns.contains(.data) else { return Reply(KeychainHistory(values: shown)) }
        guard params.number != nil || values.count == 1 else {
            throw CofferError(
                .param,
                "\(item.attributes.quoted) has \(values.count) earlier values, and one at a time is given",
                hint: "name it by 'number'"
            )
        }
        // Says which there are where there is none of that number.
        let secret = try keychain.earlierSecret(params.number ?? values[0].number, of: item, with: caller.context)
        try refuseReading(item)
        let strictest = (values.map(\.accessibility) + [item.accessibility]).strictest
        return Reply(KeychainHistory(values: shown), payload: secret, protection: strictest.map { .keychain($0) })
    }

    /// Gives an item an earlier value of its secret back; the present one goes to the history.
    func restore(_ params: KeychainRestoreParameters, from caller: Caller) throws(CofferError) -> Answer {
        try withItem(of: params.query, from: caller, to: "restore an earlier value") { item, catalog in
            let secret: SecretBytes? = try catalog.keychain.earlierSecret(params.number, of: item, with: caller.context)
            try catalog.change { changes in
                try catalog.keychain.update(
                    item,
                    to: item.attributes,
                    secret: secret,
                    accessibility: item.accessibility,
                    now: wallClockMilliseconds(),
                    with: caller.context
                )
                changes.note(ItemChange(.changed, item))
            }
            return Reply(Empty())
        }
    }

    private static func refuseReading(_ item: KeychainItem) throws(CofferError) {
        if item.isExtractable { return }
        throw CofferError(.missingEntitlement, "\(item.attributes.quoted) is a key that stays inside")
    }
}
