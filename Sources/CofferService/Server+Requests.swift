internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// From a frame to its answer: requests of one connection begin in the order of their coming, as far as they depend on one
// another, and are answered when they are done.

extension Server {
    func handle(
        _ frame: consuming Frame,
        _ descriptor: consuming OwnedDescriptor?,
        from session: Session,
        _ number: Int
    ) {
        noteRequest(of: session)
        transit.noteRequest(jsonByteCount: frame.jsonByteCount)
        let request: Request
        let attachments: Attachments
        let isWiped: Bool
        let byteCount = frame.byteCount
        do throws(RequestError) {
            let json: JSONValue
            switch frame.json {
            case .success(let value): json = value
            case .failure(let fault): throw RequestError(fault)
            }
            isWiped = frame.isPayloadWiped
            attachments = Attachments(payload: frame.takePayload(), descriptor: descriptor)
            request = try Request(json)
        } catch {
            noteRefusal(of: session, error.error)
            return session.send(OutgoingFrame(id: error.id, json: error.responseBytes))
        }
        if isWiped { return sendFailure(.lockedMeanwhile, to: request.id, session, number) }
        guard let method = Method(rawValue: request.method) else {
            return sendFailure(.unknownMethod(request.method), to: request.id, session, number)
        }
        session.add(request, method, attachments, byteCount: byteCount)
        startRequests(of: session, number)
    }

    /// Begins with the requests that need not wait for others.
    func startRequests(of session: Session, _ number: Int) {
        var count = 0
        while let request = session.nextToStart {
            if count > 0 && mustGiveWay { return queue(session, number) }
            start(request, session, number)
            count += 1
        }
    }

    private func start(_ request: PendingRequest, _ session: Session, _ number: Int) {
        if let refusal = session.caller.program?.refusal {
            queueAnswers(of: session, number)
            note(request, of: session, failure: refusal)
            return session.revoke(refusal)
        }
        let method = request.method
        let context = session.caller.context
        do throws(CofferError) {
            let cover = leaseCover(of: request, from: session.caller)
            if case .item(let lease) = cover { request.lease = lease }
            try Gate.check(method, request.params, for: session.caller.rights, and: cover) { () throws(CofferError) in
                settleLocks()
                return try vaultState(for: method)
            }
            if request.usesContext { context.beginRequest(at: configuration.clock.now) }
            request.start(isAlone: context.isForThisRequest)
            switch try answer(request, session, number) {
            case .now(let reply):
                let (items, isCommitted) = (reply.items, reply.isCommitted)
                let failure = send(reply, to: request.id, of: method, session, number)
                note(request, of: session, items, isCommitted: isCommitted, failure: failure)
                end(request, of: session)
            case .later(let work): carryOut(work, for: request, session, number)
            }
        } catch {
            let error = doubted(error, of: method)
            sendFailure(error, to: request.id, of: method, session, number)
            note(request, of: session, failure: error)
            end(request, of: session)
        }
    }

    /// What an error means while the catalog has damage: an item that was not found may be there.
    private func doubted(_ error: CofferError, of method: Method) -> CofferError {
        method.looksUpItems ? vault.openCatalog?.doubt(error) ?? error : error
    }

    private func answer(_ request: PendingRequest, _ session: Session, _ number: Int) throws(CofferError) -> Answer {
        if request.method == .requestCancel { return .now(try cancelRequest(request, session, number)) }
        if let lease = request.lease { return try answer(request, under: lease, from: session.caller) }
        return try respond(to: request.method, request.params, request.attachments, from: session.caller)
    }

    private func end(_ request: PendingRequest, of session: Session) {
        if request.usesContext { session.caller.context.endRequest() }
        session.remove(request)
    }

    /// Takes a request back that is not answered yet; one that is has been answered.
    private func cancelRequest(
        _ request: PendingRequest,
        _ session: Session,
        _ number: Int
    ) throws(CofferError) -> Reply {
        try request.attachments.refuseLeftovers(of: .requestCancel)
        let id = try RequestCancelParameters(params: request.params).request
        for other in session.requests where other.id == id && other !== request {
            other.cancel()
            if other.isStarted { continue }
            sendFailure(.cancelled, to: other.id, session, number)
            session.remove(other)
        }
        return Reply(Empty())
    }

    /// A vault that can't be used refuses everything but to be looked at.
    func vaultState(for method: Method) throws(CofferError) -> VaultState {
        switch method {
        case .hello: return .noVault
        // What can't be used can be erased.
        case .vaultErase: return (try? vault.state()) ?? .deviceKeyMissing
        default: return try vault.state()
        }
    }

