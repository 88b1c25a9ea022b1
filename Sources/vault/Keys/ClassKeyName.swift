package import CofferCore

/// The class keys, with the names of `proto-docs/KEYS.md`.
///
/// The raw value is the code in the keybag.
package enum ClassKeyName: UInt8, CaseIterable, Sendable {
    case a = 1
    case bPrivate = 2
    case c = 3
    case cx = 4
    case d = 5
    case ak = 16
    case ck = 17
    case dk = 18
    case aku = 19
    case cku = 20
    case dku = 21
    case akpu = 22
    case bkPrivate = 23
    case store = 32

    /// Whether the device key wraps it as well, so that it is in memory in every state.
    package var isHeldByDeviceKey: Bool {
        switch self {
        case .d, .dk, .dku, .store: true
        case .a, .bPrivate, .c, .cx, .ak, .ck, .aku, .cku, .akpu, .bkPrivate: false
        }
    }

    /// Whether every keyslot needs the device key for it, recovery keys included.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .aku, .cku, .dku, .akpu: true
        case .a, .bPrivate, .c, .cx, .d, .ak, .ck, .dk, .bkPrivate, .store: false
        }
    }

    /// The key that unwraps the key of a keychain item.
    package init(_ accessibility: Accessibility) {
        switch accessibility {
        case .whenUnlocked: self = .ak
        case .afterFirstUnlock: self = .ck
        case .always: self = .dk
        case .whenUnlockedThisDeviceOnly: self = .aku
        case .afterFirstUnlockThisDeviceOnly: self = .cku
        case .alwaysThisDeviceOnly: self = .dku
        case .whenPasscodeSetThisDeviceOnly: self = .akpu
        case .whenUnlockedDeposit: self = .bkPrivate
        }
    }

    /// The key that unwraps the key of a file.
    package init(_ protectionClass: ProtectionClass) {
        switch protectionClass {
        case .complete: self = .a
        case .completeUnlessOpen: self = .bPrivate
        case .completeUntilFirstUserAuthentication: self = .c
        case .completeWhenUserInactive: self = .cx
        case .none: self = .d
        }
    }
}
