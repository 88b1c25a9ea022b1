internal import CofferCore

/// The events that a client has received and not taken.
///
/// When the buffer is full, the oldest events stay, and its last entry counts the dropped ones.
struct EventBuffer {

    private var events: [VaultEvent] = []

    mutating func append(_ event: VaultEvent) {
        guard events.count >= Limits.bufferedEvents, let last = events.popLast() else { return events.append(event) }
        // The daemon's count may be any.
        let (sum, isOver) = last.changeCount.addingReportingOverflow(event.changeCount)
        events.append(.eventsMissed(isOver ? .max : sum))
    }

    /// Removes and returns the oldest event.
    mutating func takeFirst() -> VaultEvent? { events.isEmpty ? nil : events.removeFirst() }
}

extension VaultEvent {
    /// The number of events that it represents.
    fileprivate var changeCount: Int {
        if case .eventsMissed(let count) = self { count } else { 1 }
    }

    /// The selection that a subscription needs for this event.
    var selection: EventSelection {
        switch self {
        case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable,
            .inactiveDataDidBecomeUnavailable, .firstUnlockDataDidBecomeUnavailable, .eventsMissed:
            []
        case .itemsDidChange: .items
        case .attemptDidFail: .attempts
        case .auditDidGrow: .audit
        }
    }
}
