extension Accessibility {
    /// Whether the item's secret can be read in `state`.
    ///
    /// - Parameter state: The state of the vault.
    /// - Returns: `false` for a vault that does not exist, and for ``whenPasscodeSetThisDeviceOnly`` in a vault without
    ///   a passcode.
    public func isAvailable(in state: VaultState) -> Bool {
        switch self {
        case .whenUnlocked, .whenUnlockedDeposit, .whenUnlockedThisDeviceOnly:
            state == .noPasscode || state == .unlocked || state == .locking
        case .whenPasscodeSetThisDeviceOnly:
            state == .unlocked || state == .locking
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly:
            state != .noVault && state != .deviceKeyMissing && state != .beforeFirstUnlock
        case .always, .alwaysThisDeviceOnly:
            state != .noVault && state != .deviceKeyMissing
        }
    }

    /// Whether the passcode protects neither the secret nor its name.
    package var isNamedInEveryState: Bool { isAvailable(in: .beforeFirstUnlock) }

    /// Whether the key for `operation` on an item is in memory in `state`.
    ///
    /// Replacing the secret is creating: a deposit is wrapped to a public key, so that both are possible in every state of
    /// an existing vault.
    public func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch (self, operation) {
        case (.whenUnlockedDeposit, .create): state != .noVault && state != .deviceKeyMissing
        default: isAvailable(in: state)
        }
    }

    /// Whether the item's key needs the device key, so that it can't be opened on another device.
    public var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always, .whenUnlockedDeposit: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: true
        case .whenPasscodeSetThisDeviceOnly: true
        }
    }

    /// Whether Apple's platforms have deprecated the value.
    public var isDeprecated: Bool { self == .always || self == .alwaysThisDeviceOnly }
}

extension [Accessibility] {
    /// The one that is available in the fewest states; `nil` if there is none.
    package var strictest: Accessibility? {
        first { !$0.isAvailable(in: .locked) } ?? first { !$0.isAvailable(in: .beforeFirstUnlock) } ?? first
    }
}

extension Accessibility {
    /// The accessibility that is available in the same states as a file's class, for an item that moves between the
    /// stores.
    ///
    /// - Returns: `nil` for class CX: the keychain has nothing that expires while locked.
    public init?(matching protectionClass: ProtectionClass) {
        switch protectionClass {
        case .complete: self = .whenUnlocked
        case .completeUnlessOpen: self = .whenUnlockedDeposit
        case .completeUntilFirstUserAuthentication: self = .afterFirstUnlock
        case .completeWhenUserInactive: return nil
        case .none: self = .always
        }
    }
}

extension ProtectionClass {
    /// The class that is available in the same states as a keychain item's accessibility.
    ///
    /// - Returns: `nil` for an accessibility of this device only: a file of any class goes along to another one.
    public init?(matching accessibility: Accessibility) {
        switch accessibility {
        case .whenUnlocked: self = .complete
        case .whenUnlockedDeposit: self = .completeUnlessOpen
        case .afterFirstUnlock: self = .completeUntilFirstUserAuthentication
        case .always: self = .none
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            return nil
        }
    }
}
