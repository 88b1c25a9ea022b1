internal import CofferCore
internal import CofferKeychain
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Private keys, which are used inside the daemon, and the history of secrets.

extension KeychainHandlers {
    // MARK: Keys

    /// Signs with a private key, which never leaves the daemon.
    package func keychainSign(_ params: KeychainSignParameters, _ call: Call) throws -> Step {
        let message = try call.attachments.takePayload().orEmpty()
        return try withItem(of: params.query, call, to: "sign", for: .read) { item, catalog in
            let signature = try catalog.keychain.signature(
                of: message,
                params.digest,
                by: item,
                with: call.caller.context
            )
            return Reply(Empty(), payload: signature)
        }
    }

    /// Derives a secret shared with a peer; the private key never leaves the daemon.
    package func keychainAgree(_ params: KeychainAgreeParameters, _ call: Call) throws -> Step {
        try withItem(of: params.query, call, to: "agree on a secret", for: .read) { item, catalog in
            let secret = try catalog.keychain.sharedSecret(of: item, with: params.peer, call.caller.context)
            return Reply(Empty(), payload: secret, protection: .keychain(item.accessibility))
        }
    }

    /// Returns the public half of a key, or the public key of a certificate.
    package func keychainPublicKey(_ params: KeychainPublicKeyParameters, _ call: Call) throws -> Step {
        try withItem(of: params.query, call, to: "show the public key", for: .read) { item, catalog in
            Reply(try catalog.keychain.publicKey(of: item, with: call.caller.context))
        }
    }

    // MARK: History

    /// Returns the former values of a secret.
    package func keychainHistory(_ params: KeychainHistoryParameters, _ call: Call) throws -> Step {
        try withItem(of: params.query, call, to: "look into the history", for: .read) { item, catalog in
            try Self.history(of: item, params, catalog.keychain, call.caller)
        }
    }

    private static func history(
        of item: KeychainItem,
        _ params: KeychainHistoryParameters,
        _ keychain: KeychainStore,
        _ caller: Caller
    ) throws -> Reply {
        var found = try keychain.histories.values(of: item)
        if let number = params.number {
            found.values = found.values.filter { $0.number == number }
            found.damaged = found.damaged.filter { $0 == number }
        }
        let shown = KeychainHistory(
            values: found.values.map {
                KeychainFormerValue(number: Int($0.number), replaced: $0.replaced, byteCount: $0.byteCount)
            },
            damaged: found.damaged
        )
        guard params.returns.contains(.data) else { return Reply(shown) }
        guard params.number != nil || found.values.count == 1 else {
            throw CofferError(
                .param,
                "\(item.attributes.quoted) has \(found.values.count) earlier values, and one at a time is given",
                hint: "name it by 'number'"
            )
        }
        // If there is no value of that number, the error lists those that exist.
        let number = params.number ?? found.values[0].number
        let secret = try keychain.histories.secret(number, of: item, with: caller.context)
        guard item.isExtractable else {
            throw CofferError.staysInside(item)
        }
        let strictest = (found.values.map(\.accessibility) + [item.accessibility]).strictest
        return Reply(shown, payload: secret, protection: strictest.map { .keychain($0) })
    }

    /// Restores a former value of a secret; the present one is added to the history.
    package func keychainRestore(_ params: KeychainRestoreParameters, _ call: Call) throws -> Step {
        try withItem(of: params.query, call, to: "restore an earlier value") { item, catalog in
            let keychain = catalog.keychain
            let secret: SecretBytes? = try keychain.histories.secret(params.number, of: item, with: call.caller.context)
            try catalog.change { changes in
                try keychain.update(
                    item,
                    to: item.attributes,
                    secret: secret,
                    accessibility: item.accessibility,
                    now: wallClockMilliseconds(),
                    with: call.caller.context
                )
                changes.note(ItemChange(.changed, item))
            }
            return Reply(Empty())
        }
    }
}
