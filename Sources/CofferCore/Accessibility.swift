/// The accessibility of a keychain item: in which states of the vault its secret is there.
///
/// The names are those of `kSecAttrAccessible…`; the rules are section 4 of the semantics.
public enum Accessibility: String, CaseIterable, Sendable {
    /// The default (`ak`): readable while unlocked.
    case whenUnlocked = "WhenUnlocked"
    /// Readable from the first unlock of a boot on (`ck`): background work.
    case afterFirstUnlock = "AfterFirstUnlock"
    /// Readable in every state (`dk`). Deprecated: accepted with a warning.
    case always = "Always"
    /// As ``whenUnlocked``, and left out of a backup to another device (`aku`).
    case whenUnlockedThisDeviceOnly = "WhenUnlockedThisDeviceOnly"
    /// As ``afterFirstUnlock``, and left out of a backup to another device (`cku`).
    case afterFirstUnlockThisDeviceOnly = "AfterFirstUnlockThisDeviceOnly"
    /// As ``always``, and left out of a backup to another device (`dku`). Deprecated.
    case alwaysThisDeviceOnly = "AlwaysThisDeviceOnly"
    /// As ``whenUnlocked``, only in a vault with a passcode, never exported (`akpu`).
    case whenPasscodeSetThisDeviceOnly = "WhenPasscodeSetThisDeviceOnly"
}

extension Accessibility {
    /// Whether the item's secret can be read and written in `state`.
    ///
    /// - Parameter state: The state of the vault.
    /// - Returns: `true` where the table of section 4 says yes. A vault that does not exist answers `false`, and one
    ///   without a passcode has no ``whenPasscodeSetThisDeviceOnly`` items.
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

    /// Whether the value is one that the platform it comes from has deprecated.
    public var isDeprecated: Bool { self == .always || self == .alwaysThisDeviceOnly }
}

extension [Accessibility] {
    /// The one that is there in the fewest states; `nil` if there is none.
    package var strictest: Accessibility? {
        first { !$0.isAvailable(in: .locked) } ?? first { !$0.isAvailable(in: .beforeFirstUnlock) } ?? first
    }
}

extension Accessibility {
    /// The accessibility that stands for the same states as a file's class, for an item that moves between the stores.
    ///
    /// The keychain has nothing that expires while locked, as class CX does: that becomes what stays.
    ///
    /// - Parameter protectionClass: The class of the file.
    public init(matching protectionClass: ProtectionClass) {
        switch protectionClass {
        case .complete, .completeUnlessOpen: self = .whenUnlocked
        case .completeUntilFirstUserAuthentication, .completeWhenUserInactive: self = .afterFirstUnlock
        case .none: self = .always
        }
    }
}

extension ProtectionClass {
    /// The class that stands for the same states as a keychain item's accessibility.
    ///
    /// - Parameter accessibility: The accessibility of the item.
    public init(matching accessibility: Accessibility) {
        switch accessibility {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: self = .complete
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: self = .completeUntilFirstUserAuthentication
        case .always, .alwaysThisDeviceOnly: self = .none
        }
    }
}
