// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

extension AccessRule: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let number = try reader.integer("rule")
        let kind = try reader.required("kind", as: AccessRuleKind.self)
        let client = try reader.client("client")
        let verbs = try reader.verbs("verbs")
        let group = try reader.string("group")
        let pattern = try reader.optionalPattern("pattern")
        let name = try reader.optionalName("name")
        let seconds = try reader.optionalInteger("seconds", in: 0...Int64.max)
        let uses = try reader.optionalInteger("uses", in: 1...Int64.max)
        let reason = try reader.optionalString("reason")
        let added = try reader.optionalInteger("added")
        self.init(
            number: number,
            kind: kind,
            client: client,
            verbs: verbs,
            group: group,
            pattern: pattern,
            name: name,
            seconds: seconds,
            uses: uses,
            reason: reason,
            added: added
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("rule", number)
        object.append("kind", kind)
        object.append("client", client)
        object.append("verbs", verbs)
        object.append("group", group)
        object.append("pattern", pattern)
        object.append("name", name)
        object.append("seconds", seconds)
        object.append("uses", uses)
        object.append("reason", reason)
        object.append("added", added)
        return object
    }
}

/// An access rule that was added, or that was there already.
public struct AccessRuleResult: Hashable, Sendable {
    /// The number of the rule.
    public let number: Int64
    /// Those of the verbs that such a client holds in the group without any rule, so that the rule changes
    /// nothing about them.
    ///
    /// Absent means none.
    public let held: Set<Verb>

    package init(number: Int64, held: Set<Verb> = []) {
        self.number = number
        self.held = held
    }
}

extension AccessRuleResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("rule")
        held = try reader.verbsIfAny("held")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("rule", number)
        if !held.isEmpty { object.append("held", held) }
        return object
    }
}

extension AuditRecord: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let number = try reader.integer("number", in: 1...Int64.max)
        let time = try reader.integer("time")
        let client = try reader.value("client", of: ClientIdentity.self)
        let action = try reader.string("action")
        let items = try reader.values("items", of: AuditedItem.self)
        let itemCount = try reader.optionalInteger("itemCount", in: 2...Int64.max).map { Int($0) }
        let state = try reader.required("state", as: VaultState.self)
        let refusal = try reader.value("refusal", of: AuditedRefusal.self)
        let reason = try reader.optionalString("reason")
        let count = try reader.optionalInteger("count", in: 2...Int64.max).map { Int($0) } ?? 1
        self.init(
            number: number,
            time: time,
            client: client,
            action: action,
            items: items,
            itemCount: itemCount,
            state: state,
            refusal: refusal,
            reason: reason,
            count: count
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
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
        let recordCount = try reader.integer("records", in: 0...Int64.max)
        let firstTime = try reader.integer("firstTime")
        let lastTime = try reader.integer("lastTime")
        let unreadCount = try reader.optionalInteger("unread", in: 0...Int64.max) ?? 0
        let tallies = try reader.values("clients", of: AuditSummary.Tally.self)
        self.init(
            recordCount: recordCount,
            firstTime: firstTime,
            lastTime: lastTime,
            unreadCount: unreadCount,
            tallies: tallies
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("records", recordCount)
        object.append("firstTime", firstTime)
        object.append("lastTime", lastTime)
        if unreadCount != 0 { object.append("unread", unreadCount) }
        object.append("clients", tallies)
        return object
    }
}

extension AuditedItem: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let name = try reader.optionalString("name")
        let group = try reader.optionalString("group")
        let reference = try reader.optionalItemID("reference")
        self.init(name: name, group: group, reference: reference)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("group", group)
        object.append("reference", reference)
        return object
    }
}

/// A content of a file, as a backup reads it.
public struct BackupContent: Hashable, Sendable {
    /// The id of the content, which never changes.
    public let id: ItemID
    /// How many bytes the content has on the disk.
    ///
    /// It is absent if the file has none, or it is missing.
    public let byteCount: Int64?
    /// How many bytes the overlay has, with the chunks that were rewritten.
    ///
    /// It is absent if there is none.
    public let overlayByteCount: Int64?

    package init(id: ItemID, byteCount: Int64? = nil, overlayByteCount: Int64? = nil) {
        self.id = id
        self.byteCount = byteCount
        self.overlayByteCount = overlayByteCount
    }
}

extension BackupContent: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        id = try reader.itemID("id")
        byteCount = try reader.optionalInteger("size", in: 0...Int64.max)
        overlayByteCount = try reader.optionalInteger("overlay", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("id", id)
        object.append("size", byteCount)
        object.append("overlay", overlayByteCount)
        return object
    }
}

/// Which snapshot of a vault.
public struct BackupReference: Hashable, Sendable {
    /// Its number, from 1.
    public let number: Int64
    /// What was signed of it: 32 bytes.
    public let digest: [UInt8]

    package init(number: Int64, digest: [UInt8]) {
        self.number = number
        self.digest = digest
    }
}

extension BackupReference: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("number", in: 1...Int64.max)
        digest = try reader.bytes("digest")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("number", number)
        object.append("digest", digest)
        return object
    }
}

/// Something in use of the vault, which a lock may end.
public struct Blocker: Hashable, Sendable {
    /// The number of the connection: all that one connection uses has the same.
    public let connection: Int64
    /// The client.
    public let client: ClientIdentity
    /// What the client uses.
    public let use: BlockerUse
    /// The method of a transfer.
    ///
    /// It is absent for a handle.
    public let method: String?
    /// The name of the item.
    ///
    /// It is absent if a file has none any more.
    public let name: String?
    /// The class of an open file.
    ///
    /// It is absent for a transfer.
    public let protectionClass: ProtectionClass?
    /// Whether the content is written.
    ///
    /// Absent means false.
    public let writes: Bool
    /// Whether a lock ends it, after its grace.
    ///
    /// Absent means false, or that the daemon does not know it yet, as of a put.
    public let endsAtLock: Bool

    package init(
        connection: Int64,
        client: ClientIdentity,
        use: BlockerUse,
        method: String? = nil,
        name: String? = nil,
        protectionClass: ProtectionClass? = nil,
        writes: Bool = false,
        endsAtLock: Bool = false
    ) {
        self.connection = connection
        self.client = client
        self.use = use
        self.method = method
        self.name = name
        self.protectionClass = protectionClass
        self.writes = writes
        self.endsAtLock = endsAtLock
    }
}

