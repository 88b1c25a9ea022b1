/// The protection class of a file: in which states of the vault its key is there.
///
/// The names are those of `FileProtectionType`; the rules are section 3 of the semantics, and ``permits(_:in:)`` is
/// that table.
public enum ProtectionClass: String, CaseIterable, Sendable {
    /// Class A: readable only while unlocked; open handles die when the grace after a lock ends.
    case complete
    /// Class B: created and kept open in every state, opened again only while unlocked.
    case completeUnlessOpen
    /// Class C, the default of a file: readable from the first unlock of a boot on.
    case completeUntilFirstUserAuthentication
    /// Class CX: as class C, until its time without a user runs out.
    case completeWhenUserInactive
    /// Class D: not protected by the passcode; encrypted under the device key.
    case none
}

/// How a request touches an item, as far as its key is concerned.
public enum ItemOperation: String, CaseIterable, Sendable {
    /// Opens what exists and reads it.
    case read
    /// Opens what exists and writes it.
    case write
    /// Makes a new item.
    case create
    /// Goes on with a handle that was opened, or made, when that was possible.
    case proceed
}

extension ProtectionClass {
    /// Whether the key for `operation` on an item of this class is there in `state`.
    ///
    /// - Parameters:
    ///   - operation: What is to be done.
    ///   - state: The state of the vault.
    /// - Returns: `true` where the table of section 3 has the operation's letter. A vault that does not exist, or
    ///   has not its device key, permits nothing.
    public func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch (state, self) {
        case (.noVault, _), (.deviceKeyMissing, _): false
        case (.noPasscode, _), (.unlocked, _), (.locking, _), (_, .none): true
        case (.beforeFirstUnlock, .completeUnlessOpen): operation == .create || operation == .proceed
        case (.beforeFirstUnlock, _): false
        case (.locked, .complete), (.lockedExpired, .complete): false
        case (.locked, .completeUnlessOpen), (.lockedExpired, .completeUnlessOpen):
            operation == .create || operation == .proceed
        case (.locked, .completeUntilFirstUserAuthentication): true
        case (.lockedExpired, .completeUntilFirstUserAuthentication): true
        case (.locked, .completeWhenUserInactive): true
        case (.lockedExpired, .completeWhenUserInactive): false
        }
    }
}
