internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// One way to the keybag key.
struct Keyslot: Equatable, Sendable {
    /// What opens the slot.
    ///
    /// The raw value is its code in the keybag; 3 to 5 are kept for a recovery key, FIDO2 and TPM2.
    enum Kind: UInt8, Sendable {
        /// The device key alone: a vault without a passcode.
        case device = 1
        /// The device key and a passcode.
        case passcode = 2
    }

    let id: UInt8
    let kind: Kind
    /// Argon2id's passes and memory; 0 where no passcode is stretched.
    let operations: UInt32
    let memoryKiB: UInt32
    let salt: [UInt8]
    let wrappedKeybagKey: [UInt8]

    /// Bound to the wrapped key: a slot can't be passed off as another, or as a cheaper one.
    private static func context(
        _ vaultID: ItemID,
        _ id: UInt8,
        _ kind: Kind,
        _ operations: UInt32,
        _ memoryKiB: UInt32,
        _ salt: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer keyslot v1".utf8)
        writer.write(raw: vaultID.bytes)
        writer.write(id)
        writer.write(kind.rawValue)
        writer.write(operations)
        writer.write(memoryKiB)
        writer.write(raw: salt)
        return writer.bytes
    }

    /// Makes a slot that the device key opens alone, or with a passcode.
    static func make(
        id: UInt8,
        vaultID: ItemID,
        deviceKey: DeviceKey,
        passcode: borrowing SecretBytes?,
        cost: PasscodeCost,
        keybagKey: borrowing SymmetricKey
    ) throws(CryptoError) -> Keyslot {
        let salt = randomBytes(KeyDerivation.saltBytes)
        let kind: Kind
        let operations, memoryKiB: UInt32
        let wrapping: SymmetricKey
        switch passcode {
        case .none:
            (kind, operations, memoryKiB) = (.device, 0, 0)
            wrapping = try deviceKey.subkey(for: "coffer KEK device v1")
        case .some(let passcode):
            (kind, operations, memoryKiB) = (.passcode, cost.operations, cost.memoryKiB)
            let stretched: SymmetricKey? = try KeyDerivation.passcodeKey(
                passcode,
                salt: salt,
                operations: operations,
                memoryKiB: memoryKiB
            )
            wrapping = try deviceKey.subkey(for: "coffer KEK passcode v1", mixing: stretched)
        }
        let context = context(vaultID, id, kind, operations, memoryKiB, salt)
        return Keyslot(
            id: id,
            kind: kind,
            operations: operations,
            memoryKiB: memoryKiB,
            salt: salt,
            wrappedKeybagKey: KeyWrap.wrap(keybagKey, under: wrapping, context: context)
        )
    }

    /// Opens the slot.
    func open(
        vaultID: ItemID,
        deviceKey: DeviceKey,
        passcode: borrowing SecretBytes?
    ) throws(CryptoError) -> SymmetricKey {
        let wrapping: SymmetricKey
        switch kind {
        case .device:
            wrapping = try deviceKey.subkey(for: "coffer KEK device v1")
        case .passcode:
            let stretched = try stretch(passcode)
            wrapping = try deviceKey.subkey(for: "coffer KEK passcode v1", mixing: stretched)
        }
        let context = Self.context(vaultID, id, kind, operations, memoryKiB, salt)
        return unsafe try KeyWrap.unwrap(wrappedKeybagKey.span.bytes, under: wrapping, context: context)
    }

    private func stretch(_ passcode: borrowing SecretBytes?) throws(CryptoError) -> SymmetricKey? {
        switch passcode {
        case .none: nil
        case .some(let passcode):
            try KeyDerivation.passcodeKey(passcode, salt: salt, operations: operations, memoryKiB: memoryKiB)
        }
    }
}
