internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Carries requests out, a turn of the loop at a time.
///
/// What only reads is answered at once. What changes something is answered when the one commit of the turn is on the disk, with
/// the audit's records in it: nothing that is not committed is read, so that no answer has to be taken back.
final class Turn {
    /// How long a turn carries out what changes something, while there is more.
    private static let quantum = Duration.milliseconds(3)
    /// How often connections are read in a turn.
    private static let readings = 128
    /// The requests after which the kernel is asked who else waits.
    private static let requestsPerPoll = 4

    private let loop: EventLoop
    private let clock: BootClock
    private let vault: Vault
    private let connections: Connections
    private let hub: EventHub
    private let audit: AuditTrail
    private let locks: LockController
    /// Where requests for units' credentials go back to that can't be answered yet.
    var refuseCredential: (Connection, Int, CofferError) -> Void = { _, _, _ in }

    /// Who asks where no client does.
    private let own: Caller
    private var scheduler = Scheduler()
    private var running: [Int: Running] = [:]
    private var nextToken = 1
    /// Those that go on in the next turn.
    private var again: [Int] = []
    /// Those that go on when this turn's changes are on the disk.
    private var committing: [Running] = []
    private var committed: [(running: Running, failure: CofferError?)] = []
    /// The answers that rest on this turn's changes.
    private var answers: [Answer] = []
    private var pollCount = 0

    /// The threads for the bodies of files.
    private let workers = WorkerPool()
    /// The thread for making and unlocking a vault: no transfer, however stuck, is in its way.
    private let keyWorkers = WorkerPool(limit: 1, lingering: 0)
    private let mailbox: Mailbox<Message>
    private var receiveBuffer: SecretBytes

    init(
        on loop: EventLoop,
        _ clock: BootClock,
        _ vault: Vault,
        _ connections: Connections,
        _ hub: EventHub,
        _ audit: AuditTrail,
        _ locks: LockController
    ) throws {
        self.loop = loop
        self.clock = clock
        self.vault = vault
        self.connections = connections
        self.hub = hub
        self.audit = audit
        self.locks = locks
        own = Caller(vault.access.daemon, AccessRights(groups: [], verbs: [], reason: "it is the daemon"))
        receiveBuffer = try SecretBytes(zeros: 64 << 10)
        mailbox = try Mailbox()
        try mailbox.deliver(on: loop) { [unowned self] message in take(message) }
    }

    // MARK: The turn

    /// Carries out what there is to do, until the turn's time is over.
    func carryOut() {
        for token in again { scheduler.goOn(token) }
        again = []
        endHungUp()
        beginChores()
        let watch = ContinuousClock()
        let end = watch.now + Self.quantum
        var readings = 0
        var changes = 0
        while true {
            if readings < Self.readings, let (connection, number) = connections.nextToRead() {
                readings += 1
                serve(connection, number)
                pollSometimes()
            } else if let token = scheduler.nextReading() {
                step(token)
                pollSometimes()
            } else if changes == 0 || watch.now < end, let token = scheduler.nextChanging() {
                changes += 1
                step(token)
                // With more to change, who only reads goes first.
                if !scheduler.isIdle { loop.poll(milliseconds: 0) }
            } else {
                break
            }
        }
        endWaiting()
    }

    /// Whether there is more to do than to wait for the kernel.
    var mustGoOn: Bool {
        !scheduler.isIdle || !again.isEmpty || !committed.isEmpty || !committing.isEmpty || !answers.isEmpty
            || !vault.chores.isEmpty || vault.openCatalog?.hasChanges == true || connections.somebodyWaits
            || loop.hasUndispatched
    }

    /// Makes the changes of the turn stay, and answers those who have made them.
    func settle() {
        if let catalog = vault.openCatalog, catalog.hasChanges || audit.mustWrite(to: catalog) { commit() }
        let settled = answers.filter { $0.isSettled || vault.openCatalog?.hasChanges != true }
        answers.removeAll { answer in settled.contains { $0 === answer } }
        for answer in settled { deliver(answer) }
        let goingOn = committed
        committed = []
        for (running, failure) in goingOn {
            if let failure {
                finish(running, Answer(running, failure: running.call.explainUndoing(failure)))
            } else {
                step(running)
            }
        }
    }

