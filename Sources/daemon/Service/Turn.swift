internal import CofferCore
internal import CofferHandlers
internal import CofferKernelFiles
internal import CofferKeychain
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Carries out requests, one turn of the loop at a time.
///
/// A request that only reads is answered at once. A request that changes something is answered after the one commit of
/// the turn, which includes the audit's records. So no client receives what is not committed, and no answer is withdrawn.
final class Turn: ServerPart {
    private let hub: EventHub
    private let audit: AuditTrail
    private let locks: LockController
    let intake: Intake
    let responder: Responder

    /// The caller of chores, which no client asks for.
    private let own: Caller
    private let scheduler = Scheduler()
    private var running = RunningRequests()
    private var uncommitted = Uncommitted()
    private var pollCount = 0
    private let workers = Workers()
    private let mailbox: Mailbox<Message>

    init(_ hub: EventHub, _ audit: AuditTrail, _ locks: LockController, _ mounts: Mounts) throws {
        self.hub = hub
        self.audit = audit
        self.locks = locks
        responder = Responder(audit, mounts)
        intake = try Intake(audit, locks, responder)
        own = Caller(audit.vault.access.daemon, AccessRights(groups: [], verbs: [], reason: "it is the daemon"))
        mailbox = try Mailbox()
        super.init(beside: audit)
        try mailbox.deliver(on: loop) { [unowned self] message in take(message) }
        intake.begin = { [unowned self] request, connection in begin(request, connection) }
        intake.othersWait = { [unowned self] tenant in othersWait(besides: tenant) }
    }

    private var mounts: Mounts { responder.mounts }

    // MARK: The turn

    /// Carries out requests until none is left or the turn's quantum has ended.
    func carryOut() {
        scheduler.beginTurn()
        intake.endHungUp()
        beginChores()
        let start = clock.now
        var quantum = Limits.quantum
        var lastPoll = start
        var counts = Counts()
        while true {
            // Most turns have one request only, and need no poll between its arrival and its end. A tenant that is alone
            // only waits for itself: each poll reports all of its ready connections again.
            if counts.sum > 1, connections.hasSeveralTenants, clock.elapsed(since: lastPoll) > Limits.pollInterval,
                connections.hasReadable || !scheduler.isIdle
            {
                loop.poll(milliseconds: 0)
                lastPoll = clock.now
            }
            guard let tenant = carryOutOne(isOver: clock.elapsed(since: start) > quantum, &counts) else { break }
            // The changes of all tenants wait for the commit, and so for each other.
            if scheduler.changesWait(besides: tenant) { quantum = Limits.sharedQuantum }
        }
    }

    /// What a turn has carried out.
    private struct Counts {
        var arrivals = 0
        var readings = 0
        var changes = 0
        var sum: Int { arrivals + readings + changes }
    }

    /// Carries out one request or reads from one connection.
    ///
    /// - Parameters:
    ///   - isOver: Whether the quantum has ended: then the first of each kind is still carried out.
    ///   - counts: What the turn has carried out.
    /// - Returns: The tenant; `nil` if nothing is left for this turn.
    private func carryOutOne(isOver: Bool, _ counts: inout Counts) -> Int? {
        if counts.arrivals == 0 || !isOver, let tenant = takeArrival() {
            counts.arrivals += 1
            return tenant
        }
        connections.sendServed()
        if counts.readings == 0 || !isOver, let token = scheduler.nextReading() {
            counts.readings += 1
            let connection = running[token]?.origin?.connection
            let tenant = step(token)
            // What was read does not wait for the commit.
            if let connection, !connection.place.sendsAtTurnEnd { connections.send(connection) }
            return tenant
        }
        guard counts.changes == 0 || !isOver, let token = scheduler.nextChanging() else { return nil }
        counts.changes += 1
        let tenant = step(token)
        // New requests that only read come before the next change.
        if !scheduler.isIdle { loop.poll(milliseconds: 0) }
        return tenant
    }

    /// Reads from a connection, or begins a request of the kernel, by turns.
    ///
    /// - Returns: The tenant; `nil` if nothing has come.
    private func takeArrival() -> Int? {
        let isKernelFirst = mounts.takePrecedence()
        if isKernelFirst, let request = mounts.nextRequest() { return begin(request) }
        if let connection = connections.nextToRead() {
            intake.serve(connection)
            return connection.tenant.number
        }
        return isKernelFirst ? nil : mounts.nextRequest().map(begin)
    }

    /// Whether there is work, so that the loop must not block in the kernel.
    var hasWork: Bool {
        !scheduler.isIdle || scheduler.hasContinuing || !uncommitted.isEmpty || !shared.chores.isEmpty
            || vault.openCatalog?.hasChanges == true || connections.hasReadable || mounts.hasReady
            || loop.hasUndispatched
            || audit.isUnscheduled
    }

