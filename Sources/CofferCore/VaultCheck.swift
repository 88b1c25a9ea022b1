/// What a check of the vault looks at, in this order.
public enum CheckStage: String, CaseIterable, Hashable, Sendable {
    /// The file of the database: each table with its indices, then the file as a whole.
    case database
    /// The items of the keychain.
    case keychainItems
    /// What the secrets of items were before.
    case formerValues
    /// What items are found by.
    case keychainTags
    /// The files and directories of the catalog, without the contents of files.
    case files
    /// How many items and files there are.
    case counts
}

/// What can be wrong with a part of the vault.
public enum Damage: String, CaseIterable, Hashable, Sendable {
    /// An index of a table does not have what the table has: rows are there, and are not found.
    case index
    /// The file has no sound structure there.
    case pages
    /// Two have one name, because an index was damaged.
    case duplicate
    /// Its row has values that nothing has.
    case row
    /// What it says of itself is not what was sealed.
    case metadata
    /// What it says of itself was sealed by us, and makes no sense.
    case metadataForm
    /// Its secret, or the key of it, is not the one that it says it has.
    case exchangedSecret
    /// The key for its secret is there, and does not open it.
    case secret
    /// It is filed under another name than its own.
    case name
    /// It can't be found by some of what it is to be found by.
    case missingTags
    /// Something is found by what it has not, or by what nothing has.
    case strayTags
    /// Its key is wrapped for another class than its item has.
    case otherClass
    /// What it belongs to is missing or damaged.
    case missingOwner
    /// There are more or fewer than are counted.
    case count

    /// What was found, for a sentence.
    public var words: String {
        switch self {
        case .index: "an index does not lead to each of its rows"
        case .pages: "its pages are damaged"
        case .duplicate: "another one was stored under its name, as a damaged index hid it"
        case .row: "its row has impossible values"
        case .metadata: "its metadata is not authentic"
        case .metadataForm: "its metadata has an unknown form"
        case .exchangedSecret: "its secret is not the one that its metadata names"
        case .secret: "its secret does not open, though its key is there"
        case .name: "it is filed under another name than its own"
        case .missingTags: "it is not found by some of its attributes"
        case .strayTags: "an entry of the search leads to what it has not, or to nothing"
        case .otherClass: "it is of another class than its item"
        case .missingOwner: "what it belongs to is missing or damaged"
        case .count: "there are more or fewer than were counted"
        }
    }
}

/// What a repair does.
public enum Repair: String, CaseIterable, Hashable, Sendable {
    /// Moves the row out of the way, whole and as it is.
    case quarantine
    /// Writes anew what follows from the rest.
    case rewrite
    /// Makes a directory in the place of the one that is missing.
    case directory
    /// Nothing: what can be read is to be copied out of the vault, and the vault restored from a backup.
    case backup
}

/// Something that a check of the vault has found.
public struct Finding: Hashable, Sendable {
    /// What was looked at.
    public let stage: CheckStage
    /// The persistent reference of the item, as far as it can be read.
    public let reference: ItemID?
    /// What the item is called, in quotes where it is a name; `nil` where that can't be read, or is not the caller's to know.
    public let name: String?
    /// What is wrong.
    public let damage: Damage
    /// What a repair does about it.
    public let repair: Repair
    /// Whether that was done.
    public let isRepaired: Bool

    /// Describes a finding.
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

/// What one step of a check has found.
public struct CheckPage: Hashable, Sendable {
    /// What was looked at.
    public let stage: CheckStage
    /// How many of it.
    public let checkedCount: Int
    /// How many of these have a secret that could not be tried: its key is not there now, or its access control asks for a person.
    public let sealedCount: Int
    /// How many rows were moved out of the way.
    public let quarantinedCount: Int
    /// What is wrong.
    public let findings: [Finding]
    /// What to go on with; `nil` at the end.
    public let cursor: String?

    /// Makes a page.
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

/// A row that was moved out of the way.
public struct QuarantineEntry: Hashable, Sendable {
    /// The store that it was in.
    public let store: StoreName
    /// Names it, among those of its store.
    public let number: Int64
    /// What it was.
    public let stage: CheckStage
    /// The persistent reference of the item, as far as it can be read.
    public let reference: ItemID?
    /// What the item is called; `nil` where that can't be read, or is not the caller's to know.
    public let name: String?
    /// What was wrong.
    public let damage: Damage
    /// When it was moved, in milliseconds since 1970.
    public let moved: Int64
    /// Why it can't go back; `nil` where it can.
    public let obstacle: String?

    /// Describes a row.
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

/// What is to become of rows that were moved out of the way.
public enum QuarantineAction: String, CaseIterable, Hashable, Sendable {
    /// Nothing: they are looked at.
    case list
    /// Those that are authentic, and whose place is free, go back.
    case restore
    /// One of them is destroyed.
    case discard
    /// Nothing, but the faults of the whole vault that have passed are told no more, and what is kept of them is removed.
    case acknowledge
}

/// How a store is to check itself.
package struct CheckOrder: Sendable {
    /// The access groups whose names may be told.
    package let groups: [String]
    /// Whether to repair.
    package let repairs: Bool
    /// Milliseconds since 1970.
    package let now: Int64
    /// The most rows to look at.
    package let limit: Int

    /// Makes an order.
    package init(groups: [String], repairs: Bool, now: Int64, limit: Int = Limits.queryBatch) {
        self.groups = groups
        self.repairs = repairs
        self.now = now
        self.limit = limit
    }
}

/// What a store has found in some rows.
package struct CheckSlice<Place: Sendable>: Sendable {
    /// How many rows were looked at.
    package var checkedCount = 0
    /// How many of them have a secret that could not be tried.
    package var sealedCount = 0
    /// How many rows were moved out of the way.
    package var quarantinedCount = 0
    /// What is wrong.
    package var findings: [Finding] = []
    /// Where to go on; `nil` at the end.
    package var next: Place?

    package init() {}
}
