// packaging/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

extension AuditRecord: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: try reader.integer("number", in: 1...Int64.max),
            time: try reader.integer("time"),
            client: try reader.value("client", of: ClientIdentity.self),
            action: try reader.string("action"),
            items: try reader.values("items", of: AuditedItem.self),
            itemCount: try reader.optionalInteger("itemCount", in: 2...Int64.max).map { Int($0) },
            state: try reader.required("state", as: VaultState.self),
            refusal: try reader.value("refusal", of: AuditedRefusal.self),
            reason: try reader.optionalString("reason"),
            count: try reader.optionalInteger("count", in: 2...Int64.max).map { Int($0) } ?? 1
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("number", number)
        object.append("time", time)
        object.append("client", client)
        object.append("action", action)
        object.append("items", items)
        if itemCount > items.count { object.append("itemCount", itemCount) }
        object.append("state", state)
        object.append("refusal", refusal)
        object.append("reason", reason)
        if count != 1 { object.append("count", count) }
        return object
    }
}

extension AuditSummary: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            recordCount: try reader.integer("records", in: 0...Int64.max),
            firstTime: try reader.integer("firstTime"),
            lastTime: try reader.integer("lastTime"),
            tallies: try reader.values("clients", of: AuditSummary.Tally.self)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("records", recordCount)
        object.append("firstTime", firstTime)
        object.append("lastTime", lastTime)
        object.append("clients", tallies)
        return object
    }
}

extension AuditedItem: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.optionalString("name"),
            group: try reader.optionalString("group"),
            reference: try reader.optionalItemID("reference")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("group", group)
        object.append("reference", reference)
        return object
    }
}

extension CheckPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            stage: try reader.required("stage", as: CheckStage.self),
            checkedCount: Int(try reader.integer("checked", in: 0...Int64.max)),
            sealedCount: Int(try reader.integer("sealed", in: 0...Int64.max)),
            quarantinedCount: Int(try reader.integer("quarantined", in: 0...Int64.max)),
            findings: try reader.values("findings", of: Finding.self),
            cursor: try reader.optionalString("cursor")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("stage", stage)
        object.append("checked", checkedCount)
        object.append("sealed", sealedCount)
        object.append("quarantined", quarantinedCount)
        object.append("findings", findings)
        object.append("cursor", cursor)
        return object
    }
}

extension ClientIdentity: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            processID: try reader.optionalInteger("pid", in: 1...Int64(Int32.max)).map { Int32($0) },
            userID: UInt32(try reader.integer("uid", in: 0...Int64(UInt32.max))),
            groupID: UInt32(try reader.integer("gid", in: 0...Int64(UInt32.max))),
            supplementaryGroupIDs: try reader.groupIDs("gids"),
            unit: try reader.optionalString("unit"),
            userUnit: try reader.optionalString("userUnit"),
            executablePath: try reader.optionalString("executable"),
            isContained: try reader.optionalBool("contained") ?? false,
            machine: try reader.optionalString("machine")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("pid", processID)
        object.append("uid", userID)
        object.append("gid", groupID)
        if !supplementaryGroupIDs.isEmpty { object.append("gids", supplementaryGroupIDs) }
        object.append("unit", unit)
        object.append("userUnit", userUnit)
        object.append("executable", executablePath)
        if isContained { object.append("contained", true) }
        object.append("machine", machine)
        return object
    }
}

/// How many items or files were removed.
package struct CountResult: Hashable, WireObject {
    /// How many items, files and directories are gone.
    package let count: Int64

    package init(count: Int64) {
        self.count = count
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = try reader.integer("count", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("count", count)
        return object
    }
}

extension CredentialAnswer: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.string("name"),
            refusal: try reader.value("refusal", of: AuditedRefusal.self),
            protection: try reader.protection("protection")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("refusal", refusal)
        object.append("protection", protection)
        return object
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

extension DamagedRange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        offset = try reader.integer("offset", in: 0...Int64.max)
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("offset", offset)
        object.append("bytes", byteCount)
        return object
    }
}

/// A result without members.
package struct Empty: Hashable, WireObject {

    package init() {
    }

    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

extension Entitlement: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            path: try reader.string("file"),
            line: Int(try reader.integer("line", in: 1...Int64(Int32.max))),
            clients: try reader.clientPatterns("clients"),
            groups: try reader.strings("groups"),
            verbs: try reader.verbs("verbs"),
            protection: try reader.protection("protection"),
            limits: try ClientLimits(reading: &reader)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("file", path)
        object.append("line", line)
        object.append("clients", clients)
        object.append("groups", groups)
        object.append("verbs", verbs)
        object.append("protection", protection)
        object.append(limits.json)
        return object
    }
}

