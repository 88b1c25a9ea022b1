// What people read in place of the names of iOS, which stay in JSON, in options and in Swift.

extension Protection {
    /// When the content can be read.
    package var words: String {
        switch self {
        case .keychain(let accessibility): accessibility.words
        case .file(let protectionClass): protectionClass.words
        }
    }
}

extension Accessibility {
    /// When the secret can be read.
    package var words: String {
        switch self {
        case .whenUnlocked: "while unlocked"
        case .afterFirstUnlock: "after first unlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "while unlocked, on this device"
        case .afterFirstUnlockThisDeviceOnly: "after first unlock, on this device"
        case .alwaysThisDeviceOnly: "always, on this device"
        case .whenUnlockedDeposit: "while unlocked, written at any time"
        case .whenPasscodeSetThisDeviceOnly: "while unlocked, with a passcode, on this device"
        }
    }
}

extension ProtectionClass {
    /// When the content can be read.
    package var words: String {
        switch self {
        case .complete: "while unlocked"
        case .completeUnlessOpen: "while unlocked, written at any time"
        case .completeUntilFirstUserAuthentication: "after first unlock"
        case .completeWhenUserInactive: "until long inactive"
        case .none: "always"
        }
    }
}

extension ItemClass {
    /// What an item of the class is, in a word.
    package var word: String {
        switch self {
        case .genericPassword: "secret"
        case .internetPassword: "login"
        case .certificate: "certificate"
        case .key: "key"
        case .identity: "identity"
        }
    }
}

extension StoreName {
    /// The store for a sentence.
    package var words: String {
        switch self {
        case .keychain: "keychain"
        case .file: "file store"
        }
    }
}
