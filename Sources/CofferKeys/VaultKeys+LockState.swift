internal import CofferCore

// The ways from one lock state to another. A vault without a passcode stays as it is: there is nothing to lock it with.

extension VaultKeys {
    /// Unlocks, or stays unlocked: an unlock during the grace cancels the lock.
    ///
    /// - Parameter keys: What an attempt gave.
    package func adopt(_ keys: consuming UnlockedKeys) { lockState = .unlocked(keys) }

    /// Starts the grace of a lock: every key stays until ``lock()``.
    package func beginLocking() {
        if state != .noPasscode { lockState.beginLocking() }
    }

    /// Locks: the keys of class A, the private key of class B and their like are wiped when this returns.
    package func lock() {
        if state != .noPasscode { lockState.lock() }
    }

    /// Ends class CX: where the vault is locked, its key is wiped when this returns.
    package func expireInactive() {
        if state != .noPasscode { lockState.expireInactive() }
    }

    /// Goes back to before the first unlock: every key that the passcode protects is wiped when this returns.
    package func forget() {
        if state != .noPasscode { lockState = .beforeFirstUnlock }
    }

    // MARK: Carry-over

    /// Takes keys that an earlier daemon has left: before the first unlock becomes locked, with the key of class CX expired.
    ///
    /// In every other state the keys are wiped, and nothing changes.
    package func restore(_ keys: consuming AfterFirstUnlockKeys) {
        if state != .noPasscode { lockState.restore(keys) }
    }

    /// Uses the keys that are there from the first unlock on.
    ///
    /// - Parameter body: Gets the keys.
    /// - Returns: What `body` returns; `nil` before the first unlock, and in a vault without a passcode.
    package func withAfterFirstUnlockKeys<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing AfterFirstUnlockKeys) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        state == .noPasscode ? nil : try lockState.withAfterFirstUnlockKeys(body)
    }

    // MARK: Use

    /// Says that a key which the passcode protects is in use.
    package func noteUse() { wasUsed = true }

    /// Says whether a key that the passcode protects was used since this was asked last.
    package func takeUse() -> Bool {
        defer { wasUsed = false }
        return wasUsed
    }
}