/// Where an item is or would be stored, and what the client may do with it.
public struct Explanation: Hashable, Sendable {
    /// Where an item is stored, and why.
    public let placement: Placement
    /// What is stored under the name.
    ///
    /// It is absent if nothing is.
    public let stored: ItemInfo?
    /// What the client may do with it.
    public let access: ItemAccess

    package init(placement: Placement, stored: ItemInfo? = nil, access: ItemAccess) {
        self.placement = placement
        self.stored = stored
        self.access = access
    }
}

extension Explanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        placement = try Placement(reading: &reader)
        stored = try reader.value("stored", of: ItemInfo.self)
        access = try reader.required("access", of: ItemAccess.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(placement.json)
        object.append("stored", stored)
        object.append("access", access)
        return object
    }
}

extension VaultFault: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            what: try reader.string("what"),
            hint: try reader.string("hint")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("what", what)
        object.append("hint", hint)
        return object
    }
}

/// A number of bytes of a file.
package struct FileByteCount: Hashable, WireObject {
    /// How many bytes were read, or how many bytes the file has now.
    package let byteCount: Int64

    package init(byteCount: Int64) {
        self.byteCount = byteCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("bytes", byteCount)
        return object
    }
}

/// A file or a directory as a listing shows it, without its content.
public struct FileInfo: Hashable, Sendable {
    /// The path.
    public let name: String
    /// Whether it is a directory.
    public let isDirectory: Bool
    /// The class of a file, or the class that new files in a directory get.
    ///
    /// It is absent if a directory leaves that to the directories around it.
    public let protectionClass: ProtectionClass?
    /// How many bytes a file has.
    ///
    /// It is 0 for a directory.
    public let byteCount: Int64
    /// What the owner said the file is.
    ///
    /// It is absent if the owner did not say.
    public let kind: ItemKind?
    /// When it was created.
    public let created: Int64
    /// When its content or its class last changed.
    public let modified: Int64
    /// Whether it can be read now.
    ///
    /// A directory always can.
    public let isReadable: Bool
    /// Whether a client has the file open for writing.
    public let isOpenForWriting: Bool
    /// How many entries a directory has.
    ///
    /// It is absent for a file.
    public let childCount: Int?

    package init(
        name: String,
        isDirectory: Bool,
        protectionClass: ProtectionClass? = nil,
        byteCount: Int64,
        kind: ItemKind? = nil,
        created: Int64,
        modified: Int64,
        isReadable: Bool,
        isOpenForWriting: Bool,
        childCount: Int? = nil
    ) {
        self.name = name
        self.isDirectory = isDirectory
        self.protectionClass = protectionClass
        self.byteCount = byteCount
        self.kind = kind
        self.created = created
        self.modified = modified
        self.isReadable = isReadable
        self.isOpenForWriting = isOpenForWriting
        self.childCount = childCount
    }
}

extension FileInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        isDirectory = try reader.optionalBool("isDirectory") ?? false
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        kind = try reader.value("kind", as: ItemKind.self)
        created = try reader.integer("created")
        modified = try reader.integer("modified")
        isReadable = try reader.optionalBool("isReadable") ?? false
        isOpenForWriting = try reader.optionalBool("isOpenForWriting") ?? false
        childCount = try reader.optionalInteger("children", in: 0...Int64.max).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("isDirectory", isDirectory)
        object.append("class", protectionClass)
        object.append("bytes", byteCount)
        object.append("kind", kind)
        object.append("created", created)
        object.append("modified", modified)
        object.append("isReadable", isReadable)
        object.append("isOpenForWriting", isOpenForWriting)
        object.append("children", childCount)
        return object
    }
}

extension Finding: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            try reader.required("stage", as: CheckStage.self),
            reference: try reader.optionalItemID("reference"),
            name: try reader.optionalString("name"),
            try reader.required("damage", as: Damage.self),
            repair: try reader.required("repair", as: Repair.self),
            isRepaired: try reader.optionalBool("isRepaired") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("stage", stage)
        object.append("reference", reference)
        object.append("name", name)
        object.append("damage", damage)
        object.append("found", damage.words)
        object.append("repair", repair)
        object.append("isRepaired", isRepaired)
        return object
    }
}

