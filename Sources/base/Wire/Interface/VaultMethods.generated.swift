// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `hello`.
///
/// Agrees on the protocol that both sides speak. A client calls it first.
///
/// - Throws: `internal`, `missingEntitlement`, `param`, `unimplemented`.
public struct HelloParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = HelloResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.hello) }
    /// The highest number of a protocol that the client speaks.
    public let protocolNumber: Int64
    /// The access group of the requests of this connection that name none.
    ///
    /// Absent means: as before, and at first the caller's first group.
    public let group: String?
    /// Whether changes of the file store on this connection are answered before they are on the disk:
    /// file.sync and file.syncTree wait for that.
    ///
    /// Absent means false.
    public let defersSyncs: Bool

    /// Makes the parameters.
    public init(protocolNumber: Int64, group: String? = nil, defersSyncs: Bool = false) {
        self.protocolNumber = protocolNumber
        self.group = group
        self.defersSyncs = defersSyncs
    }
}

extension HelloParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol", in: 0...Int64.max)
        group = try reader.optionalString("group")
        defersSyncs = try reader.optionalBool("deferSyncs") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("protocol", protocolNumber)
        object.append("group", group)
        if defersSyncs { object.append("deferSyncs", true) }
        return object
    }
}

/// The protocol and the version of the daemon.
public struct HelloResult: Hashable, Sendable {
    /// The number of the protocol that both sides speak from now on.
    public let protocolNumber: Int64
    /// The version of the daemon.
    public let version: String
    /// The access group of requests that name none.
    ///
    /// It is absent if the client holds no group.
    public let group: String?

    package init(protocolNumber: Int64, version: String, group: String? = nil) {
        self.protocolNumber = protocolNumber
        self.version = version
        self.group = group
    }
}

extension HelloResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol", in: 0...Int64.max)
        version = try reader.string("version")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("protocol", protocolNumber)
        object.append("version", version)
        object.append("group", group)
        return object
    }
}

/// The parameters of `request.cancel`.
///
/// Cancels a request of the same connection.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`.
package struct RequestCancelParameters: MethodParameters {
    /// What the method answers.
    package typealias Result = Empty
    /// How it and its parameters travel.
    package static var coding: MethodCoding<Self> { MethodCoding(.requestCancel) }
    /// The id of the request.
    package let request: RequestID

    /// Makes the parameters.
    package init(_ request: RequestID) {
        self.request = request
    }
}

extension RequestCancelParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        request = try reader.requestID("request")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("request", request)
        return object
    }
}

/// The parameters of `vault.blockers`.
///
/// Lists a page of what is in use of the vault: open files and running transfers, of all clients.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct VaultBlockersParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = BlockerPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultBlockers) }
    /// The `next` of the previous page.
    ///
    /// Without it, the listing begins. Absent means: from the beginning.
    public let after: Int64?

    /// Makes the parameters.
    public init(after: Int64? = nil) {
        self.after = after
    }
}

extension VaultBlockersParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("after", after)
        return object
    }
}

/// A page of what is in use.
public struct BlockerPage: Hashable, Sendable {
    /// What is in use, in the order of the connections.
    public let blockers: [Blocker]
    /// The cursor for the next page.
    ///
    /// It is absent after the last page.
    public let next: Int64?

    package init(blockers: [Blocker], next: Int64? = nil) {
        self.blockers = blockers
        self.next = next
    }
}

extension BlockerPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        blockers = try reader.values("blockers", of: Blocker.self)
        next = try reader.optionalInteger("next", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("blockers", blockers)
        object.append("next", next)
        return object
    }
}

/// The parameters of `vault.check`.
///
/// Checks a page of rows, and repairs them if requested, or the contents of some files.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`,
///   `userCanceled`.
public struct VaultCheckParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CheckPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultCheck) }
    /// Whether the daemon repairs what it finds.
    ///
    /// Absent means false.
    public let repairs: Bool
    /// Whether the daemon leaves out the contents of files.
    ///
    /// It is the same in each step. Absent means false.
    public let isQuick: Bool
    /// Whether the client wants progress notifications, which count the bytes of contents that the step has
    /// checked.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// The cursor of the previous step.
    ///
    /// Absent means: from the beginning.
    public let cursor: String?

    /// Makes the parameters.
    public init(
        repairs: Bool = false,
        isQuick: Bool = false,
        wantsProgress: Bool = false,
        cursor: String? = nil
    ) {
        self.repairs = repairs
        self.isQuick = isQuick
        self.wantsProgress = wantsProgress
        self.cursor = cursor
    }
}

extension VaultCheckParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        repairs = try reader.optionalBool("repair") ?? false
        isQuick = try reader.optionalBool("quick") ?? false
        wantsProgress = try reader.optionalBool("progress") ?? false
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        if repairs { object.append("repair", true) }
        if isQuick { object.append("quick", true) }
        if wantsProgress { object.append("progress", true) }
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `vault.erase`.
///
/// Destroys the keys of the vault, and then everything else. Nothing can be read afterwards.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct VaultEraseParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultErase) }
    /// The vault that is erased.
    ///
    /// The daemon refuses to erase another one. Absent means: required, unless whatever is true.
    public let vaultID: ItemID?
    /// Whether any vault is erased, even one that cannot be read.
    ///
    /// It is given instead of vaultID. Absent means false.
    public let isWhatever: Bool

    /// Makes the parameters.
    public init(vaultID: ItemID? = nil, isWhatever: Bool = false) {
        self.vaultID = vaultID
        self.isWhatever = isWhatever
    }
}

extension VaultEraseParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        vaultID = try reader.optionalItemID("vaultID")
        isWhatever = try reader.optionalBool("whatever") ?? false
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("vaultID", vaultID)
        if isWhatever { object.append("whatever", true) }
        return object
    }
}