    /// Puts on the disk what was changed and noted; who waits for that is answered at the end of the turn.
    func commit() {
        guard let catalog = vault.openCatalog else { return }
        var failure: CofferError?
        do throws(CofferError) { try catalog.commit() } catch { failure = error }
        scheduler.noteCommit()
        for event in catalog.changes.takeEvents() { hub.tell(event, wishing: .items) }
        audit.tellWritten(to: catalog)
        for answer in answers where !answer.isSettled {
            answer.isSettled = true
            if let failure { answer.undo(because: failure) }
        }
        committed += committing.map { ($0, failure) }
        committing = []
    }

    private func pollSometimes() {
        pollCount += 1
        if pollCount.isMultiple(of: Self.requestsPerPoll) { loop.poll(milliseconds: 0) }
    }

    /// Whether another tenant has something to do.
    private func othersWait(besides tenant: Int) -> Bool {
        pollSometimes()
        return connections.othersWait(besides: tenant) || scheduler.othersWait(besides: tenant)
    }

    // MARK: Reading

    private func endHungUp() {
        for number in connections.takeHungUp() {
            guard let connection = connections[number] else { continue }
            if connection.credential != nil {
                connections.drop(number)
            } else if !connection.requests.isEmpty || connection.tenant.isResting {
                // The answers have no reader any more. Without requests, what was sent before is still to be read.
                connection.hangUp()
                connections.wantsToSend(number)
            }
        }
    }

    /// Gives a connection its turn.
    private func serve(_ connection: Connection, _ number: Int) {
        let ready = connection.ready
        connection.ready = []
        if connection.credential == nil {
            startRequests(of: connection, number)
            if connection.hasRoom, !connection.isFull, let backlog = connection.takeBacklog() {
                backlog.withBytes { take($0, from: connection, number) }
            } else if !ready.isDisjoint(with: .readable), connection.hasRoom, !connection.isEnding,
                !connection.hasBacklog
            {
                receive(from: connection, number)
            }
        }
        if connection.waitsForTurn { connections.wantsToSend(number) } else { connections.send(number) }
    }

    private func receive(from connection: Connection, _ number: Int) {
        if connections.transit.isShort { connections.dropStalled(but: number) }
        let arrival = unsafe receiveBuffer.withUnsafeMutableBytes { unsafe connection.receive(into: $0) }
        switch arrival {
        case .nothing: return
        case .end: connection.end()
        case .refused(let error, let count):
            audit.noteTurnedAway(connection.caller.identity, error)
            connection.revoke(error)
            receiveBuffer.wipe(first: count)
        case .bytes(let count):
            receiveBuffer.withBytes { take($0.extracting(first: count), from: connection, number) }
            receiveBuffer.wipe(first: count)
        }
    }

    private func take(_ bytes: RawSpan, from connection: Connection, _ number: Int) {
        var offset = 0
        var count = 0
        do throws(FrameError) {
            while connection.hasRoom, !connection.isEnding, !connection.isFull, count < Limits.requestsPerTurn,
                count == 0 || offset == bytes.byteCount || !mustGiveWay(connection.tenant),
                let frame = try connection.nextFrame(bytes, at: &offset)
            {
                count += 1
                let descriptor = connection.takeDescriptor(isLast: offset == bytes.byteCount)
                take(frame, descriptor, from: connection, number)
            }
        } catch {
            return connection.fail(error.cofferError)
        }
        if connection.isEnding { return }
        if offset == bytes.byteCount { return connection.finishArrival() }
        do { try connection.postpone(bytes.extracting(droppingFirst: offset)) } catch { connection.fail(.noSecretMemory) }
        if connection.hasRoom && !connection.isFull { connections.wantsToRead(number) }
    }

    private func mustGiveWay(_ tenant: Tenant) -> Bool { tenant.isResting || othersWait(besides: tenant.number) }

