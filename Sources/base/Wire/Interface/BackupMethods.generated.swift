// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `backup.begin`.
///
/// Begins a backup: copies the catalog, and keeps what the copy names as it is until the backup ends. A
/// vault has one at a time. If nothing has changed since the newest snapshot, which the client names,
/// nothing is copied, and nothing is to be read.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct BackupBeginParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BackupSizes
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupBegin) }
    /// Whether the client wants progress notifications, which count the copied pages of the catalog.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// The digest of the snapshot whose files the client can take over, in 64 lower-case hexadecimal
    /// digits.
    ///
    /// Absent means: none.
    public let since: String?

    /// Makes the parameters.
    public init(wantsProgress: Bool = false, since: String? = nil) {
        self.wantsProgress = wantsProgress
        self.since = since
    }
}

extension BackupBeginParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        wantsProgress = try reader.optionalBool("progress") ?? false
        since = try reader.optionalString("since")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        if wantsProgress { object.append("progress", true) }
        object.append("since", since)
        return object
    }
}

/// The sizes of what a backup reads, beside the contents.
public struct BackupSizes: Hashable, Sendable {
    /// The identifier of the vault.
    public let vaultID: ItemID
    /// How many bytes the keybag has.
    public let keybagByteCount: Int64
    /// How many bytes the anchor has.
    ///
    /// It is absent if there is none.
    public let anchorByteCount: Int64?
    /// How many bytes the copy of the catalog has.
    public let catalogByteCount: Int64
    /// The newest snapshot that was stored.
    ///
    /// It is absent if none was.
    public let newest: BackupReference?
    /// How many ThisDeviceOnly items are in the copy, which no other machine can open.
    public let leftBehindCount: Int
    /// Whether nothing has changed since the snapshot that the client has named, so that its files are
    /// those of this one.
    ///
    /// Absent means false.
    public let isUnchanged: Bool

    package init(
        vaultID: ItemID,
        keybagByteCount: Int64,
        anchorByteCount: Int64? = nil,
        catalogByteCount: Int64,
        newest: BackupReference? = nil,
        leftBehindCount: Int,
        isUnchanged: Bool = false
    ) {
        self.vaultID = vaultID
        self.keybagByteCount = keybagByteCount
        self.anchorByteCount = anchorByteCount
        self.catalogByteCount = catalogByteCount
        self.newest = newest
        self.leftBehindCount = leftBehindCount
        self.isUnchanged = isUnchanged
    }
}

extension BackupSizes: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        vaultID = try reader.itemID("vaultID")
        keybagByteCount = try reader.integer("keybag", in: 0...Int64.max)
        anchorByteCount = try reader.optionalInteger("anchor", in: 0...Int64.max)
        catalogByteCount = try reader.integer("catalog", in: 0...Int64.max)
        newest = try reader.value("newest", of: BackupReference.self)
        leftBehindCount = Int(try reader.integer("leftBehind", in: 0...Int64.max))
        isUnchanged = try reader.optionalBool("isUnchanged") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 7)
        object.append("vaultID", vaultID)
        object.append("keybag", keybagByteCount)
        object.append("anchor", anchorByteCount)
        object.append("catalog", catalogByteCount)
        object.append("newest", newest)
        object.append("leftBehind", leftBehindCount)
        if isUnchanged { object.append("isUnchanged", true) }
        return object
    }
}

/// The parameters of `backup.contents`.
///
/// Lists a page of the contents of files that the copied catalog names.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct BackupContentsParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BackupPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupContents) }
    /// The content after which the page begins.
    ///
    /// Absent means: from the first.
    public let after: ItemID?

    /// Makes the parameters.
    public init(after: ItemID? = nil) {
        self.after = after
    }
}

extension BackupContentsParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalItemID("after")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("after", after)
        return object
    }
}

/// A page of contents.
public struct BackupPage: Hashable, Sendable {
    /// The contents, in the order of their ids.
    public let contents: [BackupContent]
    /// The last content of the page, for the next one.
    ///
    /// It is absent if no contents follow.
    public let next: ItemID?

    package init(contents: [BackupContent], next: ItemID? = nil) {
        self.contents = contents
        self.next = next
    }
}

extension BackupPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        contents = try reader.values("contents", of: BackupContent.self)
        next = try reader.optionalItemID("next")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("contents", contents)
        object.append("next", next)
        return object
    }
}

