internal import CofferRights
internal import CofferAudit
internal import CofferCore
internal import CofferKernelFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// Records requests in the audit: noted with the answer, written with the turn's commit or a moment later.
///
/// Subscribed clients are notified after the write.
final class AuditTrail: ServerPart {
    private let hub: EventHub
    /// The time by which pending records must be written; `nil` before the first turn that leaves some.
    private var deadline: UInt64?
    /// Whether pending records must be written with this turn.
    private var isDue = false
    /// Whether requests are recorded.
    ///
    /// Only a benchmark turns this off, to measure the cost.
    var keepsRecords = true

    init(beside other: ServerPart, _ hub: EventHub) {
        self.hub = hub
        super.init(beside: other)
    }

    // MARK: Noting

    /// Notes a request that is answered.
    ///
    /// - Parameters:
    ///   - items: The items that it concerned; if empty, those that its parameters name.
    ///   - stands: Whether its success does not depend on the commit of this turn.
    ///   - mayChange: Whether it may have changed something.
    ///   - failure: The error of the answer, if it is one.
    func note(
        _ request: PendingRequest,
        of connection: Connection,
        _ items: [AuditedItem] = [],
        stands: Bool = false,
        mayChange: Bool = true,
        failure: CofferError?
    ) {
        guard keepsRecords, request.method.isAudited || failure?.code == .missingEntitlement else { return }
        // The unit still waits, so the result is not known yet.
        if connection.credential?.isWaiting == true { return }
        let found = items.isEmpty ? AuditedItem.all(of: request, from: connection.caller) : items
        let (waited, served) = (connection.credential?.auditedReason, connection.caller.choice.served?.words)
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: connection.caller.recorded,
                action: request.method.rawValue,
                items: found,
                state: vault.openKeys?.state ?? .noVault,
                refusal: failure.map { AuditedRefusal($0) },
                reason: Self.joined(waited, Self.joined(served, request.auditedReason))
            ),
            isAnswered: stands && failure == nil
        )
        // Written at once: the record explains why a unit does not start.
        if connection.credential != nil { isDue = true }
        // The change may have been committed turns ago: the answer waits for its record.
        if mayChange && !Gate.verbs(for: request.method, request.params).isSubset(of: [.read, .audit]) {
            isDue = true
        }
    }

    private static func joined(_ one: String?, _ other: String?) -> String? {
        guard let one, let other else { return one ?? other }
        return "\(one); \(other)"
    }

    /// Notes a request of the kernel that is answered.
    ///
    /// - Parameters:
    ///   - stands: Whether its success does not depend on the commit of this turn.
    ///   - mayChange: Whether it may have changed something.
    ///   - failure: The error of the answer, if it is one.
    func note(_ request: KernelRequest, stands: Bool, mayChange: Bool, failure: CofferError?) {
        guard keepsRecords, let method = request.operation.method else { return }
        // What has no name is something that the kernel has found already, or looks for in vain.
        guard method.isAudited && request.name != nil || failure?.code == .missingEntitlement else { return }
        let mount = request.mount
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: mount.caller.recorded,
                action: method.rawValue,
                items: request.name.map { [AuditedItem(name: $0, group: mount.facts.group)] } ?? [],
                state: vault.openKeys?.state ?? .noVault,
                refusal: failure.map { AuditedRefusal($0) }
            ),
            isAnswered: stands && failure == nil
        )
        if mayChange && !Gate.verbs(for: method, request.operation.gateParameters).isSubset(of: [.read, .audit]) {
            isDue = true
        }
    }

    /// Notes a client that was refused.
    func noteRefused(_ client: ClientIdentity, _ error: any Error) {
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

    /// Notes that the keys were loaded or wiped.
    func noteState(_ state: VaultState, because cause: LockCause? = nil) {
        note(
            AuditRecord(
                time: wallClockMilliseconds(),
                client: nil,
                action: "vault.state",
                state: state,
                reason: cause?.reason
            ),
            isAnswered: true
        )
    }

    private func note(_ record: AuditRecord, isAnswered: Bool = false) {
        if let catalog = vault.openCatalog { return catalog.audit.note(record, isAnswered: isAnswered) }
        writeToJournal([record])
    }

    // MARK: Writing

    private var isWaiting: Bool { vault.openCatalog?.audit.isWaiting == true }

    /// Whether records are pending that have no deadline yet.
    var isUnscheduled: Bool { deadline == nil && isWaiting }

    /// The time by which pending records must be written; `nil` if there are none.
    var nextDeadline: UInt64? { isWaiting ? deadline : nil }

    /// Whether pending records must be written even if the turn has no other changes; if not, they get a deadline.
    func mustWrite(to catalog: Catalog) -> Bool {
        guard catalog.audit.isWaiting else { return false }
        let now = clock.now
        if isDue || catalog.audit.isFull || deadline ?? .max <= now { return true }
        catalog.audit.postpone()
        deadline = deadline ?? now + Self.delay
        return false
    }

    private static let delay = UInt64(Limits.auditDelayMilliseconds) * 1_000_000

    /// Publishes the records that are committed now.
    func publishWritten(to catalog: Catalog) {
        isDue = false
        let records = catalog.audit.confirm()
        deadline = catalog.audit.isWaiting ? clock.now + Self.delay : nil
        if records.isEmpty { return }
        hub.notify(of: .auditDidGrow(records), to: .audit)
        writeToJournal(records)
    }

    private func writeToJournal(_ records: [AuditRecord]) {
        let audit = vault.openCatalog?.audit
        configuration.journal.write(records) { audit?.tag(of: $0) }
    }
}

