package import CofferCore
package import CofferFiles
package import CofferKeychain
internal import CofferSystem
internal import CofferWire

/// An item of the one namespace, in either store.
package enum StoredItem {
    case keychain(KeychainItem)
    case file(FileItem)

    package var secret: KeychainItem? { if case .keychain(let item) = self { item } else { nil } }
    package var file: FileItem? { if case .file(let file) = self { file } else { nil } }

    package var path: String {
        switch self {
        case .keychain(let item): item.listedName
        case .file(let file): file.path
        }
    }

    package var group: String {
        switch self {
        case .keychain(let item): item.attributes.group
        case .file(let file): file.group
        }
    }

    package var protection: Protection {
        switch self {
        case .keychain(let item): .keychain(item.accessibility)
        case .file(let file): .file(file.protectionClass)
        }
    }
}

extension Protection {
    /// Whether the key for an operation is available in a state.
    package func permits(_ operation: ItemOperation, in state: VaultState) -> Bool {
        switch self {
        case .keychain(let accessibility): accessibility.permits(operation, in: state)
        case .file(let protectionClass): protectionClass.permits(operation, in: state)
        }
    }
}