/// The parameters of `backup.end`.
///
/// Ends the backup of this connection, and removes the copy of the catalog. The daemon does so too if
/// the connection ends.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct BackupEndParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupEnd) }
    /// Whether the snapshot that was signed last is stored: the daemon then keeps it as the newest one.
    ///
    /// Absent means false.
    public let isCompleted: Bool
    /// Why no backup was made: at most 512 bytes, for people to read.
    ///
    /// The daemon then records it, also without a backup on this connection. Absent means: none.
    public let failure: String?

    /// Makes the parameters.
    public init(isCompleted: Bool = false, failure: String? = nil) {
        self.isCompleted = isCompleted
        self.failure = failure
    }
}

extension BackupEndParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        isCompleted = try reader.optionalBool("completed") ?? false
        failure = try reader.optionalString("failure")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        if isCompleted { object.append("completed", true) }
        object.append("failure", failure)
        return object
    }
}

/// The parameters of `backup.read`.
///
/// Delivers a descriptor, open for reading, of a part of what a backup reads, sealed as it is on the
/// disk. The daemon sends it, with one byte, over the socket that comes with the request.
///
/// - Throws: `decode`, `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct BackupReadParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BackupBytes
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupRead) }
    /// What is read: keybag, anchor, catalog, or the id of a content, with .overlay after it for the chunks
    /// that were rewritten.
    public let part: String

    /// Makes the parameters.
    public init(part: String) {
        self.part = part
    }
}

extension BackupReadParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        part = try reader.string("part")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("part", part)
        return object
    }
}

/// The size of a part.
public struct BackupBytes: Hashable, Sendable {
    /// How many bytes the part has.
    public let byteCount: Int64

    package init(byteCount: Int64) {
        self.byteCount = byteCount
    }
}

extension BackupBytes: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        byteCount = try reader.integer("size", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("size", byteCount)
        return object
    }
}

/// The parameters of `backup.register`.
///
/// Sets up the backup of the vault: creates the key that signs its snapshots, unless there is one, and
/// records the repository. If that has snapshots of the vault already, which a restored vault does not
/// remember, the client names the newest one.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct BackupRegisterParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BackupRegistration
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupRegister) }
    /// Where the repository is, for people to read: at most 4096 bytes.
    ///
    /// Absent means: the key is made, and nothing is recorded.
    public let repository: String?
    /// After how many seconds without a snapshot the client wants to warn.
    ///
    /// 0 means never. Absent means 0.
    public let warnAfterSeconds: Int64
    /// The number of the newest snapshot that the repository has, whose digest and signature are the
    /// payload.
    ///
    /// Absent means: none.
    public let newestNumber: Int64?
    /// When that snapshot was made.
    ///
    /// Absent means: now.
    public let completed: Int64?
    /// The digest of the configuration of the repository, in 64 hexadecimal digits, which the daemon keeps
    /// for the client to compare.
    ///
    /// Absent means: none.
    public let configuration: String?

    /// Makes the parameters.
    public init(
        repository: String? = nil,
        warnAfterSeconds: Int64 = 0,
        newestNumber: Int64? = nil,
        completed: Int64? = nil,
        configuration: String? = nil
    ) {
        self.repository = repository
        self.warnAfterSeconds = warnAfterSeconds
        self.newestNumber = newestNumber
        self.completed = completed
        self.configuration = configuration
    }
}

extension BackupRegisterParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        repository = try reader.optionalString("repository")
        warnAfterSeconds = try reader.optionalInteger("warnAfter", in: 0...Int64.max) ?? 0
        newestNumber = try reader.optionalInteger("newest", in: 1...Int64.max)
        completed = try reader.optionalInteger("completed")
        configuration = try reader.optionalString("configuration")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("repository", repository)
        if warnAfterSeconds != 0 { object.append("warnAfter", warnAfterSeconds) }
        object.append("newest", newestNumber)
        object.append("completed", completed)
        object.append("configuration", configuration)
        return object
    }
}

/// The key that signs the snapshots of a vault.
public struct BackupRegistration: Hashable, Sendable {
    /// The identifier of the vault.
    public let vaultID: ItemID
    /// The public key: 32 bytes of Ed25519.
    public let publicKey: [UInt8]