extension Blocker: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        connection = try reader.integer("connection", in: 0...Int64.max)
        client = try reader.required("client", of: ClientIdentity.self)
        use = try reader.required("use", as: BlockerUse.self)
        method = try reader.optionalString("method")
        name = try reader.optionalString("name")
        protectionClass = try reader.value("protection", as: ProtectionClass.self)
        writes = try reader.optionalBool("writes") ?? false
        endsAtLock = try reader.optionalBool("endsAtLock") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("connection", connection)
        object.append("client", client)
        object.append("use", use)
        object.append("method", method)
        object.append("name", name)
        object.append("protection", protectionClass)
        if writes { object.append("writes", true) }
        if endsAtLock { object.append("endsAtLock", true) }
        return object
    }
}

extension CheckPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let stage = try reader.required("stage", as: CheckStage.self)
        let checkedCount = Int(try reader.integer("checked", in: 0...Int64.max))
        let sealedCount = Int(try reader.integer("sealed", in: 0...Int64.max))
        let quarantinedCount = Int(try reader.integer("quarantined", in: 0...Int64.max))
        let byteCount = try reader.optionalInteger("bytes", in: 0...Int64.max) ?? 0
        let findings = try reader.values("findings", of: Finding.self)
        let cursor = try reader.optionalString("cursor")
        self.init(
            stage: stage,
            checkedCount: checkedCount,
            sealedCount: sealedCount,
            quarantinedCount: quarantinedCount,
            byteCount: byteCount,
            findings: findings,
            cursor: cursor
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 7)
        object.append("stage", stage)
        object.append("checked", checkedCount)
        object.append("sealed", sealedCount)
        object.append("quarantined", quarantinedCount)
        if byteCount != 0 { object.append("bytes", byteCount) }
        object.append("findings", findings)
        object.append("cursor", cursor)
        return object
    }
}

extension ClientIdentity: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let processID = try reader.optionalInteger("pid", in: 1...Int64(Int32.max)).map { Int32($0) }
        let userID = UInt32(try reader.integer("uid", in: 0...Int64(UInt32.max)))
        let groupID = UInt32(try reader.integer("gid", in: 0...Int64(UInt32.max)))
        let supplementaryGroupIDs = try reader.groupIDs("gids")
        let unit = try reader.optionalString("unit")
        let userUnit = try reader.optionalString("userUnit")
        let executablePath = try reader.optionalString("executable")
        let isContained = try reader.optionalBool("contained") ?? false
        let machine = try reader.optionalString("machine")
        self.init(
            processID: processID,
            userID: userID,
            groupID: groupID,
            supplementaryGroupIDs: supplementaryGroupIDs,
            unit: unit,
            userUnit: userUnit,
            executablePath: executablePath,
            isContained: isContained,
            machine: machine
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
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
public struct CountResult: Hashable, Sendable {
    /// How many items, files and directories were removed.
    public let count: Int64

    package init(count: Int64) {
        self.count = count
    }
}

extension CountResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = try reader.integer("count", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("count", count)
        return object
    }
}

extension CredentialAnswer: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let name = try reader.string("name")
        let refusal = try reader.value("refusal", of: AuditedRefusal.self)
        let protection = try reader.protection("protection")
        self.init(name: name, refusal: refusal, protection: protection)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("refusal", refusal)
        object.append("protection", protection)
        return object
    }
}

extension DamagedRange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let offset = try reader.integer("offset", in: 0...Int64.max)
        let byteCount = try reader.integer("bytes", in: 0...Int64.max)
        self.init(offset: offset, byteCount: byteCount)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("offset", offset)
        object.append("bytes", byteCount)
        return object
    }
}

/// A result without members.
public struct Empty: Hashable, Sendable {

    package init() {
    }
}

extension Empty: WireObject {
    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

extension Entitlement: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let path = try reader.string("file")
        let line = Int(try reader.integer("line", in: 1...Int64(Int32.max)))
        let clients = try reader.clientPatterns("clients")
        let groups = try reader.strings("groups")
        let verbs = try reader.verbs("verbs")
        let itemClass = try reader.value("class", as: ItemClass.self)
        let protection = try reader.protection("protection")
        let actsOnBehalf = try reader.optionalBool("onBehalfOf") ?? false
        let limits = try ClientLimits(reading: &reader)
        self.init(
            path: path,
            line: line,
            clients: clients,
            groups: groups,
            verbs: verbs,
            itemClass: itemClass,
            protection: protection,
            actsOnBehalf: actsOnBehalf,
            limits: limits
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("file", path)
        object.append("line", line)
        object.append("clients", clients)
        object.append("groups", groups)
        object.append("verbs", verbs)
        object.append("class", itemClass)
        object.append("protection", protection)
        if actsOnBehalf { object.append("onBehalfOf", true) }
        object.append(limits.json)
        return object
    }
}

/// Where an item is or would be stored, and what the client may do with it.
public struct Explanation: Hashable, Sendable {
    /// The store of an item, and how it was chosen.
    public let placement: Placement
    /// What is stored under the name.
    ///
    /// It is absent if nothing is.
    public let stored: ItemInfo?
    /// Whether something is stored under the name of which more can be said after the first unlock only:
    /// `stored` is absent then.
    ///
    /// Absent means false.
    public let isSealed: Bool
    /// Whether the placement is that of the put that stored the item, and not that of one now.
    ///
    /// Absent means false.
    public let isKept: Bool
    /// What the client may do with it.
    public let access: ItemAccess

    package init(
        placement: Placement,
        stored: ItemInfo? = nil,
        isSealed: Bool = false,
        isKept: Bool = false,
        access: ItemAccess
    ) {
        self.placement = placement
        self.stored = stored
        self.isSealed = isSealed
        self.isKept = isKept
        self.access = access
    }
}

