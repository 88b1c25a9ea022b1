internal import CofferAccess
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// Credentials for units: a service manager connects, from an address that names unit and credential, and reads until the
// connection ends. To the gate, the handlers and the audit it is a client like others, that asks for one item.

extension PendingRequest {
    /// A request of nobody who waits for its answer.
    fileprivate convenience init(_ request: Request) {
        let nothing = Attachments(payload: nil, descriptor: nil)
        self.init(0, request, .itemGet, nothing, byteCount: 0, at: 0)
    }
}

extension Server {
    /// Who connects to a listening socket.
    package enum Peers: Sendable {
        /// Clients, which speak the protocol.
        case clients
        /// Service managers, which want credentials for units.
        case serviceManagers
    }

    /// Takes a service manager in, or somebody who would like to be taken for one.
    func admitServiceManager(_ socket: consuming OwnedDescriptor) {
        let claim = try? CredentialAddress(UnixSocket.peerAddress(of: socket))
        let (caller, tenant, peer): (Caller, Tenant, PeerIdentity)
        var refusal: CofferError?
        do {
            (caller, tenant, peer) = try identify(socket) { identity in
                try checkClaim(claim, of: identity)
                do throws(CofferError) { return try rights(of: identity) } catch {
                    // It has to be answered all the same, so that the unit does not start.
                    refusal = error
                    return AccessRights(groups: [], verbs: [], reason: error.message)
                }
            }
        } catch {
            return turnAwayServiceManager(socket)
        }
        guard let claim else { return }
        let isHeld = holdConnection(socket)
        let wait = UInt64(configuration.credentialWaitSeconds) * 1_000_000_000
        let session = Session(
            socket,
            caller,
            peer.credentials,
            tenant,
            credential: CredentialRequest(claim, deadline: configuration.clock.now + wait),
            on: loop,
            clock: configuration.clock,
            transit: transit
        )
        guard isHeld, let number = add(session) else { return session.refuseAtLast() }
        if let refusal { refuse(session, number, refusal) } else { ask(for: session, number) }
    }

    /// Has something that outlives the daemon hold the connection too, before the first byte of an answer: should the daemon be
    /// killed, the connection does not end, which would be an empty credential.
    ///
    /// - Returns: Whether it may be answered.
    private func holdConnection(_ socket: borrowing OwnedDescriptor) -> Bool {
        guard let hold = configuration.holdConnection else { return true }
        // What does not fit is not held, and nothing says so.
        let count = sessions.values.count { $0.credential != nil }
        guard count < Limits.credentialConnections else { return false }
        do throws(SystemError) { try hold(socket) } catch { return false }
        return true
    }

    private func checkClaim(_ claim: CredentialAddress?, of identity: ClientIdentity) throws(CofferError) {
        if let claim, identity.starts(claim.unit) { return }
        let reason = claim.map { "it is not the service manager that starts \(quotedForDisplay($0.unit))" }
        let error = CofferError(
            .missingEntitlement,
            reason ?? "it asks for no credential of a unit",
            hint: "clients connect to the other socket"
        )
        noteTurnedAway(identity, error)
        throw error
    }

    /// Says no in what room there is: nobody waits for one of whom nothing is known.
    private func turnAwayServiceManager(_ socket: consuming OwnedDescriptor) {
        let refusal = CredentialRequest.refusal
        _ = unsafe try? socket.send(refusal.span.bytes)
    }

    /// Asks for the credential as a client that gets its item would.
    private func ask(for session: Session, _ number: Int) {
        guard let credential = session.credential else { return }
        credential.stopWaiting()
        queueAnswers(of: session, number)
        do throws(SystemError) {
            let attachments = Attachments(payload: nil, descriptor: try session.duplicateSocket())
            session.add(credential.request, .itemGet, attachments, byteCount: 0)
            startRequests(of: session, number)
        } catch {
            refuse(session, number, error.cofferError("can't answer"))
        }
    }

    /// Refuses what is not even asked for.
    private func refuse(_ session: Session, _ number: Int, _ error: CofferError) {
        queueAnswers(of: session, number)
        if let credential = session.credential { note(PendingRequest(credential.request), of: session, failure: error) }
        session.refuse()
    }

    /// What would come of a credential if a service manager asked for it now.
    func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer {
        let credential = CredentialRequest(address, deadline: 0)
        let request = PendingRequest(credential.request)
        var protection: Protection?
        do throws(CofferError) {
            let caller = Caller(client, try rights(of: client))
            let cover = leaseCover(of: request, from: caller)
            try Gate.check(.itemGet, request.params, for: caller.rights, and: cover) { () throws(CofferError) in
                settleLocks()
                return try vaultState(for: .itemGet)
            }
            let name = try ItemName(address.itemName)
            let group: String
            if case .item(let lease) = cover { group = lease.terms.group } else { group = try caller.group(nil) }
            let info = try require(name, in: group).info
            protection = info.protection
            let state = try vault.keys.state
            guard info.protection.isReadable(in: state) else { throw .locked(name.quoted, in: state, for: .read) }
            if let refusal = credential.refusal(of: info.byteCount) { throw refusal }
            return CredentialAnswer(name: address.itemName, refusal: nil, protection: protection)
        } catch {
            return CredentialAnswer(name: address.itemName, refusal: AuditedRefusal(error), protection: protection)
        }
    }

    /// Has a unit wait for what is locked, or says no.
    func refuseCredential(to session: Session, _ number: Int, _ error: CofferError) {
        guard let credential = session.credential else { return }
        let state = vault.openKeys?.state ?? .noVault
        guard error.code == .interactionNotAllowed, configuration.clock.now < credential.deadline, !session.isEnding
        else {
            return session.refuse()
        }
        credential.wait(for: state)
        waitingUnits.insert(number)
        setUnitTimer()
    }

    /// Asks once more for the units that wait, where the vault is in another state now, or their time is over.
    func settleWaitingUnits() {
        if waitingUnits.isEmpty { return }
        let state = vault.openKeys?.state ?? .noVault
        let now = configuration.clock.now
        for number in waitingUnits {
            guard let session = sessions[number], let credential = session.credential, credential.isWaiting else {
                waitingUnits.remove(number)
                continue
            }
            guard credential.stateWaitedOut != state || credential.deadline <= now else { continue }
            waitingUnits.remove(number)
            ask(for: session, number)
        }
        setUnitTimer()
    }

    /// The turn that it begins does what is due.
    private func setUnitTimer() {
        unitTimer?.set(waitingUnits.compactMap { sessions[$0]?.credential?.deadline }.min())
    }
}
