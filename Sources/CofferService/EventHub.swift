internal import CofferCore
internal import CofferVault
internal import CofferWire

/// Notifies clients of the events that they have subscribed to, in the access groups that they hold.
final class EventHub {
    private let connections: Connections
    /// The state that clients were last notified of.
    private var protectedData = ProtectedData.gone

    init(_ connections: Connections) { self.connections = connections }

    /// Whether a client has subscribed to changes of items.
    var wantsItems: Bool {
        connections.all.values.contains { $0.caller.subscription.selection?.contains(.items) ?? false }
    }

    /// Notifies of the state of protected data, if it has changed.
    func announce(_ next: ProtectedData) {
        let last = protectedData
        protectedData = next
        if last == next { return }
        if last == .available { notify(of: .protectedDataWillBecomeUnavailable) }
        switch next {
        case .available: notify(of: .protectedDataDidBecomeAvailable)
        case .going: break
        case .gone: notify(of: .protectedDataDidBecomeUnavailable)
        }
    }

    /// Notifies the subscribed clients.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - kind: The subscription that the event requires.
    func notify(of event: VaultEvent, to kind: EventSelection = []) {
        for connection in connections.all.values {
            guard let selection = connection.caller.subscription.selection, selection.isSuperset(of: kind) else {
                continue
            }
            for part in event.parts(for: connection.caller) { connection.notify(part) }
        }
    }
}

/// Whether data that is only readable while unlocked is available.
enum ProtectedData {
    case available
    /// Available until the end of a lock's grace.
    case going
    case gone
}

extension VaultEvent {
    /// The number of missed events that it counts for.
    var count: Int {
        switch self {
        case .itemsDidChange(let changes): changes.count
        case .auditDidGrow(let records): records.count
        case .eventsMissed(let count): count
        case .attemptDidFail, .protectedDataDidBecomeAvailable, .protectedDataDidBecomeUnavailable,
            .protectedDataWillBecomeUnavailable, .inactiveDataDidBecomeUnavailable,
            .firstUnlockDataDidBecomeUnavailable:
            1
        }
    }

    /// The parts of the event that a client may see, divided into messages of bounded size.
    fileprivate func parts(for caller: Caller) -> [VaultEvent] {
        switch self {
        case .itemsDidChange(let changes):
            changes.filter { caller.subscription.groups.contains($0.group) }
                .parts(measuredBy: \.jsonByteCount).map { .itemsDidChange($0) }
        case .auditDidGrow(let records):
            records.filter { !caller.isReading($0) }.parts(measuredBy: \.jsonByteCount).map { .auditDidGrow($0) }
        default: [self]
        }
    }
}

extension Caller {
    /// Whether a record says that this connection reads the audit.
    fileprivate func isReading(_ record: AuditRecord) -> Bool {
        guard record.isReading, record.client == recorded, let last = subscription.lastAuditReading else {
            return false
        }
        return (0..<Limits.auditReadingMilliseconds).contains(record.time - last)
    }
}

extension Array {
    /// The elements in order, divided into messages of bounded size.
    fileprivate func parts(measuredBy byteCount: (Element) -> Int) -> [[Element]] {
        var parts: [[Element]] = []
        var partByteCount = 0
        for element in self {
            partByteCount += byteCount(element)
            if parts.isEmpty || partByteCount > Limits.eventBytes / 2 {
                parts.append([])
                partByteCount = byteCount(element)
            }
            parts[parts.count - 1].append(element)
        }
        return parts
    }
}

extension ItemChange {
    /// The maximum size of its JSON: escaping makes up to six bytes of one.
    fileprivate var jsonByteCount: Int {
        256 + 6 * (group.utf8.count + (name?.utf8.count ?? 0) + (formerName?.utf8.count ?? 0))
    }
}