extension Explanation: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        placement = try Placement(reading: &reader)
        stored = try reader.value("stored", of: ItemInfo.self)
        isSealed = try reader.optionalBool("isSealed") ?? false
        isKept = try reader.optionalBool("isKept") ?? false
        access = try reader.required("access", of: ItemAccess.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append(placement.json)
        object.append("stored", stored)
        if isSealed { object.append("isSealed", true) }
        if isKept { object.append("isKept", true) }
        object.append("access", access)
        return object
    }
}

/// An extended attribute, without its value.
public struct ExtendedAttributeInfo: Hashable, Sendable {
    /// The name of the attribute.
    public let name: String
    /// How many bytes its value has.
    public let byteCount: Int64

    package init(name: String, byteCount: Int64) {
        self.name = name
        self.byteCount = byteCount
    }
}

extension ExtendedAttributeInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("name", name)
        object.append("bytes", byteCount)
        return object
    }
}

extension VaultFault: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let what = try reader.string("what")
        let hint = try reader.string("hint")
        self.init(what: what, hint: hint)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("what", what)
        object.append("hint", hint)
        return object
    }
}

/// A number of bytes of a file.
public struct FileByteCount: Hashable, Sendable {
    /// How many bytes were read or turned into zeros, or how many bytes the value or the file has now.
    public let byteCount: Int64

    package init(byteCount: Int64) {
        self.byteCount = byteCount
    }
}

extension FileByteCount: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("bytes", byteCount)
        return object
    }
}

/// A file, a directory or a symbolic link as a listing shows it, without its content.
public struct FileInfo: Hashable, Sendable {
    /// The path.
    public let name: String
    /// Whether it is a directory.
    public let isDirectory: Bool
    /// What it is.
    ///
    /// Absent means a file.
    public let type: FileType
    /// Its number, which all names of a file share, which a rename keeps, and which is never used again.
    ///
    /// A file that is stored anew under its name has another one.
    public let inode: Int64
    /// The permission bits of POSIX.
    ///
    /// The daemon keeps them, and enforces nothing by them. Absent means 0.
    public let mode: Int64
    /// The number of the owner.
    ///
    /// It is absent if none was stated.
    public let uid: Int64?
    /// The number of the owner's group.
    ///
    /// It is absent if none was stated.
    public let gid: Int64?
    /// Where a symbolic link leads.
    ///
    /// It is absent for anything else.
    public let target: String?
    /// How many names a file has: 0 once it was removed while it is open.
    ///
    /// Absent means 1.
    public let linkCount: Int64
    /// The class of a file, or the default class of a directory for new files.
    ///
    /// It is absent if the directory has no default.
    public let protectionClass: ProtectionClass?
    /// How many bytes a file has, or the target of a symbolic link.
    ///
    /// It is 0 for a directory.
    public let byteCount: Int64
    /// How many bytes of the disk the content of a file takes.
    ///
    /// It is absent if that is `bytes`, and for anything else.
    public let storedByteCount: Int64?
    /// The kind that was stated for the file.
    ///
    /// It is absent if none was stated.
    public let kind: ItemKind?
    /// When it was created; 0 if that can be read after the first unlock only.
    public let created: Int64
    /// When its content or its class last changed.
    public let modified: Int64
    /// When it was last read, as far as a client has stated it: reading does not change it.
    public let accessedNanoseconds: Int64
    /// When its content last changed, including what is not synced yet, or what a client has stated
    /// instead.
    public let modifiedNanoseconds: Int64
    /// When its content, its name or an attribute last changed.
    public let changedNanoseconds: Int64
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
        type: FileType = .file,
        inode: Int64 = 0,
        mode: Int64 = 0,
        uid: Int64? = nil,
        gid: Int64? = nil,
        target: String? = nil,
        linkCount: Int64 = 1,
        protectionClass: ProtectionClass? = nil,
        byteCount: Int64,
        storedByteCount: Int64? = nil,
        kind: ItemKind? = nil,
        created: Int64,
        modified: Int64,
        accessedNanoseconds: Int64 = 0,
        modifiedNanoseconds: Int64 = 0,
        changedNanoseconds: Int64 = 0,
        isReadable: Bool,
        isOpenForWriting: Bool,
        childCount: Int? = nil
    ) {
        self.name = name
        self.isDirectory = isDirectory
        self.type = type
        self.inode = inode
        self.mode = mode
        self.uid = uid
        self.gid = gid
        self.target = target
        self.linkCount = linkCount
        self.protectionClass = protectionClass
        self.byteCount = byteCount
        self.storedByteCount = storedByteCount
        self.kind = kind
        self.created = created
        self.modified = modified
        self.accessedNanoseconds = accessedNanoseconds
        self.modifiedNanoseconds = modifiedNanoseconds
        self.changedNanoseconds = changedNanoseconds
        self.isReadable = isReadable
        self.isOpenForWriting = isOpenForWriting
        self.childCount = childCount
    }
}

extension FileInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        isDirectory = try reader.optionalBool("isDirectory") ?? false
        type = try reader.value("type", as: FileType.self) ?? .file
        inode = try reader.optionalInteger("inode", in: 0...Int64.max) ?? 0
        mode = try reader.optionalInteger("mode", in: 0...4095) ?? 0
        uid = try reader.optionalInteger("uid", in: 0...4294967294)
        gid = try reader.optionalInteger("gid", in: 0...4294967294)
        target = try reader.optionalString("target")
        linkCount = try reader.optionalInteger("links", in: 0...Int64.max) ?? 1
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        storedByteCount = try reader.optionalInteger("storedBytes", in: 0...Int64.max)
        kind = try reader.value("kind", as: ItemKind.self)
        created = try reader.integer("created")
        modified = try reader.integer("modified")
        accessedNanoseconds = try reader.optionalInteger("accessedNanoseconds") ?? 0
        modifiedNanoseconds = try reader.optionalInteger("modifiedNanoseconds") ?? 0
        changedNanoseconds = try reader.optionalInteger("changedNanoseconds") ?? 0
        isReadable = try reader.optionalBool("isReadable") ?? false
        isOpenForWriting = try reader.optionalBool("isOpenForWriting") ?? false
        childCount = try reader.optionalInteger("children", in: 0...Int64.max).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("name", name)
        object.append("isDirectory", isDirectory)
        if type != .file { object.append("type", type) }
        if inode != 0 { object.append("inode", inode) }
        if mode != 0 { object.append("mode", mode) }
        object.append("uid", uid)
        object.append("gid", gid)
        object.append("target", target)
        if linkCount != 1 { object.append("links", linkCount) }
        object.append("class", protectionClass)
        object.append("bytes", byteCount)
        object.append("storedBytes", storedByteCount)
        object.append("kind", kind)
        object.append("created", created)
        object.append("modified", modified)
        if accessedNanoseconds != 0 { object.append("accessedNanoseconds", accessedNanoseconds) }
        if modifiedNanoseconds != 0 { object.append("modifiedNanoseconds", modifiedNanoseconds) }
        if changedNanoseconds != 0 { object.append("changedNanoseconds", changedNanoseconds) }
        object.append("isReadable", isReadable)
        object.append("isOpenForWriting", isOpenForWriting)
        object.append("children", childCount)
        return object
    }
}

