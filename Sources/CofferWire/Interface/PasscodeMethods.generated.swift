// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `passcode.change`.
///
/// Sets another passcode. The payload is the credential and the new passcode.
package struct PasscodeChangeParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .passcodeChange }
    /// What the credential in the payload is.
    ///
    /// Absent means passcode.
    package let credential: Credential?
    /// How much a guess at the new passcode costs.
    ///
    /// Absent means: as it was.
    package let kdf: PasscodeCost?
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means: as it was.
    package let erasesData: Bool?

    package init(
        credential: Credential? = nil,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) {
        self.credential = credential
        self.kdf = kdf
        self.erasesData = erasesData
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        erasesData = try reader.optionalBool("eraseData")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("credential", credential)
        object.append("kdf", kdf)
        object.append("eraseData", erasesData)
        return object
    }
}

/// The parameters of `passcode.remove`.
///
/// Removes the passcode, and destroys the items that depend on it. The credential is the payload.
package struct PasscodeRemoveParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .passcodeRemove }
    /// What the payload is.
    ///
    /// Absent means passcode.
    package let credential: Credential?
    /// How many items a person has agreed to lose.
    ///
    /// The daemon refuses the request if the number is another one.
    package let destroyedCount: Int64

    package init(credential: Credential? = nil, destroyedCount: Int64) {
        self.credential = credential
        self.destroyedCount = destroyedCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        destroyedCount = try reader.integer("destroys", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("credential", credential)
        object.append("destroys", destroyedCount)
        return object
    }
}

/// The parameters of `passcode.set`.
///
/// Gives a vault without a passcode one. The new passcode is the payload.
package struct PasscodeSetParameters: MethodParameters {
    package typealias Result = VaultStatus
    package static var method: Method { .passcodeSet }
    /// How much a guess at the passcode costs.
    ///
    /// Absent means moderate.
    package let kdf: PasscodeCost?
    /// Whether the vault erases itself when the attempts are used up.
    ///
    /// Absent means false.
    package let erasesData: Bool?

    package init(kdf: PasscodeCost? = nil, erasesData: Bool? = nil) {
        self.kdf = kdf
        self.erasesData = erasesData
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        erasesData = try reader.optionalBool("eraseData")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("kdf", kdf)
        object.append("eraseData", erasesData)
        return object
    }
}

/// The parameters of `slot.add`.
///
/// Makes a recovery key, which is the payload of the answer.
package struct SlotAddParameters: MethodParameters {
    package typealias Result = SlotResult
    package static var method: Method { .slotAdd }
    /// What the payload of the request is.
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

/// The parameters of `slot.list`.
///
/// Lists the keyslots of the vault.
package struct SlotListParameters: MethodParameters {
    package typealias Result = SlotList
    package static var method: Method { .slotList }

    package init() {
    }

    package init(reading reader: inout ParameterReader) {}

    package var json: JSONObject { [:] }
}

/// The keyslots of the vault.
package struct SlotList: Hashable, WireObject {
    /// Every keyslot.
    package let slots: [KeyslotInfo]

    package init(slots: [KeyslotInfo]) {
        self.slots = slots
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        slots = try reader.values("slots", of: KeyslotInfo.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("slots", slots)
        return object
    }
}

/// The parameters of `slot.remove`.
///
/// Removes a recovery key.
package struct SlotRemoveParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .slotRemove }
    /// The number of the keyslot.
    package let number: Int64
    /// What the payload is.
    ///
    /// Absent means passcode.
    package let credential: Credential?

    package init(number: Int64, credential: Credential? = nil) {
        self.number = number
        self.credential = credential
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("slot", in: 0...255)
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("slot", number)
        object.append("credential", credential)
        return object
    }
}

/// The parameters of `slot.test`.
///
/// Reports which keyslot a credential opens. The credential is the payload.
package struct SlotTestParameters: MethodParameters {
    package typealias Result = SlotResult
    package static var method: Method { .slotTest }
    /// What the payload is.
    ///
    /// Absent means recoveryKey.
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
