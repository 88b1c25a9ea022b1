/// The stages of a check, in their order.
public enum CheckStage: String, CaseIterable, Hashable, Sendable {
    /// The database file: each table with its indices, then the file as a whole.
    case database
    /// The items of the keychain.
    case keychainItems
    /// The former values of secrets.
    case formerValues
    /// The search index of items.
    case keychainTags
    /// The files and directories of the catalog, without the contents of files.
    case files
    /// The numbers of items and files.
    case counts
}

/// The damage of a part of the vault.
public enum Damage: String, CaseIterable, Hashable, Sendable {
    /// An index does not lead to each row of its table: rows exist that look-ups do not find.
    case index
    /// The file has no valid structure there.
    case pages
    /// Two items have one name, because an index was damaged.
    case duplicate
    /// Its row has impossible values.
    case row
    /// Its metadata is not authentic.
    case metadata
    /// Its metadata is authentic, but has an unknown form.
    case metadataForm
    /// Its secret, or the key of it, is not the one that its metadata names.
    case exchangedSecret
    /// The key for its secret is in memory, and does not open it.
    case secret
    /// It is filed under another name than its own.
    case name
    /// It is not found by some of its attributes.
    case missingTags
    /// An entry of the search index leads to a row that lacks the attribute, or to no row.
    case strayTags
    /// Its key is wrapped for another class than its item has.
    case otherClass
    /// Its item or directory is missing or damaged.
    case missingOwner
    /// The stored number is wrong.
    case count

    /// A description of the damage, for a sentence.
    public var words: String {
        switch self {
        case .index: "an index does not lead to each of its rows"
        case .pages: "its pages are damaged"
        case .duplicate: "another row was stored under its name, because a damaged index hid it"
        case .row: "its row has impossible values"
        case .metadata: "its metadata is not authentic"
        case .metadataForm: "its metadata has an unknown form"
        case .exchangedSecret: "its secret is not the one that its metadata names"
        case .secret: "its secret does not open, although its key is in memory"
        case .name: "it is filed under another name than its own"
        case .missingTags: "it is not found by some of its attributes"
        case .strayTags: "an entry of the search index leads to a row that lacks the attribute, or to no row"
        case .otherClass: "it is of another class than its item"
        case .missingOwner: "its item or directory is missing or damaged"
        case .count: "the stored number is wrong"
        }
    }
}

/// What a repair does.
public enum Repair: String, CaseIterable, Hashable, Sendable {
    /// Moves the row aside, whole and unchanged.
    case quarantine
    /// Writes again what can be derived from other data.
    case rewrite
    /// Creates a directory in place of the missing one.
    case directory
    /// Nothing: the data must be copied out of the vault, and the vault restored from a backup.
    case backup
}

/// Damage that a check of the vault has found.
public struct Finding: Hashable, Sendable {
    /// The stage of the check.
    public let stage: CheckStage
    /// The persistent reference of the item, if it can be read.
    public let reference: ItemID?
    /// The name of the item, in quotes if it is a name; `nil` if it can't be read, or the caller may not know it.
    public let name: String?
    /// The damage.
    public let damage: Damage
    /// What a repair does about it.
    public let repair: Repair
    /// Whether the repair was done.
    public let isRepaired: Bool

    /// Creates a finding.
    public init(
        _ stage: CheckStage,
        reference: ItemID? = nil,
        name: String? = nil,
        _ damage: Damage,
        repair: Repair,
        isRepaired: Bool
    ) {
        self.stage = stage
        self.reference = reference
        self.name = name
        self.damage = damage
        self.repair = repair
        self.isRepaired = isRepaired
    }
}

/// The result of one step of a check.
public struct CheckPage: Hashable, Sendable {
    /// The stage of the check.
    public let stage: CheckStage
    /// The number of rows checked.
    public let checkedCount: Int
    /// The number of these rows whose secret could not be checked, because its key is not in memory or its access
    /// control requires authentication.
    public let sealedCount: Int
    /// The number of rows moved to quarantine.
    public let quarantinedCount: Int
    /// The damage found.
    public let findings: [Finding]
    /// The cursor for the next step; `nil` at the end.
    public let cursor: String?

    /// Creates a result.
    public init(
        stage: CheckStage,
        checkedCount: Int,
        sealedCount: Int,
        quarantinedCount: Int,
        findings: [Finding],
        cursor: String?
    ) {
        self.stage = stage
        self.checkedCount = checkedCount
        self.sealedCount = sealedCount
        self.quarantinedCount = quarantinedCount
        self.findings = findings
        self.cursor = cursor
    }
}

/// A row in quarantine.
public struct QuarantineEntry: Hashable, Sendable {
    /// The store that the row was in.
    public let store: StoreName
    /// Its number, unique in its store.
    public let number: Int64
    /// The stage that found it.
    public let stage: CheckStage
    /// The persistent reference of the item, if it can be read.
    public let reference: ItemID?
    /// The name of the item; `nil` if it can't be read, or the caller may not know it.
    public let name: String?
    /// The damage.
    public let damage: Damage
    /// When it was moved, in milliseconds since 1970.
    public let moved: Int64
    /// Why the row can't be restored; `nil` if it can.
    public let obstacle: String?

    /// Creates an entry.
    public init(
        store: StoreName,
        number: Int64,
        stage: CheckStage,
        reference: ItemID?,
        name: String?,
        damage: Damage,
        moved: Int64,
        obstacle: String?
    ) {
        self.store = store
        self.number = number
        self.stage = stage
        self.reference = reference
        self.name = name
        self.damage = damage
        self.moved = moved
        self.obstacle = obstacle
    }
}

/// What to do with rows in quarantine.
public enum QuarantineAction: String, CaseIterable, Hashable, Sendable {
    /// Lists them.
    case list
    /// Restores those that are authentic and whose place is free.
    case restore
    /// Destroys one of them.
    case discard
    /// Stops reporting past faults of the whole vault, and removes what was kept because of them.
    case acknowledge
}

/// The parameters of a store's check of itself.
package struct CheckOrder: Sendable {
    /// The access groups whose names may be reported.
    package let groups: [String]
    /// Whether to repair.
    package let repairs: Bool
    /// Milliseconds since 1970.
    package let now: Int64
    /// The maximum number of rows to check.
    package let limit: Int

    package init(groups: [String], repairs: Bool, now: Int64, limit: Int = Limits.queryBatch) {
        self.groups = groups
        self.repairs = repairs
        self.now = now
        self.limit = limit
    }
}

/// The result of checking some rows of a store.
package struct CheckSlice<Place: Sendable>: Sendable {
    /// The number of rows checked.
    package var checkedCount = 0
    /// The number of these rows whose secret could not be checked.
    package var sealedCount = 0
    /// The number of rows moved to quarantine.
    package var quarantinedCount = 0
    /// The damage found.
    package var findings: [Finding] = []
    /// Where to continue; `nil` at the end.
    package var next: Place?

    package init() {}
}