/// A former content of a file, without the content.
public struct FileVersionInfo: Hashable, Sendable {
    /// The number of the version.
    ///
    /// A later one has a higher number.
    public let number: Int64
    /// When another content replaced it.
    public let replaced: Int64
    /// How many bytes it has.
    public let byteCount: Int64
    /// Its class.
    public let protectionClass: ProtectionClass
    /// Whether it can be read now.
    public let isReadable: Bool

    package init(
        number: Int64,
        replaced: Int64,
        byteCount: Int64,
        protectionClass: ProtectionClass,
        isReadable: Bool
    ) {
        self.number = number
        self.replaced = replaced
        self.byteCount = byteCount
        self.protectionClass = protectionClass
        self.isReadable = isReadable
    }
}

extension FileVersionInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("number")
        replaced = try reader.integer("replaced")
        byteCount = try reader.integer("bytes", in: 0...Int64.max)
        protectionClass = try reader.required("class", as: ProtectionClass.self)
        isReadable = try reader.optionalBool("isReadable") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("number", number)
        object.append("replaced", replaced)
        object.append("bytes", byteCount)
        object.append("class", protectionClass)
        object.append("isReadable", isReadable)
        return object
    }
}

/// The former contents of a file.
public struct FileVersions: Hashable, Sendable {
    /// How many are kept of the file, or of each file in the directory.
    public let keepCount: Int
    /// Whether a directory above says so, or nothing does.
    public let isInherited: Bool
    /// The former contents, the newest first.
    public let versions: [FileVersionInfo]
    /// The numbers of the damaged ones, which can only be removed.
    public let damaged: [Int64]

    package init(
        keepCount: Int,
        isInherited: Bool,
        versions: [FileVersionInfo],
        damaged: [Int64]
    ) {
        self.keepCount = keepCount
        self.isInherited = isInherited
        self.versions = versions
        self.damaged = damaged
    }
}

extension FileVersions: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        keepCount = Int(try reader.integer("keep", in: 0...Int64(Limits.historyValues)))
        isInherited = try reader.optionalBool("inherited") ?? false
        versions = try reader.values("versions", of: FileVersionInfo.self)
        damaged = try reader.integers("damaged")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("keep", keepCount)
        object.append("inherited", isInherited)
        object.append("versions", versions)
        object.append("damaged", damaged)
        return object
    }
}

extension Finding: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let stage = try reader.required("stage", as: CheckStage.self)
        let reference = try reader.optionalItemID("reference")
        let name = try reader.optionalString("name")
        let damage = try reader.required("damage", as: Damage.self)
        let repair = try reader.required("repair", as: Repair.self)
        let isRepaired = try reader.optionalBool("isRepaired") ?? false
        let damaged = try reader.optionalValues("damaged", of: DamagedRange.self)
        let damagedByteCount = try reader.optionalInteger("damagedBytes", in: 0...Int64.max) ?? 0
        self.init(
            stage,
            reference: reference,
            name: name,
            damage,
            repair: repair,
            isRepaired: isRepaired,
            damaged: damaged,
            damagedByteCount: damagedByteCount
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("stage", stage)
        object.append("reference", reference)
        object.append("name", name)
        object.append("damage", damage)
        object.append("found", damage.words)
        object.append("repair", repair)
        object.append("isRepaired", isRepaired)
        if !damaged.isEmpty { object.append("damaged", damaged) }
        if damagedByteCount != 0 { object.append("damagedBytes", damagedByteCount) }
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
        var object = JSONObject(capacity: 3)
        object.append("number", number)
        object.append("replaced", replaced)
        object.append("bytes", byteCount)
        return object
    }
}

extension ItemAccess: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let state = try reader.required("state", as: VaultState.self)
        let read = try reader.optionalString("read").map { ItemAccess.Answer(text: $0) }
        let write = ItemAccess.Answer(text: try reader.string("write"))
        let remove = try reader.optionalString("remove").map { ItemAccess.Answer(text: $0) }
        let readable = try reader.string("readable")
        self.init(state: state, read: read, write: write, remove: remove, readable: readable)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
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
        let kind = try reader.required("change", as: ItemChange.Kind.self)
        let store = try reader.required("store", as: StoreName.self)
        let group = try reader.string("group")
        let name = try reader.optionalString("name")
        let formerName = try reader.optionalString("formerName")
        let itemClass = try reader.value("class", as: ItemClass.self)
        let reference = try reader.optionalItemID("reference")
        let inode = try reader.optionalInteger("inode", in: 0...Int64.max)
        self.init(
            kind,
            in: store,
            group: group,
            name: name,
            formerName: formerName,
            itemClass: itemClass,
            reference: reference,
            inode: inode
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("change", kind)
        object.append("store", store)
        object.append("group", group)
        object.append("name", name)
        object.append("formerName", formerName)
        object.append("class", itemClass)
        object.append("reference", reference)
        object.append("inode", inode)
        return object
    }
}