    // MARK: Requests

    private func take(
        _ frame: consuming Frame,
        _ descriptor: consuming OwnedDescriptor?,
        from connection: Connection,
        _ number: Int
    ) {
        connections.noteRequest(of: connection)
        connections.transit.noteRequest(jsonByteCount: frame.jsonByteCount)
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
            connections.noteRefusal(of: connection, error.error)
            return connection.send(OutgoingFrame(id: error.id, json: error.responseBytes))
        }
        if isWiped { return sendFailure(.lockedMeanwhile, to: request.id, connection, number) }
        guard let method = Method(rawValue: request.method) else {
            return sendFailure(.unknownMethod(request.method), to: request.id, connection, number)
        }
        connection.add(request, method, attachments, byteCount: byteCount)
        startRequests(of: connection, number)
    }

    /// Begins with the requests that need not wait for others of their connection.
    func startRequests(of connection: Connection, _ number: Int) {
        var count = 0
        while let request = connection.nextToStart {
            if count > 0 && mustGiveWay(connection.tenant) { return connections.wantsToRead(number) }
            start(request, connection, number)
            count += 1
        }
    }

    private func start(_ request: PendingRequest, _ connection: Connection, _ number: Int) {
        let caller = connection.caller
        if let refusal = caller.program?.refusal {
            audit.note(request, of: connection, failure: refusal)
            connection.revoke(refusal)
            return connections.wantsToSend(number)
        }
        let token = nextToken
        nextToken += 1
        let call = Call(
            from: caller,
            request.attachments,
            progress: TransferProgress(token, mailbox, clock),
            isConnected: { [weak connection] in connection?.hasHungUp == false }
        )
        do throws(CofferError) {
            let cover = vault.leaseCover(of: request.method, request.params, from: caller)
            if case .item(let lease) = cover {
                request.lease = lease
                call.lease = lease
            }
            try Gate.check(request.method, request.params, for: caller.rights, and: cover) { () throws(CofferError) in
                // A lock that is due comes before what is decided now.
                locks.settle()
                return try vault.state(for: request.method)
            }
        } catch {
            let error = doubted(error, of: request.method)
            audit.note(request, of: connection, failure: error)
            sendFailure(error, to: request.id, connection, number)
            return connection.remove(request)
        }
        begin(request, call, token, connection, number)
    }

    private func begin(
        _ request: PendingRequest,
        _ call: Call,
        _ token: Int,
        _ connection: Connection,
        _ number: Int
    ) {
        let context = call.caller.context
        let kind: Scheduler.Kind = request.scope.changes || call.lease != nil ? .changing : .reading
        if request.usesContext { context.beginRequest(at: clock.now) }
        request.start(call, isAlone: context.isForThisRequest)
        let origin = Running.Origin(request: request, connection: connection, number: number)
        let begun = Running(token, origin, call, kind, of: connection.tenant.number) { [unowned self] in
            if call.isCancelled { throw CofferError.cancelled }
            try recheckLease(of: request, call)
            // What was decided when it came may have changed while it waited, and a lock may be due.
            locks.settle()
            if let refusal = Gate.refusal(of: request.method, in: try vault.state(for: request.method)) { throw refusal }
            return try vault.begin(request.method, request.params, call)
        }
        running[token] = begun
        scheduler.add(token, request.scope, kind, of: begun.tenant)
        if request.method.claim == .keys {
            if vault.claims.take(.keys, for: token, of: begun.tenant) { scheduler.goOn(token) }
        } else if kind == .reading && scheduler.mayRead(request.scope) {
            step(begun)
        } else {
            scheduler.goOn(token)
        }
    }

    /// The uses of a lease may have been spent while the request waited for its turn.
    private func recheckLease(of request: PendingRequest, _ call: Call) throws(CofferError) {
        guard call.lease != nil else { return }
        let cover = vault.leaseCover(of: request.method, request.params, from: call.caller)
        if let refusal = Gate.refusal(of: request.method, request.params, to: call.caller.rights, and: cover) {
            throw refusal
        }
        if case .item(let lease) = cover { call.lease = lease } else { call.lease = nil }
    }

    private func beginChores() {
        let chores = vault.chores
        vault.chores = []
        for chore in chores {
            let call = Call(from: own, Attachments(payload: nil, descriptor: nil))
            let begun = Running(nextToken, nil, call, .changing, of: chore.tenant) { try chore.begin(call) }
            nextToken += 1
            running[begun.token] = begun
            scheduler.add(begun.token, .barrier, .changing, of: chore.tenant)
            scheduler.goOn(begun.token)
        }
    }

    // MARK: Steps

    private func step(_ token: Int) {
        if let running = running[token] { step(running) }
    }

    private func step(_ running: Running) {
        let tenant = running.tenant
        var next: Step.Next? = running.next
        while let body = next {
            next = nil
            vault.quantum = Quantum(Self.quantum) { [unowned self] in othersWait(besides: tenant) }
            do {
                let step = try body()
                noteChanges(by: running)
                next = take(step, of: running)
            } catch {
                noteChanges(by: running)
                finish(running, Answer(running, failure: CofferError(mapping: error, running.call.subject)))
            }
        }
    }

    private func noteChanges(by running: Running) {
        if running.kind == .changing, vault.openCatalog?.hasChanges == true { scheduler.noteChange(by: running.token) }
    }

    /// - Returns: What comes next, where nothing has to happen before.
    private func take(_ step: consuming Step, of running: Running) -> Step.Next? {
        switch consume step {
        case .done(let reply):
            finish(running, Answer(running, reply))
        case .work(let item, let lane, let next):
            running.next = next
            let (token, mailbox) = (running.token, mailbox)
            let pool = lane == .keys ? keyWorkers : workers
            pool.submit(item, for: running.tenant) { mailbox.post(.worked(token)) }
        case .claim(let claim, let next):
            running.next = next
            if vault.claims.take(claim, for: running.token, of: running.tenant) { return next }
        case .committed(let next):
            guard vault.openCatalog?.hasChanges == true else { return next }
            running.next = next
            committing.append(running)
        case .again(let next):
            running.next = next
            again.append(running.token)
        }
        freeClaims()
        return nil
    }

    private func take(_ message: Message) {
        switch message {
        case .worked(let token): scheduler.goOn(token)
        case .progressed(let token, let done, let total):
            guard let origin = running[token]?.origin, running[token]?.call.isCancelled == false else { return }
            let params = ProgressParameters(done: done, total: total, request: origin.request.id)
            let json = Response.notificationBytes(method: Notification.progress.rawValue, params: params.json)
            origin.connection.send(OutgoingFrame(id: nil, json: json))
            connections.wantsToSend(origin.number)
        }
    }

    /// Ends the waiting of those for whom nothing can come of it.
    private func endWaiting() {
        for token in vault.claims.waiting {
            guard let waiting = running[token], let error = waiting.call.endOfWaiting else { continue }
            vault.claims.withdraw(token)
            finish(waiting, Answer(waiting, failure: error))
        }
    }

    private func release(_ claim: Claim) {
        if let token = vault.claims.release(claim) { scheduler.goOn(token) }
    }

    private func freeClaims() {
        let freed = vault.freedClaims
        vault.freedClaims = []
        for claim in freed { release(claim) }
    }

    // MARK: Answers

    /// Ends a request: its answer waits for the commit, if it has changed something, or rests on what was changed.
    private func finish(_ running: Running, _ answer: Answer) {
        self.running[running.token] = nil
        scheduler.remove(running.token)
        running.call.end()
        for claim in running.call.kept { vault.claims.keep(claim) }
        for claim in vault.claims.held(by: running.token) { release(claim) }
        freeClaims()
        let isCommitted = answer.failure == nil && running.origin?.request.method.awaitsCommit == true
        let waits = running.kind == .changing && !isCommitted && vault.openCatalog?.hasChanges == true
        if let method = running.origin?.request.method { answer.explain { doubted($0, of: method) } }
        record(answer, isCommitted: running.kind == .reading)
        if waits { answers.append(answer) } else { deliver(answer) }
    }

    /// Notes in the audit what a request comes to, so that it is in the commit of the turn.
    private func record(_ answer: Answer, isCommitted: Bool) {
        guard let origin = answer.running.origin else { return }
        let failure = answer.failure ?? refusal(of: answer, origin)
        audit.note(origin.request, of: origin.connection, answer.items, isCommitted: isCommitted, failure: failure)
    }

    /// "No item" may be the doing of a damaged index.
    private func doubted(_ error: CofferError, of method: Method) -> CofferError {
        method.looksUpItems ? vault.openCatalog?.doubt(error) ?? error : error
    }

    private func deliver(_ answer: Answer) {
        guard let origin = answer.running.origin else { return }
        let (request, connection, number) = (origin.request, origin.connection, origin.number)
        if answer.running.kind == .changing { connection.waitsForTurn = true }
        if connections[number] === connection {
            if let failure = answer.failure ?? refusal(of: answer, origin) {
                sendFailure(failure, to: request.id, connection, number)
            } else if let reply = answer.takeReply() {
                send(reply, to: request.id, connection, number)
            }
        }
        if request.usesContext { connection.caller.context.endRequest() }
        connection.remove(request)
        if connections[number] === connection {
            if connection.canGoOn { connections.wantsToRead(number) }
        } else if !connection.isBusy {
            vault.releaseHandles(of: connection.caller)
        }
    }

    /// Why a reply can't be sent, if it can't: a lock may have come between the reading and this.
    private func refusal(of answer: Answer, _ origin: Running.Origin) -> CofferError? {
        let connection = origin.connection
        let state = vault.openKeys?.state ?? .noVault
        if answer.failure != nil { return nil }
        if let refusal = connection.credential?.refusal(of: answer.result) { return refusal }
        if let protection = answer.protection, !protection.mayBeSent(in: state) {
            return .locked("the item", in: state, for: .read)
        }
        let byteCount = answer.payloadByteCount
        if connections.transit.hasRoom(forPayload: byteCount, to: connection.tenant) { return nil }
        connections.dropStalled(but: origin.number)
        return connections.transit.hasRoom(forPayload: byteCount, to: connection.tenant) ? nil : .noRoomInTransit
    }

    private func send(_ reply: consuming Reply, to id: RequestID?, _ connection: Connection, _ number: Int) {
        connections.wantsToSend(number)
        let json = id.map { Response.successBytes(id: $0, result: .object(reply.result)) }
        if json == nil && connection.credential == nil { return }
        let protection = reply.protection
        let frame = OutgoingFrame(id: id, json: json, payload: reply.takePayload(), protection: protection)
        if !connections.transit.hasRoom(for: frame, to: connection.tenant) { connections.dropStalled(but: number) }
        guard connections.transit.hasRoom(for: frame, to: connection.tenant) else {
            return sendFailure(.noRoomInTransit, to: id, connection, number)
        }
        connection.send(frame)
        if connection.credential != nil { connection.end() }
    }

    private func sendFailure(_ error: CofferError, to id: RequestID?, _ connection: Connection, _ number: Int) {
        connections.wantsToSend(number)
        connections.noteRefusal(of: connection, error)
        if connection.credential != nil { return refuseCredential(connection, number, error) }
        guard let id else { return }
        connection.send(OutgoingFrame(id: id, json: Response.failureBytes(id: id, error: connection.caller.explained(error))))
    }

    /// Takes requests of a connection back.
    func cancelRequest(_ id: RequestID, besides call: Call) {
        let own = running.values.first { $0.call === call }?.origin
        guard let own else { return }
        for other in own.connection.requests where other.id == id && other !== own.request {
            if other.isStarted {
                other.cancel()
            } else {
                sendFailure(.cancelled, to: other.id, own.connection, own.number)
                own.connection.remove(other)
            }
        }
    }
}

extension RequestScope {
    /// Whether a request of it may change something.
    fileprivate var changes: Bool {
        switch self {
        case .changing, .barrier: true
        case .free, .reading: false
        }
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
