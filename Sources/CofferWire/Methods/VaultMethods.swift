package import CofferCore

/// The parameters of `hello`, as they travel.
package struct HelloParameters: WireObject {
    /// The protocol that the client speaks.
    package let protocolNumber: Int64

    package init(protocolNumber: Int64) { self.protocolNumber = protocolNumber }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol", in: 0...Int64.max)
    }

    package var json: JSONObject { ["protocol": .integer(protocolNumber)] }
}

/// The result of `hello`, as it travels.
package struct HelloResult: WireObject {
    /// The protocol that both speak from here on.
    package let protocolNumber: Int64
    /// The version of the daemon.
    package let version: String

    package init(protocolNumber: Int64, version: String) {
        self.protocolNumber = protocolNumber
        self.version = version
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        protocolNumber = try reader.integer("protocol")
        version = try reader.string("version")
    }

    package var json: JSONObject { ["protocol": .integer(protocolNumber), "version": .string(version)] }
}

/// The parameters of `vault.init`, as they travel.
///
/// The passcode is the payload, and the recovery key that of the answer.
package struct InitParameters: WireObject {
    /// What a guess is to cost; moderate if nothing is said.
    package let kdf: PasscodeCost?
    /// Whether the vault is to have no passcode: there is no payload then.
    package let hasNoPasscode: Bool
    /// Whether no recovery key is wanted: there is no payload in the answer then.
    package let hasNoRecoveryKey: Bool
    /// Whether the vault is to erase itself when the attempts end.
    package let erasesData: Bool

    package init(
        kdf: PasscodeCost?,
        hasNoPasscode: Bool,
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
        object.set("kdf", kdf?.rawValue)
        object.set("noPasscode", hasNoPasscode)
        if hasNoRecoveryKey { object.set("noRecoveryKey", true) }
        if erasesData { object.set("eraseData", true) }
        return object
    }
}

/// The parameters of `vault.lock`, as they travel.
package struct LockParameters: WireObject {
    /// Seconds of grace; the daemon's setting if nothing is said.
    package let graceSeconds: Int64?

    package init(graceSeconds: Int64?) { self.graceSeconds = graceSeconds }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        graceSeconds = try reader.optionalInteger("grace", in: 0...Int64(Limits.maximumGraceSeconds))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("grace", graceSeconds)
        return object
    }
}

/// The parameters of `vault.erase`, as they travel.
package struct EraseParameters: WireObject {
    /// The vault that is meant: another one is not erased.
    ///
    /// `nil` for whatever is there, readable or not.
    package let vaultID: ItemID?

    package init(vaultID: ItemID?) { self.vaultID = vaultID }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let given = try reader.optionalItemID("vaultID")
        let isWhatever = try reader.optionalBool("whatever") ?? false
        guard isWhatever != (given != nil) else {
            throw CofferError(
                .param,
                "exactly one of 'vaultID' and 'whatever' says which vault is meant",
                hint: "name the vault, or give 'whatever' for one that can't be read"
            )
        }
        vaultID = given
    }

    package var json: JSONObject {
        guard let vaultID else { return ["whatever": .bool(true)] }
        return ["vaultID": .string(vaultID.hexadecimal)]
    }
}

extension VaultFault: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(what: try reader.string("what"), hint: try reader.string("hint"))
    }

    package var json: JSONObject { ["what": .string(what), "hint": .string(hint)] }
}

extension VaultStatus: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            state: try reader.required("state", as: VaultState.self),
            keychainCount: try reader.optionalInteger("keychainItems").map { Int($0) },
            fileCount: try reader.optionalInteger("files").map { Int($0) },
            graceMilliseconds: try reader.optionalInteger("graceMilliseconds"),
            vaultID: try reader.optionalItemID("vaultID"),
            failedAttempts: Int(try reader.optionalInteger("failedAttempts") ?? 0),
            retrySeconds: try reader.optionalInteger("retrySeconds").map { Int($0) },
            attemptsEnded: try reader.optionalBool("attemptsEnded") ?? false,
            erasesData: try reader.optionalBool("erasesData") ?? false,
            passcodeItemCount: try reader.optionalInteger("passcodeItems").map { Int($0) },
            configurationTrouble: try reader.optionalString("configurationTrouble"),
            faults: try reader.optionalValues("faults", of: VaultFault.self),
            version: try reader.string("version"),
            protocolNumber: Int(try reader.integer("protocol"))
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("state", state.rawValue)
        object.set("keychainItems", keychainCount)
        object.set("files", fileCount)
        object.set("graceMilliseconds", graceMilliseconds)
        object.set("vaultID", vaultID?.hexadecimal)
        if state != .noVault {
            object.set("failedAttempts", failedAttempts)
            object.set("retrySeconds", retrySeconds)
            object.set("attemptsEnded", attemptsEnded)
            object.set("erasesData", erasesData)
            object.set("passcodeItems", passcodeItemCount)
        }
        object.set("configurationTrouble", configurationTrouble)
        if !faults.isEmpty { object.set("faults", .array(faults.map { .object($0.json) })) }
        object.set("version", version)
        object.set("protocol", protocolNumber)
        return object
    }
}
