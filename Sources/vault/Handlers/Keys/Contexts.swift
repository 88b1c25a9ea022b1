internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// Factors that a client presents for items whose access control requires them. They don't unlock the vault.

extension KeyHandlers {
    package func contextAuthenticate(_ params: ContextAuthenticateParameters, _ call: Call) throws -> Step {
        let payload = call.attachments.takePayload()
        let context = call.caller.context
        let endCount = shared.authentications.endCount
        switch params.factor ?? .passcode {
        case .passcode:
            let credential = try given(payload, as: .passcode)
            try refuseWithoutPasscode()
            return try authenticate(credential, as: .passcode) { [self] _ in
                // A lock that came meanwhile has ended all contexts, including this one.
                if endCount == shared.authentications.endCount {
                    context.confirmPasscode(until: deadline(params))
                    shared.authentications.note(context)
                }
                return .done
            }
        case .applicationPassword:
            guard let typed = payload, (1...Limits.passcodeBytes).contains(typed.count) else {
                throw CofferError(.param, "an application password has 1 to \(Limits.passcodeBytes) bytes")
            }
            let stretching = try catalog.keychain.passwordStretching
            return .work(with: typed, on: .keys) { (password) throws(CofferError) in
                try stretching.stretch(password)
            } then: { [self] stretched in
                if endCount == shared.authentications.endCount {
                    context.show(stretched, until: deadline(params))
                    shared.authentications.note(context)
                }
                return .done
            }
        }
    }

    package func contextEnd(_ params: ContextEndParameters, _ call: Call) -> Step {
        call.caller.context.end()
        return .done
    }

    /// Refuses what gives much away at once, unless the passcode was presented on the connection.
    ///
    /// An unlocked vault must not give an intruder at its machine everything by one command. A vault without a passcode
    /// has none to ask for.
    ///
    /// - Parameter subject: What is refused, for a sentence.
    func requirePasscode(_ call: Call, _ subject: String) throws(CofferError) {
        if try keys.state == .noPasscode || call.caller.context.factors.contains(.passcode) { return }
        throw CofferError(
            .interactionRequired,
            "\(subject): it wants the passcode, even while the vault is unlocked",
            hint: "'coffer' asks for it on a terminal, and takes it by --passcode-fd",
            need: .passcode
        )
    }

    private func refuseWithoutPasscode() throws(CofferError) {
        guard try keys.state == .noPasscode else { return }
        throw CofferError(
            .notAvailable,
            "the vault has no passcode to show",
            hint: "'coffer passcode set' gives it one"
        )
    }

    /// The end of the authentication; `nil` if it applies to the next request only.
    private func deadline(_ params: ContextAuthenticateParameters) -> UInt64? {
        guard let seconds = params.reuseSeconds, seconds > 0 else { return nil }
        return settings.clock.now + UInt64(seconds) * 1_000_000_000
    }
}
