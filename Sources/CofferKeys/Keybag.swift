internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The file with every wrapped class key and the keyslots.
///
/// proto-docs/FORMATS.md describes its bytes. A keybag is never changed: each change of its keyslots creates a new one,
/// with a new keybag key.
package struct Keybag: Equatable, Sendable {
    let vaultID: ItemID
    /// Identifies the device key of this machine without using it.
    let deviceKeyCheck: [UInt8]
    /// The public key of class B, to which new files of the class are wrapped in every state.
    let classBPublicKey: [UInt8]
    /// Whether the tenth wrong passcode erases the vault.
    let erasesData: Bool
    /// Whether the catalog records the end of its audit: if it does not, that record was lost.
    let isWitnessed: Bool
    /// The first is the slot of the device key or of the passcode, the others are of recovery keys.
    let slots: [Keyslot]
    /// The class keys under the keybag key: all of them, so that a recovery key needs no device key.
    ///
    /// In version 1, only those that the device key does not wrap.
    let underKeybagKey: [ClassKeyName: [UInt8]]
    /// The class keys that the device key wraps, under the device wrap key.
    let underDeviceKey: [ClassKeyName: [UInt8]]
    /// A tag under the keybag key over everything above; none in version 1.
    var innerTag: [UInt8]?

    /// The slot of the device key or of the passcode.
    var primarySlot: Keyslot { slots[0] }

    var hasPasscode: Bool { primarySlot.kind == .passcode }

    var hasRecoveryKey: Bool { slots.contains { $0.kind == .recoveryKey } }

    static let checkBytes = 16
    /// The size of each of its tags.
    package static let tagBytes = 32

    static func deviceKeyCheck(_ deviceKey: DeviceKey, _ vaultID: ItemID) -> [UInt8] {
        deviceKey.tag(for: "coffer device key check v1", byteCount: checkBytes, vaultID.bytes)
    }

    /// Whether the keybag was made with this device key.
    func belongs(to deviceKey: DeviceKey) -> Bool {
        isEqualInConstantTime(deviceKeyCheck, Self.deviceKeyCheck(deviceKey, vaultID))
    }

    /// The context of a wrapped class key.
    static func context(_ vaultID: ItemID, _ name: ClassKeyName) -> [UInt8] {
        Array("coffer class key v1".utf8) + vaultID.bytes + [name.rawValue]
    }

    /// Unwraps the class keys that the device key wraps.
    func deviceClassKeys(_ deviceKey: DeviceKey) throws(CryptoError) -> DeviceClassKeys {
        let wrapping = try deviceKey.wrapping()
        return try DeviceClassKeys { (name) throws(CryptoError) in
            try unwrap(name, from: underDeviceKey, under: wrapping)
        }
    }

    /// Unwraps one class key.
    func unwrap(
        _ name: ClassKeyName,
        from wrapped: [ClassKeyName: [UInt8]],
        under wrapping: borrowing SymmetricKey
    ) throws(CryptoError) -> SymmetricKey {
        guard let wrapped = wrapped[name] else { throw .unauthentic }
        return unsafe try KeyWrap.unwrap(wrapped.span.bytes, under: wrapping, context: Self.context(vaultID, name))
    }
}

// MARK: Making one

/// How the first slot is opened, and the key that opens it.
struct PrimaryLock: ~Copyable {
    let lock: Keyslot.Lock
    let kek: SymmetricKey

    init(_ lock: Keyslot.Lock, kek: consuming SymmetricKey) {
        self.lock = lock
        self.kek = kek
    }

    /// Opens a slot with the device key alone.
    init(_ deviceKey: DeviceKey) throws(CofferError) {
        let kek: SymmetricKey
        do { kek = try deviceKey.deviceKEK() } catch { throw .noSecretMemory }
        self.init(.device(.unused()), kek: kek)
    }

