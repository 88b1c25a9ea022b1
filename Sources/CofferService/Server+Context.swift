internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

// What a client shows of the person behind it, for items whose access control wants that. It opens nothing by itself.

extension Server {
    /// Takes note of a right passcode, or of an application password.
    func authenticateContext(
        _ params: ContextAuthenticateParameters,
        _ attachments: Attachments,
        of caller: Caller
    ) throws(CofferError) -> Work {
        let payload = attachments.takePayload()
        try attachments.refuseLeftovers(of: .contextAuthenticate)
        let context = caller.context
        switch params.factor ?? .passcode {
        case .passcode:
            let credential = Handoff(try given(payload, as: .passcode))
            return { (transfer) async throws(CofferError) in
                try self.refuseWithoutPasscode()
                let endCount = self.contextEndCount
                _ = try await self.authenticate(for: .contextAuthenticate, credential, as: .passcode, transfer)
                // A lock that came meanwhile has ended all that was shown, whoever has locked.
                if endCount == self.contextEndCount { context.showPasscode(until: self.deadline(params)) }
                return Reply(Empty())
            }
        case .applicationPassword:
            guard let typed = payload, (1...Limits.passcodeBytes).contains(typed.count) else {
                throw CofferError(.param, "an application password has 1 to \(Limits.passcodeBytes) bytes")
            }
            let password = Handoff(typed)
            return { (transfer) async throws(CofferError) in
                try await self.takeTurn(of: .contextAuthenticate, transfer)
                defer { self.keyOperations.leave() }
                guard let password = password.take() else { throw .carriedOutTwice }
                let endCount = self.contextEndCount
                let stretching = try self.vault.catalog.keychain.passwordStretching
                let stretched = try await self.keyWorkers.run { () throws(CofferError) in
                    try stretching.stretch(password)
                }
                if endCount == self.contextEndCount { context.show(stretched, until: self.deadline(params)) }
                return Reply(Empty())
            }
        }
    }

    private func refuseWithoutPasscode() throws(CofferError) {
        guard try vault.keys.state == .noPasscode else { return }
        throw CofferError(
            .notAvailable,
            "the vault has no passcode to show",
            hint: "'coffer passcode set' gives it one"
        )
    }

    /// Until when what was shown now is good; `nil` where it is for the next request.
    private func deadline(_ params: ContextAuthenticateParameters) -> UInt64? {
        guard let seconds = params.reuseSeconds, seconds > 0 else { return nil }
        return configuration.clock.now + UInt64(seconds) * 1_000_000_000
    }

    /// Ends what was shown on every connection: the keys go, or what opens them is another one.
    func endContexts() {
        contextEndCount += 1
        for session in sessions.values { session.caller.context.end() }
    }
}
