internal import CofferCore

// The transitions of the lock state. A vault without a passcode does not change its state.

extension VaultKeys {
    /// Unlocks, or stays unlocked: an unlock during the grace cancels the lock.
    ///
    /// - Parameter keys: The result of an authentication.
    package func adopt(_ keys: consuming UnlockedKeys) { lockState = .unlocked(keys) }

    /// Starts the grace of a lock: every key stays until ``lock()``.
    package func beginLocking() {
        if state != .noPasscode { lockState.beginLocking() }
    }

    /// Locks: the keys of class A, the private key of class B and their counterparts are wiped when this returns.
    package func lock() {
        if state != .noPasscode { lockState.lock() }
    }

    /// Expires class CX: if the vault is locked, its key is wiped when this returns.
    package func expireInactive() {
        if state != .noPasscode { lockState.expireInactive() }
    }

    /// Returns to before the first unlock: every key that the passcode protects is wiped when this returns.
    package func forget() {
        if state != .noPasscode { lockState = .beforeFirstUnlock }
    }

    // MARK: Carry-over

    /// Restores the keys of an earlier daemon: before the first unlock, the vault becomes locked, with the key of class
    /// CX expired.
    ///
    /// In every other state the given keys are wiped, and nothing changes.
    package func restore(_ keys: consuming AfterFirstUnlockKeys) {
        if state != .noPasscode { lockState.restore(keys) }
    }

    /// Calls a closure with the keys that are in memory from the first unlock on.
    ///
    /// - Parameter body: Called with the keys.
    /// - Returns: The result of `body`; `nil` before the first unlock, and in a vault without a passcode.
    package func withAfterFirstUnlockKeys<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing AfterFirstUnlockKeys) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        state == .noPasscode ? nil : try lockState.withAfterFirstUnlockKeys(body)
    }

    // MARK: Use

    /// Records that a key which the passcode protects is in use.
    package func noteUse() { wasUsed = true }

    /// Whether a key that the passcode protects was used since the last call.
    package func takeUse() -> Bool {
        defer { wasUsed = false }
        return wasUsed
    }
}
