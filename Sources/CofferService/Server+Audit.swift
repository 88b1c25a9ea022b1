internal import CofferAccess
internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// Who did what: noted when a request is answered, written with the turn or a moment later, and told then.

extension Server {
    // MARK: Noting

    /// Notes what came of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - session: Its connection.
    ///   - items: The items that it was about, where its parameters do not name them.
    ///   - isCommitted: Whether it was answered with what is on the disk.
    ///   - failure: Why it was not done.
    func note(
        _ request: PendingRequest,
        of session: Session,
        _ items: [AuditedItem] = [],
        isCommitted: Bool = false,
        failure: CofferError?
    ) {
        guard keepsAudit, request.method.isAudited || failure?.code == .missingEntitlement else { return }
        // What comes of it is not known yet.
        if session.credential?.isWaiting == true { return }
        let found = items.isEmpty ? AuditedItem.all(of: request, from: session.caller) : items
        let (waited, granted) = (session.credential?.auditedReason, request.auditedReason)
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: session.caller.recorded,
                action: request.method.rawValue,
                items: found,
                state: vault.openKeys?.state ?? .noVault,
                refusal: failure.map { AuditedRefusal($0) },
                reason: waited.map { waited in granted.map { "\(waited); \($0)" } ?? waited } ?? granted
            ),
            isAnswered: isCommitted && failure == nil
        )
        // Who wonders why a unit does not start looks at once.
        if session.credential != nil { auditIsDue = true }
        // It may have been done turns ago: the answer waits for its record.
        if !isCommitted && !Gate.verbs(for: request.method, request.params).isSubset(of: [.read, .audit]) {
            auditIsDue = true
        }
    }

    /// Notes somebody who may not even connect.
    func noteTurnedAway(_ client: ClientIdentity, _ error: any Error) {
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: client.recorded,
                action: "connect",
                state: vault.openKeys?.state ?? .noVault,
                refusal: AuditedRefusal(CofferError(mapping: error, "can't tell who is calling"))
            )
        )
    }

    /// Notes that the vault is in another state from here on.
    ///
    /// - Parameters:
    ///   - state: The state.
    ///   - cause: What the daemon has locked it for, if it has.
    func noteState(_ state: VaultState, because cause: LockCause? = nil) {
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: nil,
                action: "vault.state",
                state: state,
                reason: cause?.reason
            )
        )
    }

    private func note(_ record: AuditRecord, isAnswered: Bool = false) {
        if let catalog = vault.openCatalog { return catalog.audit.note(record, isAnswered: isAnswered) }
        configuration.journal?([record])
    }

    // MARK: Reading

    /// A page of what was done, up to now.
    func listRecords(_ params: AuditListParameters) throws(CofferError) -> AuditPage {
        let limit = min(params.limit ?? .max, Limits.pageItems)
        do {
            return try writtenAudit().page(after: params.after, params.query, limit: limit)
        } catch {
            throw .init(mapping: error, "can't read the audit")
        }
    }

    /// Checks some of what was written.
    func verifyAudit(_ params: AuditVerifyParameters) throws(CofferError) -> AuditVerification {
        do { return try writtenAudit().verify(after: params.after) } catch {
            throw .init(mapping: error, "can't check the audit")
        }
    }

    /// The audit, with what waited to be written; what this turn changes is recorded when it ends.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try vault.catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { writeAudit(of: catalog) }
        return catalog.audit
    }

    // MARK: Writing

    /// Ends a turn that has changed nothing.
    func settleAudit(of catalog: Catalog) {
        guard catalog.audit.isWaiting else { return }
        if auditIsDue || catalog.audit.isFull { return writeAudit(of: catalog) }
        catalog.audit.postpone()
        setAuditTimer()
    }

    /// Writes what waits; where that fails it waits on.
    func writeAudit(of catalog: Catalog) {
        try? catalog.commit()
        tellRecords(of: catalog)
    }

    /// Tells outside of the database how far it has come: behind the answers, which need not wait for that.
    func moveAnchor(isLast: Bool = false) { vault.openCatalog?.audit.moveAnchor(isLast: isLast) }

    private func setAuditTimer() {
        if auditTimerIsSet { return }
        auditTimerIsSet = true
        auditTimer?.set(configuration.clock.now + UInt64(Limits.auditDelayMilliseconds) * 1_000_000)
    }

    func auditTimerFired() {
        auditTimerIsSet = false
        auditIsDue = true
    }

    /// Tells what was written, now that it is on the disk; what could not be is tried again.
    func tellRecords(of catalog: Catalog) {
        auditIsDue = false
        let records = catalog.audit.confirm()
        if catalog.audit.isWaiting { setAuditTimer() }
        if records.isEmpty { return }
        tell(.auditDidGrow(records), wishing: .audit)
        configuration.journal?(records)
    }
}

extension PendingRequest {
    /// Why it was allowed, where that was a lease; what a lease that it grants is for.
    fileprivate var auditedReason: String? {
        if let lease { return "lease \(lease.number)" + (lease.terms.reason.isEmpty ? "" : ": \(lease.terms.reason)") }
        return method == .leaseGrant ? params["reason"]?.stringValue : nil
    }
}

extension AuditedItem {
    /// The items that a request names: its parameters may make no sense.
    fileprivate static func all(of request: PendingRequest, from caller: Caller) -> [AuditedItem] {
        if let terms = request.lease?.terms { return [AuditedItem(name: terms.name.path, group: terms.group)] }
        let params = request.params
        let group = params["group"]?.stringValue ?? params["attributes"]?.objectValue?["accessGroup"]?.stringValue
        var named: [AuditedItem] = []
        for key in request.method.auditedNames {
            guard let name = params[key]?.stringValue else { continue }
            named.append(AuditedItem(name: name, group: group ?? caller.groups.first))
        }
        if !named.isEmpty { return named }
        if let reference = params["reference"]?.stringValue.flatMap(ItemID.init(hexadecimal:)) {
            return [AuditedItem(name: nil, group: group, reference: reference)]
        }
        let attributes = params["attributes"]?.objectValue
        let parts = ["service", "server", "account", "label"].compactMap { attributes?[$0]?.stringValue }
        return parts.isEmpty ? [] : [AuditedItem(name: parts.joined(separator: "/"), group: group)]
    }

    init(_ item: KeychainItem) { self.init(item.id, item.attributes) }

    init(_ id: ItemID, _ attributes: ItemAttributes) {
        self.init(name: attributes.title, group: attributes.group, reference: id)
    }
}
