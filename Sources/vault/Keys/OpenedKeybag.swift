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
    func keys(_ deviceKey: DeviceKey) throws(KeybagError) -> UnlockedKeys {
        do throws(CryptoError) {
            let keys = try UnlockedKeys { (name) throws(CryptoError) in try classKey(name, deviceKey) }
            guard keys.publicKeys == keybag.publicKeys else { throw CryptoError.unauthentic }
            return keys
        } catch {
            throw KeybagError(behindSlot: error)
        }
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
        let hasMoved = !keybag.belongs(to: deviceKey)
        return try Keybag.make(
            of: keybag.vaultID,
            deviceKey: deviceKey,
            primary: primary,
            recoverySlots: recoverySlots,
            settings: Keybag.Settings(
                erasesData: change.erasesData ?? keybag.settings.erasesData,
                moveCount: keybag.settings.moveCount + (hasMoved ? 1 : 0)
            )
        ) { (name) throws(CryptoError) in
            let isLost = name == .akpu && isOpenToDeviceKey || name.isThisDeviceOnly && hasMoved
            return isLost ? try Keybag.randomKey() : try classKey(name, deviceKey)
        }
    }

    /// Unwraps a class key.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - deviceKey: The device key of this machine: that of the keybag, unless the vault was moved.
    private func classKey(_ name: ClassKeyName, _ deviceKey: DeviceKey) throws(CryptoError) -> SymmetricKey {
        if name.wrappers.contains(.keybagKey) { return try keybag.unwrap(name, .keybagKey, under: keybagKey) }
        if name.wrappers.contains(.both) {
            return try keybag.unwrap(name, .both, under: try deviceKey.wrapping(keybagKey))
        }
        return try keybag.unwrap(name, .deviceKey, under: try deviceKey.wrapping())
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
        isEqualInConstantTime(keybag.innerTag, keybag.innerTag(under: keybagKey))
    }
}