/// An item as a listing shows it, without its content.
public struct ItemInfo: Hashable, Sendable {
    /// The name of the item: its path, or for a keychain item without one its class and what it is known
    /// by.
    public let name: String
    /// The access group of the item.
    public let group: String
    /// How the item is protected.
    ///
    /// It also says which store holds the item.
    public let protection: Protection
    /// The class of an item of the keychain.
    ///
    /// It is absent for a file.
    public let itemClass: ItemClass?
    /// The persistent reference of an item of the keychain.
    ///
    /// It is absent for a file.
    public let reference: ItemID?
    /// How many bytes the content has.
    public let byteCount: Int64
    /// The kind that was stated for the item.
    ///
    /// It is absent if none was stated.
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
    /// Whether the vault lost the device key that a ThisDeviceOnly item needs, so that its secret can never
    /// be opened again.
    ///
    /// Absent means false.
    public let isLeftBehind: Bool
    /// The attributes of the item.
    ///
    /// It is absent in a listing.
    public let attributes: [KeychainAttribute: AttributeValue]?
    /// The user-defined attributes of the item.
    ///
    /// It is absent in a listing.
    public let user: [AttributeName: String]?
    /// The authentication that is required before the secret is used.
    ///
    /// It is absent if none is required, and in a listing.
    public let accessControl: AccessControl?
    /// How many former values of the secret are kept.
    ///
    /// It is absent for a file, and in a listing.
    public let formerValueCount: Int?

    package init(
        name: String,
        group: String,
        protection: Protection,
        itemClass: ItemClass? = nil,
        reference: ItemID? = nil,
        byteCount: Int64,
        kind: ItemKind? = nil,
        created: Int64,
        modified: Int64,
        isReadable: Bool,
        expiryDate: Int64? = nil,
        isExpired: Bool = false,
        isLeftBehind: Bool = false,
        attributes: [KeychainAttribute: AttributeValue]? = nil,
        user: [AttributeName: String]? = nil,
        accessControl: AccessControl? = nil,
        formerValueCount: Int? = nil
    ) {
        self.name = name
        self.group = group
        self.protection = protection
        self.itemClass = itemClass
        self.reference = reference
        self.byteCount = byteCount
        self.kind = kind
        self.created = created
        self.modified = modified
        self.isReadable = isReadable
        self.expiryDate = expiryDate
        self.isExpired = isExpired
        self.isLeftBehind = isLeftBehind
        self.attributes = attributes
        self.user = user
        self.accessControl = accessControl
        self.formerValueCount = formerValueCount
    }
}

extension ItemInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        group = try reader.string("group")
        protection = try Protection(reading: &reader)
        itemClass = try reader.value("class", as: ItemClass.self)
        reference = try reader.optionalItemID("reference")
        byteCount = try reader.integer("size", in: 0...Int64.max)
        kind = try reader.value("kind", as: ItemKind.self)
        created = try reader.integer("created")
        modified = try reader.integer("modified")
        isReadable = try reader.optionalBool("readable") ?? false
        expiryDate = try reader.optionalInteger("expiryDate")
        isExpired = try reader.optionalBool("isExpired") ?? false
        isLeftBehind = try reader.optionalBool("leftBehind") ?? false
        attributes = try reader.knownAttributes("attributes")
        user = try reader.optionalUserAttributes("user")
        accessControl = try reader.accessControl("accessControl")
        formerValueCount = try reader.optionalInteger("formerValues").map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("name", name)
        object.append("group", group)
        object.append(protection.json)
        object.append("class", itemClass)
        object.append("reference", reference)
        object.append("size", byteCount)
        object.append("kind", kind)
        object.append("created", created)
        object.append("modified", modified)
        object.append("readable", isReadable)
        object.append("expiryDate", expiryDate)
        if isExpired { object.append("isExpired", true) }
        if isLeftBehind { object.append("leftBehind", true) }
        object.append("attributes", attributes)
        object.append("user", user)
        object.append("accessControl", accessControl)
        object.append("formerValues", formerValueCount)
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
    /// The user-defined attributes.
    ///
    /// It is absent if the query did not ask for attributes.
    public let user: [AttributeName: String]?
    /// How many bytes of the payload are the secret of this item.
    ///
    /// It is absent if the secret is not in the payload.
    public let byteCount: Int?
    /// The authentication that is required before the secret is used.
    ///
    /// It is absent if none is required, or if the query did not ask for attributes.
    public let accessControl: AccessControl?
    /// Whether the secret cannot be read now.
    ///
    /// Absent means false.
    public let isLocked: Bool
    /// Whether the expiry date has passed.
    ///
    /// The item remains readable. Absent means false.
    public let isExpired: Bool
    /// Whether the vault lost the device key that a ThisDeviceOnly item needs, so that its secret can never
    /// be opened again.
    ///
    /// Absent means false.
    public let isLeftBehind: Bool

    package init(
        itemClass: ItemClass,
        reference: ItemID,
        attributes: [KeychainAttribute: AttributeValue]? = nil,
        user: [AttributeName: String]? = nil,
        byteCount: Int? = nil,
        accessControl: AccessControl? = nil,
        isLocked: Bool = false,
        isExpired: Bool = false,
        isLeftBehind: Bool = false
    ) {
        self.itemClass = itemClass
        self.reference = reference
        self.attributes = attributes
        self.user = user
        self.byteCount = byteCount
        self.accessControl = accessControl
        self.isLocked = isLocked
        self.isExpired = isExpired
        self.isLeftBehind = isLeftBehind
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
        isLeftBehind = try reader.optionalBool("leftBehind") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("class", itemClass)
        object.append("reference", reference)
        object.append("attributes", attributes)
        object.append("user", user)
        object.append("bytes", byteCount)
        object.append("accessControl", accessControl)
        if isLocked { object.append("isLocked", true) }
        if isExpired { object.append("isExpired", true) }
        if isLeftBehind { object.append("leftBehind", true) }
        return object
    }
}

extension KeyslotInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let number = Int(try reader.integer("slot", in: 0...255))
        let kind = try reader.required("kind", as: KeyslotKind.self)
        let made = try reader.optionalInteger("made")
        let label = try reader.optionalString("label")
        self.init(number: number, kind: kind, made: made, label: label)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("slot", number)
        object.append("kind", kind)
        object.append("made", made)
        object.append("label", label)
        return object
    }
}

