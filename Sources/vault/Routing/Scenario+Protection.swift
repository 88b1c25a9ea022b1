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
    /// - Returns: The value itself if the item stays in its store; `nil` if the other store has nothing that is as strict.
    package func converted(to store: StoreName) -> Protection? {
        switch (self, store) {
        case (.keychain, .keychain), (.file, .file): self
        case (.keychain(let accessibility), .file): ProtectionClass(matching: accessibility).map { .file($0) }
        case (.file(let protectionClass), .keychain): Accessibility(matching: protectionClass).map { .keychain($0) }
        }
    }

    /// The store that alone has the protection; `nil` if both have it.
    var onlyStore: StoreName? {
        StoreName.allCases.allSatisfy { converted(to: $0) != nil } ? nil : store
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
