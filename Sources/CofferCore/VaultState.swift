/// The state of a vault, as a client sees it.
public enum VaultState: String, CaseIterable, Sendable {
    /// There is no keybag yet.
    case noVault
    /// No passcode: every class key is in memory in every state, protected by the device key alone.
    case noPasscode
    /// The vault has not been unlocked since the daemon started, or was locked for so long that its keys were
    /// forgotten.
    case beforeFirstUnlock
    /// Every class key is in memory.
    case unlocked
    /// Locked, but during the grace: every class key stays in memory until it ends.
    case locking
    /// The keys of class A, the private key of class B and their keychain counterparts have been wiped.
    case locked
    /// Locked for so long that the key of class CX has been wiped as well.
    case lockedExpired
    /// There is a keybag, but not the device key with which it was made: a recovery key opens it.
    case deviceKeyMissing
}
