internal import CofferCore
internal import CofferHandlers
internal import CofferKernelFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferVault
internal import CofferWire

/// Sends the answers of requests, and records their results in the audit.
final class Responder: ServerPart {
    private let audit: AuditTrail
    let mounts: Mounts
    /// Handles the refusal of a credential, which may be tried again.
    var refuseCredential: (Connection, CofferError) -> Void = { _, _ in }

    init(_ audit: AuditTrail, _ mounts: Mounts) {
        self.audit = audit
        self.mounts = mounts
        super.init(beside: audit)
    }

    /// Records the result of a request in the audit, so that it is part of the turn's commit.
    ///
    /// - Parameter stands: Whether its success does not depend on that commit.
    func record(_ running: Running, stands: Bool) {
        if let request = running.kernel {
            let failure = running.failure ?? refusal(of: running.reply)
            return audit.note(request, stands: stands, mayChange: running.kind == .changing, failure: failure)
        }
        guard let connection = running.origin?.connection, connection.credential == nil else { return }
        note(running, running.failure ?? refusal(of: running.reply, on: connection), stands: stands)
    }

    private func note(_ running: Running, _ failure: CofferError?, stands: Bool) {
        guard let origin = running.origin else { return }
        audit.note(
            origin.request,
            of: origin.connection,
            running.items,
            stands: stands,
            mayChange: running.kind == .changing,
            failure: failure
        )
    }

    /// Ends a request: queues its answer, and lets the requests that waited for it start.
    func deliver(_ running: Running) {
        if let request = running.kernel { return deliver(running, to: request) }
        guard let (request, connection) = running.origin else { return }
        let failure = running.failure ?? refusal(of: running.reply, on: connection)
        let isOpen = connections.has(connection)
        if running.kind == .changing { connection.place.sendsAtTurnEnd = true }
        if isOpen {
            if let failure {
                fail(failure, request.id, connection, in: request.params["group"]?.stringValue)
            } else if let reply = running.takeReply() {
                send(reply, request.id, connection)
            }
        }
        // A unit whose credential was refused may wait now, and then nothing is recorded.
        if connection.credential != nil { note(running, failure, stands: true) }
        if request.usesContext { connection.caller.context.endRequest() }
        connection.remove(request)
        if isOpen {
            if connection.hasWork { connections.wantsToRead(connection) }
        } else if !connection.requests.isBusy {
            handlers.file.releaseHandles(of: connection.caller)
        }
    }

    private func deliver(_ running: Running, to request: KernelRequest) {
        if let failure = running.failure ?? refusal(of: running.reply) {
            request.mount.refuse(request, failure)
        } else {
            request.mount.answer(request, running.takeReply())
        }
        mounts.didAnswer(request.mount)
    }

    /// "No item" may be the result of a damaged index.
    func doubted(_ error: CofferError, of method: Method) -> CofferError {
        method.looksUpItems ? vault.openCatalog?.doubt(error) ?? error : error
    }

    /// Why a reply can't be sent; `nil` if it can.
    ///
    /// A lock may have come since the content was read.
    private func refusal(of reply: borrowing Reply?, on connection: Connection) -> CofferError? {
        switch reply {
        case .none: return nil
        case .some(let reply):
            if let refusal = connection.credential?.refusal(of: reply.result) { return refusal }
            if let refusal = refusal(of: reply.protection) { return refusal }
            return connections.hasRoom(head: 0, payload: reply.payload.byteCount, to: connection)
                ? nil : .buffersAreFull
        }
    }

    private func refusal(of reply: borrowing Reply?) -> CofferError? {
        switch reply {
        case .none: nil
        case .some(let reply): refusal(of: reply.protection)
        }
    }

    private func refusal(of protection: Protection?) -> CofferError? {
        let state = vault.openKeys?.state ?? .noVault
        guard let protection, !protection.mayBeSent(in: state) else { return nil }
        return .locked("the item", in: state, for: .read)
    }

    private func send(_ reply: consuming Reply, _ id: RequestID?, _ connection: Connection) {
        if id == nil && connection.credential == nil { return }
        let payloadCount = reply.payload.byteCount
        let head = id.map { Response.successFrame(id: $0, result: reply.result, payloadCount: payloadCount) } ?? []
        let protection = reply.protection
        let frame = OutgoingFrame(id: id, head: head, payload: reply.takePayload(), protection: protection)
        guard connections.hasRoom(head: frame.head.count, payload: frame.payload.byteCount, to: connection) else {
            return fail(.buffersAreFull, id, connection)
        }
        connection.send(frame)
        if connection.credential != nil { connection.end() }
    }

    /// Answers a request with an error.
    ///
    /// - Parameter group: The access group that the request named, if any.
    func fail(_ error: CofferError, _ id: RequestID?, _ connection: Connection, in group: String? = nil) {
        connections.noteRefusal(of: connection, error)
        if connection.credential != nil {
            refuseCredential(connection, error)
        } else if let id {
            connection.send(OutgoingFrame(connection.caller.explained(error, in: group), to: id))
        }
    }
}
