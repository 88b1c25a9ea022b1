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
    /// The keys to which items and metadata are sealed in every state.
    let publicKeys: PublicKeys
    /// What it states besides keys.
    let settings: Settings
    /// The first is the slot of the device key or of the passcode, the others are of recovery keys.
    let slots: [Keyslot]
    /// The wrapped class keys.
    let wrappedKeys: WrappedClassKeys
    /// The encoding of everything above.
    let body: [UInt8]
    /// A tag of the body under the keybag key.
    var innerTag: [UInt8]

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
        return try DeviceClassKeys { (name) throws(CryptoError) in try unwrap(name, .deviceKey, under: wrapping) }
    }

    /// Unwraps one class key.
    func unwrap(
        _ name: ClassKeyName,
        _ wrapper: Wrapper,
        under wrapping: borrowing SymmetricKey
    ) throws(CryptoError) -> SymmetricKey {
        guard let wrapped = wrappedKeys[wrapper]?[name] else { throw .unauthentic }
        return unsafe try KeyWrap.unwrap(wrapped.span.bytes, under: wrapping, context: Self.context(vaultID, name))
    }
}

extension Keybag {
    /// What a keybag states besides keys.
    struct Settings: Equatable, Sendable {
        /// Whether the tenth wrong passcode erases the vault.
        var erasesData: Bool
        /// Whether the catalog records the end of its audit: if it does not, that record was lost.
        var isWitnessed = true
        /// How often the vault lost its device key, and its ThisDeviceOnly keys with it.
        var moveCount: UInt32 = 0
    }

    /// The public keys to which anyone can seal.
    struct PublicKeys: Equatable, Sendable {
        /// New files of class B are wrapped to it.
        let classB: [UInt8]
        /// New deposits are wrapped to it.
        let deposits: [UInt8]
        /// The metadata of what is created before the first unlock is sealed to it.
        let metadata: [UInt8]
    }

    /// What wraps a class key, with its code in the keybag.
    enum Wrapper: UInt8, CaseIterable {
        /// The device wrap key.
        case deviceKey = 1
        /// The keybag key.
        case keybagKey = 2
        /// A key of the keybag key and the device key.
        case both = 3
    }

    typealias WrappedClassKeys = [Wrapper: [ClassKeyName: [UInt8]]]
}

extension ClassKeyName {
    /// What wraps it.
    ///
    /// A recovery key opens the keybag key without the device key, so that of a ThisDeviceOnly class wraps neither.
    var wrappers: Set<Keybag.Wrapper> {
        switch (isHeldByDeviceKey, isThisDeviceOnly) {
        case (true, true): [.deviceKey]
        case (true, false): [.deviceKey, .keybagKey]
        case (false, true): [.both]
        case (false, false): [.keybagKey]
        }
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
        self.init(.device, kek: kek)
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

    /// The key that wraps the class keys of ThisDeviceOnly: opening a slot needs the device key as well.
    func wrapping(_ keybagKey: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        try subkey(for: "coffer this device only wrap v1", mixing: keybagKey)
    }
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
    ///   - settings: What it states besides keys.
    ///   - classKey: Returns each class key, once.
    static func make(
        of vaultID: ItemID,
        deviceKey: DeviceKey,
        primary: borrowing PrimaryLock,
        recoverySlots: [RecoverySlot],
        settings: Settings,
        classKey: (ClassKeyName) throws(CryptoError) -> SymmetricKey
    ) throws(CryptoError) -> OpenedKeybag {
        let keybagKey = try randomKey()
        var slots = [
            Keyslot(id: primarySlotID, primary.lock, of: vaultID, wrapping: keybagKey, under: primary.kek)
        ]
        for slot in recoverySlots {
            slots.append(
                try Keyslot(id: slot.id, recoveryPublicKey: slot.publicKey, of: vaultID, wrapping: keybagKey)
            )
        }
        let keybag = try sealed(of: vaultID, deviceKey, keybagKey, slots, settings, classKey)
        return OpenedKeybag(keybag, keybagKey, slot: primarySlotID, primary: nil)
    }

    /// Wraps the class keys for a keybag, and seals it under its keybag key.
    ///
    /// - Parameters:
    ///   - vaultID: The vault.
    ///   - deviceKey: The device key of this machine.
    ///   - keybagKey: The key that the slots have wrapped.
    ///   - slots: The keyslots.
    ///   - settings: What it states besides keys.
    ///   - classKey: Returns each class key, once.
    static func sealed(
        of vaultID: ItemID,
        _ deviceKey: DeviceKey,
        _ keybagKey: borrowing SymmetricKey,
        _ slots: [Keyslot],
        _ settings: Settings,
        _ classKey: (ClassKeyName) throws(CryptoError) -> SymmetricKey
    ) throws(CryptoError) -> Keybag {
        let deviceKeys = try DeviceClassKeys(classKey)
        let unlockedKeys = try UnlockedKeys(classKey)
        let deviceWrapping = try deviceKey.wrapping()
        let jointWrapping = try deviceKey.wrapping(keybagKey)
        var wrappedKeys: WrappedClassKeys = [:]
        for name in ClassKeyName.allCases {
            let context = context(vaultID, name)
            for wrapper in name.wrappers {
                func wrap(_ key: borrowing SymmetricKey) -> [UInt8] {
                    switch wrapper {
                    case .deviceKey: KeyWrap.wrap(key, under: deviceWrapping, context: context)
                    case .keybagKey: KeyWrap.wrap(key, under: keybagKey, context: context)
                    case .both: KeyWrap.wrap(key, under: jointWrapping, context: context)
                    }
                }
                wrappedKeys[wrapper, default: [:]][name] =
                    name.isHeldByDeviceKey ? deviceKeys.withKey(name, wrap) : unlockedKeys.withKey(name, wrap)
            }
        }
        var keybag = Keybag(
            vaultID: vaultID,
            deviceKeyCheck: deviceKeyCheck(deviceKey, vaultID),
            publicKeys: unlockedKeys.publicKeys,
            settings: settings,
            slots: slots,
            wrappedKeys: wrappedKeys
        )
        keybag.innerTag = keybag.innerTag(under: keybagKey)
        return keybag
    }

    /// An attacker who has the device key but can't open a slot can't add one undetected: the next unlock detects it.
    func innerTag(under keybagKey: borrowing SymmetricKey) -> [UInt8] {
        KeyedHash.tag(under: keybagKey, for: "coffer keybag inner tag v1", byteCount: Self.tagBytes, body)
    }

    static func randomKey() throws(CryptoError) -> SymmetricKey {
        do { return try SymmetricKey() } catch { throw .noMemory }
    }
}
