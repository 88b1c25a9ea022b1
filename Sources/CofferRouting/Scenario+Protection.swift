package import CofferCore

extension Scenario {
    /// The protection that suits it, in the terms of the store that it is usually kept in.
    package var protection: Protection {
        switch self {
        case .health, .financial, .userDocument, .personalPhoto: .file(.complete)
        case .download, .recording, .upload: .file(.completeUnlessOpen)
        case .appData, .database, .downloadedImage: .file(.completeUntilFirstUserAuthentication)
        case .cache, .temporary: .file(.none)
        case .password: .keychain(.whenUnlocked)
        case .backgroundToken: .keychain(.afterFirstUnlock)
        }
    }
}

extension Protection {
    /// The same policy in the terms of a store.
    ///
    /// - Parameter store: Where the item goes.
    /// - Returns: The value itself where the item stays in its store, so that nothing of it is lost.
    package func converted(to store: StoreName) -> Protection {
        switch (self, store) {
        case (.keychain, .keychain), (.file, .file): self
        case (.keychain(let accessibility), .file): .file(ProtectionClass(matching: accessibility))
        case (.file(let protectionClass), .keychain): .keychain(Accessibility(matching: protectionClass))
        }
    }

    /// The protection of an item about which nobody said anything.
    ///
    /// - Parameter store: Where the item goes.
    /// - Returns: Class C of a file, `WhenUnlocked` of a keychain item.
    package static func standard(in store: StoreName) -> Protection {
        switch store {
        case .keychain: .keychain(.whenUnlocked)
        case .file: .file(.completeUntilFirstUserAuthentication)
        }
    }
}
