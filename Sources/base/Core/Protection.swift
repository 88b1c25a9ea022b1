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

    /// Whether the passcode protects neither the content nor its name.
    package var isNamedInEveryState: Bool { isReadable(in: .beforeFirstUnlock) }
}