    /// Commits the changes of the turn, delivers their answers, and continues what waited for the commit.
    ///
    /// What continues may change something again, and is recorded before its answer is sent.
    func settle() {
        var isSettled = false
        while !isSettled {
            // A lock that fell due in this turn ends waits, and no later event need come.
            endWaiting()
            if let catalog = vault.openCatalog, catalog.hasChanges || audit.mustWrite(to: catalog) { commit() }
            let settled = uncommitted.takeSettled(isCommitted: vault.openCatalog?.hasChanges != true)
            for running in settled where running.hasEnded { responder.deliver(running) }
            for event in uncommitted.takeEvents() { hub.notify(of: event.event, to: .items, by: event.origin) }
            let continuing = settled.filter { !$0.hasEnded }
            for running in continuing { running.failure == nil ? step(running) : finish(running) }
            isSettled = continuing.isEmpty
        }
    }

    /// Commits the pending changes and records; the answers are delivered at the end of the turn.
    func commit() {
        guard let catalog = vault.openCatalog else { return }
        var failure: CofferError?
        do throws(CofferError) { try catalog.commit() } catch { failure = error }
        scheduler.noteCommit()
        audit.publishWritten(to: catalog)
        uncommitted.settle(failure, catalog.changes.takeEvents())
    }

    /// Whether another tenant has requests; the sockets are polled now and then.
    private func othersWait(besides tenant: Int) -> Bool {
        pollCount += 1
        if pollCount.isMultiple(of: Limits.stepsPerPoll) { loop.poll(milliseconds: 0) }
        return connections.othersWait(besides: tenant) || scheduler.othersWait(besides: tenant)
    }

    // MARK: Requests

    private func begin(_ request: PendingRequest, _ connection: Connection) {
        let token = running.takeToken()
        let call = Call(
            from: connection.caller,
            request.attachments,
            progress: request.wantsProgress ? TransferProgress(token, mailbox, clock) : nil,
            // The request holds the connection anyway, until it is answered.
            isConnected: { !connection.hasHungUp }
        )
        call.permit = request.permit
        let context = call.caller.context
        let kind: Scheduler.Kind = request.scope.changes || call.countsUse ? .changing : .reading
        if request.usesContext { context.beginRequest(at: clock.now) }
        request.start(call, isAlone: context.isForThisRequest)
        let wantsKeys = request.method.claim == .keys
        let startsAtOnce = kind == .reading && !wantsKeys && scheduler.mayRead(request.scope)
        let begun = Running(token, .client(request, connection), call, kind, of: connection.tenant.number) {
            [unowned self] in
            if !startsAtOnce { try admitAgain(request, call) }
            return try handlers.begin(request.method, request.params, call)
        }
        running[token] = begun
        scheduler.add(token, request.scope, kind, of: begun.tenant)
        if startsAtOnce {
            step(begun)
        } else if !wantsKeys || shared.claims.take(.keys, for: token, of: begun.tenant) {
            scheduler.resume(token)
        }
    }

    /// Asks the gate again: while a request waited, the state may have changed, or what permits it may have ended.
    private func admitAgain(_ request: PendingRequest, _ call: Call) throws(CofferError) {
        if call.isCancelled { throw .cancelled }
        if call.permit != nil {
            call.permit = try intake.admit(request, call.caller)
        } else if let refusal = Gate.refusal(of: request.method, in: try locks.state(for: request.method)) {
            throw refusal
        }
    }

    /// - Returns: The tenant.
    private func begin(_ request: KernelRequest) -> Int {
        let (mount, operation) = (request.mount, request.operation)
        let tenant = mount.caller.tenant
        let call = Call(from: mount.caller, request.attachments)
        let kind: Scheduler.Kind = operation.mayCommit ? .changing : .reading
        mount.requestCount += 1
        let begun = Running(running.takeToken(), .kernel(request), call, kind, of: tenant) { [unowned self] in
            try mounts.check(request, in: locks.state)
            return try mount.carryOut(request, call)
        }
        running[begun.token] = begun
        scheduler.add(begun.token, operation.scope, kind, of: tenant)
        if kind == .reading && scheduler.mayRead(operation.scope) { step(begun) } else { scheduler.resume(begun.token) }
        return tenant
    }

    private func beginChores() {
        let chores = shared.chores
        shared.chores = []
        for chore in chores {
            let call = Call(from: own, Attachments(payload: nil, descriptor: nil))
            let begun = Running(running.takeToken(), .daemon, call, .changing, of: chore.tenant) {
                try chore.begin(call)
            }
            running[begun.token] = begun
            scheduler.add(begun.token, .barrier, .changing, of: chore.tenant)
            scheduler.resume(begun.token)
        }
    }

    // MARK: Steps

