public import CofferCore
package import CofferMemory
package import CofferWire

extension BlockingClient {
    /// Gives a vault without a passcode one.
    ///
    /// - Parameters:
    ///   - passcode: The new passcode.
    ///   - kdf: What a guess is to cost; moderate if nothing is said.
    ///   - erasesData: Whether the vault is to erase itself when the attempts end; as it was if nothing is said.
    /// - Throws: `duplicateItem` where it has one.
    package func setPasscode(
        _ passcode: borrowing SecretBytes?,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeSetParameters(kdf: kdf, erasesData: erasesData)
        return try call(.passcodeSet, params, payload: passcode, returning: VaultStatus.self).value
    }

    /// Changes the passcode; with a recovery key also on a machine that does not have the vault's device key.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups.
    ///   - credential: Which of the two it is.
    ///   - passcode: The new passcode.
    ///   - kdf: What a guess is to cost; as it was if nothing is said.
    ///   - erasesData: Whether the vault is to erase itself when the attempts end; as it was if nothing is said.
    /// - Throws: `authFailed` where the credential is wrong, `param` where a recovery key is mistyped.
    package func changePasscode(
        with secret: borrowing SecretBytes,
        as credential: Credential = .passcode,
        to passcode: borrowing SecretBytes,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeChangeParameters(credential: credential, kdf: kdf, erasesData: erasesData)
        let payload: SecretBytes? = try CountedPayload.encode(secret, passcode)
        return try call(.passcodeChange, params, payload: payload, returning: VaultStatus.self).value
    }

    /// Takes the passcode away, and with it every item that wants one.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups.
    ///   - credential: Which of the two it is.
    ///   - destroyedCount: The items of `WhenPasscodeSetThisDeviceOnly` there are, as many as a person has agreed to lose.
    /// - Throws: `authFailed` where the credential is wrong; `param` where it is another number of items, or a recovery key
    ///   is mistyped.
    package func removePasscode(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode,
        destroying destroyedCount: Int
    ) throws(CofferError) -> VaultStatus {
        let params = PasscodeRemoveParameters(credential: credential, destroyedCount: Int64(destroyedCount))
        return try call(.passcodeRemove, params, payload: secret, returning: VaultStatus.self).value
    }

    /// Lists the ways to the vault's keys, in every state of it.
    ///
    /// - Throws: `notAvailable` where there is no vault.
    public func keyslots() throws(CofferError) -> [KeyslotInfo] {
        try call(.slotList, Empty(), returning: SlotList.self).value.slots
    }

    /// Makes a recovery key, with a slot that it opens.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups; `nil` in a vault without a passcode.
    ///   - credential: Which of the two it is.
    /// - Returns: The slot; the payload is the new recovery key, as a text of groups.
    /// - Throws: `authFailed` where the credential is wrong, `param` where a recovery key is mistyped.
    package func addKeyslot(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) -> Returned<SlotResult> {
        let params = SlotAddParameters(credential: secret == nil ? nil : credential)
        return try call(.slotAdd, params, payload: secret, returning: SlotResult.self)
    }

    /// Removes a slot: its recovery key opens nothing any more.
    ///
    /// - Parameters:
    ///   - number: The slot.
    ///   - secret: The passcode, or a recovery key as a text of groups; `nil` in a vault without a passcode.
    ///   - credential: Which of the two it is.
    /// - Throws: `itemNotFound` where there is none of that number; `authFailed` where the credential is wrong; `param`
    ///   where the vault can't do without the slot.
    package func removeKeyslot(
        _ number: Int,
        with secret: borrowing SecretBytes?,
        as credential: Credential = .passcode
    ) throws(CofferError) {
        let params = SlotRemoveParameters(number: Int64(number), credential: secret == nil ? nil : credential)
        _ = try call(.slotRemove, params, payload: secret, returning: Empty.self)
    }

    /// Says which slot a credential opens, and changes nothing.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups.
    ///   - credential: Which of the two it is.
    /// - Returns: The number of the slot.
    /// - Throws: `authFailed` where it opens none, `param` where a recovery key is mistyped.
    package func testKeyslot(
        with secret: borrowing SecretBytes?,
        as credential: Credential = .recoveryKey
    ) throws(CofferError) -> Int {
        let params = SlotTestParameters(credential: credential)
        return Int(try call(.slotTest, params, payload: secret, returning: SlotResult.self).value.number)
    }
}
