internal import CofferCore
internal import CofferMemory

/// Which keys are in memory.
///
/// A transition is an assignment, so that wiping is done by `deinit`: a state always has exactly its keys.
enum LockState: ~Copyable {
    case beforeFirstUnlock
    case lockedExpired(AfterFirstUnlockKeys)
    case locked(LockedKeys)
    case locking(UnlockedKeys)
    case unlocked(UnlockedKeys)

    /// The state's name for clients, in a vault with a passcode.
    var name: VaultState {
        switch self {
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .lockedExpired: .lockedExpired
        case .locked: .locked
        case .locking: .locking
        case .unlocked: .unlocked
        }
    }

    /// Starts the grace: every key stays.
    mutating func beginLocking() {
        switch consume self {
        case .unlocked(let keys): self = .locking(keys)
        case let other: self = other
        }
    }

    /// Wipes the keys that are in memory only while unlocked.
    mutating func lock() {
        switch consume self {
        case .unlocked(let keys): self = .locked(keys.forgettingWhenUnlocked())
        case .locking(let keys): self = .locked(keys.forgettingWhenUnlocked())
        case let other: self = other
        }
    }

    /// Wipes the key of class CX, if the vault is locked.
    mutating func expireInactive() {
        switch consume self {
        case .locked(let keys): self = .lockedExpired(keys.forgettingInactive())
        case let other: self = other
        }
    }

    /// Restores the keys of an earlier daemon, before the first unlock.
    mutating func restore(_ keys: consuming AfterFirstUnlockKeys) {
        switch consume self {
        case .beforeFirstUnlock: self = .lockedExpired(keys)
        case let other: self = other
        }
    }

    /// Calls a closure with the keys that are in memory from the first unlock on.
    ///
    /// - Parameter body: Called with the keys.
    /// - Returns: The result of `body`; `nil` before the first unlock.
    func withAfterFirstUnlockKeys<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing AfterFirstUnlockKeys) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        switch self {
        case .beforeFirstUnlock: nil
        case .lockedExpired(let keys): try body(keys)
        case .locked(let keys): try body(keys.afterFirstUnlock)
        case .locking(let keys): try body(keys.afterFirstUnlock)
        case .unlocked(let keys): try body(keys.afterFirstUnlock)
        }
    }

    /// Calls a closure with a class key.
    ///
    /// - Parameters:
    ///   - name: A key that the keybag key wraps.
    ///   - body: Called with the key.
    /// - Returns: The result of `body`; `nil` if the key is not in memory in this state.
    func withKey<Result: ~Copyable, Failure: Error>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        switch self {
        case .beforeFirstUnlock: nil
        case .lockedExpired(let keys): try keys.withKey(name, body)
        case .locked(let keys): try keys.withKey(name, body)
        case .locking(let keys): try keys.withKey(name, body)
        case .unlocked(let keys): try keys.withKey(name, body)
        }
    }
}

extension UnlockedKeys {
    func withKey<Result: ~Copyable, Failure: Error>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        switch name {
        case .a: try body(whenUnlocked.a)
        case .bPrivate: try body(whenUnlocked.bPrivate)
        case .ak: try body(whenUnlocked.ak)
        case .aku: try body(whenUnlocked.aku)
        case .akpu: try body(whenUnlocked.akpu)
        case .bkPrivate: try body(whenUnlocked.bkPrivate)
        case .cx: try body(cx)
        case .c, .ck, .cku, .d, .dk, .dku, .store: try afterFirstUnlock.withKey(name, body)
        }
    }
}

extension LockedKeys {
    func withKey<Result: ~Copyable, Failure: Error>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        name == .cx ? try body(cx) : try afterFirstUnlock.withKey(name, body)
    }
}

extension AfterFirstUnlockKeys {
    func withKey<Result: ~Copyable, Failure: Error>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        switch name {
        case .c: try body(c)
        case .ck: try body(ck)
        case .cku: try body(cku)
        case .a, .bPrivate, .cx, .ak, .aku, .akpu, .bkPrivate, .d, .dk, .dku, .store: nil
        }
    }
}

extension DeviceClassKeys {
    func withKey<Result: ~Copyable, Failure: Error>(
        _ name: ClassKeyName,
        _ body: (borrowing SymmetricKey) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        switch name {
        case .d: try body(d)
        case .dk: try body(dk)
        case .dku: try body(dku)
        case .store: try body(store)
        case .a, .bPrivate, .c, .cx, .ak, .ck, .aku, .cku, .akpu, .bkPrivate: nil
        }
    }
}
