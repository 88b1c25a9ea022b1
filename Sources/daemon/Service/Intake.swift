internal import CofferRights
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Reads connections, and starts the requests that the gate admits, in the order that their scopes demand.
final class Intake: ServerPart {
    private let audit: AuditTrail
    private let locks: LockController
    private let responder: Responder
    /// The receive buffer, wiped after each arrival.
    private var buffer: SecretBytes
    /// Starts a request that the gate has admitted.
    var begin: (PendingRequest, Connection) -> Void = { _, _ in }
    /// Whether another tenant has requests.
    var othersWait: (_ tenant: Int) -> Bool = { _ in false }

    init(_ audit: AuditTrail, _ locks: LockController, _ responder: Responder) throws(SecretMemoryError) {
        self.audit = audit
        self.locks = locks
        self.responder = responder
        buffer = try SecretBytes(zeros: Limits.receiveBufferBytes)
        super.init(beside: audit)
    }

    // MARK: Reading

    /// Ends the requests of clients that have disconnected.
    func endHungUp() {
        for connection in connections.takeHungUp() {
            if connection.credential != nil {
                connections.drop(connection)
            } else if !connection.requests.isEmpty || connection.tenant.isThrottled {
                // Without requests, what the client sent before is still read.
                connection.hangUp()
            }
        }
    }

    /// Serves a connection: starts the pending requests, then reads one arrival.
    func serve(_ connection: Connection) {
        let ready = connection.place.ready
        connection.place.ready = []
        if connection.credential == nil {
            startRequests(of: connection)
            if connection.acceptsRequests {
                if let backlog = connection.takeBacklog() {
                    backlog.withBytes { take($0, from: connection) }
                } else if ready.isReadable, !connection.isEnding {
                    receive(from: connection)
                }
            }
        }
        connections.noteServed(connection)
    }

    private func receive(from connection: Connection) {
        if connections.buffers.isShort { connections.dropStalled(but: connection) }
        let arrival = unsafe buffer.withUnsafeMutableBytes { unsafe connection.receive(into: $0) }
        switch arrival {
        case nil: return
        case .success(0): connection.end()
        case .success(let count):
            buffer.withBytes { take($0.extracting(first: count), from: connection) }
            buffer.wipe(first: count)
        case .failure(let error):
            audit.noteRefused(connection.caller.identity, error)
            connection.revoke(error)
            buffer.wipe(first: buffer.count)
        }
    }

    private func take(_ bytes: RawSpan, from connection: Connection) {
        var offset = 0
        var count = 0
        do throws(FrameError) {
            while connection.acceptsRequests, !connection.isEnding, count < Limits.requestsPerTurn,
                count == 0 || offset == bytes.byteCount || !mustYield(connection.tenant),
                let frame = try connection.nextFrame(bytes, at: &offset)
            {
                count += 1
                let descriptor = connection.takeDescriptor(isLast: offset == bytes.byteCount)
                take(frame, descriptor, from: connection)
            }
        } catch {
            return connection.fail(error.cofferError)
        }
        if connection.isEnding { return }
        if offset == bytes.byteCount { return connection.finishArrival() }
        do { try connection.postpone(bytes.extracting(droppingFirst: offset)) } catch {
            connection.fail(.noSecretMemory)
        }
        if connection.acceptsRequests { connections.wantsToRead(connection) }
    }

    private func mustYield(_ tenant: Tenant) -> Bool { tenant.isThrottled || othersWait(tenant.number) }

    // MARK: Requests

    private func take(
        _ frame: consuming Frame,
        _ descriptor: consuming PeerDescriptor?,
        from connection: Connection
    ) {
        connections.noteRequest(of: connection)
        connections.buffers.noteRequest(jsonByteCount: frame.jsonByteCount)
        let request: Request
        do throws(RequestError) {
            request = try Request(try frame.json.mapError { RequestError($0) }.get())
        } catch {
            connections.noteRefusal(of: connection, error.error)
            return connection.send(OutgoingFrame(id: error.id, json: error.responseBytes))
        }
        if frame.isPayloadWiped { return responder.fail(.lockedMeanwhile, request.id, connection) }
        guard let method = Method(rawValue: request.method) else {
            return responder.fail(.unknownMethod(request.method), request.id, connection)
        }
        let byteCount = frame.byteCount
        let attachments = Attachments(payload: frame.takePayload(), descriptor: descriptor)
        connection.add(request, method, attachments, byteCount: byteCount)
        startRequests(of: connection)
    }

    /// Starts the requests of a connection that wait for no earlier one.
    func startRequests(of connection: Connection) {
        var count = 0
        while let request = connection.requests.nextToStart {
            if count > 0 && mustYield(connection.tenant) { return connections.wantsToRead(connection) }
            start(request, connection)
            count += 1
        }
    }

    private func start(_ request: PendingRequest, _ connection: Connection) {
        let caller = connection.caller
        if let refusal = caller.program?.refusal ?? caller.choice.served?.refusal {
            audit.note(request, of: connection, failure: refusal)
            return connection.revoke(refusal)
        }
        do throws(CofferError) {
            try admit(request, caller)
        } catch {
            let error = responder.doubted(error, of: request.method)
            responder.fail(error, request.id, connection)
            audit.note(request, of: connection, failure: error)
            return connection.remove(request)
        }
        begin(request, connection)
    }

    // MARK: The gate

    /// Asks the gate whether a client may make a request now.
    ///
    /// - Returns: The rule that permits it, if the client's own rights don't.
    @discardableResult
    func admit(_ request: PendingRequest, _ caller: Caller) throws(CofferError) -> StoredAccessRule? {
        let cover = vault.cover(
            of: request.method,
            request.params,
            from: caller,
            isProgramHeld: caller.program != nil
        )
        let permit: StoredAccessRule? = if case .item(let permit) = cover { permit } else { nil }
        request.permit = request.permit ?? permit
        try Gate.check(request.method, request.params, for: caller.rights, and: cover) { () throws(CofferError) in
            try locks.state(for: request.method)
        }
        return permit
    }
}

extension CofferError {
    fileprivate static func unknownMethod(_ name: String) -> CofferError {
        CofferError(
            .unimplemented,
            "the method \(quotedForDisplay(name)) is not known",
            hint: "this daemon is version \(Version.program)"
        )
    }

    fileprivate static let lockedMeanwhile = CofferError(
        .interactionNotAllowed,
        "the vault was locked while the request was being sent, and what had come of its payload was wiped",
        hint: "run 'coffer unlock', and send it again",
        retry: .afterUnlock
    )
}