/// A former value of a secret, without the value.
public struct KeychainFormerValue: Hashable, Sendable {
    /// The number of the value.
    ///
    /// A later value has a higher number.
    public let number: Int
    /// When another value replaced it.
    public let replaced: Int64
    /// How many bytes the value has.
    public let byteCount: Int

    package init(number: Int, replaced: Int64, byteCount: Int) {
        self.number = number
        self.replaced = replaced
        self.byteCount = byteCount
    }
}

extension KeychainFormerValue: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = Int(try reader.integer("number", in: 0...Int64.max))
        replaced = try reader.integer("replaced")
        byteCount = Int(try reader.integer("bytes", in: 0...Int64(Limits.framePayloadBytes)))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("number", number)
        object.append("replaced", replaced)
        object.append("bytes", byteCount)
        return object
    }
}

extension ItemAccess: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            state: try reader.required("state", as: VaultState.self),
            read: try reader.optionalString("read").map { ItemAccess.Answer(text: $0) },
            write: ItemAccess.Answer(text: try reader.string("write")),
            remove: try reader.optionalString("remove").map { ItemAccess.Answer(text: $0) },
            readable: try reader.string("readable")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("state", state)
        object.append("read", read)
        object.append("write", write)
        object.append("remove", remove)
        object.append("readable", readable)
        return object
    }
}

extension ItemChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            try reader.required("change", as: ItemChange.Kind.self),
            in: try reader.required("store", as: StoreName.self),
            group: try reader.string("group"),
            name: try reader.optionalString("name"),
            formerName: try reader.optionalString("formerName"),
            itemClass: try reader.value("class", as: ItemClass.self),
            reference: try reader.optionalItemID("reference")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("change", kind)
        object.append("store", store)
        object.append("group", group)
        object.append("name", name)
        object.append("formerName", formerName)
        object.append("class", itemClass)
        object.append("reference", reference)
        return object
    }
}

/// An item as a listing shows it, without its content.
public struct ItemInfo: Hashable, Sendable {
    /// The name of the item.
    public let name: String
    /// How the item is protected.
    ///
    /// It also says which store holds the item.
    public let protection: Protection
    /// How many bytes the content has.
    public let byteCount: Int64
    /// What the owner said the item is.
    ///
    /// It is absent if the owner did not say.
    public let kind: ItemKind?
    /// When the item was created.
    public let created: Int64
    /// When the content or the protection of the item last changed.
    public let modified: Int64
    /// Whether the content can be read now.
    public let isReadable: Bool
    /// Until when the item is valid.
    ///
    /// It is absent if the item does not expire.
    public let expiryDate: Int64?
    /// Whether the expiry date has passed.
    ///
    /// The item remains readable. Absent means false.
    public let isExpired: Bool

    package init(
        name: String,
        protection: Protection,
        byteCount: Int64,
        kind: ItemKind? = nil,
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

extension ItemInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        protection = try Protection(reading: &reader)
        byteCount = try reader.integer("size", in: 0...Int64.max)
        kind = try reader.value("kind", as: ItemKind.self)
        created = try reader.integer("created")
        modified = try reader.integer("modified")
        isReadable = try reader.optionalBool("readable") ?? false
        expiryDate = try reader.optionalInteger("expiryDate")
        isExpired = try reader.optionalBool("isExpired") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append(protection.json)
        object.append("size", byteCount)
        object.append("kind", kind)
        object.append("created", created)
        object.append("modified", modified)
        object.append("readable", isReadable)
        object.append("expiryDate", expiryDate)
        if isExpired { object.append("isExpired", true) }
        return object
    }
}

/// An item of the keychain as a query shows it, without its secret.
public struct KeychainItemInfo: Hashable, Sendable {
    /// The class of the item.
    public let itemClass: ItemClass
    /// The persistent reference of the item.
    public let reference: ItemID
    /// The attributes of the item.
    ///
    /// It is absent if the query did not ask for them.
    public let attributes: [KeychainAttribute: AttributeValue]?
    /// The attributes of the user's own.
    ///
    /// It is absent if the query did not ask for attributes.
    public let user: [String: String]?
    /// How many bytes of the payload are the secret of this item.
    ///
    /// It is absent if the secret is not in the payload.
    public let byteCount: Int?
    /// What a person has to present before the secret is used.
    ///
    /// It is absent if nothing is needed, or if the query did not ask for attributes.
    public let accessControl: AccessControl?
    /// Whether the secret cannot be read now.
    ///
    /// Absent means false.
    public let isLocked: Bool
    /// Whether the expiry date has passed.
    ///
    /// The item remains readable. Absent means false.
    public let isExpired: Bool

