package import CofferCore

extension Scenario {
    /// The protection that suits the scenario, in the terms of the store that it usually uses.
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
    /// - Parameter store: The store of the item.
    /// - Returns: The value itself if the item stays in its store, so that nothing of it is lost.
    package func converted(to store: StoreName) -> Protection {
        switch (self, store) {
        case (.keychain, .keychain), (.file, .file): self
        case (.keychain(let accessibility), .file): .file(ProtectionClass(matching: accessibility))
        case (.file(let protectionClass), .keychain): .keychain(Accessibility(matching: protectionClass))
        }
    }

    /// The protection of an item without options or defaults.
    ///
    /// - Parameter store: The store of the item.
    /// - Returns: Class C for a file, `WhenUnlocked` for a keychain item.
    package static func standard(in store: StoreName) -> Protection {
        switch store {
        case .keychain: .keychain(.whenUnlocked)
        case .file: .file(.completeUntilFirstUserAuthentication)
        }
    }
}
