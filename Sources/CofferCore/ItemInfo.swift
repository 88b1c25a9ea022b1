/// An item as a listing shows it: never its content.
public struct ItemInfo: Hashable, Sendable {
    /// The name.
    public let name: String
    /// How it is protected; says which store it is in.
    public let protection: Protection
    /// The bytes of its content.
    public let byteCount: Int64
    /// What its owner said it is.
    public let kind: ItemKind?
    /// When it was created, in milliseconds since 1970.
    public let created: Int64
    /// When its content or its protection was last changed, in milliseconds since 1970.
    public let modified: Int64
    /// Whether its content can be read now.
    public let isReadable: Bool
    /// Until when it is good, in milliseconds since 1970; `nil` where nobody has said so.
    public let expiryDate: Int64?
    /// Whether the expiry date is past: the item is readable all the same.
    public let isExpired: Bool

    /// Describes an item.
    public init(
        name: String,
        protection: Protection,
        byteCount: Int64,
        kind: ItemKind?,
        created: Int64,
        modified: Int64,
        isReadable: Bool,
        expiryDate: Int64? = nil,
        isExpired: Bool = false
    ) {
        self.name = name
        self.protection = protection
        self.byteCount = byteCount
        self.kind = kind
        self.created = created
        self.modified = modified
        self.isReadable = isReadable
        self.expiryDate = expiryDate
        self.isExpired = isExpired
    }
}

/// A part of a listing, in no order that says anything of the names.
public struct ItemPage: Hashable, Sendable {
    /// The items.
    public let items: [ItemInfo]
    /// What the next page is asked for with; `nil` where the listing is complete.
    public let next: String?
    /// The rows of this part that are damaged, and so have no name to list.
    public let damagedCount: Int

    /// Makes a page.
    public init(items: [ItemInfo], next: String?, damagedCount: Int) {
        self.items = items
        self.next = next
        self.damagedCount = damagedCount
    }
}

/// Where an item goes, or went, and why.
public struct Placement: Hashable, Sendable {
    /// How it is protected; says which store it is in.
    public let protection: Protection
    /// The rule of the decision matrix.
    public let rule: String
    /// The rule in words.
    public let reason: String
    /// Whose word decided the protection: `caller`, `directory`, `existingItem`, `entitlement`, `configuration`, `scenario` or
    /// `standard`.
    public let protectionSource: String
    /// What the content was found to be, where nobody had said so and it took part in the decision.
    public let signature: String?
    /// What the caller ought to know: a deprecated value, a protection that changed its name on the way.
    public let warnings: [String]

    /// Describes a placement.
    public init(
        protection: Protection,
        rule: String,
        reason: String,
        protectionSource: String,
        signature: String? = nil,
        warnings: [String]
    ) {
        self.signature = signature
        self.protection = protection
        self.rule = rule
        self.reason = reason
        self.protectionSource = protectionSource
        self.warnings = warnings
    }
}

/// An item whose protection was changed.
public struct ProtectionChange: Hashable, Sendable {
    /// The item as it is now.
    public let item: ItemInfo
    /// What the caller ought to know: a deprecated value, a protection that changed its name on the way.
    public let warnings: [String]

    /// Describes a change.
    public init(item: ItemInfo, warnings: [String]) {
        self.item = item
        self.warnings = warnings
    }
}

/// The state of a vault and what is in it.
public struct VaultStatus: Hashable, Sendable {
    /// The state.
    public let state: VaultState
    /// The items in the keychain; `nil` where there is no vault.
    public let keychainCount: Int?
    /// The files; `nil` where there is no vault.
    public let fileCount: Int?
    /// The milliseconds until the grace of a lock ends; `nil` where none is running.
    public let graceMilliseconds: Int64?
    /// Which vault it is; `nil` where there is none.
    public let vaultID: ItemID?
    /// The wrong passcodes since the last right one.
    public let failedAttempts: Int
    /// The seconds until the next passcode is looked at; `nil` where it is now, or never again.
    public let retrySeconds: Int?
    /// Whether no passcode is looked at any more: only a recovery key opens the vault.
    public let attemptsEnded: Bool
    /// Whether the vault erases itself when the attempts end.
    public let erasesData: Bool
    /// The items that want a passcode, and go with it; `nil` where there is no vault.
    public let passcodeItemCount: Int?
    /// What is wrong with the daemon's configuration file, of which the last good state is used; `nil` where it is right.
    public let configurationTrouble: String?
    /// What is wrong with the vault as a whole; empty if nothing is.
    public let faults: [VaultFault]
    /// The version of the daemon.
    public let version: String
    /// The protocol that it speaks.
    public let protocolNumber: Int

    /// Describes a vault.
    public init(
        state: VaultState,
        keychainCount: Int?,
        fileCount: Int?,
        graceMilliseconds: Int64?,
        vaultID: ItemID? = nil,
        failedAttempts: Int = 0,
        retrySeconds: Int? = nil,
        attemptsEnded: Bool = false,
        erasesData: Bool = false,
        passcodeItemCount: Int? = nil,
        configurationTrouble: String? = nil,
        faults: [VaultFault] = [],
        version: String = Version.program,
        protocolNumber: Int = Version.protocolNumber
    ) {
        self.state = state
        self.keychainCount = keychainCount
        self.fileCount = fileCount
        self.graceMilliseconds = graceMilliseconds
        self.vaultID = vaultID
        self.failedAttempts = failedAttempts
        self.retrySeconds = retrySeconds
        self.attemptsEnded = attemptsEnded
        self.erasesData = erasesData
        self.passcodeItemCount = passcodeItemCount
        self.configurationTrouble = configurationTrouble
        self.faults = faults
        self.version = version
        self.protocolNumber = protocolNumber
    }
}