    package init(
        itemClass: ItemClass,
        reference: ItemID,
        attributes: [KeychainAttribute: AttributeValue]? = nil,
        user: [String: String]? = nil,
        byteCount: Int? = nil,
        accessControl: AccessControl? = nil,
        isLocked: Bool = false,
        isExpired: Bool = false
    ) {
        self.itemClass = itemClass
        self.reference = reference
        self.attributes = attributes
        self.user = user
        self.byteCount = byteCount
        self.accessControl = accessControl
        self.isLocked = isLocked
        self.isExpired = isExpired
    }
}

extension KeychainItemInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        itemClass = try reader.required("class", as: ItemClass.self)
        reference = try reader.itemID("reference")
        attributes = try reader.knownAttributes("attributes")
        user = try reader.optionalUserAttributes("user")
        byteCount = try reader.optionalInteger("bytes", in: 0...Int64(Limits.framePayloadBytes)).map { Int($0) }
        accessControl = try reader.accessControl("accessControl")
        isLocked = try reader.optionalBool("isLocked") ?? false
        isExpired = try reader.optionalBool("isExpired") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("class", itemClass)
        object.append("reference", reference)
        object.append("attributes", attributes)
        object.append("user", user)
        object.append("bytes", byteCount)
        object.append("accessControl", accessControl)
        if isLocked { object.append("isLocked", true) }
        if isExpired { object.append("isExpired", true) }
        return object
    }
}

extension KeyslotInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: Int(try reader.integer("slot", in: 0...255)),
            kind: try reader.required("kind", as: KeyslotKind.self)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("slot", number)
        object.append("kind", kind)
        return object
    }
}

/// A lease: a right to read one item, which ends by itself.
public struct LeaseInfo: Hashable, Sendable {
    /// The number of the lease.
    ///
    /// The vault never uses it again.
    public let number: Int64
    /// The name of the item.
    public let name: String
    /// The clients that may read the item.
    public let client: ClientPattern
    /// How many seconds remain until the lease ends, rounded up.
    public let seconds: Int64
    /// How often the item may still be read.
    ///
    /// It is absent if only the time bounds that.
    public let uses: Int64?
    /// What the lease is for.
    ///
    /// It is absent if no reason was given.
    public let reason: String?
    /// When the lease was granted.
    public let granted: Int64

    package init(
        number: Int64,
        name: String,
        client: ClientPattern,
        seconds: Int64,
        uses: Int64? = nil,
        reason: String? = nil,
        granted: Int64
    ) {
        self.number = number
        self.name = name
        self.client = client
        self.seconds = seconds
        self.uses = uses
        self.reason = reason
        self.granted = granted
    }
}

extension LeaseInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("lease", in: 1...Int64.max)
        name = try reader.string("name")
        client = try reader.client("to")
        seconds = try reader.integer("seconds", in: 0...Int64.max)
        uses = try reader.optionalInteger("uses", in: 1...Int64.max)
        reason = try reader.optionalString("reason")
        granted = try reader.integer("granted")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("lease", number)
        object.append("name", name)
        object.append("to", client)
        object.append("seconds", seconds)
        object.append("uses", uses)
        object.append("reason", reason)
        object.append("granted", granted)
        return object
    }
}

/// Where an item is stored, and why.
public struct Placement: Hashable, Sendable {
    /// How the item is protected.
    ///
    /// It also says which store holds the item.
    public let protection: Protection
    /// The rule of the decision matrix that applied.
    public let rule: String
    /// The rule in words.
    public let reason: String
    /// What decided the protection: caller, directory, existingItem, entitlement, configuration, scenario
    /// or standard.
    public let protectionSource: String
    /// What the daemon recognised the content as.
    ///
    /// It is absent if that took no part in the decision.
    public let signature: String?
    /// What the caller should know, such as that a value is deprecated.
    public let warnings: [String]

    package init(
        protection: Protection,
        rule: String,
        reason: String,
        protectionSource: String,
        signature: String? = nil,
        warnings: [String]
    ) {
        self.protection = protection
        self.rule = rule
        self.reason = reason
        self.protectionSource = protectionSource
        self.signature = signature
        self.warnings = warnings
    }
}

