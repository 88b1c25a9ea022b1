package import CofferCore

extension VaultEvent {
    /// The name of the event on the wire.
    package var notification: Notification {
        switch self {
        case .protectedDataWillBecomeUnavailable: .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeUnavailable: .protectedDataDidBecomeUnavailable
        case .protectedDataDidBecomeAvailable: .protectedDataDidBecomeAvailable
        case .inactiveDataDidBecomeUnavailable: .inactiveDataDidBecomeUnavailable
        case .firstUnlockDataDidBecomeUnavailable: .firstUnlockDataDidBecomeUnavailable
        case .itemsDidChange: .itemsDidChange
        case .attemptDidFail: .attemptDidFail
        case .auditDidGrow: .auditDidGrow
        case .eventsMissed: .eventsMissed
        }
    }

    /// The parameters of the notification.
    package var json: JSONObject {
        switch self {
        case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable,
            .inactiveDataDidBecomeUnavailable, .firstUnlockDataDidBecomeUnavailable:
            return [:]
        case .itemsDidChange(let changes): return ItemsDidChangeParameters(changes: changes).json
        case .attemptDidFail(let attempts): return attempts.json
        case .auditDidGrow(let records): return AuditDidGrowParameters(records: records).json
        case .eventsMissed(let count): return EventsMissedParameters(count: count).json
        }
    }

    /// Parses a notification.
    ///
    /// - Parameters:
    ///   - method: The name of a notification.
    ///   - params: The parameters.
    /// - Returns: `nil` for a notification that is not an event, or is unknown. A known one that can't be parsed, from
    ///   a newer daemon, is a missed event.
    package init?(notification method: String, _ params: JSONObject) {
        let result = JSONValue.object(params)
        do {
            switch Notification(rawValue: method) {
            case .protectedDataWillBecomeUnavailable: self = .protectedDataWillBecomeUnavailable
            case .protectedDataDidBecomeUnavailable: self = .protectedDataDidBecomeUnavailable
            case .protectedDataDidBecomeAvailable: self = .protectedDataDidBecomeAvailable
            case .inactiveDataDidBecomeUnavailable: self = .inactiveDataDidBecomeUnavailable
            case .firstUnlockDataDidBecomeUnavailable: self = .firstUnlockDataDidBecomeUnavailable
            case .itemsDidChange: self = .itemsDidChange(try ItemsDidChangeParameters(result: result).changes)
            case .attemptDidFail: self = .attemptDidFail(try FailedAttempts(result: result))
            case .auditDidGrow: self = .auditDidGrow(try AuditDidGrowParameters(result: result).records)
            case .eventsMissed: self = .eventsMissed(try EventsMissedParameters(result: result).count)
            case .progress, nil: return nil
            }
        } catch {
            self = .eventsMissed(1)
        }
    }
}
