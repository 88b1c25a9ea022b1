internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Why a keybag did not open.
enum KeybagError: Error, Equatable {
    /// No slot matches the credential.
    case wrongCredential
    /// A slot was opened, but its content is not authentic.
    case damaged
    /// Memory for a key could not be locked.
    case noMemory

    init(behindSlot error: CryptoError) { self = error == .noMemory ? .noMemory : .damaged }

    init(atSlot error: CryptoError) { self = error == .noMemory ? .noMemory : .wrongCredential }
}

/// A keybag with its key, while it is being unlocked or changed.
struct OpenedKeybag: ~Copyable, Sendable {
    let keybag: Keybag
    fileprivate let keybagKey: SymmetricKey
    /// The slot that was opened.
    let slot: UInt8
    /// The key of the first slot, if that one was opened.
    private let primary: PrimaryLock?

    init(_ keybag: Keybag, _ keybagKey: consuming SymmetricKey, slot: UInt8, primary: consuming PrimaryLock?) {
        self.keybag = keybag
        self.keybagKey = keybagKey
        self.slot = slot
        self.primary = primary
    }

    /// The class keys that the passcode protects.
    func keys() throws(KeybagError) -> UnlockedKeys {
        let keys: UnlockedKeys
        do {
            keys = try UnlockedKeys { (name) throws(CryptoError) in
                try keybag.unwrap(name, from: keybag.underKeybagKey, under: keybagKey)
            }
        } catch {
            throw KeybagError(behindSlot: error)
        }
        // Version 1 has no inner tag: an attacker with the device key could have inserted his own public key.
        guard keys.classBPublicKey == keybag.classBPublicKey else { throw .damaged }
        return keys
    }

    /// Creates the next keybag: the same class keys under a new keybag key.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - deviceKey: The device key of this machine; it differs from the keybag's after an unlock by a recovery key.
    func changed(_ change: borrowing KeybagChange, deviceKey: DeviceKey) throws(CofferError) -> OpenedKeybag {
        switch change.primary {
        case .keep:
            // Only the credential that opened the first slot can wrap for it again.
            switch primary {
            case .some(let primary): return try made(primary, change, deviceKey)
            case .none: throw CofferError(KeybagError.damaged, "")
            }
        case .device: return try made(PrimaryLock(deviceKey), change, deviceKey)
        case .passcode(let new):
            let stretching = Keyslot.Stretching(new.cost, replacing: keybag.primarySlot.lock)
            return try made(PrimaryLock(new.passcode, stretching, deviceKey), change, deviceKey)
        }
    }

    private func made(
        _ primary: borrowing PrimaryLock,
        _ change: borrowing KeybagChange,
        _ deviceKey: DeviceKey
    ) throws(CofferError) -> OpenedKeybag {
        do throws(CryptoError) {
            return try wrapped(primary, change, deviceKey)
        } catch {
            throw CofferError(KeybagError(behindSlot: error), "")
        }
    }

    private func wrapped(
        _ primary: borrowing PrimaryLock,
        _ change: borrowing KeybagChange,
        _ deviceKey: DeviceKey
    ) throws(CryptoError) -> OpenedKeybag {
        var recoverySlots = keybag.recoverySlots.filter { $0.id != change.removedSlot }
        if let added = change.addedRecoverySlot { recoverySlots.append(added) }
        // A vault without a passcode has no items that require one. Their class key is replaced whenever a passcode is
        // removed, regardless of the rows, and whenever one is set: a key that the device key alone once opened must
        // not protect such items.
        let isOpenToDeviceKey = primary.lock.kind == .device || keybag.primarySlot.kind == .device
        return try Keybag.make(
            of: keybag.vaultID,
            deviceKey: deviceKey,
            primary: primary,
            recoverySlots: recoverySlots,
            erasesData: change.erasesData ?? keybag.erasesData
        ) { (name) throws(CryptoError) in
            isOpenToDeviceKey && name == .akpu ? try Keybag.randomKey() : try classKey(name, deviceKey)
        }
    }

    private func classKey(_ name: ClassKeyName, _ deviceKey: DeviceKey) throws(CryptoError) -> SymmetricKey {
        // Version 1 has the keys that the device key wraps in one place only.
        guard keybag.underKeybagKey[name] == nil else {
            return try keybag.unwrap(name, from: keybag.underKeybagKey, under: keybagKey)
        }
        return try keybag.unwrap(name, from: keybag.underDeviceKey, under: try deviceKey.wrapping())
    }
}

// MARK: Opening

extension Keybag {
    /// The slots of recovery keys.
    var recoverySlots: [RecoverySlot] {
        slots.compactMap { slot in
            guard case .recoveryKey(let publicKey) = slot.lock else { return nil }
            return RecoverySlot(id: slot.id, publicKey: publicKey)
        }
    }

    /// Opens the first slot with its KEK.
    func open(_ kek: consuming SymmetricKey) throws(KeybagError) -> OpenedKeybag {
        let keybagKey: SymmetricKey
        do {
            keybagKey = try primarySlot.open(of: vaultID, under: kek)
        } catch {
            throw KeybagError(atSlot: error)
        }
        let primary = PrimaryLock(primarySlot.lock, kek: kek)
        return try verified(OpenedKeybag(self, keybagKey, slot: primarySlot.id, primary: primary))
    }

    /// Opens the slot that a recovery key matches.
    func open(_ recoveryKey: borrowing RecoveryKey) throws(KeybagError) -> OpenedKeybag {
        for slot in slots where slot.kind == .recoveryKey {
            let keybagKey: SymmetricKey
            do {
                keybagKey = try slot.open(of: vaultID, with: recoveryKey)
            } catch .unauthentic {
                continue
            } catch {
                throw .noMemory
            }
            return try verified(OpenedKeybag(self, keybagKey, slot: slot.id, primary: nil))
        }
        throw .wrongCredential
    }

    private func verified(_ opened: consuming OpenedKeybag) throws(KeybagError) -> OpenedKeybag {
        guard opened.isAuthentic else { throw .damaged }
        return opened
    }
}

extension OpenedKeybag {
    fileprivate var isAuthentic: Bool {
        guard let tag = keybag.innerTag else { return true }
        return isEqualInConstantTime(tag, keybag.innerTag(under: keybagKey))
    }
}