extension Placement: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protection = try Protection(reading: &reader)
        rule = try reader.string("rule")
        reason = try reader.string("reason")
        protectionSource = try reader.string("protectionSource")
        signature = try reader.optionalString("signature")
        warnings = try reader.strings("warnings")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(protection.json)
        object.append("rule", rule)
        object.append("reason", reason)
        object.append("protectionSource", protectionSource)
        object.append("signature", signature)
        object.append("warnings", warnings)
        return object
    }
}

extension QuarantineEntry: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            store: try reader.required("store", as: StoreName.self),
            number: try reader.integer("number", in: 1...Int64.max),
            stage: try reader.required("stage", as: CheckStage.self),
            reference: try reader.optionalItemID("reference"),
            name: try reader.optionalString("name"),
            damage: try reader.required("damage", as: Damage.self),
            moved: try reader.integer("moved"),
            obstacle: try reader.optionalString("obstacle")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("store", store)
        object.append("number", number)
        object.append("stage", stage)
        object.append("reference", reference)
        object.append("name", name)
        object.append("damage", damage)
        object.append("moved", moved)
        object.append("obstacle", obstacle)
        return object
    }
}

extension AuditedRefusal: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            ErrorCode(rawValue: try reader.string("code")),
            try reader.string("message")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("code", code)
        object.append("message", message)
        return object
    }
}

/// The number of a keyslot.
package struct SlotResult: Hashable, WireObject {
    /// The keyslot that was made, or that the credential opens.
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("slot", in: 0...255)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("slot", number)
        return object
    }
}

/// The state of the vault, and how much is in it.
public struct VaultStatus: Hashable, Sendable {
    /// The state of the vault.
    public let state: VaultState
    /// How many items the keychain has.
    ///
    /// It is absent if there is no vault.
    public let keychainCount: Int?
    /// How many files there are.
    ///
    /// It is absent if there is no vault.
    public let fileCount: Int?
    /// How many milliseconds remain until the grace of a lock ends.
    ///
    /// It is absent if no grace is running.
    public let graceMilliseconds: Int64?
    /// The identifier of the vault.
    ///
    /// It is absent if there is no vault.
    public let vaultID: ItemID?
    /// How many wrong passcodes were presented since the last right one.
    ///
    /// It is absent if there is no vault.
    public let failedAttempts: Int
    /// How many seconds remain until the daemon checks the next passcode.
    ///
    /// It is absent if the daemon checks one now, or never again.
    public let retrySeconds: Int?
    /// Whether the daemon no longer checks any passcode, so that only a recovery key opens the vault.
    ///
    /// Absent means false.
    public let attemptsEnded: Bool
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means false.
    public let erasesData: Bool
    /// How many items depend on the passcode and are destroyed with it.
    ///
    /// It is absent if there is no vault.
    public let passcodeItemCount: Int?
    /// What is wrong with the configuration file.
    ///
    /// The daemon then uses the last valid one. It is absent if the file is right.
    public let configurationTrouble: String?
    /// What is wrong with the vault as a whole.
    ///
    /// It is absent if nothing is.
    public let faults: [VaultFault]
    /// The version of the daemon.
    public let version: String
    /// The number of the protocol that the daemon speaks.
    public let protocolNumber: Int

