/// What kind of thing an item is, where its owner says so.
public enum ItemKind: String, CaseIterable, Sendable {
    /// A secret that a person types.
    case password
    /// A secret that a program presents.
    case token
    /// A cryptographic key.
    case key
    /// A certificate.
    case certificate
    /// Something a person wrote or received.
    case document
    /// A database file.
    case database
    /// A picture.
    case image
    /// Something fetched, and kept.
    case download
    /// Something that can be made again.
    case cache
    /// Something needed for a short time only.
    case temporary
}

/// What an item is used for: decides its protection, where nothing more exact was said.
public enum Scenario: String, CaseIterable, Sendable {
    /// Health records.
    case health
    /// Financial records.
    case financial
    /// A document that a person made.
    case userDocument
    /// A personal photograph.
    case personalPhoto
    /// A download that goes on while the vault is locked.
    case download
    /// A recording that goes on while the vault is locked.
    case recording
    /// An upload that goes on while the vault is locked.
    case upload
    /// The data of a program.
    case appData
    /// A database file.
    case database
    /// A picture that can be fetched again.
    case downloadedImage
    /// Something that can be made again.
    case cache
    /// Something needed for a short time only.
    case temporary
    /// A secret that a person types.
    case password
    /// A token that work in the background needs.
    case backgroundToken
}

/// Which of the two stores an item is in.
public enum StoreName: String, CaseIterable, Sendable {
    /// The keychain: small secrets.
    case keychain
    /// The file-protection store: files of any size.
    case file
}

/// How an item is protected: by an accessibility in the keychain, by a protection class in the file store.
public enum Protection: Hashable, Sendable {
    /// An item of the keychain.
    case keychain(Accessibility)
    /// A file.
    case file(ProtectionClass)

    /// The store that such an item is in.
    public var store: StoreName {
        switch self {
        case .keychain: .keychain
        case .file: .file
        }
    }

    /// The accessibility or the class of a name; `nil` where there is none.
    package init?(name: String) {
        if let accessibility = Accessibility(rawValue: name) {
            self = .keychain(accessibility)
        } else if let protectionClass = ProtectionClass(rawValue: name) {
            self = .file(protectionClass)
        } else {
            return nil
        }
    }

    /// The accessibility or the class, by its name.
    public var name: String {
        switch self {
        case .keychain(let accessibility): accessibility.rawValue
        case .file(let protectionClass): protectionClass.rawValue
        }
    }

    /// Whether what is stored can be read in `state`.
    ///
    /// - Parameter state: The state of the vault.
    /// - Returns: `true` where the key for reading is there.
    public func isReadable(in state: VaultState) -> Bool {
        switch self {
        case .keychain(let accessibility): accessibility.isAvailable(in: state)
        case .file(let protectionClass): protectionClass.permits(.read, in: state)
        }
    }
}
