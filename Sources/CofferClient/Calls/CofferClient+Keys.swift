public import CofferCore
internal import CofferMemory
public import CofferWire

extension CofferClient {
    /// Gives a vault without a passcode one.
    ///
    /// - Parameters:
    ///   - passcode: The new passcode.
    ///   - kdf: What a guess is to cost; moderate if nothing is said.
    ///   - erasesData: Whether the vault is to erase itself when the attempts end; as it was if nothing is said.
    /// - Throws: `duplicateItem` where it has one.
    @discardableResult
    public func setPasscode(
        _ passcode: Secret,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) async throws(CofferError) -> VaultStatus {
        let params = PasscodeSetParameters(kdf: kdf, erasesData: erasesData)
        return try await call(.passcodeSet, params, payload: passcode, returning: VaultStatus.self).value
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
    @discardableResult
    public func changePasscode(
        with secret: Secret,
        as credential: Credential = .passcode,
        to passcode: Secret,
        kdf: PasscodeCost? = nil,
        erasesData: Bool? = nil
    ) async throws(CofferError) -> VaultStatus {
        let params = PasscodeChangeParameters(credential: credential, kdf: kdf, erasesData: erasesData)
        let payload = try Secret(counting: secret, passcode)
        return try await call(.passcodeChange, params, payload: payload, returning: VaultStatus.self).value
    }

    /// Takes the passcode away, and with it every item that wants one.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups.
    ///   - credential: Which of the two it is.
    ///   - destroyedCount: The items of `WhenPasscodeSetThisDeviceOnly` there are, as many as a person has agreed to lose.
    /// - Throws: `authFailed` where the credential is wrong; `param` where it is another number of items, or a recovery key
    ///   is mistyped.
    @discardableResult
    public func removePasscode(
        with secret: Secret,
        as credential: Credential = .passcode,
        destroying destroyedCount: Int
    ) async throws(CofferError) -> VaultStatus {
        let params = PasscodeRemoveParameters(credential: credential, destroyedCount: Int64(destroyedCount))
        return try await call(.passcodeRemove, params, payload: secret, returning: VaultStatus.self).value
    }

    /// Lists the ways to the vault's keys, in every state of it.
    ///
    /// - Throws: `notAvailable` where there is no vault.
    public func keyslots() async throws(CofferError) -> [KeyslotInfo] {
        try await call(.slotList, Empty(), returning: SlotList.self).value.slots
    }

    /// Makes a recovery key, with a slot that it opens.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups; `nil` in a vault without a passcode.
    ///   - credential: Which of the two it is.
    /// - Returns: The slot's number, and the new recovery key as a text of groups.
    /// - Throws: `authFailed` where the credential is wrong, `param` where a recovery key is mistyped.
    public func addKeyslot(
        with secret: Secret?,
        as credential: Credential = .passcode
    ) async throws(CofferError) -> (number: Int, recoveryKey: Secret) {
        let params = SlotAddParameters(credential: secret == nil ? nil : credential)
        let returned = try await call(.slotAdd, params, payload: secret, returning: SlotResult.self)
        return (Int(returned.value.number), returned.payload)
    }

    /// Removes a slot: its recovery key opens nothing any more.
    ///
    /// - Parameters:
    ///   - number: The slot.
    ///   - secret: The passcode, or a recovery key as a text of groups; `nil` in a vault without a passcode.
    ///   - credential: Which of the two it is.
    /// - Throws: `itemNotFound` where there is none of that number; `authFailed` where the credential is wrong; `param`
    ///   where the vault can't do without the slot.
    public func removeKeyslot(
        _ number: Int,
        with secret: Secret?,
        as credential: Credential = .passcode
    ) async throws(CofferError) {
        let params = SlotRemoveParameters(number: Int64(number), credential: secret == nil ? nil : credential)
        _ = try await call(.slotRemove, params, payload: secret, returning: Empty.self)
    }

    /// Says which slot a credential opens, and changes nothing.
    ///
    /// - Parameters:
    ///   - secret: The passcode, or a recovery key as a text of groups.
    ///   - credential: Which of the two it is.
    /// - Returns: The number of the slot.
    /// - Throws: `authFailed` where it opens none, `param` where a recovery key is mistyped.
    public func testKeyslot(
        with secret: Secret,
        as credential: Credential = .recoveryKey
    ) async throws(CofferError) -> Int {
        let params = SlotTestParameters(credential: credential)
        return Int(try await call(.slotTest, params, payload: secret, returning: SlotResult.self).value.number)
    }
}

extension Secret {
    /// Puts two secrets behind one another, each behind its count.
    fileprivate convenience init(counting first: Secret, _ second: Secret) throws(CofferError) {
        let none: SecretBytes
        do { none = try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        switch first.content {
        case .some(let one):
            switch second.content {
            case .some(let other): self.init(try CountedPayload.encode(one, other))
            case .none: self.init(try CountedPayload.encode(one, none))
            }
        case .none:
            switch second.content {
            case .some(let other): self.init(try CountedPayload.encode(none, other))
            case .none: self.init(try CountedPayload.encode(none, none))
            }
        }
    }
}