    package init(vaultID: ItemID, publicKey: [UInt8]) {
        self.vaultID = vaultID
        self.publicKey = publicKey
    }
}

extension BackupRegistration: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        vaultID = try reader.itemID("vaultID")
        publicKey = try reader.bytes("publicKey")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("vaultID", vaultID)
        object.append("publicKey", publicKey)
        return object
    }
}

/// The parameters of `backup.sign`.
///
/// Signs a snapshot with the key of the vault's backup: its number and, as the payload, its digest. The
/// signature is the payload of the answer.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct BackupSignParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupSign) }
    /// The number of the snapshot, greater than that of the newest one that was stored.
    public let number: Int64

    /// Makes the parameters.
    public init(number: Int64) {
        self.number = number
    }
}

extension BackupSignParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("number", in: 1...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("number", number)
        return object
    }
}

/// The parameters of `backup.status`.
///
/// Reports how the vault is backed up.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct BackupStatusParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BackupStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.backupStatus) }
    /// Whether the ThisDeviceOnly items are counted, for which the daemon scans all keychain items.
    ///
    /// Absent means false.
    public let countsLeftBehind: Bool

    /// Makes the parameters.
    public init(countsLeftBehind: Bool = false) {
        self.countsLeftBehind = countsLeftBehind
    }
}

extension BackupStatusParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        countsLeftBehind = try reader.optionalBool("count") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        if countsLeftBehind { object.append("count", true) }
        return object
    }
}

/// How a vault is backed up.
public struct BackupStatus: Hashable, Sendable {
    /// Where the repository is.
    ///
    /// It is absent if no backup was set up.
    public let repository: String?
    /// When the last snapshot was stored.
    ///
    /// It is absent if none was.
    public let completed: Int64?
    /// The newest snapshot that was stored.
    ///
    /// It is absent if none was.
    public let newest: BackupReference?
    /// After how many seconds without a snapshot the client warns.
    ///
    /// 0 means never.
    public let warnAfterSeconds: Int64
    /// The digest of the configuration of the repository, in hexadecimal digits.
    ///
    /// It is absent if the client named none.
    public let configuration: String?
    /// When a backup failed.
    ///
    /// It is absent if the last one succeeded.
    public let failed: Int64?
    /// Why it failed.
    public let failure: String?
    /// Whether a backup is under way.
    ///
    /// Absent means false.
    public let isUnderWay: Bool
    /// How many ThisDeviceOnly items there are, which no other machine can open from a backup.
    ///
    /// It is absent if they were not counted.
    public let leftBehindCount: Int?

    package init(
        repository: String? = nil,
        completed: Int64? = nil,
        newest: BackupReference? = nil,
        warnAfterSeconds: Int64 = 0,
        configuration: String? = nil,
        failed: Int64? = nil,
        failure: String? = nil,
        isUnderWay: Bool = false,
        leftBehindCount: Int? = nil
    ) {
        self.repository = repository
        self.completed = completed
        self.newest = newest
        self.warnAfterSeconds = warnAfterSeconds
        self.configuration = configuration
        self.failed = failed
        self.failure = failure
        self.isUnderWay = isUnderWay
        self.leftBehindCount = leftBehindCount
    }
}

extension BackupStatus: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        repository = try reader.optionalString("repository")
        completed = try reader.optionalInteger("completed")
        newest = try reader.value("newest", of: BackupReference.self)
        warnAfterSeconds = try reader.optionalInteger("warnAfter", in: 0...Int64.max) ?? 0
        configuration = try reader.optionalString("configuration")
        failed = try reader.optionalInteger("failed")
        failure = try reader.optionalString("failure")
        isUnderWay = try reader.optionalBool("isUnderWay") ?? false
        leftBehindCount = try reader.optionalInteger("leftBehind", in: 0...Int64.max).map { Int($0) }
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("repository", repository)
        object.append("completed", completed)
        object.append("newest", newest)
        if warnAfterSeconds != 0 { object.append("warnAfter", warnAfterSeconds) }
        object.append("configuration", configuration)
        object.append("failed", failed)
        object.append("failure", failure)
        if isUnderWay { object.append("isUnderWay", true) }
        object.append("leftBehind", leftBehindCount)
        return object
    }
}
