// packaging/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `hello`.
///
/// Agrees on the protocol that both sides speak. A client calls it first.
package struct HelloParameters: MethodParameters {
    package typealias Result = HelloResult
    package static var method: Method { .hello }
    /// The highest number of a protocol that the client speaks.
    package let protocolNumber: Int64

    package init(protocolNumber: Int64) {
        self.protocolNumber = protocolNumber
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("protocol", protocolNumber)
        return object
    }
}

/// The protocol and the version of the daemon.
package struct HelloResult: Hashable, WireObject {
    /// The number of the protocol that both sides speak from now on.
    package let protocolNumber: Int64
    /// The version of the daemon.
    package let version: String

    package init(protocolNumber: Int64, version: String) {
        self.protocolNumber = protocolNumber
        self.version = version
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol", in: 0...Int64.max)
        version = try reader.string("version")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("protocol", protocolNumber)
        object.append("version", version)
        return object
    }
}

/// The parameters of `request.cancel`.
///
/// Cancels a request of the same connection.
package struct RequestCancelParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .requestCancel }
    /// The id of the request.
    package let request: RequestID

    package init(_ request: RequestID) {
        self.request = request
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        request = try reader.requestID("request")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("request", request)
        return object
    }
}

/// The parameters of `vault.check`.
///
/// Checks a page of rows, and repairs them if asked to.
package struct VaultCheckParameters: MethodParameters {
    package typealias Result = CheckPage
    package static var method: Method { .vaultCheck }
    /// Whether the daemon repairs what it finds.
    ///
    /// Absent means false.
    package let repairs: Bool
    /// The cursor of the step before.
    ///
    /// Absent means: from the beginning.
    package let cursor: String?

    package init(repairs: Bool = false, cursor: String? = nil) {
        self.repairs = repairs
        self.cursor = cursor
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        repairs = try reader.optionalBool("repair") ?? false
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject()
        if repairs { object.append("repair", true) }
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `vault.erase`.
///
/// Destroys the keys of the vault, and then everything else. Nothing can be read afterwards.
package struct VaultEraseParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .vaultErase }
    /// The vault that is erased.
    ///
    /// The daemon refuses to erase another one. Absent means: none.
    package let vaultID: ItemID?
    /// Whether any vault is erased, even one that cannot be read.
    ///
    /// It is given instead of vaultID. Absent means false.
    package let isWhatever: Bool

    package init(vaultID: ItemID? = nil, isWhatever: Bool = false) {
        self.vaultID = vaultID
        self.isWhatever = isWhatever
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        vaultID = try reader.optionalItemID("vaultID")
        isWhatever = try reader.optionalBool("whatever") ?? false
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("vaultID", vaultID)
        if isWhatever { object.append("whatever", true) }
        return object
    }
}

/// The parameters of `vault.init`.
///
/// Makes a vault. The payload is its passcode, and the payload of the answer is its recovery key.
package struct VaultInitParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .vaultInit }
    /// How much a guess at the passcode costs.
    ///
    /// Absent means moderate.
    package let kdf: PasscodeCost?
    /// Whether the vault has no passcode.
    ///
    /// There is no payload then. Absent means false.
    package let hasNoPasscode: Bool
    /// Whether the daemon makes no recovery key.
    ///
    /// The answer has no payload then. Absent means false.
    package let hasNoRecoveryKey: Bool
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means false.
    package let erasesData: Bool

    package init(
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

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        hasNoPasscode = try reader.optionalBool("noPasscode") ?? false
        hasNoRecoveryKey = try reader.optionalBool("noRecoveryKey") ?? false
        erasesData = try reader.optionalBool("eraseData") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("kdf", kdf)
        object.append("noPasscode", hasNoPasscode)
        if hasNoRecoveryKey { object.append("noRecoveryKey", true) }
        if erasesData { object.append("eraseData", true) }
        return object
    }
}

/// The parameters of `vault.lock`.
///
/// Locks the vault, at once or after a grace.
package struct VaultLockParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .vaultLock }
    /// How many seconds pass before the keys are wiped.
    ///
    /// Absent means: the daemon's --grace.
    package let graceSeconds: Int64?

    package init(graceSeconds: Int64? = nil) {
        self.graceSeconds = graceSeconds
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        graceSeconds = try reader.optionalInteger("grace", in: 0...Int64(Limits.maximumGraceSeconds))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("grace", graceSeconds)
        return object
    }
}

/// The parameters of `vault.quarantine`.
///
/// Lists, restores or discards rows in quarantine.
package struct VaultQuarantineParameters: MethodParameters {
    package typealias Result = QuarantinePage
    package static var method: Method { .vaultQuarantine }
    /// What happens to the rows.
    ///
    /// Absent means list.
    package let action: QuarantineAction
    /// The store of the row that is meant.
    ///
    /// It is given together with number. Absent means: all rows.
    package let store: StoreName?
    /// The number of the row that is meant.
    ///
    /// It is given together with store. Absent means: all rows.
    package let number: Int64?
    /// The cursor of the page before.
    ///
    /// Absent means: from the beginning.
    package let cursor: String?

    package init(
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

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        action = try reader.value("action", as: QuarantineAction.self) ?? .list
        store = try reader.value("store", as: StoreName.self)
        number = try reader.optionalInteger("number", in: 1...Int64.max)
        cursor = try reader.optionalString("cursor")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
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
    /// What the next page is called with.
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
        var object = JSONObject()
        object.append("entries", entries)
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `vault.status`.
///
/// Reports the state of the vault. The daemon answers it in every state.
package struct VaultStatusParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .vaultStatus }

    package init() {
    }

    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

/// The parameters of `vault.unlock`.
///
/// Unlocks the vault. The credential is the payload.
package struct VaultUnlockParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .vaultUnlock }
    /// What the payload is.
    ///
    /// Absent means passcode.
    package let credential: Credential?

    package init(credential: Credential? = nil) {
        self.credential = credential
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `vault.watch`.
///
/// Subscribes the connection to notifications about the vault. A later call replaces the subscription.
package struct VaultWatchParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .vaultWatch }
    /// Which events the client wants besides those of locking and unlocking.
    package let selection: EventSelection

    package init(_ selection: EventSelection) {
        self.selection = selection
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        selection = try EventSelection(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(selection.json)
        return object
    }
}
