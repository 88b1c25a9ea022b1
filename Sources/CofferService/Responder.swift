internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferVault
internal import CofferWire

/// Sends the answers of requests, and records their results in the audit.
final class Responder: ServerPart {
    private let audit: AuditTrail
    /// Handles the refusal of a credential, which may be tried again.
    var refuseCredential: (Connection, CofferError) -> Void = { _, _ in }

    init(_ audit: AuditTrail) {
        self.audit = audit
        super.init(beside: audit)
    }

    /// Records the result of a request in the audit, so that it is part of the turn's commit.
    ///
    /// - Parameter stands: Whether its success does not depend on that commit.
    func record(_ answer: Answer, stands: Bool) {
        guard let origin = answer.running.origin, origin.connection.credential == nil else { return }
        note(answer, of: origin, answer.failure ?? refusal(of: answer, origin), stands: stands)
    }

    private func note(_ answer: Answer, of origin: Running.Origin, _ failure: CofferError?, stands: Bool) {
        audit.note(
            origin.request,
            of: origin.connection,
            answer.items,
            stands: stands,
            mayChange: answer.running.kind == .changing,
            failure: failure
        )
    }

    /// Ends a request: queues its answer, and lets the requests that waited for it start.
    func deliver(_ answer: Answer) {
        guard let origin = answer.running.origin else { return }
        let (request, connection) = (origin.request, origin.connection)
        let failure = answer.failure ?? refusal(of: answer, origin)
        let isOpen = connections.has(connection)
        if answer.running.kind == .changing { connection.waitsForTurn = true }
        if isOpen {
            if let failure {
                fail(failure, request.id, connection)
            } else if let reply = answer.takeReply() {
                send(reply, request.id, connection)
            }
        }
        // A unit whose credential was refused may wait now, and then nothing is recorded.
        if connection.credential != nil { note(answer, of: origin, failure, stands: true) }
        if request.usesContext { connection.caller.context.endRequest() }
        connection.remove(request)
        if isOpen {
            if connection.canGoOn { connections.wantsToRead(connection) }
        } else if !connection.isBusy {
            vault.releaseHandles(of: connection.caller)
        }
    }

    /// "No item" may be the result of a damaged index.
    func doubted(_ error: CofferError, of method: Method) -> CofferError {
        method.looksUpItems ? vault.openCatalog?.doubt(error) ?? error : error
    }

    /// Why a reply can't be sent; `nil` if it can.
    ///
    /// A lock may have come since the content was read.
    private func refusal(of answer: Answer, _ origin: Running.Origin) -> CofferError? {
        let connection = origin.connection
        let state = vault.openKeys?.state ?? .noVault
        if answer.failure != nil { return nil }
        if let refusal = connection.credential?.refusal(of: answer.result) { return refusal }
        if let protection = answer.protection, !protection.mayBeSent(in: state) {
            return .locked("the item", in: state, for: .read)
        }
        return connections.hasRoom(head: 0, payload: answer.payloadByteCount, to: connection) ? nil : .noRoomInTransit
    }

    private func send(_ reply: consuming Reply, _ id: RequestID?, _ connection: Connection) {
        let json = id.map { Response.successBytes(id: $0, result: .object(reply.result)) }
        if json == nil && connection.credential == nil { return }
        let protection = reply.protection
        let frame = OutgoingFrame(id: id, json: json, payload: reply.takePayload(), protection: protection)
        guard connections.hasRoom(head: frame.head.count, payload: frame.payload.byteCount, to: connection) else {
            return fail(.noRoomInTransit, id, connection)
        }
        connection.send(frame)
        if connection.credential != nil { connection.end() }
    }

    /// Answers a request with an error.
    func fail(_ error: CofferError, _ id: RequestID?, _ connection: Connection) {
        connections.noteRefusal(of: connection, error)
        if connection.credential != nil {
            refuseCredential(connection, error)
        } else if let id {
            connection.send(OutgoingFrame(connection.caller.explained(error), to: id))
        }
    }
}
