// packaging/tools/interface writes this file from proto-docs/openrpc.json.

/// An access rule: who may read, write or remove items of a group, or may not.
public struct AccessRule: Hashable, Sendable {
    /// The number of the rule.
    ///
    /// The vault never uses it again.
    public var number: Int64
    /// Whether an access rule allows, or makes an exception.
    public var kind: AccessRuleKind
    /// The clients that the rule is for.
    public var client: ClientPattern
    /// What the rule is about.
    public var verbs: Set<Verb>
    /// The access group of the items.
    public var group: String
    /// The pattern that the names of the items match, or one name.
    ///
    /// It is absent from a rule for one item, and before the first unlock.
    public var pattern: NamePattern?
    /// The name of the item that the rule is for, and which it ends with.
    ///
    /// It is absent from other rules, and before the first unlock.
    public var name: ItemName?
    /// How many seconds remain until the rule ends, rounded up.
    ///
    /// It is absent from a rule that counts until it is removed.
    public var seconds: Int64?
    /// How often an item may still be read.
    ///
    /// It is absent if the number is not limited.
    public var uses: Int64?
    /// What the rule is for.
    ///
    /// It is absent if no reason was given, and before the first unlock.
    public var reason: String?
    /// When the rule was added.
    ///
    /// It is absent before the first unlock.
    public var added: Int64?

    package init(
        number: Int64,
        kind: AccessRuleKind,
        client: ClientPattern,
        verbs: Set<Verb>,
        group: String,
        pattern: NamePattern? = nil,
        name: ItemName? = nil,
        seconds: Int64? = nil,
        uses: Int64? = nil,
        reason: String? = nil,
        added: Int64? = nil
    ) {
        self.number = number
        self.kind = kind
        self.client = client
        self.verbs = verbs
        self.group = group
        self.pattern = pattern
        self.name = name
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
        self.added = added
    }
}

/// A summary of the oldest records, which were dropped.
public struct AuditSummary: Hashable, Sendable {
    /// The number of the last record that was dropped.
    ///
    /// Records 1 to this one are summarised.
    public var recordCount: Int64
    /// When the first of them was made.
    public var firstTime: Int64
    /// When the last of them was made.
    public var lastTime: Int64
    /// How many of them were dropped before the first unlock, so that the daemon could not read them: the
    /// times and the clients are those of the others.
    ///
    /// Absent means 0.
    public var unreadCount: Int64
    /// The requests of each client.
    public var tallies: [AuditSummary.Tally]

    package init(
        recordCount: Int64 = 0,
        firstTime: Int64 = 0,
        lastTime: Int64 = 0,
        unreadCount: Int64 = 0,
        tallies: [AuditSummary.Tally] = []
    ) {
        self.recordCount = recordCount
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.unreadCount = unreadCount
        self.tallies = tallies
    }
}

/// What one step of a check found.
public struct CheckPage: Hashable, Sendable {
    /// What this step checked.
    public var stage: CheckStage
    /// How many rows the step checked.
    public var checkedCount: Int
    /// How many of these rows have a secret that the daemon could not check, because its key is not
    /// available now or its access control requires authentication.
    public var sealedCount: Int
    /// How many rows the step moved to quarantine.
    public var quarantinedCount: Int
    /// In the stage contents, how many bytes the step checked.
    ///
    /// In the stage files, how many bytes there are to check: the sizes of the files whose key is available
    /// now. Absent means 0.
    public var byteCount: Int64
    /// What is wrong.
    public var findings: [Finding]
    /// The cursor for the next step.
    ///
    /// It is absent after the last step.
    public var cursor: String?

    package init(
        stage: CheckStage,
        checkedCount: Int,
        sealedCount: Int,
        quarantinedCount: Int,
        byteCount: Int64 = 0,
        findings: [Finding],
        cursor: String? = nil
    ) {
        self.stage = stage
        self.checkedCount = checkedCount
        self.sealedCount = sealedCount
        self.quarantinedCount = quarantinedCount
        self.byteCount = byteCount
        self.findings = findings
        self.cursor = cursor
    }
}

/// What a unit gets if the service manager fetches a credential for it.
public struct CredentialAnswer: Hashable, Sendable {
    /// The name of the item.
    public let name: String
    /// Why the daemon refuses the credential.
    ///
    /// It is absent if the daemon delivers it.
    public let refusal: AuditedRefusal?
    /// How the item is protected.
    ///
    /// It is absent if there is no item that the unit may see.
    public let protection: Protection?

    package init(
        name: String,
        refusal: AuditedRefusal? = nil,
        protection: Protection? = nil
    ) {
        self.name = name
        self.refusal = refusal
        self.protection = protection
    }
}