/// The store of an item, and how it was chosen.
public struct Placement: Hashable, Sendable {
    /// How the item is protected.
    ///
    /// It also says which store holds the item.
    public let protection: Protection
    /// The rule of the decision matrix that applied.
    public let rule: String
    /// The rule in words.
    public let reason: String
    /// What decided the protection: caller, directory, existingItem, entitlement, configuration, scenario,
    /// kind, content, group or standard.
    public let protectionSource: String
    /// The format that the daemon recognised in the content.
    ///
    /// It is absent if the decision did not depend on it.
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
        var object = JSONObject(capacity: 6)
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
        let store = try reader.required("store", as: StoreName.self)
        let number = try reader.integer("number")
        let stage = try reader.required("stage", as: CheckStage.self)
        let reference = try reader.optionalItemID("reference")
        let name = try reader.optionalString("name")
        let damage = try reader.required("damage", as: Damage.self)
        let moved = try reader.integer("moved")
        let obstacle = try reader.optionalString("obstacle")
        self.init(
            store: store,
            number: number,
            stage: stage,
            reference: reference,
            name: name,
            damage: damage,
            moved: moved,
            obstacle: obstacle
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
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
        let code = ErrorCode(rawValue: try reader.string("code"))
        let message = try reader.string("message")
        self.init(code, message)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("code", code)
        object.append("message", message)
        return object
    }
}

/// An item, and what a client could do with it.
public struct SimulatedItem: Hashable, Sendable {
    /// The name of the item.
    public let name: String
    /// How the item is protected.
    ///
    /// It also says which store holds the item.
    public let protection: Protection
    /// Whether the client could read the content: yes, or the name of an error.
    public let read: ItemAccess.Answer
    /// Whether the client could replace the item: yes, or the name of an error.
    public let write: ItemAccess.Answer
    /// Whether the client could remove the item: yes, or the name of an error.
    public let remove: ItemAccess.Answer

    package init(
        name: String,
        protection: Protection,
        read: ItemAccess.Answer,
        write: ItemAccess.Answer,
        remove: ItemAccess.Answer
    ) {
        self.name = name
        self.protection = protection
        self.read = read
        self.write = write
        self.remove = remove
    }
}

extension SimulatedItem: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.string("name")
        protection = try Protection(reading: &reader)
        read = ItemAccess.Answer(text: try reader.string("read"))
        write = ItemAccess.Answer(text: try reader.string("write"))
        remove = ItemAccess.Answer(text: try reader.string("remove"))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        object.append(protection.json)
        object.append("read", read)
        object.append("write", write)
        object.append("remove", remove)
        return object
    }
}

/// The number of a keyslot.
public struct SlotResult: Hashable, Sendable {
    /// The keyslot that was made, or that the credential opens.
    public let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

extension SlotResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("slot", in: 0...255)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
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
    /// The class of new files of the group 'default' where nothing else decides.
    ///
    /// It is absent for the usual one.
    public let defaultClass: ProtectionClass?
    /// After how many seconds without the use of a key an unlocked vault is locked.
    ///
    /// It is absent if it is not.
    public let lockAfterSeconds: Int?
    /// Whether it is locked then because the machine has no seat with a screen and nothing else is
    /// configured.
    ///
    /// Absent means false.
    public let lockAfterIsDefault: Bool
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
    /// Whether the daemon no longer accepts any passcode, so that only a recovery key opens the vault.
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
    /// How old the last snapshot of a backup is, in seconds, if it is older than the user wants, and 0 if
    /// there is none yet.
    ///
    /// It is absent otherwise.
    public let backupDueSeconds: Int64?
    /// When a backup failed.
    ///
    /// It is absent if the last one succeeded.
    public let backupFailed: Int64?
    /// When the last snapshot was stored.
    ///
    /// It is absent unless a backup failed later.
    public let backupCompleted: Int64?
    /// How many items and files have names that can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int
    /// How many items are in the trash.
    ///
    /// Absent means 0.
    public let trashCount: Int
    /// How many bytes they take.
    ///
    /// Absent means 0.
    public let trashByteCount: Int64
    /// What is wrong with the configuration file.
    ///
    /// The daemon then uses the last valid one. It is absent if the file is valid.
    public let configurationTrouble: String?
    /// The mounts that have not confirmed that they have dropped what the last lock ended, at most sixteen.
    ///
    /// It is absent if all have, and for a client that may not lock.
    public let unconfirmed: [UnconfirmedMount]
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
        defaultClass: ProtectionClass? = nil,
        lockAfterSeconds: Int? = nil,
        lockAfterIsDefault: Bool = false,
        vaultID: ItemID? = nil,
        failedAttempts: Int = 0,
        retrySeconds: Int? = nil,
        attemptsEnded: Bool = false,
        erasesData: Bool = false,
        passcodeItemCount: Int? = nil,
        backupDueSeconds: Int64? = nil,
        backupFailed: Int64? = nil,
        backupCompleted: Int64? = nil,
        sealedCount: Int = 0,
        trashCount: Int = 0,
        trashByteCount: Int64 = 0,
        configurationTrouble: String? = nil,
        unconfirmed: [UnconfirmedMount] = [],
        faults: [VaultFault] = [],
        version: String = Version.program,
        protocolNumber: Int = Version.protocolNumber
    ) {
        self.state = state
        self.keychainCount = keychainCount
        self.fileCount = fileCount
        self.graceMilliseconds = graceMilliseconds
        self.defaultClass = defaultClass
        self.lockAfterSeconds = lockAfterSeconds
        self.lockAfterIsDefault = lockAfterIsDefault
        self.vaultID = vaultID
        self.failedAttempts = failedAttempts
        self.retrySeconds = retrySeconds
        self.attemptsEnded = attemptsEnded
        self.erasesData = erasesData
        self.passcodeItemCount = passcodeItemCount
        self.backupDueSeconds = backupDueSeconds
        self.backupFailed = backupFailed
        self.backupCompleted = backupCompleted
        self.sealedCount = sealedCount
        self.trashCount = trashCount
        self.trashByteCount = trashByteCount
        self.configurationTrouble = configurationTrouble
        self.unconfirmed = unconfirmed
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
        defaultClass = try reader.value("defaultClass", as: ProtectionClass.self)
        lockAfterSeconds = try reader.optionalInteger("lockAfterSeconds", in: 0...Int64.max).map { Int($0) }
        lockAfterIsDefault = try reader.optionalBool("lockAfterIsDefault") ?? false
        vaultID = try reader.optionalItemID("vaultID")
        failedAttempts = try reader.optionalInteger("failedAttempts", in: 0...Int64.max).map { Int($0) } ?? 0
        retrySeconds = try reader.optionalInteger("retrySeconds", in: 0...Int64.max).map { Int($0) }
        attemptsEnded = try reader.optionalBool("attemptsEnded") ?? false
        erasesData = try reader.optionalBool("erasesData") ?? false
        passcodeItemCount = try reader.optionalInteger("passcodeItems", in: 0...Int64.max).map { Int($0) }
        backupDueSeconds = try reader.optionalInteger("backupDueSeconds", in: 0...Int64.max)
        backupFailed = try reader.optionalInteger("backupFailed")
        backupCompleted = try reader.optionalInteger("backupCompleted")
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        trashCount = try reader.optionalInteger("trashItems", in: 0...Int64.max).map { Int($0) } ?? 0
        trashByteCount = try reader.optionalInteger("trashBytes", in: 0...Int64.max) ?? 0
        configurationTrouble = try reader.optionalString("configurationTrouble")
        unconfirmed = try reader.optionalValues("unconfirmed", of: UnconfirmedMount.self)
        faults = try reader.optionalValues("faults", of: VaultFault.self)
        version = try reader.string("version")
        protocolNumber = Int(try reader.integer("protocol", in: 0...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("state", state)
        object.append("keychainItems", keychainCount)
        object.append("files", fileCount)
        object.append("graceMilliseconds", graceMilliseconds)
        object.append("defaultClass", defaultClass)
        object.append("lockAfterSeconds", lockAfterSeconds)
        if lockAfterIsDefault { object.append("lockAfterIsDefault", true) }
        object.append("vaultID", vaultID)
        if state != .noVault { object.append("failedAttempts", failedAttempts) }
        object.append("retrySeconds", retrySeconds)
        if state != .noVault { object.append("attemptsEnded", attemptsEnded) }
        if state != .noVault { object.append("erasesData", erasesData) }
        object.append("passcodeItems", passcodeItemCount)
        object.append("backupDueSeconds", backupDueSeconds)
        object.append("backupFailed", backupFailed)
        object.append("backupCompleted", backupCompleted)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        if trashCount != 0 { object.append("trashItems", trashCount) }
        if trashByteCount != 0 { object.append("trashBytes", trashByteCount) }
        object.append("configurationTrouble", configurationTrouble)
        if !unconfirmed.isEmpty { object.append("unconfirmed", unconfirmed) }
        if !faults.isEmpty { object.append("faults", faults) }
        object.append("version", version)
        object.append("protocol", protocolNumber)
        return object
    }
}

extension AuditSummary.Tally: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let client = try reader.optionalString("client")
        let allowedCount = try reader.integer("allowed", in: 0...Int64.max)
        let refusedCount = try reader.integer("refused", in: 0...Int64.max)
        self.init(client: client, allowedCount: allowedCount, refusedCount: refusedCount)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("client", client)
        object.append("allowed", allowedCount)
        object.append("refused", refusedCount)
        return object
    }
}

