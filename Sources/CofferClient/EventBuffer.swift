internal import CofferCore

/// The events that nobody has asked for yet, as many as a client holds for somebody who looks elsewhere.
///
/// Where there are more, those that came first stay, and the last one counts what came behind them.
struct EventBuffer {
    /// More than a client that asks for events leaves between two looks at them.
    private static let capacity = 1024

    private var events: [VaultEvent] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: VaultEvent) {
        guard events.count >= Self.capacity, let last = events.popLast() else { return events.append(event) }
        events.append(.eventsMissed(last.toldCount + event.toldCount))
    }

    /// Takes the oldest one.
    mutating func takeFirst() -> VaultEvent? { events.isEmpty ? nil : events.removeFirst() }
}

extension VaultEvent {
    /// How many events it stands for.
    fileprivate var toldCount: Int {
        if case .eventsMissed(let count) = self { count } else { 1 }
    }

    /// What has to be asked for to be told of it.
    var selection: EventSelection {
        switch self {
        case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable,
            .eventsMissed:
            []
        case .itemsDidChange: .items
        case .attemptDidFail: .attempts
        case .auditDidGrow: .audit
        }
    }
}