/// A part of a file that could not be read.
public struct DamagedRange: Hashable, Sendable {
    /// Where the part begins, in bytes.
    public let offset: Int64
    /// How many bytes the part has.
    public let byteCount: Int64

    package init(offset: Int64, byteCount: Int64) {
        self.offset = offset
        self.byteCount = byteCount
    }
}

/// One section of an entitlement file.
public struct Entitlement: Hashable, Sendable {
    /// The path of the file.
    public let path: String
    /// The line at which the section begins, from 1.
    public let line: Int
    /// The conditions that a client must meet, all of them.
    public let clients: [ClientPattern]
    /// The access groups that such a client holds.
    ///
    /// The first is its default.
    public let groups: [String]
    /// The verbs of such a client.
    ///
    /// It is empty if the client is refused.
    public let verbs: Set<Verb>
    /// The only class of items that such a client may use.
    ///
    /// It is absent if the file does not say.
    public let itemClass: ItemClass?
    /// How the items that the client stores are protected by default.
    ///
    /// It is absent if the file does not say.
    public let protection: Protection?
    /// Whether the client may act on behalf of other processes: hello with their descriptors.
    public let actsOnBehalf: Bool
    /// How much of the daemon the client may use.
    public let limits: ClientLimits

    package init(
        path: String,
        line: Int,
        clients: [ClientPattern],
        groups: [String],
        verbs: Set<Verb>,
        itemClass: ItemClass? = nil,
        protection: Protection? = nil,
        actsOnBehalf: Bool = false,
        limits: ClientLimits = ClientLimits()
    ) {
        self.path = path
        self.line = line
        self.clients = clients
        self.groups = groups
        self.verbs = verbs
        self.itemClass = itemClass
        self.protection = protection
        self.actsOnBehalf = actsOnBehalf
        self.limits = limits
    }
}

/// Something that is wrong with the vault as a whole.
public struct VaultFault: Hashable, Sendable {
    /// What is wrong.
    ///
    /// It contains no secret and no name of an item.
    public let what: String
    /// What the owner can do about it.
    public let hint: String

    package init(what: String, hint: String) {
        self.what = what
        self.hint = hint
    }
}

/// Something that a check of the vault found.
public struct Finding: Hashable, Sendable {
    /// The stage of the check.
    public let stage: CheckStage
    /// The persistent reference of the item.
    ///
    /// It is absent if it cannot be read.
    public let reference: ItemID?
    /// What the item is called, in quotes if it is a name.
    ///
    /// It is absent if it cannot be read, or if the client may not know it.
    public let name: String?
    /// What is wrong, for programs.
    public let damage: Damage
    /// What a repair does about it.
    public let repair: Repair
    /// Whether the repair was done.
    public let isRepaired: Bool
    /// The parts of a content that cannot be read, in their order, at most 64 of them.
    ///
    /// It is absent if there are none.
    public let damaged: [DamagedRange]
    /// How many bytes of a content cannot be read.
    ///
    /// Absent means 0.
    public let damagedByteCount: Int64

    package init(
        _ stage: CheckStage,
        reference: ItemID? = nil,
        name: String? = nil,
        _ damage: Damage,
        repair: Repair,
        isRepaired: Bool,
        damaged: [DamagedRange] = [],
        damagedByteCount: Int64 = 0
    ) {
        self.stage = stage
        self.reference = reference
        self.name = name
        self.damage = damage
        self.repair = repair
        self.isRepaired = isRepaired
        self.damaged = damaged
        self.damagedByteCount = damagedByteCount
    }
}

/// What the client may do with an item in a state of the vault.
public struct ItemAccess: Hashable, Sendable {
    /// The state of the vault that the answers are for.
    public let state: VaultState
    /// Whether the client can read the content: yes, or the name of an error.
    ///
    /// It is absent if nothing is stored.
    public let read: ItemAccess.Answer?
    /// Whether the client can replace the item, or store it if nothing is stored: yes, or the name of an
    /// error.
    public let write: ItemAccess.Answer
    /// Whether the client can remove the item: yes, or the name of an error.
    ///
    /// It is absent if nothing is stored.
    public let remove: ItemAccess.Answer?
    /// When the content can be read, in words for people.
    public let readable: String

    package init(
        state: VaultState,
        read: ItemAccess.Answer? = nil,
        write: ItemAccess.Answer,
        remove: ItemAccess.Answer? = nil,
        readable: String
    ) {
        self.state = state
        self.read = read
        self.write = write
        self.remove = remove
        self.readable = readable
    }
}

