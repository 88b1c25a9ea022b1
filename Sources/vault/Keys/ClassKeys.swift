internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

// The class keys, grouped by how long they stay in memory: a state of the vault is a set of these groups.
//
// The initialisers go through constants, because the compiler can't destroy a partly initialised noncopyable value on a
// throw.

/// In memory in every state: wrapped by the device key alone.
struct DeviceClassKeys: ~Copyable {
    let d, dk, dku, store: SymmetricKey

    init<Failure: Error>(_ key: (ClassKeyName) throws(Failure) -> SymmetricKey) throws(Failure) {
        let d = try key(.d)
        let dk = try key(.dk)
        let dku = try key(.dku)
        let store = try key(.store)
        self.d = d
        self.dk = dk
        self.dku = dku
        self.store = store
    }
}

/// In memory from the first unlock until the vault has been locked for days.
package struct AfterFirstUnlockKeys: ~Copyable, Sendable {
    let c, ck, cku: SymmetricKey
    let metadata: MetadataKeys

    init(_ key: (ClassKeyName) throws(CryptoError) -> SymmetricKey) throws(CryptoError) {
        let c = try key(.c)
        let ck = try key(.ck)
        let cku = try key(.cku)
        metadata = try MetadataKeys(from: c)
        self.c = c
        self.ck = ck
        self.cku = cku
    }
}

/// In memory while locked, until the key of class CX expires.
struct LockedKeys: ~Copyable {
    let afterFirstUnlock: AfterFirstUnlockKeys
    let cx: SymmetricKey

    /// Drops the key of class CX, which wipes it.
    consuming func forgettingInactive() -> AfterFirstUnlockKeys { afterFirstUnlock }
}

/// In memory while unlocked; wiped when the grace after a lock ends.
struct WhenUnlockedKeys: ~Copyable {
    let a, bPrivate, ak, aku, akpu, bkPrivate: SymmetricKey

    init<Failure: Error>(_ key: (ClassKeyName) throws(Failure) -> SymmetricKey) throws(Failure) {
        let a = try key(.a)
        let bPrivate = try key(.bPrivate)
        let ak = try key(.ak)
        let aku = try key(.aku)
        let akpu = try key(.akpu)
        let bkPrivate = try key(.bkPrivate)
        self.a = a
        self.bPrivate = bPrivate
        self.ak = ak
        self.aku = aku
        self.akpu = akpu
        self.bkPrivate = bkPrivate
    }
}

/// All keys that a keyslot unlocks.
package struct UnlockedKeys: ~Copyable, Sendable {
    let afterFirstUnlock: AfterFirstUnlockKeys
    let cx: SymmetricKey
    let whenUnlocked: WhenUnlockedKeys

    init(_ key: (ClassKeyName) throws(CryptoError) -> SymmetricKey) throws(CryptoError) {
        let afterFirstUnlock = try AfterFirstUnlockKeys(key)
        let cx = try key(.cx)
        let whenUnlocked = try WhenUnlockedKeys(key)
        self.afterFirstUnlock = afterFirstUnlock
        self.cx = cx
        self.whenUnlocked = whenUnlocked
    }

    /// The public keys of the keybag, which these keys must match.
    var publicKeys: Keybag.PublicKeys {
        Keybag.PublicKeys(
            classB: KeyAgreement.publicKey(of: whenUnlocked.bPrivate),
            deposits: KeyAgreement.publicKey(of: whenUnlocked.bkPrivate),
            metadata: afterFirstUnlock.metadata.publicKey
        )
    }

    /// Drops the keys that are in memory only while unlocked, which wipes them.
    consuming func forgettingWhenUnlocked() -> LockedKeys { LockedKeys(afterFirstUnlock: afterFirstUnlock, cx: cx) }
}
