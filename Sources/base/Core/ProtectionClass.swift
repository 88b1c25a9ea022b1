/// What a request does with an item, as far as its key is concerned.
public enum ItemOperation: String, CaseIterable, Sendable {
    /// Opens an existing item and reads it.
    case read
    /// Opens an existing item and writes it.
    case write
    /// Creates a new item.
    case create
    /// Continues with a handle that was opened or created earlier.
    case proceed
}

extension ProtectionClass {
    /// Whether the passcode protects neither the content nor its name.
    package var isNamedInEveryState: Bool { permits(.read, in: .beforeFirstUnlock) }

    /// Its place among the classes: the strictest has the greatest.
    private var rank: Int {
        switch self {
        case .none: 0
        case .completeUntilFirstUserAuthentication: 1
        case .completeWhenUserInactive: 2
        case .completeUnlessOpen: 3
        case .complete: 4
        }
    }

    /// The stricter of two classes: a copy is never weaker than its source.
    ///
    /// - Parameter other: A class; `nil` for none.
    package func stricter(_ other: ProtectionClass?) -> ProtectionClass {
        other.map { $0.rank > rank ? $0 : self } ?? self
    }

    /// Whether the key for `operation` on an item of this class is in memory in `state`.
    ///
    /// - Returns: `false` for a vault that does not exist, or whose device key is missing.
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