/// A change of one item, in the keychain or a file.
public struct ItemChange: Hashable, Sendable {
    /// What happened to the item.
    public let kind: ItemChange.Kind
    /// The store that holds the item.
    public let store: StoreName
    /// The access group of the item.
    public let group: String
    /// The name of the item, as a listing has it.
    public let name: String?
    /// The name before the item was renamed.
    ///
    /// It is absent if it was not renamed.
    public let formerName: String?
    /// The class of an item of the keychain.
    ///
    /// It is absent for a file.
    public let itemClass: ItemClass?
    /// The persistent reference of an item of the keychain.
    ///
    /// It is absent for a file.
    public let reference: ItemID?
    /// The number of a file or a directory.
    ///
    /// It is absent for an item of the keychain.
    public let inode: Int64?

    package init(
        _ kind: ItemChange.Kind,
        in store: StoreName,
        group: String,
        name: String? = nil,
        formerName: String? = nil,
        itemClass: ItemClass? = nil,
        reference: ItemID? = nil,
        inode: Int64? = nil
    ) {
        self.kind = kind
        self.store = store
        self.group = group
        self.name = name
        self.formerName = formerName
        self.itemClass = itemClass
        self.reference = reference
        self.inode = inode
    }
}

/// A keyslot: one of the ways to the keys of a vault.
public struct KeyslotInfo: Hashable, Sendable {
    /// The number of the keyslot.
    ///
    /// It may be reused after the keyslot is removed.
    public let number: Int
    /// What opens the keyslot.
    public let kind: KeyslotKind
    /// When the recovery key was made.
    ///
    /// It is absent if that was not recorded.
    public let made: Int64?
    /// What the recovery key is for.
    ///
    /// It is absent if that was not recorded.
    public let label: String?

    package init(
        number: Int,
        kind: KeyslotKind,
        made: Int64? = nil,
        label: String? = nil
    ) {
        self.number = number
        self.kind = kind
        self.made = made
        self.label = label
    }
}

/// A row in quarantine.
public struct QuarantineEntry: Hashable, Sendable {
    /// The store that the row was in.
    public let store: StoreName
    /// The number of the row, unique in its store.
    public let number: Int64
    /// What the row was.
    public let stage: CheckStage
    /// The persistent reference of the item.
    ///
    /// It is absent if it cannot be read.
    public let reference: ItemID?
    /// What the item is called.
    ///
    /// It is absent if it cannot be read, or if the client may not know it.
    public let name: String?
    /// What was wrong with the row.
    public let damage: Damage
    /// When the row was moved to quarantine.
    public let moved: Int64
    /// Why the row cannot be restored.
    ///
    /// It is absent if it can.
    public let obstacle: String?