    /// Carries out what takes long.
    private func carryOut(_ work: @escaping Work, for request: PendingRequest, _ session: Session, _ number: Int) {
        let transfer = Transfer(session: number, number: request.number, tenant: session.tenant.number)
        underWay.append(LongRequest(work: work, request: request, transfer: transfer, session: session))
        // The end of a wait comes back by the way of the task's executor: without one of ours, through the global pool.
        Task(executorPreference: loop) { await self.carryOutLongRequest() }
    }

    private func carryOutLongRequest() async {
        let long = underWay.removeFirst()
        let (session, number, request) = (long.session, long.transfer.session, long.request)
        let outcome = await RequestOutcome(of: long)
        end(request, of: session)
        let isConnected = sessions[number] === session
        switch consume outcome {
        case .success(let reply):
            let items = reply.items
            // A session that was dropped meanwhile has nobody to tell.
            let failure =
                isConnected ? send(reply, to: request.id, of: request.method, session, number) : nil
            note(request, of: session, items, failure: failure)
        case .failure(let cause):
            let error = doubted(cause, of: request.method)
            if isConnected { sendFailure(error, to: request.id, of: request.method, session, number) }
            note(request, of: session, failure: error)
        }
        guard isConnected else {
            if !session.isBusy { releaseHandles(of: session.caller) }
            return
        }
        queue(session, number)
    }

    /// Answers, unless what is to be handed over may not be, or has no room.
    ///
    /// - Returns: What was answered in place of it.
    private func send(
        _ reply: consuming Reply,
        to id: RequestID?,
        of method: Method,
        _ session: Session,
        _ number: Int
    ) -> CofferError? {
        queueAnswers(of: session, number)
        let json = id.map { Response.successBytes(id: $0, result: .object(reply.result)) }
        if json == nil && session.credential == nil { return nil }
        var failure = session.credential?.refusal(of: reply.result)
        let (protection, isEarly) = (reply.protection, reply.isCommitted)
        let frame = OutgoingFrame(
            id: id,
            json: json,
            payload: reply.takePayload(),
            after: isEarly ? nil : commit(of: method),
            isEarly: isEarly,
            protection: protection
        )
        // A lock may have come between the reading and this.
        let state = vault.openKeys?.state ?? .noVault
        if !frame.mayBeSent(in: state) {
            failure = .locked("the item", in: state, for: .read)
        } else {
            let tenant = session.tenant
            if !transit.hasRoom(for: frame, to: tenant) { dropStalled(but: number) }
            if !transit.hasRoom(for: frame, to: tenant) { failure = .noRoomInTransit }
        }
        if let failure {
            sendFailure(failure, to: id, of: method, session, number)
        } else {
            session.send(frame)
            if session.credential != nil { session.end() }
        }
        return failure
    }

    /// The commit that an answer waits for, where it tells of the catalog.
    private func commit(of method: Method?) -> PendingCommit? {
        method?.readsCatalog == true ? vault.openCatalog?.pendingCommit : nil
    }

    private func sendFailure(
        _ error: CofferError,
        to id: RequestID?,
        of method: Method? = nil,
        _ session: Session,
        _ number: Int
    ) {
        queueAnswers(of: session, number)
        noteRefusal(of: session, error)
        if session.credential != nil { return refuseCredential(to: session, number, error) }
        guard let id else { return }
        let error = session.caller.explained(error)
        let json = Response.failureBytes(id: id, error: error)
        session.send(OutgoingFrame(id: id, json: json, after: commit(of: method)))
    }

    /// Tells a client how far its transfer has come, if it still is under way.
    func sendProgress(_ done: Int64, of total: Int64?, _ transfer: Transfer) {
        guard let request = request(of: transfer), let session = sessions[transfer.session] else { return }
        queueAnswers(of: session, transfer.session)
        let params = ProgressParameters(done: done, total: total, request: request.id)
        let json = Response.notificationBytes(method: Notification.progress.rawValue, params: params.json)
        session.send(OutgoingFrame(id: nil, json: json))
    }

    /// The request of a transfer, while somebody waits for it.
    private func request(of transfer: Transfer) -> PendingRequest? {
        guard let request = sessions[transfer.session]?.request(numbered: transfer.number) else { return nil }
        return request.isCancelled ? nil : request
    }

    /// Whether somebody waits for what a transfer brings.
    func isWanted(_ transfer: Transfer) -> Bool { request(of: transfer) != nil }

    /// Lets the client end its transfer, by saying so or by hanging up.
    func cancel(with cancellation: Cancellation, _ transfer: Transfer) {
        guard let request = request(of: transfer) else { return cancellation.cancel() }
        request.cancel(with: cancellation)
    }
}

extension CofferError {
    fileprivate static let lockedMeanwhile = CofferError(
        .interactionNotAllowed,
        "the vault was locked while the request was being sent, and what had come of its payload was wiped",
        hint: "run 'coffer unlock', and send it again",
        retry: .afterUnlock
    )
}
