package import CofferCore

/// The parameters of `vault.unlock`, `slot.add` and `slot.test`, as they travel.
///
/// The credential is the payload.
package struct CredentialParameters: WireObject {
    /// What the payload is; the method's own default if nothing is said.
    package let credential: Credential?

    package init(credential: Credential?) { self.credential = credential }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("credential", credential?.rawValue)
        return object
    }
}

/// The parameters of `passcode.set`, as they travel.
///
/// The new passcode is the payload.
package struct PasscodeSetParameters: WireObject {
    /// What a guess is to cost; moderate if nothing is said.
    package let kdf: PasscodeCost?
    /// Whether the vault is to erase itself when the attempts end; as it was if nothing is said.
    package let erasesData: Bool?

    package init(kdf: PasscodeCost?, erasesData: Bool?) {
        self.kdf = kdf
        self.erasesData = erasesData
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        kdf = try reader.value("kdf", as: PasscodeCost.self)
        erasesData = try reader.optionalBool("eraseData")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("kdf", kdf?.rawValue)
        object.set("eraseData", erasesData)
        return object
    }
}

/// The parameters of `passcode.change`, as they travel.
///
/// The credential and the new passcode are the payload, as ``CountedPayload`` writes them.
package struct PasscodeChangeParameters: WireObject {
    /// What the credential is; the passcode if nothing is said.
    package let credential: Credential?
    /// What a guess of the new passcode is to cost; as it was if nothing is said.
    package let kdf: PasscodeCost?
    /// Whether the vault is to erase itself when the attempts end; as it was if nothing is said.
    package let erasesData: Bool?

    package init(credential: Credential?, kdf: PasscodeCost?, erasesData: Bool?) {
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
        object.set("credential", credential?.rawValue)
        object.set("kdf", kdf?.rawValue)
        object.set("eraseData", erasesData)
        return object
    }
}

/// The parameters of `passcode.remove`, as they travel.
///
/// The credential is the payload.
package struct PasscodeRemoveParameters: WireObject {
    /// What the payload is; the passcode if nothing is said.
    package let credential: Credential?
    /// The items that want a passcode and go with it, as many as a person has agreed to lose.
    package let destroyedCount: Int64

    package init(credential: Credential?, destroyedCount: Int64) {
        self.credential = credential
        self.destroyedCount = destroyedCount
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        credential = try reader.value("credential", as: Credential.self)
        destroyedCount = try reader.integer("destroys", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("credential", credential?.rawValue)
        object.set("destroys", destroyedCount)
        return object
    }
}

/// The parameters of `slot.remove`, as they travel.
///
/// The credential is the payload.
package struct SlotRemoveParameters: WireObject {
    /// The number of the slot.
    package let number: Int64
    /// What the payload is; the passcode if nothing is said.
    package let credential: Credential?

    package init(number: Int64, credential: Credential?) {
        self.number = number
        self.credential = credential
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("slot", in: 0...Int64(UInt8.max))
        credential = try reader.value("credential", as: Credential.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("slot", number)
        object.set("credential", credential?.rawValue)
        return object
    }
}

/// The result of `slot.add` and `slot.test`, as it travels.
package struct SlotResult: WireObject {
    /// The number of the slot that was made, or that the credential opens.
    package let number: Int64

    package init(number: Int64) { self.number = number }

    package init(reading reader: inout ParameterReader) throws(CofferError) { number = try reader.integer("slot") }

    package var json: JSONObject { ["slot": .integer(number)] }
}

/// The result of `slot.list`, as it travels.
package struct SlotList: WireObject {
    /// Every slot of the vault.
    package let slots: [KeyslotInfo]

    package init(slots: [KeyslotInfo]) { self.slots = slots }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        slots = try reader.values("slots", of: KeyslotInfo.self)
    }

    package var json: JSONObject { ["slots": .array(slots.map { .object($0.json) })] }
}

extension KeyslotInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: Int(try reader.integer("slot")),
            kind: try reader.required("kind", as: KeyslotKind.self)
        )
    }

    package var json: JSONObject { ["slot": .integer(Int64(number)), "kind": .string(kind.rawValue)] }
}