    package init(
        store: StoreName,
        number: Int64,
        stage: CheckStage,
        reference: ItemID? = nil,
        name: String? = nil,
        damage: Damage,
        moved: Int64,
        obstacle: String? = nil
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

extension AuditSummary {
    /// The requests of one client.
    public struct Tally: Hashable, Sendable {
        /// The service of the client, or else its user.
        ///
        /// It is absent for all remaining clients together.
        public var client: String?
        /// How many requests the daemon carried out.
        public var allowedCount: Int64
        /// How many requests the daemon refused.
        public var refusedCount: Int64

        package init(client: String? = nil, allowedCount: Int64, refusedCount: Int64) {
            self.client = client
            self.allowedCount = allowedCount
            self.refusedCount = refusedCount
        }
    }
}

/// The parameters of the notification `attemptDidFail`.
///
/// A wrong passcode or recovery key was presented.
public struct FailedAttempts: Hashable, Sendable {
    /// How many wrong ones were presented since the last right one.
    public let count: Int
    /// How many seconds remain until the daemon checks the next one.
    ///
    /// It is absent if the daemon checks one now, or never again. Absent means null.
    public let retrySeconds: Int?
    /// Whether the daemon checks no further one.
    public let isEnded: Bool

    package init(count: Int, retrySeconds: Int? = nil, isEnded: Bool = false) {
        self.count = count
        self.retrySeconds = retrySeconds
        self.isEnded = isEnded
    }
}

/// A page of audit records.
public struct AuditPage: Hashable, Sendable {
    /// The records, the oldest first.
    public let records: [AuditRecord]
    /// The number of the last record that was scanned, for the next page.
    ///
    /// It is absent if no records follow.
    public let next: Int64?
    /// Whether records are missing from the page because they cannot be read.
    ///
    /// Absent means false.
    public let isDamaged: Bool
    /// How many records are missing from the page because they can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int
    /// A summary of the records that were dropped.
    ///
    /// It is absent if there are none.
    public let summary: AuditSummary?

    package init(
        records: [AuditRecord],
        next: Int64? = nil,
        isDamaged: Bool = false,
        sealedCount: Int = 0,
        summary: AuditSummary? = nil
    ) {
        self.records = records
        self.next = next
        self.isDamaged = isDamaged
        self.sealedCount = sealedCount
        self.summary = summary
    }
}

/// What the check of a part of the records found.
public struct AuditVerification: Hashable, Sendable {
    /// How many records were checked.
    public let checkedCount: Int64
    /// How many of these records can be read after the first unlock only, so that only their place and
    /// their bytes were checked.
    ///
    /// Absent means 0.
    public let sealedCount: Int64
    /// What is wrong.
    ///
    /// It is empty if every record is intact.
    public let findings: [String]
    /// The number of the last record that was checked, for the next call.
    ///
    /// It is absent if no records follow.
    public let next: Int64?

    package init(
        checkedCount: Int64,
        sealedCount: Int64 = 0,
        findings: [String],
        next: Int64? = nil
    ) {
        self.checkedCount = checkedCount
        self.sealedCount = sealedCount
        self.findings = findings
        self.next = next
    }
}

/// What a client may do, and which rule decides that.
public struct AccessExplanation: Hashable, Sendable {
    /// The client.
    public let client: ClientIdentity
    /// The entitlement file that decides.
    ///
    /// It is absent if none does.
    public let path: String?
    /// The line at which the deciding section begins, from 1.
    ///
    /// It is absent if no file decides.
    public let line: Int?
    /// Why the client has these rights, or the error with which the daemon refuses it.
    public let reason: String
    /// Whether the daemon refuses the connection of the client.
    public let isRefused: Bool
    /// The access groups that the client holds.
    ///
    /// The first is its default.
    public let groups: [String]
    /// Whether the client reaches every other group by its name.
    ///
    /// Absent means false.
    public let reachesAllGroups: Bool
    /// The group of the client's own program.
    ///
    /// It is absent if the client has none.
    public let programGroup: String?
    /// What the client may do.
    public let verbs: Set<Verb>
    /// The only class of items that the client may use.
    ///
    /// It is absent if no file says so.
    public let itemClass: ItemClass?
    /// How the items that the client stores are protected by default.
    ///
    /// It is absent if no file says so.
    public let protection: Protection?
    /// Whether the client may act on behalf of other processes: hello with their descriptors.
    public let actsOnBehalf: Bool
    /// How much of the daemon the client may use.
    public let limits: ClientLimits
    /// What the unit gets if it asks for the credential.
    ///
    /// It is absent if the request names no credential.
    public let credential: CredentialAnswer?

    package init(
        client: ClientIdentity,
        path: String? = nil,
        line: Int? = nil,
        reason: String,
        isRefused: Bool,
        groups: [String],
        reachesAllGroups: Bool = false,
        programGroup: String? = nil,
        verbs: Set<Verb>,
        itemClass: ItemClass? = nil,
        protection: Protection? = nil,
        actsOnBehalf: Bool = false,
        limits: ClientLimits = ClientLimits(),
        credential: CredentialAnswer? = nil
    ) {
        self.client = client
        self.path = path
        self.line = line
        self.reason = reason
        self.isRefused = isRefused
        self.groups = groups
        self.reachesAllGroups = reachesAllGroups
        self.programGroup = programGroup
        self.verbs = verbs
        self.itemClass = itemClass
        self.protection = protection
        self.actsOnBehalf = actsOnBehalf
        self.limits = limits
        self.credential = credential
    }
}

/// A public key of the keychain.
public struct KeychainPublicKey: Hashable, Sendable {
    /// The content of the BIT STRING of its SubjectPublicKeyInfo: 32 bytes of ed25519 and x25519,
    /// RSAPublicKey in DER of rsa, and of ecdsa the uncompressed point, 65 bytes of P-256 and 97 of P-384,
    /// the first of which is 4.
    public let bytes: [UInt8]
    /// The type of the key: a name of KeyType, rsa, ecdsa, or what a certificate says.
    public let keyType: String

    package init(bytes: [UInt8], keyType: String) {
        self.bytes = bytes
        self.keyType = keyType
    }
}

/// How much of the daemon the client may use.
public struct ClientLimits: Hashable, Sendable {
    /// The maximum of concurrent connections of the client.
    ///
    /// It is absent for a fair share.
    public var connections: Int?
    /// How many requests per second the client may make, over time.
    ///
    /// It is absent if the number is not limited.
    public var requestsPerSecond: Int?

    /// Makes the parameters.
    public init(connections: Int? = nil, requestsPerSecond: Int? = nil) {
        self.connections = connections
        self.requestsPerSecond = requestsPerSecond
    }
}

/// Which records are wanted.
public struct AuditQuery: Hashable, Sendable {
    /// The name or the persistent reference of an item; only records about it are reported.
    ///
    /// Absent means: all items.
    public var item: String?
    /// The access group of items; only records that name one of it are reported.
    ///
    /// Absent means: all groups.
    public var group: String?
    /// The unit of a client, of the system service manager or of the user's; only its records are reported.
    ///
    /// Absent means: all clients.
    public var unit: String?
    /// The earliest time of the records, in milliseconds since 1970.
    ///
    /// Absent means: from the oldest.
    public var since: Int64?
    /// Whether only refused requests are reported.
    ///
    /// Absent means false.
    public var isRefused: Bool

    /// Makes the parameters.
    public init(
        item: String? = nil,
        group: String? = nil,
        unit: String? = nil,
        since: Int64? = nil,
        isRefused: Bool = false
    ) {
        self.item = item
        self.group = group
        self.unit = unit
        self.since = since
        self.isRefused = isRefused
    }
}

/// What the caller says about the item.
public struct PlacementOptions: Hashable, Sendable {
    /// What the item is.
    ///
    /// Absent means: unstated.
    public var kind: ItemKind?
    /// What the item is used for.
    ///
    /// Absent means: unstated.
    public var scenario: Scenario?
    /// The protection class that the item gets as a file.
    ///
    /// Absent means: by the matrix.
    public var protectionClass: ProtectionClass?
    /// The accessibility that the item gets in the keychain.
    ///
    /// Absent means: by the matrix.
    public var accessibility: Accessibility?
    /// The store that the item goes to.
    ///
    /// Absent means: by the matrix.
    public var store: StoreName?
    /// Whether the content consists of named fields.
    ///
    /// Absent means false.
    public var isStructured: Bool
    /// Whether the caller presents the content as a file.
    ///
    /// Absent means false.
    public var isPresentedAsFile: Bool
    /// The class of the file of which the content is a copy.
    ///
    /// As a file, the item gets no weaker class, unless 'protection' names one. Absent means: no copy.
    public var leastClass: ProtectionClass?
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public var group: String?

    /// Makes the parameters.
    public init(
        kind: ItemKind? = nil,
        scenario: Scenario? = nil,
        protectionClass: ProtectionClass? = nil,
        accessibility: Accessibility? = nil,
        store: StoreName? = nil,
        isStructured: Bool = false,
        isPresentedAsFile: Bool = false,
        leastClass: ProtectionClass? = nil,
        group: String? = nil
    ) {
        self.kind = kind
        self.scenario = scenario
        self.protectionClass = protectionClass
        self.accessibility = accessibility
        self.store = store
        self.isStructured = isStructured
        self.isPresentedAsFile = isPresentedAsFile
        self.leastClass = leastClass
        self.group = group
    }
}

/// What is searched for.
public struct KeychainQuery: Hashable, Sendable {
    /// The class of the items.
    ///
    /// It is required unless reference is given. Absent means: required, unless reference is given.
    public var itemClass: ItemClass?
    /// The attributes that the items must have, with exactly these values.
    ///
    /// Absent means: any.
    public var attributes: [KeychainAttribute: AttributeValue]
    /// The user-defined attributes that the items must have, with exactly these values.
    ///
    /// Absent means: any.
    public var user: [AttributeName: String]
    /// The texts with which attributes of the items begin.
    ///
    /// Absent means: any.
    public var prefix: [KeychainAttribute: String]
    /// The texts that attributes of the items contain.
    ///
    /// Absent means: any.
    public var contains: [KeychainAttribute: String]
    /// The persistent reference of one item.
    ///
    /// Only class may accompany it. Absent means: none.
    public var reference: ItemID?
    /// The time before which the items expire.
    ///
    /// Items that have expired already are included. Absent means: any.
    public var expiringBefore: Int64?

    package init(
        itemClass: ItemClass?,
        attributes: [KeychainAttribute: AttributeValue],
        user: [AttributeName: String],
        prefix: [KeychainAttribute: String],
        contains: [KeychainAttribute: String],
        reference: ItemID?,
        expiringBefore: Int64?
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.user = user
        self.prefix = prefix
        self.contains = contains
        self.reference = reference
        self.expiringBefore = expiringBefore
    }
}