/// An item in the trash.
public struct TrashedItem: Hashable, Sendable {
    /// The number of the entry, which no other entry of the vault ever has.
    public let number: Int64
    /// The name of the item.
    ///
    /// Like the next five members, it is absent if it can be read after the first unlock only.
    public let name: String?
    /// The store that the item comes from.
    public let store: StoreName?
    /// The class of an item of the keychain.
    ///
    /// It is absent for a file.
    public let itemClass: ItemClass?
    /// When the item is accessible once it is restored.
    ///
    /// It is absent for a file.
    public let accessibility: Accessibility?
    /// The protection class of the file.
    ///
    /// It is absent for an item of the keychain.
    public let protectionClass: ProtectionClass?
    /// The kind that was stated for the item.
    ///
    /// It is absent if none was stated.
    public let kind: ItemKind?
    /// How many bytes the content has.
    public let byteCount: Int64?
    /// When the item was removed.
    public let removed: Int64?
    /// How many seconds remain until the entry is destroyed.
    public let secondsLeft: Int64

    package init(
        number: Int64,
        name: String? = nil,
        store: StoreName? = nil,
        itemClass: ItemClass? = nil,
        accessibility: Accessibility? = nil,
        protectionClass: ProtectionClass? = nil,
        kind: ItemKind? = nil,
        byteCount: Int64? = nil,
        removed: Int64? = nil,
        secondsLeft: Int64
    ) {
        self.number = number
        self.name = name
        self.store = store
        self.itemClass = itemClass
        self.accessibility = accessibility
        self.protectionClass = protectionClass
        self.kind = kind
        self.byteCount = byteCount
        self.removed = removed
        self.secondsLeft = secondsLeft
    }
}

extension TrashedItem: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("entry")
        name = try reader.optionalString("name")
        store = try reader.value("store", as: StoreName.self)
        itemClass = try reader.value("class", as: ItemClass.self)
        accessibility = try reader.value("accessible", as: Accessibility.self)
        protectionClass = try reader.value("protection", as: ProtectionClass.self)
        kind = try reader.value("kind", as: ItemKind.self)
        byteCount = try reader.optionalInteger("size", in: 0...Int64.max)
        removed = try reader.optionalInteger("removed")
        secondsLeft = try reader.integer("secondsLeft", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("entry", number)
        object.append("name", name)
        object.append("store", store)
        object.append("class", itemClass)
        object.append("accessible", accessibility)
        object.append("protection", protectionClass)
        object.append("kind", kind)
        object.append("size", byteCount)
        object.append("removed", removed)
        object.append("secondsLeft", secondsLeft)
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
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        object.append("code", code)
        object.append("message", message)
        return object
    }
}

/// A mount that has not confirmed that it has dropped what a lock ended.
public struct UnconfirmedMount: Hashable, Sendable {
    /// Where it is, as the client states that has mounted it.
    public let place: String

    package init(place: String) {
        self.place = place
    }
}

