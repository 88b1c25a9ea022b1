internal import CofferCore
internal import CofferSystem

// Who goes on when: the tenants take turns, a helping each, so that none waits for all that another one has asked for.

extension Server {
    /// The helpings of a turn after which others than clients get theirs.
    private static let helpingsPerTurn = 16
    /// The helpings after which a turn ends, whoever has got what.
    private static let mostHelpingsPerTurn = 128
    /// The answers after which it is looked whether somebody waits who has none coming.
    private static let answersPerLook = 4

    /// The tenant that a client belongs to.
    ///
    /// - Throws: Where there is no descriptor for a new one.
    func tenant(of caller: ClientIdentity, _ rights: AccessRights) throws(SystemError) -> Tenant {
        let key = Tenant.Key(principal: caller.principal, limits: rights.limits)
        if let tenant = tenants.values.first(where: { $0.key == key }) { return tenant }
        forgetTenants()
        nextTenantNumber += 1
        let tenant = try Tenant(nextTenantNumber, key, on: loop) { [unowned self, number = nextTenantNumber] in
            assumeIsolated { server in
                if let tenant = server.tenants[number] { server.queue(tenant) }
            }
        }
        tenants[tenant.number] = tenant
        return tenant
    }

    private func forgetTenants() {
        let now = configuration.clock.now
        for tenant in tenants.values where tenant.isForgettable(at: now) {
            loop.unwatch(tenant.crowd)
            tenants[tenant.number] = nil
        }
    }

    /// Lets a tenant go on, when it is its turn.
    func queue(_ tenant: Tenant) {
        if tenant.isQueued || tenant.isResting { return }
        tenant.isQueued = true
        ready.append(tenant)
    }

    /// Lets a connection go on, when it is its tenant's turn.
    func queue(_ session: Session, _ number: Int) {
        session.tenant.resume(number)
        queue(session.tenant)
    }

    /// Has those who have something to do do it, until nobody has, or one has got all and its answers wait for nothing but the
    /// end of the turn.
    func serveTenants() {
        round += 1
        var isSomebodyDone = false
        var helpingCount = 0
        while let tenant = ready.first {
            if tenant.round == round {
                if isSomebodyDone || helpingCount >= Self.mostHelpingsPerTurn { break }
                if helpingCount >= Self.helpingsPerTurn && loop.hasJobs { break }
                round += 1
            }
            ready.removeFirst()
            tenant.round = round
            let hasMore = giveHelping(to: tenant)
            helpingCount += 1
            tenant.isQueued = false
            if hasMore {
                loop.look()
                queue(tenant)
            } else if !answerEarly(tenant) {
                isSomebodyDone = true
            }
        }
        if !ready.isEmpty { loop.goOn() }
    }

    /// - Returns: Whether the tenant has more to do.
    private func giveHelping(to tenant: Tenant) -> Bool {
        if tenant.isResting { return false }
        serving = tenant
        defer { serving = nil }
        if let number = tenant.takeResuming(besidesEvents: loop.hasNext(of: tenant.crowd)) {
            resume(number)
        } else {
            loop.deliverNext(of: tenant.crowd)
        }
        return !tenant.isResting && (tenant.isResuming || loop.hasNext(of: tenant.crowd))
    }

    /// Whether the tenant whose turn it is has to stop in the middle of its helping.
    var mustGiveWay: Bool {
        guard let serving else { return false }
        return serving.isResting || othersWait(besides: serving.number)
    }

    /// Whether another tenant has something to do, which may have come just now.
    func othersWait(besides tenant: Int) -> Bool {
        loop.look()
        return ready.contains { $0.number != tenant }
    }

    // MARK: Answers

    /// Sends a tenant what it has asked for before the turn ends, if all of that is the same whatever comes of what others
    /// change in it: it does not wait for their commit.
    ///
    /// - Returns: Whether it was sent.
    private func answerEarly(_ tenant: Tenant) -> Bool {
        // Where nobody changes anything, the end of the turn is as near.
        guard vault.openCatalog?.hasChanges == true || !ready.isEmpty,
            tenant.mayAnswerEarly(sessions, upTo: Self.answersPerLook)
        else { return false }
        sending.removeAll { $0 === tenant }
        while let number = tenant.takeSending() {
            if let session = sessions[number] { send(session, number) }
        }
        loop.renew(tenant.crowd)
        loop.look()
        return true
    }

    /// A connection has something to send, when it is its tenant's turn.
    func queueAnswers(of session: Session, _ number: Int) {
        if session.isToBeSent { return }
        session.isToBeSent = true
        if !session.tenant.isSending { sending.append(session.tenant) }
        session.tenant.send(to: number)
    }

    /// Sends what is to be sent, or leaves some for the next turn where somebody has come who has no answer among it.
    func sendAnswers() {
        for tenant in sending { tenant.sendingTurn = loop.turn }
        var count = 0
        while !sending.isEmpty {
            let tenant = sending.removeFirst()
            let number = tenant.takeSending()
            if tenant.isSending { sending.append(tenant) }
            if let number, let session = sessions[number] { send(session, number) }
            count += 1
            if sending.isEmpty || !count.isMultiple(of: Self.answersPerLook) { continue }
            loop.look()
            if ready.contains(where: { $0.sendingTurn != loop.turn }) { break }
        }
        if !sending.isEmpty || !ready.isEmpty { loop.goOn() }
    }

    private func send(_ session: Session, _ number: Int) {
        session.isToBeSent = false
        guard session.flush() else { return drop(session, number) }
        // Room again: what waited for it goes on in a turn of its own.
        if session.hasBacklog && session.hasRoom && !session.isFull { queue(session, number) }
    }

    // MARK: Limits

    /// Takes note of a request, which counts for what its tenant may ask in a second.
    func noteRequest(of session: Session) {
        session.tenant.noteRequest(at: configuration.clock)
        beginRest(of: session.tenant)
    }

    /// Takes note of a refusal: who is refused over and over waits in between.
    ///
    /// That something is not there, or is locked, is an answer like others; a passcode has a count of its own.
    func noteRefusal(of session: Session, _ error: CofferError) {
        guard [.missingEntitlement, .param, .unimplemented].contains(error.code) else { return }
        session.tenant.noteRefusal(at: configuration.clock)
        beginRest(of: session.tenant)
    }

    private func beginRest(of tenant: Tenant) {
        if !tenant.isResting || resting.contains(where: { $0 === tenant }) { return }
        resting.append(tenant)
        loop.setTelling(false, of: tenant.crowd)
        setRestTimer()
    }

    /// Lets those go on who have rested.
    func endRests() {
        let now = configuration.clock.now
        for tenant in resting where tenant.endRest(at: now) {
            loop.setTelling(true, of: tenant.crowd)
            if tenant.isResuming { queue(tenant) }
        }
        resting.removeAll { !$0.isResting }
        setRestTimer()
    }

    private func setRestTimer() { restTimer?.set(resting.compactMap(\.restEnd).min()) }
}
