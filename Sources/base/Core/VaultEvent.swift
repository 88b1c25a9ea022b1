/// A notification to a client that watches a vault.
public enum VaultEvent: Equatable, Sendable {
    /// A lock has begun: items that are readable only while unlocked become unavailable when its grace is over, or now.
    case protectedDataWillBecomeUnavailable
    /// The keys of items that are readable only while unlocked have been wiped.
    case protectedDataDidBecomeUnavailable
    /// The vault was unlocked, or the grace of a lock was cancelled.
    case protectedDataDidBecomeAvailable
    /// The key of class `completeWhenUserInactive` has been wiped, some time after a lock.
    case inactiveDataDidBecomeUnavailable
    /// Every key that the passcode protects has been wiped, a long time after a lock: the vault is as before the first
    /// unlock.
    case firstUnlockDataDidBecomeUnavailable
    /// Items were added, changed or removed, and that is on the disk; in the order in which it happened.
    case itemsDidChange([ItemChange])
    /// A client presented a wrong passcode or recovery key.
    case attemptDidFail(FailedAttempts)
    /// Requests were recorded, and their records are on the disk.
    case auditDidGrow([AuditRecord])
    /// The number of events that were not reported individually: read again what matters.
    case eventsMissed(Int)
}

/// The events that a client subscribes to, besides those of locking and unlocking.
public struct EventSelection: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a selection from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Changes of the items in the client's access groups.
    public static let items = EventSelection(rawValue: 1)
    /// Wrong passcodes and recovery keys.
    public static let attempts = EventSelection(rawValue: 2)
    /// Audited requests of all clients: requires the verb `audit`.
    public static let audit = EventSelection(rawValue: 4)
}