    /// - Returns: The tenant of the request.
    private func step(_ token: Int) -> Int {
        guard let running = running[token] else { return own.tenant }
        step(running)
        return running.tenant
    }

    private func step(_ running: Running) {
        let tenant = running.tenant
        var next: Step.Next? = running.next
        while let body = next {
            next = nil
            let isDeferrable = running.method?.isDeferrable == true
            vault.openCatalog?.serve(running.call.caller, isDeferrable: isDeferrable)
            running.call.quantum = Quantum(Limits.quantum, of: clock) { [unowned self] in othersWait(besides: tenant) }
            let changeCount = vault.openCatalog?.changes.madeCount
            do {
                let step = try body()
                running.hasChanged = running.hasChanged || vault.openCatalog?.changes.madeCount != changeCount
                noteChanges(by: running)
                next = take(step, of: running)
            } catch {
                noteChanges(by: running)
                running.end(with: CofferError(mapping: error, running.call.subject))
                finish(running)
            }
        }
    }

    private func noteChanges(by running: Running) {
        if running.kind == .changing, vault.openCatalog?.hasChanges == true { scheduler.noteChange(by: running.token) }
    }

    /// - Returns: The continuation, if the step has no condition.
    private func take(_ step: consuming Step, of running: Running) -> Step.Next? {
        switch consume step {
        case .done(let reply):
            running.end(with: reply)
            finish(running)
        case .work(let item, let lane, let next):
            running.next = next
            let (token, mailbox) = (running.token, mailbox)
            let pool = workers.pool(for: lane, isTransfer: running.origin?.request.isTransfer == true)
            pool.submit(item, for: running.tenant) { mailbox.post(.worked(token)) }
        case .claim(let claim, let next):
            running.next = next
            if shared.claims.take(claim, for: running.token, of: running.tenant) { return next }
        case .committed(let next):
            guard vault.openCatalog?.hasChanges == true else { return next }
            running.next = next
            recordChange(by: running)
            uncommitted.append(running)
        case .again(let next):
            running.next = next
            scheduler.resumeNextTurn(running.token)
        }
        freeClaims()
        return nil
    }

    /// Records what a request has made that goes on after the commit, so that it takes no commit of its own.
    private func recordChange(by running: Running) {
        guard running.hasChanged, running.method == .fileOpen else { return }
        running.hasChanged = false
        responder.record(running, stands: false)
        running.isRecorded = true
    }

    private func take(_ message: Message) {
        switch message {
        case .worked(let token): scheduler.resume(token)
        case .progressed(let token, let done, let total):
            guard let origin = running[token]?.origin, running[token]?.call.isCancelled == false else { return }
            let params = ProgressParameters(done: done, total: total, request: origin.request.id)
            origin.connection.send(OutgoingFrame(.progress, params.json))
        }
    }

    /// Ends the waits for claims that can't succeed any more.
    private func endWaiting() {
        for token in shared.claims.waiting {
            guard let claimant = running[token], let error = claimant.call.endOfWaiting else { continue }
            shared.claims.withdraw(token)
            claimant.end(with: error)
            finish(claimant)
        }
    }

    private func release(_ claim: Claim) {
        if let token = shared.claims.release(claim) { scheduler.resume(token) }
    }

    private func freeClaims() {
        let freed = shared.claims.freed
        shared.claims.freed = []
        for claim in freed { release(claim) }
    }

    // MARK: Answers

    /// Ends a request; its answer waits for the commit if it depends on uncommitted changes.
    private func finish(_ running: Running) {
        let isRecorded = running.isRecorded
        self.running[running.token] = nil
        scheduler.remove(running.token)
        running.call.end()
        // Before the others: a claim that it has released itself may be another request's then.
        freeClaims()
        for claim in running.call.kept { shared.claims.keep(claim) }
        for claim in shared.claims.held(by: running.token) { release(claim) }
        let method = running.method
        let hasChanges = vault.openCatalog?.hasChanges == true
        let stands = running.kind == .reading || !hasChanges || running.failure == nil && method?.awaitsCommit == true
        if let method, let failure = running.failure { running.end(with: responder.doubted(failure, of: method)) }
        if !isRecorded { responder.record(running, stands: stands) }
        stands ? responder.deliver(running) : uncommitted.append(running)
    }

    /// Cancels requests of a connection.
    func cancelRequest(_ id: RequestID, besides call: Call) {
        guard let own = running.origin(of: call) else { return }
        for other in own.connection.requests.all where other.id == id && other !== own.request {
            if other.isStarted {
                other.cancel()
            } else {
                responder.fail(.cancelled, other.id, own.connection)
                own.connection.remove(other)
            }
        }
    }
}

extension RequestScope {
    /// Whether its requests may change something.
    fileprivate var changes: Bool {
        switch self {
        case .changing, .barrier: true
        case .free, .reading: false
        }
    }
}
