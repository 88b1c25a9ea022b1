package import CofferCore

extension VaultEvent {
    /// The name of the event on the wire.
    package var notification: Notification {
        switch self {
        case .protectedDataWillBecomeUnavailable: .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeUnavailable: .protectedDataDidBecomeUnavailable
        case .protectedDataDidBecomeAvailable: .protectedDataDidBecomeAvailable
        case .itemsDidChange: .itemsDidChange
        case .attemptDidFail: .attemptDidFail
        case .auditDidGrow: .auditDidGrow
        case .eventsMissed: .eventsMissed
        }
    }

    /// What is told of it.
    package var json: JSONObject {
        switch self {
        case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable:
            return [:]
        case .itemsDidChange(let changes): return ItemsDidChangeParameters(changes: changes).json
        case .attemptDidFail(let attempts): return attempts.json
        case .auditDidGrow(let records): return AuditDidGrowParameters(records: records).json
        case .eventsMissed(let count): return EventsMissedParameters(count: count).json
        }
    }

    /// Reads what the daemon tells.
    ///
    /// - Parameters:
    ///   - method: The name of a notification.
    ///   - params: What is told.
    /// - Returns: `nil` for what is no event, or one that this build does not know. One of a known name that can't be read,
    ///   from a newer daemon, is one that was missed.
    package init?(notification method: String, _ params: JSONObject) {
        let result = JSONValue.object(params)
        switch Notification(rawValue: method) {
        case .protectedDataWillBecomeUnavailable: self = .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeUnavailable: self = .protectedDataDidBecomeUnavailable
        case .protectedDataDidBecomeAvailable: self = .protectedDataDidBecomeAvailable
        case .itemsDidChange:
            self =
                (try? ItemsDidChangeParameters(result: result)).map { .itemsDidChange($0.changes) } ?? .eventsMissed(1)
        case .attemptDidFail:
            self = (try? FailedAttempts(result: result)).map { .attemptDidFail($0) } ?? .eventsMissed(1)
        case .auditDidGrow:
            self = (try? AuditDidGrowParameters(result: result)).map { .auditDidGrow($0.records) } ?? .eventsMissed(1)
        case .eventsMissed: self = .eventsMissed((try? EventsMissedParameters(result: result))?.count ?? 1)
        case .progress, nil: return nil
        }
    }
}
