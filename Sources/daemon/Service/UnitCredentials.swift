internal import CofferRights
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
internal import CofferVault
internal import CofferWire

// Credentials for units. A service manager connects from an address that names the unit and the credential, and reads
// until the end of the stream. For the gate, the handlers and the audit it is a client that asks for one item.

extension PendingRequest {
    /// A request that is only recorded in the audit, and not answered.
    fileprivate convenience init(_ request: Request) {
        let nothing = Attachments(payload: nil, descriptor: nil)
        self.init(request, .itemGet, nothing, byteCount: 0, at: 0)
    }
}

/// Answers the requests of service managers for credentials of units.
final class UnitCredentials: ServerPart {
    private let audit: AuditTrail
    private let turn: Turn
    private unowned let acceptor: Acceptor
    /// The connections that wait for the vault to be unlocked.
    private var waiting: Set<Int> = []

    init(_ audit: AuditTrail, _ turn: Turn, _ acceptor: Acceptor) {
        self.audit = audit
        self.turn = turn
        self.acceptor = acceptor
        super.init(beside: audit)
    }

    /// The time at which the next unit has waited long enough; `nil` if none waits.
    var nextDeadline: UInt64? { waiting.compactMap { connections[$0]?.credential?.deadline }.min() }

    /// Admits a service manager, after checking that the peer is one.
    func admitServiceManager(_ socket: consuming OwnedDescriptor) {
        let claim = try? CredentialAddress(UnixSocket.peerAddress(of: socket))
        let (caller, tenant, peer): (Caller, Tenant, ProcessCredentials)
        var refusal: CofferError?
        do {
            (caller, tenant, peer) = try acceptor.identify(socket) { identity in
                try checkClaim(claim, of: identity)
                do throws(CofferError) { return try vault.rights(of: identity) } catch {
                    // An answer is needed even so: without a refusal the unit would start.
                    refusal = error
                    return AccessRights(groups: [], verbs: [], reason: error.message)
                }
            }
        } catch {
            // As much as fits into the socket's buffer: the daemon does not wait for an unknown peer.
            var refusal = CredentialRefusal()
            try? refusal.send(to: socket)
            return
        }
        guard let claim else { return }
        do throws(CofferError) { try holdConnection(socket) } catch { refusal = refusal ?? error }
        let deadline = clock.now.adding(seconds: configuration.credentials.waitSeconds)
        let request = CredentialRequest(claim, deadline: deadline)
        let connection = Connection(socket, caller, peer, tenant, credential: request, in: connections)
        guard (try? connections.add(connection)) != nil else { return connection.refuseAtLast() }
        if let refusal { deny(connection, refusal) } else { ask(for: connection) }
    }

    /// Gives a duplicate of the connection to a process that outlives the daemon, before the first byte of an answer.
    ///
    /// If the daemon is killed, the connection stays open then: its end would be an empty credential.
    ///
    /// - Throws: If the connection may not be answered, as it is not held.
    private func holdConnection(_ socket: borrowing OwnedDescriptor) throws(CofferError) {
        // The service manager drops descriptors beyond its limit without an error.
        let count = connections.all.values.count { $0.credential != nil }
        guard count < Limits.credentialConnections else {
            throw CofferError(.notAvailable, "too many units wait for credentials, or read them: \(count)")
        }
        guard let hold = configuration.credentials.hold else { return }
        do throws(SystemError) { try hold(socket) } catch {
            throw error.cofferError("can't have the service manager hold the connection")
        }
    }

    private func checkClaim(_ claim: CredentialAddress?, of identity: ClientIdentity) throws(CofferError) {
        if let claim, identity.starts(claim.unit) { return }
        let reason = claim.map { "it is not the service manager that starts \(quotedForDisplay($0.unit))" }
        throw CofferError(
            .missingEntitlement,
            reason ?? "it asks for no credential of a unit",
            hint: "clients connect to the other socket"
        )
    }

    /// Requests the credential as a client would get its item.
    private func ask(for connection: Connection) {
        guard let credential = connection.credential else { return }
        credential.blockingState = nil
        do throws(SystemError) {
            let attachments = Attachments(payload: nil, descriptor: try connection.duplicateSocket())
            connection.add(credential.request, .itemGet, attachments, byteCount: 0)
            turn.intake.startRequests(of: connection)
        } catch {
            deny(connection, error.cofferError("can't answer"))
        }
    }

    /// Refuses a credential without requesting it.
    private func deny(_ connection: Connection, _ error: CofferError) {
        if let credential = connection.credential {
            audit.note(PendingRequest(credential.request), of: connection, failure: error)
        }
        connection.refuse()
    }

    /// The answer that a service manager would get for a credential now.
    func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer {
        let credential = CredentialRequest(address, deadline: 0)
        var protection: Protection?
        do throws(CofferError) {
            let caller = Caller(client, try vault.rights(of: client))
            let permit = try turn.intake.admit(PendingRequest(credential.request), caller)
            let name = try ItemName(address.itemName)
            let group = if let permit { permit.rule.group } else { try caller.group(nil) }
            let info = try vault.info(of: name, in: group)
            protection = info.protection
            let state = try vault.keys.state
            guard info.protection.isReadable(in: state) else { throw .locked(name.quoted, in: state, for: .read) }
            if let refusal = credential.refusal(of: info.byteCount) { throw refusal }
            return CredentialAnswer(name: address.itemName, refusal: nil, protection: protection)
        } catch {
            return CredentialAnswer(name: address.itemName, refusal: AuditedRefusal(error), protection: protection)
        }
    }

    /// Lets a unit wait if the item is locked, and refuses otherwise.
    func refuse(_ connection: Connection, _ error: CofferError) {
        guard let credential = connection.credential else { return }
        let state = vault.openKeys?.state ?? .noVault
        guard error.code == .interactionNotAllowed, clock.now < credential.deadline, !connection.isEnding
        else {
            return connection.refuse()
        }
        credential.blockingState = state
        waiting.insert(connection.number)
    }

    /// Requests the credentials of waiting units again, if the state of the vault has changed or their deadline has
    /// passed.
    func settle() {
        if waiting.isEmpty { return }
        let state = vault.openKeys?.state ?? .noVault
        let now = clock.now
        for number in waiting {
            guard let connection = connections[number], let credential = connection.credential, credential.isWaiting
            else {
                waiting.remove(number)
                continue
            }
            guard credential.blockingState != state || credential.deadline <= now else { continue }
            waiting.remove(number)
            ask(for: connection)
        }
    }
}