/// The parameters of `vault.init`.
///
/// Creates a vault. The payload is its passcode, and the payload of the answer is its recovery key.
///
/// - Throws: `decode`, `diskFull`, `duplicateItem`, `internal`, `io`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct VaultInitParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultInit) }
    /// How much a guess at the passcode costs.
    ///
    /// Absent means moderate.
    public let kdf: PasscodeCost?
    /// Whether the vault has no passcode.
    ///
    /// There is no payload then. Absent means false.
    public let hasNoPasscode: Bool
    /// Whether the daemon creates no recovery key.
    ///
    /// The answer has no payload then. Absent means false.
    public let hasNoRecoveryKey: Bool
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means false.
    public let erasesData: Bool

    /// Makes the parameters.
    public init(
        kdf: PasscodeCost? = nil,
        hasNoPasscode: Bool = false,
        hasNoRecoveryKey: Bool = false,
        erasesData: Bool = false
    ) {
        self.kdf = kdf
        self.hasNoPasscode = hasNoPasscode
        self.hasNoRecoveryKey = hasNoRecoveryKey
        self.erasesData = erasesData
    }
}

extension VaultInitParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        hasNoPasscode = try reader.optionalBool("noPasscode") ?? false
        hasNoRecoveryKey = try reader.optionalBool("noRecoveryKey") ?? false
        erasesData = try reader.optionalBool("eraseData") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("kdf", kdf)
        object.append("noPasscode", hasNoPasscode)
        if hasNoRecoveryKey { object.append("noRecoveryKey", true) }
        if erasesData { object.append("eraseData", true) }
        return object
    }
}

/// The parameters of `vault.lock`.
///
/// Locks the vault, immediately or after a grace.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct VaultLockParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultLock) }
    /// How many seconds pass before the keys are wiped.
    ///
    /// Absent means: the daemon's --grace.
    public let graceSeconds: Int64?

    /// Makes the parameters.
    public init(graceSeconds: Int64? = nil) {
        self.graceSeconds = graceSeconds
    }
}

extension VaultLockParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        graceSeconds = try reader.optionalInteger("grace", in: 0...Int64(Limits.maximumGraceSeconds))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("grace", graceSeconds)
        return object
    }
}

/// The parameters of `vault.quarantine`.
///
/// Lists, restores or discards rows in quarantine.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `itemNotFound`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct VaultQuarantineParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = QuarantinePage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultQuarantine) }
    /// What happens to the rows.
    ///
    /// Absent means list.
    public let action: QuarantineAction
    /// The store of the row.
    ///
    /// It is given together with number. Absent means: all rows.
    public let store: StoreName?
    /// The number of the row.
    ///
    /// It is given together with store, and required for discarding. Absent means: all rows.
    public let number: Int64?
    /// The cursor of the previous page.
    ///
    /// Absent means: from the beginning.
    public let cursor: String?

    /// Makes the parameters.
    public init(
        _ action: QuarantineAction = .list,
        store: StoreName? = nil,
        number: Int64? = nil,
        cursor: String? = nil
    ) {
        self.action = action
        self.store = store
        self.number = number
        self.cursor = cursor
    }
}

extension VaultQuarantineParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        action = try reader.value("action", as: QuarantineAction.self) ?? .list
        store = try reader.value("store", as: StoreName.self)
        number = try reader.optionalInteger("number")
        cursor = try reader.optionalString("cursor")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("action", action)
        object.append("store", store)
        object.append("number", number)
        object.append("cursor", cursor)
        return object
    }
}

/// A page of rows in quarantine.
public struct QuarantinePage: Hashable, Sendable {
    /// The rows, in the order in which they were moved.
    public let entries: [QuarantineEntry]
    /// The cursor for the next page.
    ///
    /// It is absent after the last page.
    public let cursor: String?

    package init(entries: [QuarantineEntry], cursor: String? = nil) {
        self.entries = entries
        self.cursor = cursor
    }
}

extension QuarantinePage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        entries = try reader.values("entries", of: QuarantineEntry.self)
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("entries", entries)
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `vault.status`.
///
/// Reports the state of the vault. The daemon answers it in every state.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct VaultStatusParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultStatus) }

    /// Makes the parameters.
    public init() {
    }
}

extension VaultStatusParameters: WireObject {
    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

/// The parameters of `vault.unlock`.
///
/// Unlocks the vault. The credential is the payload.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct VaultUnlockParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.vaultUnlock) }
    /// What the payload is.
    ///
    /// Absent means passcode.
    public let credential: Credential?

    /// Makes the parameters.
    public init(credential: Credential? = nil) {
        self.credential = credential
    }
}

extension VaultUnlockParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `vault.watch`.
///
/// Subscribes the connection to notifications about the vault. A later call replaces the subscription.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`.
package struct VaultWatchParameters: MethodParameters {
    /// What the method answers.
    package typealias Result = Empty
    /// How it and its parameters travel.
    package static var coding: MethodCoding<Self> { MethodCoding(.vaultWatch) }
    /// Which events the client wants besides those of locking and unlocking.
    package let selection: EventSelection
    /// The access group whose items the client wants to hear of.
    ///
    /// A client that may name every group hears of all of them by '*'. Absent means: the groups that the
    /// caller holds.
    package let group: String?

    /// Makes the parameters.
    package init(_ selection: EventSelection, group: String? = nil) {
        self.selection = selection
        self.group = group
    }
}

extension VaultWatchParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        selection = try EventSelection(reading: &reader)
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(selection.json)
        object.append("group", group)
        return object
    }
}
