/// The state of a vault, as a client sees it.
public enum VaultState: String, CaseIterable, Sendable {
    /// There is no keybag yet.
    case noVault
    /// Every class key is there in every state, held by the device key alone.
    case noPasscode
    /// The passcode was not given since the vault came up on this boot.
    case beforeFirstUnlock
    /// Every class key is there.
    case unlocked
    /// Locked, and still in the grace: every class key is there until it ends.
    case locking
    /// The keys of class A, the private key of class B and their like are gone.
    case locked
    /// Locked for so long that the key of class CX is gone as well.
    case lockedExpired
    /// There is a keybag, and not the device key that it was made with: a recovery key opens it.
    case deviceKeyMissing
}