    /// Opens a slot with a new passcode, which is stretched here.
    ///
    /// The stretching uses a new salt.
    init(
        _ passcode: borrowing SecretBytes,
        _ stretching: Keyslot.Stretching,
        _ deviceKey: DeviceKey
    ) throws(CofferError) {
        let stretched: SymmetricKey? = try stretching.stretch(passcode)
        let kek: SymmetricKey
        do { kek = try deviceKey.passcodeKEK(stretched) } catch { throw .noSecretMemory }
        self.init(.passcode(stretching), kek: kek)
    }
}

extension DeviceKey {
    /// The key that opens the slot of a vault without a passcode.
    func deviceKEK() throws(CryptoError) -> SymmetricKey { try subkey(for: "coffer KEK device v1") }

    /// The key that opens the slot of a passcode.
    func passcodeKEK(_ stretched: borrowing SymmetricKey?) throws(CryptoError) -> SymmetricKey {
        try subkey(for: "coffer KEK passcode v1", mixing: stretched)
    }

    /// The key that wraps the class keys that are in memory in every state.
    func wrapping() throws(CryptoError) -> SymmetricKey { try subkey(for: "coffer device wrap v1") }
}

/// The slot of a recovery key, without what depends on the keybag key.
struct RecoverySlot {
    let id: UInt8
    let publicKey: [UInt8]
}

extension Keybag {
    static let primarySlotID: UInt8 = 1

    /// Creates a keybag under a new random keybag key, so that the old keybag key is useless.
    ///
    /// - Parameters:
    ///   - vaultID: The vault.
    ///   - deviceKey: The device key of this machine.
    ///   - primary: The slot of the device key or of the passcode.
    ///   - recoverySlots: The other slots.
    ///   - erasesData: Whether the tenth wrong passcode erases the vault.
    ///   - classKey: Returns each class key.
    static func make(
        of vaultID: ItemID,
        deviceKey: DeviceKey,
        primary: borrowing PrimaryLock,
        recoverySlots: [RecoverySlot],
        erasesData: Bool,
        classKey: (ClassKeyName) throws(CryptoError) -> SymmetricKey
    ) throws(CryptoError) -> OpenedKeybag {
        let keybagKey = try randomKey()
        let deviceWrapping = try deviceKey.wrapping()
        var underKeybagKey: [ClassKeyName: [UInt8]] = [:]
        var underDeviceKey: [ClassKeyName: [UInt8]] = [:]
        var publicKey: [UInt8] = []
        for name in ClassKeyName.allCases {
            let key = try classKey(name)
            let context = context(vaultID, name)
            underKeybagKey[name] = KeyWrap.wrap(key, under: keybagKey, context: context)
            if name.isHeldByDeviceKey {
                underDeviceKey[name] = KeyWrap.wrap(key, under: deviceWrapping, context: context)
            }
            if name == .bPrivate { publicKey = KeyAgreement.publicKey(of: key) }
        }
        var slots = [
            Keyslot(id: primarySlotID, primary.lock, of: vaultID, wrapping: keybagKey, under: primary.kek)
        ]
        for slot in recoverySlots {
            slots.append(
                try Keyslot(id: slot.id, recoveryPublicKey: slot.publicKey, of: vaultID, wrapping: keybagKey)
            )
        }
        var keybag = Keybag(
            vaultID: vaultID,
            deviceKeyCheck: deviceKeyCheck(deviceKey, vaultID),
            classBPublicKey: publicKey,
            erasesData: erasesData,
            isWitnessed: true,
            slots: slots,
            underKeybagKey: underKeybagKey,
            underDeviceKey: underDeviceKey,
            innerTag: nil
        )
        keybag.innerTag = keybag.innerTag(under: keybagKey)
        return OpenedKeybag(keybag, keybagKey, slot: primarySlotID, primary: nil)
    }

    /// An attacker who has the device key but can't open a slot can't add one undetected: the next unlock detects it.
    func innerTag(under keybagKey: borrowing SymmetricKey) -> [UInt8] {
        KeyedHash.tag(under: keybagKey, for: "coffer keybag inner tag v1", byteCount: Self.tagBytes, body)
    }

    static func randomKey() throws(CryptoError) -> SymmetricKey {
        do { return try SymmetricKey() } catch { throw .noMemory }
    }
}