extension AuditRecord {
    /// Whether it is of a request that was granted and changed nothing.
    ///
    /// An open may create its file.
    var isRead: Bool {
        guard refusal == nil, let method = Method(rawValue: action), method != .fileOpen else { return false }
        return method.verbs.isSubset(of: [.read, .audit])
    }
}

extension PendingRequest {
    /// The rule that permitted it, or that it adds.
    fileprivate var auditedReason: String? {
        if let rule = permit?.rule { return "rule \(rule.number)" + (rule.reason.map { ": \($0)" } ?? "") }
        switch method {
        case .accessAllow, .accessDeny: return auditedRule
        case .itemList: return params["export"] == .bool(true) ? "for an export" : nil
        case .accessRemove: return params["rule"]?.integerValue.map { "removes rule \($0)" }
        default: return nil
        }
    }

    /// The rule that it adds; its parameters are not validated.
    private var auditedRule: String? {
        guard let client = params["client"]?.stringValue,
            let subject = params["pattern"]?.stringValue ?? params["name"]?.stringValue
        else { return nil }
        let verbs = (params["verbs"]?.arrayValue ?? []).prefix(AccessRule.possibleVerbs.count).compactMap(\.stringValue)
        return "\(method == .accessAllow ? "allows" : "denies") \(client) "
            + "\(verbs.joined(separator: ", ")) \(quotedForDisplay(subject))"
            + (params["reason"]?.stringValue.map { ": \($0)" } ?? "")
    }
}

extension AuditedItem {
    /// The items that a request names; its parameters are not validated.
    fileprivate static func all(of request: PendingRequest, from caller: Caller) -> [AuditedItem] {
        let params = request.params
        let said =
            request.permit?.rule.group ?? params["group"]?.stringValue
            ?? params["attributes"]?.objectValue?["accessGroup"]?.stringValue
        let group = said.map { $0 == AccessGroup.ownProgram ? caller.programGroup ?? $0 : caller.own($0) }
        var named: [AuditedItem] = []
        for key in ["name", "to"] {
            guard let name = params[key]?.stringValue else { continue }
            named.append(AuditedItem(name: name, group: group ?? caller.groups.first))
        }
        if !named.isEmpty { return named }
        let searched = group ?? caller.groupWithoutName(of: request.method)
        if let reference = params["reference"]?.stringValue.flatMap(ItemID.init(hexadecimal:)) {
            return [AuditedItem(name: nil, group: searched, reference: reference)]
        }
        let attributes = params["attributes"]?.objectValue
        let parts = ["service", "server", "account", "label"].compactMap { attributes?[$0]?.stringValue }
        return parts.isEmpty ? [] : [AuditedItem(name: parts.joined(separator: "/"), group: searched)]
    }
}

extension Caller {
    /// The group of a request on the keychain that names none, if it can be only one.
    fileprivate func groupWithoutName(of method: Method) -> String? {
        groups.count == 1 || method == .keychainAdd ? groups.first : nil
    }
}
