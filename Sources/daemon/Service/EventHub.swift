internal import CofferCore
internal import CofferVault
internal import CofferWire

/// Notifies clients of the events that they have subscribed to, in the access groups that they hold.
final class EventHub {
    private let connections: Connections
    let mounts: Mounts
    /// The state that clients were last notified of.
    private var protectedData = ProtectedData.gone
    /// The connections that have subscribed; `nil` if that has changed since they were looked for.
    private var subscribed: [Connection]?
    /// Whether one of them has subscribed to changes of items; `nil` in the same case.
    private var isItemWatched: Bool?

    init(_ connections: Connections, _ mounts: Mounts) { (self.connections, self.mounts) = (connections, mounts) }

    /// Whether a client or a mount wants to hear of changes of items.
    var wantsItems: Bool { !mounts.isEmpty || wantsExpiry }

    /// Whether a client has subscribed that may show when items expire: a mount does not, and need not have all items
    /// searched for dates.
    var wantsExpiry: Bool {
        let isWatched =
            isItemWatched ?? subscribers().contains { $0.caller.subscription.selection?.contains(.items) ?? false }
        isItemWatched = isWatched
        return isWatched
    }

    /// Looks for the subscribed connections again, when there is something to notify them of.
    func subscriptionsDidChange() { (subscribed, isItemWatched) = (nil, nil) }

    private func subscribers() -> [Connection] {
        if let subscribed { return subscribed }
        let found = connections.all.values.filter { $0.caller.subscription.selection != nil }
        subscribed = found
        return found
    }

    /// The mounts that have not confirmed that they have dropped what a lock ended.
    var unconfirmedMounts: [UnconfirmedMount] { Array(mounts.unconfirmed.prefix(Limits.unconfirmedMounts)) }

    /// Notifies of the state of protected data, if it has changed.
    ///
    /// Each client is notified at once: what a thousand clients are sent takes longer than a commit, and the first of
    /// them need not wait for the last.
    func announce(_ next: ProtectedData) {
        let last = protectedData
        protectedData = next
        if last == next { return }
        var events: [VaultEvent] = []
        if last == .available {
            mounts.noteLocking()
            events.append(.protectedDataWillBecomeUnavailable)
        }
        switch next {
        case .available:
            mounts.dropAll(isLock: false)
            events.append(.protectedDataDidBecomeAvailable)
        case .going: break
        case .gone:
            mounts.dropAll(isLock: true)
            events.append(.protectedDataDidBecomeUnavailable)
        }
        let frames = events.map { ($0, $0.frame) }
        for connection in subscribers() {
            for (event, frame) in frames { connection.notify(event, frame) }
            connections.sendEarly(connection)
        }
    }

    /// Notifies the subscribed clients.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - kind: The subscription that the event requires.
    ///   - origin: The process that has caused it; `nil` for the daemon itself.
    func notify(of event: VaultEvent, to kind: EventSelection = [], by origin: Int32? = nil) {
        switch event {
        case .itemsDidChange(let changes): mounts.notify(of: changes, by: origin)
        case .inactiveDataDidBecomeUnavailable: mounts.dropAll(isLock: true)
        case .firstUnlockDataDidBecomeUnavailable: mounts.dropAll(isLock: true, withNames: true)
        case .eventsMissed: mounts.dropAll(isLock: false, withNames: true)
        default: break
        }
        var whole: [UInt8]?
        for connection in subscribers() {
            let caller = connection.caller
            guard let selection = caller.subscription.selection, selection.isSuperset(of: kind) else { continue }
            guard let parts = event.parts(for: caller) else {
                let frame = whole ?? event.frame
                whole = frame
                connection.notify(event, frame)
                continue
            }
            for part in parts { connection.notify(part, part.frame) }
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

    /// The parts of the event that a client may see, divided into messages of bounded size; `nil` if all clients see all
    /// of it.
    fileprivate func parts(for caller: Caller) -> [VaultEvent]? {
        switch self {
        case .itemsDidChange(let changes):
            changes.filter { caller.subscription.groups.contains($0.group) }
                .parts(measuredBy: \.jsonByteCount).map { .itemsDidChange($0) }
        case .auditDidGrow(let records):
            records.filter { !caller.isReading($0) }.parts(measuredBy: \.jsonByteCount).map { .auditDidGrow($0) }
        default: nil
        }
    }
}

extension Caller {
    /// Whether a record says that this connection reads the audit.
    fileprivate func isReading(_ record: AuditRecord) -> Bool {
        guard record.isReading, record.client == recorded, let last = subscription.lastAuditReading else {
            return false
        }
        return (0..<Limits.auditReadingMilliseconds).contains(record.time.nearestDifference(last))
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
