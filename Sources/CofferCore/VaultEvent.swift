/// A notification to a client that watches a vault.
public enum VaultEvent: Equatable, Sendable {
    /// A lock has begun: items that are readable only while unlocked become unavailable when its grace is over, or now.
    case protectedDataWillBecomeUnavailable
    /// The keys of items that are readable only while unlocked have been wiped.
    case protectedDataDidBecomeUnavailable
    /// The vault was unlocked, or the grace of a lock was cancelled.
    case protectedDataDidBecomeAvailable
    /// Items were added, changed or removed, and that is on the disk; in the order in which it happened.
    case itemsDidChange([ItemChange])
    /// A client presented a wrong passcode or recovery key.
    case attemptDidFail(FailedAttempts)
    /// Requests were recorded, and their records are on the disk.
    case auditDidGrow([AuditRecord])
    /// The number of events that were not reported individually: read again what matters.
    case eventsMissed(Int)
}

/// A change of one item, in the keychain or a file.
public struct ItemChange: Hashable, Sendable {
    /// The kind of a change.
    public enum Kind: String, CaseIterable, Sendable {
        /// The item is new.
        case added
        /// Its secret or content, its attributes or its protection have changed.
        case changed
        /// The item was removed.
        case removed
        /// The item has a new name; ``ItemChange/formerName`` is the old one. The content of a directory has moved with
        /// it.
        case renamed
    }

    /// The kind of the change.
    public let kind: Kind
    /// The store of the item.
    public let store: StoreName
    /// Its access group.
    public let group: String
    /// Its name; `nil` for an item of the keychain that has none.
    public let name: String?
    /// The name that it had before it was renamed.
    public let formerName: String?
    /// Its class in the keychain; `nil` for a file.
    public let itemClass: ItemClass?
    /// Its persistent reference in the keychain; `nil` for a file.
    public let reference: ItemID?

    /// Creates a change.
    public init(
        _ kind: Kind,
        in store: StoreName,
        group: String,
        name: String?,
        formerName: String? = nil,
        itemClass: ItemClass? = nil,
        reference: ItemID? = nil
    ) {
        self.kind = kind
        self.store = store
        self.group = group
        self.name = name
        self.formerName = formerName
        self.itemClass = itemClass
        self.reference = reference
    }
}

/// The state of the passcode attempts after a wrong one.
public struct FailedAttempts: Hashable, Sendable {
    /// The number of wrong passcodes since the last right one.
    public let count: Int
    /// The seconds until the next passcode is accepted; `nil` if it is accepted now, or never.
    public let retrySeconds: Int?
    /// Whether no further passcode is accepted.
    public let isEnded: Bool

    /// Creates a state.
    public init(count: Int, retrySeconds: Int?, isEnded: Bool) {
        self.count = count
        self.retrySeconds = retrySeconds
        self.isEnded = isEnded
    }
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
