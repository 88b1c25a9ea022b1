/// The kind of an item, as stated by its owner or detected in its content.
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
    /// A download that is kept.
    case download
    /// Something that can be created again.
    case cache
    /// Something needed for a short time only.
    case temporary
}

/// The use of an item: it decides the protection if nothing more specific does.
public enum Scenario: String, CaseIterable, Sendable {
    /// Health records.
    case health
    /// Financial records.
    case financial
    /// A document that a person made.
    case userDocument
    /// A personal photograph.
    case personalPhoto
    /// A download that continues while the vault is locked.
    case download
    /// A recording that continues while the vault is locked.
    case recording
    /// An upload that continues while the vault is locked.
    case upload
    /// The data of a program.
    case appData
    /// A database file.
    case database
    /// A picture that can be downloaded again.
    case downloadedImage
    /// Something that can be created again.
    case cache
    /// Something needed for a short time only.
    case temporary
    /// A secret that a person types.
    case password
    /// A token that background work needs.
    case backgroundToken
}

/// The name of a store.
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

    /// The store of items with this protection.
    public var store: StoreName {
        switch self {
        case .keychain: .keychain
        case .file: .file
        }
    }

    /// The accessibility or the class with a name; `nil` if there is none.
    package init?(name: String) {
        if let accessibility = Accessibility(rawValue: name) {
            self = .keychain(accessibility)
        } else if let protectionClass = ProtectionClass(rawValue: name) {
            self = .file(protectionClass)
        } else {
            return nil
        }
    }

    /// The name of the accessibility or the class.
    public var name: String {
        switch self {
        case .keychain(let accessibility): accessibility.rawValue
        case .file(let protectionClass): protectionClass.rawValue
        }
    }

    /// Whether an item with this protection can be read in `state`.
    public func isReadable(in state: VaultState) -> Bool {
        switch self {
        case .keychain(let accessibility): accessibility.isAvailable(in: state)
        case .file(let protectionClass): protectionClass.permits(.read, in: state)
        }
    }
}
