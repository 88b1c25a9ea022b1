extension Accessibility {
    /// Whether the item's secret can be read and written in `state`.
    ///
    /// - Parameter state: The state of the vault.
    /// - Returns: `false` for a vault that does not exist, and for ``whenPasscodeSetThisDeviceOnly`` in a vault without
    ///   a passcode.
    public func isAvailable(in state: VaultState) -> Bool {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly:
            state == .noPasscode || state == .unlocked || state == .locking
        case .whenPasscodeSetThisDeviceOnly:
            state == .unlocked || state == .locking
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly:
            state != .noVault && state != .deviceKeyMissing && state != .beforeFirstUnlock
        case .always, .alwaysThisDeviceOnly:
            state != .noVault && state != .deviceKeyMissing
        }
    }

    /// Whether Apple's platforms have deprecated the value.
    public var isDeprecated: Bool { self == .always || self == .alwaysThisDeviceOnly }

    /// Whether the item never leaves this device.
    public var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        case .whenUnlocked, .afterFirstUnlock, .always: false
        }
    }
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
    /// The keychain has nothing that expires while locked, as class CX does: that becomes an accessibility that does
    /// not expire.
    public init(matching protectionClass: ProtectionClass) {
        switch protectionClass {
        case .complete, .completeUnlessOpen: self = .whenUnlocked
        case .completeUntilFirstUserAuthentication, .completeWhenUserInactive: self = .afterFirstUnlock
        case .none: self = .always
        }
    }
}

extension ProtectionClass {
    /// The class that is available in the same states as a keychain item's accessibility.
    public init(matching accessibility: Accessibility) {
        switch accessibility {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: self = .complete
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: self = .completeUntilFirstUserAuthentication
        case .always, .alwaysThisDeviceOnly: self = .none
        }
    }
}
