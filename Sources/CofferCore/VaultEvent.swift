/// What a client that watches a vault is told.
public enum VaultEvent: Equatable, Sendable {
    /// A lock has begun: what is readable while unlocked only goes out of reach when its grace is over, or now.
    case protectedDataWillBecomeUnavailable
    /// The keys of what is readable while unlocked only are gone.
    case protectedDataDidBecomeUnavailable
    /// The vault was unlocked, or the grace of a lock was cancelled.
    case protectedDataDidBecomeAvailable
    /// Items came, changed or went, and that is on the disk: in the order of its happening.
    case itemsDidChange([ItemChange])
    /// Somebody has shown a wrong passcode or recovery key.
    case attemptDidFail(FailedAttempts)
    /// Somebody did something, or was kept from it, and that is on the disk.
    case auditDidGrow([AuditRecord])
    /// So many events were not told one by one: look again at what matters.
    case eventsMissed(Int)
}

/// A change of one item, be it in the keychain or a file.
public struct ItemChange: Hashable, Sendable {
    /// What has happened to an item.
    public enum Kind: String, CaseIterable, Sendable {
        /// It was not there before.
        case added
        /// Its secret or content, its attributes or its protection are others now.
        case changed
        /// It is gone.
        case removed
        /// It has another name: ``ItemChange/formerName`` is the one of before. What is in a directory has moved with it.
        case renamed
    }

    /// What has happened.
    public let kind: Kind
    /// Where the item is.
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

    /// Describes a change.
    ///
    /// - Parameters:
    ///   - kind: What has happened.
    ///   - store: Where the item is.
    ///   - group: Its access group.
    ///   - name: Its name, if it has one.
    ///   - formerName: The name that it had before, where it was renamed.
    ///   - itemClass: Its class in the keychain.
    ///   - reference: Its persistent reference in the keychain.
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

/// How the guesses at a passcode stand after a wrong one.
public struct FailedAttempts: Hashable, Sendable {
    /// The wrong ones since the last right one.
    public let count: Int
    /// The seconds until the next one is looked at; `nil` where it is now, or never.
    public let retrySeconds: Int?
    /// Whether no further one is looked at.
    public let isEnded: Bool

    /// Describes how they stand.
    ///
    /// - Parameters:
    ///   - count: The wrong ones since the last right one.
    ///   - retrySeconds: The seconds until the next one is looked at.
    ///   - isEnded: Whether no further one is looked at.
    public init(count: Int, retrySeconds: Int?, isEnded: Bool) {
        self.count = count
        self.retrySeconds = retrySeconds
        self.isEnded = isEnded
    }
}

/// Which events a client asks for, besides those of locking and unlocking.
public struct EventSelection: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// The selection of some bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Changes of the items in the client's access groups.
    public static let items = EventSelection(rawValue: 1)
    /// Wrong passcodes and recovery keys.
    public static let attempts = EventSelection(rawValue: 2)
    /// What anybody does, or is kept from doing: for those who may read the audit.
    public static let audit = EventSelection(rawValue: 4)
}
