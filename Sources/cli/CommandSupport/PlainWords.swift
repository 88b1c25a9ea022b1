package import CofferCore
internal import CofferWire

// What a person reads. The names of iOS stay in JSON, in options and in Swift.

extension Protection {
    /// Whether the content can be read while the vault is locked.
    package var isReadableWhileLocked: Bool { isReadable(in: .locked) }

    /// When it can be read, for the end of a sentence about it.
    package var sentence: Line {
        switch self {
        case .keychain(.always), .keychain(.alwaysThisDeviceOnly), .file(.none):
            "it can always be read, before the first unlock, too"
        case .file(.completeWhenUserInactive): "it stays readable for a while when locked"
        case _ where isReadableWhileLocked: "it stays readable while locked"
        default: "it can be read \(words)"
        }
    }
}

extension VaultState {
    /// The state in words.
    package var words: Line {
        switch self {
        case .noVault: "no vault"
        case .noPasscode: "open, without a passcode"
        case .beforeFirstUnlock: "not unlocked since the start"
        case .unlocked: "unlocked"
        case .locking: "locking"
        case .locked: "locked"
        case .lockedExpired: "locked, inactive keys wiped"
        case .deviceKeyMissing: "the device key is missing"
        }
    }
}

extension ItemInfo {
    /// What the item is, in a word.
    package var kindWord: String { itemClass?.word ?? "file" }
}
