// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `passcode.change`.
///
/// Changes the passcode. The payload is the credential and the new passcode.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct PasscodeChangeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.passcodeChange) }
    /// What the credential in the payload is.
    ///
    /// Absent means passcode.
    public let credential: Credential?
    /// How much a guess at the new passcode costs.
    ///
    /// Absent means: unchanged.
    public let kdf: PasscodeCost?
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means: unchanged.
    public let erasesData: Bool?

    /// Makes the parameters.
    public init(
        credential: Credential? = nil,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) {
        self.credential = credential
        self.kdf = kdf
        self.erasesData = erasesData
    }
}

extension PasscodeChangeParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        erasesData = try reader.optionalBool("eraseData")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("credential", credential)
        object.append("kdf", kdf)
        object.append("eraseData", erasesData)
        return object
    }
}

/// The parameters of `passcode.remove`.
///
/// Removes the passcode, and destroys the items that depend on it. The credential is the payload.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct PasscodeRemoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.passcodeRemove) }
    /// What the payload is.
    ///
    /// Absent means passcode.
    public let credential: Credential?
    /// The number of items that the user agreed to lose.
    ///
    /// The daemon refuses the request if the number is different.
    public let destroyedCount: Int64

    /// Makes the parameters.
    public init(credential: Credential? = nil, destroyedCount: Int64) {
        self.credential = credential
        self.destroyedCount = destroyedCount
    }
}

extension PasscodeRemoveParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        destroyedCount = try reader.integer("destroys", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("credential", credential)
        object.append("destroys", destroyedCount)
        return object
    }
}

/// The parameters of `passcode.set`.
///
/// Sets the passcode of a vault without one. The new passcode is the payload.
///
/// - Throws: `decode`, `diskFull`, `duplicateItem`, `internal`, `io`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct PasscodeSetParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = VaultStatus
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.passcodeSet) }
    /// How much a guess at the passcode costs.
    ///
    /// Absent means moderate.
    public let kdf: PasscodeCost?
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means false.
    public let erasesData: Bool?

    /// Makes the parameters.
    public init(kdf: PasscodeCost? = nil, erasesData: Bool? = nil) {
        self.kdf = kdf
        self.erasesData = erasesData
    }
}

extension PasscodeSetParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        erasesData = try reader.optionalBool("eraseData")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("kdf", kdf)
        object.append("eraseData", erasesData)
        return object
    }
}

/// The parameters of `slot.add`.
///
/// Creates a recovery key, which is the payload of the answer.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct SlotAddParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = SlotResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.slotAdd) }
    /// What the payload of the request is.
    ///
    /// Absent means passcode.
    public let credential: Credential?
    /// What the recovery key is for: at most 128 bytes, for people to read.
    ///
    /// Absent means: none.
    public let label: String?

    /// Makes the parameters.
    public init(credential: Credential? = nil, label: String? = nil) {
        self.credential = credential
        self.label = label
    }
}

extension SlotAddParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        label = try reader.optionalString("label")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("credential", credential)
        object.append("label", label)
        return object
    }
}

/// The parameters of `slot.list`.
///
/// Lists the keyslots of the vault.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct SlotListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = SlotList
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.slotList) }

    /// Makes the parameters.
    public init() {
    }
}

extension SlotListParameters: WireObject {
    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

/// The keyslots of the vault.
public struct SlotList: Hashable, Sendable {
    /// Every keyslot.
    public let slots: [KeyslotInfo]

    package init(slots: [KeyslotInfo]) {
        self.slots = slots
    }
}

extension SlotList: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        slots = try reader.values("slots", of: KeyslotInfo.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("slots", slots)
        return object
    }
}

/// The parameters of `slot.remove`.
///
/// Removes a recovery key.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct SlotRemoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.slotRemove) }
    /// The number of the keyslot.
    public let number: Int64
    /// What the payload is.
    ///
    /// Absent means passcode.
    public let credential: Credential?

    /// Makes the parameters.
    public init(number: Int64, credential: Credential? = nil) {
        self.number = number
        self.credential = credential
    }
}

extension SlotRemoveParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("slot", in: 0...255)
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("slot", number)
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `slot.test`.
///
/// Reports which keyslot a credential opens. The credential is the payload.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `interactionNotAllowed`, `internal`, `io`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct SlotTestParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = SlotResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.slotTest) }
    /// What the payload is.
    ///
    /// Absent means recoveryKey.
    public let credential: Credential?

    /// Makes the parameters.
    public init(credential: Credential? = nil) {
        self.credential = credential
    }
}

extension SlotTestParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("credential", credential)
        return object
    }
}