    package init(
        state: VaultState,
        keychainCount: Int? = nil,
        fileCount: Int? = nil,
        graceMilliseconds: Int64? = nil,
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

extension VaultStatus: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        state = try reader.required("state", as: VaultState.self)
        keychainCount = try reader.optionalInteger("keychainItems", in: 0...Int64.max).map { Int($0) }
        fileCount = try reader.optionalInteger("files", in: 0...Int64.max).map { Int($0) }
        graceMilliseconds = try reader.optionalInteger("graceMilliseconds", in: 0...Int64.max)
        vaultID = try reader.optionalItemID("vaultID")
        failedAttempts = try reader.optionalInteger("failedAttempts", in: 0...Int64.max).map { Int($0) } ?? 0
        retrySeconds = try reader.optionalInteger("retrySeconds", in: 0...Int64.max).map { Int($0) }
        attemptsEnded = try reader.optionalBool("attemptsEnded") ?? false
        erasesData = try reader.optionalBool("erasesData") ?? false
        passcodeItemCount = try reader.optionalInteger("passcodeItems", in: 0...Int64.max).map { Int($0) }
        configurationTrouble = try reader.optionalString("configurationTrouble")
        faults = try reader.optionalValues("faults", of: VaultFault.self)
        version = try reader.string("version")
        protocolNumber = Int(try reader.integer("protocol", in: 0...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("state", state)
        object.append("keychainItems", keychainCount)
        object.append("files", fileCount)
        object.append("graceMilliseconds", graceMilliseconds)
        object.append("vaultID", vaultID)
        if state != .noVault { object.append("failedAttempts", failedAttempts) }
        object.append("retrySeconds", retrySeconds)
        if state != .noVault { object.append("attemptsEnded", attemptsEnded) }
        if state != .noVault { object.append("erasesData", erasesData) }
        object.append("passcodeItems", passcodeItemCount)
        object.append("configurationTrouble", configurationTrouble)
        if !faults.isEmpty { object.append("faults", faults) }
        object.append("version", version)
        object.append("protocol", protocolNumber)
        return object
    }
}

extension AuditSummary.Tally: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            client: try reader.optionalString("client"),
            allowedCount: try reader.integer("allowed", in: 0...Int64.max),
            refusedCount: try reader.integer("refused", in: 0...Int64.max)
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("client", client)
        object.append("allowed", allowedCount)
        object.append("refused", refusedCount)
        return object
    }
}

/// A file that kept its class.
public struct UnchangedFile: Hashable, Sendable {
    /// The path of the file.
    ///
    /// If the file is damaged and has no readable path, it is the path of its directory.
    public let name: String
    /// The name of the error that kept the class.
    public let code: ErrorCode
    /// The message of that error.
    public let message: String

    package init(name: String, code: ErrorCode, message: String) {
        self.name = name
        self.code = code
        self.message = message
    }
}

extension UnchangedFile: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        code = ErrorCode(rawValue: try reader.string("code"))
        message = try reader.string("message")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("code", code)
        object.append("message", message)
        return object
    }
}

/// The parameters of the notification `progress`.
///
/// How far a transfer has come.
package struct ProgressParameters: Hashable, WireObject {
    /// How many bytes are done.
    package let done: Int64
    /// How many bytes there are in all.
    ///
    /// It is absent if the end of a pipe is not known yet. Absent means: absent where the end is not in
    /// sight.
    package let total: Int64?
    /// The id of the request.
    ///
    /// It is absent if the request had none. Absent means: absent where the request had none.
    package let request: RequestID?

    package init(done: Int64, total: Int64? = nil, request: RequestID? = nil) {
        self.done = done
        self.total = total
        self.request = request
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        done = try reader.integer("done", in: 0...Int64.max)
        total = try reader.optionalInteger("total", in: 0...Int64.max)
        request = try reader.optionalID("id")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("done", done)
        object.append("total", total)
        object.append("id", request)
        return object
    }
}

/// The parameters of the notification `itemsDidChange`.
///
/// Items in the client's access groups were added, changed, removed or renamed, and that is on the
/// disk.
package struct ItemsDidChangeParameters: Hashable, WireObject {
    /// The changes, in the order in which they happened.
    package let changes: [ItemChange]

    package init(changes: [ItemChange]) {
        self.changes = changes
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        changes = try reader.values("changes", of: ItemChange.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("changes", changes)
        return object
    }
}

extension FailedAttempts: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            count: Int(try reader.integer("failedAttempts", in: 0...Int64.max)),
            retrySeconds: try reader.optionalInteger("retrySeconds", in: 0...Int64.max).map { Int($0) },
            isEnded: try reader.optionalBool("attemptsEnded") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("failedAttempts", count)
        object.append("retrySeconds", retrySeconds)
        if isEnded { object.append("attemptsEnded", true) }
        return object
    }
}

/// The parameters of the notification `auditDidGrow`.
///
/// A client did something or was refused, and the record of that is on the disk.
package struct AuditDidGrowParameters: Hashable, WireObject {
    /// The records, the oldest first.
    package let records: [AuditRecord]

    package init(records: [AuditRecord]) {
        self.records = records
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        records = try reader.values("records", of: AuditRecord.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("records", records)
        return object
    }
}

/// The parameters of the notification `eventsMissed`.
///
/// The daemon dropped events because the client was slow.
package struct EventsMissedParameters: Hashable, WireObject {
    /// How many events were dropped.
    package let count: Int

    package init(count: Int) {
        self.count = count
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = Int(try reader.integer("count", in: 1...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("count", count)
        return object
    }
}