extension UnconfirmedMount: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        place = try reader.string("place")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("place", place)
        return object
    }
}

/// The parameters of the notification `progress`.
///
/// The progress of a transfer.
package struct ProgressParameters: Hashable, Sendable {
    /// How many bytes are done.
    package let done: Int64
    /// The total number of bytes.
    ///
    /// It is absent while the length is unknown, as for a pipe. Absent means: absent while the length is
    /// unknown.
    package let total: Int64?
    /// The id of the request.
    ///
    /// It is absent if the request had none. Absent means: absent if the request had none.
    package let request: RequestID?

    package init(done: Int64, total: Int64? = nil, request: RequestID? = nil) {
        self.done = done
        self.total = total
        self.request = request
    }
}

extension ProgressParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        done = try reader.integer("done", in: 0...Int64.max)
        total = try reader.optionalInteger("total", in: 0...Int64.max)
        request = try reader.optionalID("id")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("done", done)
        object.append("total", total)
        object.append("id", request)
        return object
    }
}

/// The parameters of the notification `itemsDidChange`.
///
/// Items in the client's access groups were added, changed, removed or renamed, and that is on the
/// disk, or they have expired.
package struct ItemsDidChangeParameters: Hashable, Sendable {
    /// The changes, in the order in which they happened.
    package let changes: [ItemChange]

    package init(changes: [ItemChange]) {
        self.changes = changes
    }
}

extension ItemsDidChangeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        changes = try reader.values("changes", of: ItemChange.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("changes", changes)
        return object
    }
}

extension FailedAttempts: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let count = Int(try reader.integer("failedAttempts", in: 0...Int64.max))
        let retrySeconds = try reader.optionalInteger("retrySeconds", in: 0...Int64.max).map { Int($0) }
        let isEnded = try reader.optionalBool("attemptsEnded") ?? false
        self.init(count: count, retrySeconds: retrySeconds, isEnded: isEnded)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("failedAttempts", count)
        object.append("retrySeconds", retrySeconds)
        object.append("attemptsEnded", isEnded)
        return object
    }
}

/// The parameters of the notification `auditDidGrow`.
///
/// A request was recorded, and its record is on the disk.
package struct AuditDidGrowParameters: Hashable, Sendable {
    /// The records, the oldest first.
    package let records: [AuditRecord]

    package init(records: [AuditRecord]) {
        self.records = records
    }
}

extension AuditDidGrowParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        records = try reader.values("records", of: AuditRecord.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("records", records)
        return object
    }
}

/// The parameters of the notification `eventsMissed`.
///
/// The daemon dropped events because the client was slow.
package struct EventsMissedParameters: Hashable, Sendable {
    /// How many events were dropped.
    package let count: Int

    package init(count: Int) {
        self.count = count
    }
}

extension EventsMissedParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = Int(try reader.integer("count", in: 1...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("count", count)
        return object
    }
}

extension ClientLimits: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let connections = try reader.optionalInteger("maxConnections", in: 1...Int64(Limits.connections)).map {
            Int($0)
        }
        let requestsPerSecond = try reader.optionalInteger(
            "maxRequestsPerSecond",
            in: 1...Int64(Limits.requestsPerSecond)
        ).map { Int($0) }
        self.init(connections: connections, requestsPerSecond: requestsPerSecond)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("maxConnections", connections)
        object.append("maxRequestsPerSecond", requestsPerSecond)
        return object
    }
}

extension AuditQuery: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let item = try reader.optionalString("item")
        let group = try reader.optionalString("group")
        let unit = try reader.optionalString("unit")
        let since = try reader.optionalInteger("since")
        let isRefused = try reader.optionalBool("refused") ?? false
        self.init(item: item, group: group, unit: unit, since: since, isRefused: isRefused)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("item", item)
        object.append("group", group)
        object.append("unit", unit)
        object.append("since", since)
        if isRefused { object.append("refused", true) }
        return object
    }
}

extension PlacementOptions: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let kind = try reader.value("kind", as: ItemKind.self)
        let scenario = try reader.value("scenario", as: Scenario.self)
        let protectionClass = try reader.value("protection", as: ProtectionClass.self)
        let accessibility = try reader.value("accessible", as: Accessibility.self)
        let store = try reader.value("store", as: StoreName.self)
        let isStructured = try reader.optionalBool("structured") ?? false
        let isPresentedAsFile = try reader.optionalBool("asFile") ?? false
        let leastClass = try reader.value("atLeast", as: ProtectionClass.self)
        let group = try reader.optionalString("group")
        self.init(
            kind: kind,
            scenario: scenario,
            protectionClass: protectionClass,
            accessibility: accessibility,
            store: store,
            isStructured: isStructured,
            isPresentedAsFile: isPresentedAsFile,
            leastClass: leastClass,
            group: group
        )
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("kind", kind)
        object.append("scenario", scenario)
        object.append("protection", protectionClass)
        object.append("accessible", accessibility)
        object.append("store", store)
        if isStructured { object.append("structured", true) }
        if isPresentedAsFile { object.append("asFile", true) }
        object.append("atLeast", leastClass)
        object.append("group", group)
        return object
    }
}

extension KeychainQuery: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let itemClass = try reader.value("class", as: ItemClass.self)
        let attributes = try reader.attributes("attributes", of: itemClass, inQuery: true)
        let user = try reader.userAttributes("user")
        let prefix = try reader.searchTexts("prefix", of: itemClass)
        let contains = try reader.searchTexts("contains", of: itemClass)
        let reference = try reader.optionalItemID("reference")
        let expiringBefore = try reader.optionalInteger("expiringBefore")
        self.init(
            itemClass: itemClass,
            attributes: attributes,
            user: user,
            prefix: prefix,
            contains: contains,
            reference: reference,
            expiringBefore: expiringBefore
        )
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 7)
        object.append("class", itemClass)
        if !attributes.isEmpty { object.append("attributes", attributes) }
        if !user.isEmpty { object.append("user", user) }
        if !prefix.isEmpty { object.append("prefix", prefix) }
        if !contains.isEmpty { object.append("contains", contains) }
        object.append("reference", reference)
        object.append("expiringBefore", expiringBefore)
        return object
    }
}
