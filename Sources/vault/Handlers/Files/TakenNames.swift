internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferVault

// A name is in one store at a time.

extension Catalog {
    /// Refuses a name that a directory or a symbolic link has: a name is in one store at a time.
    ///
    /// A directory that was only made implicitly does not count: it disappears with its last entry.
    func checkNoDirectory(_ name: ItemName, in group: String) throws {
        try checkNoDirectory(at: files.spot(of: name, in: group))
    }

    /// Refuses a name that a directory or a symbolic link has.
    func checkNoDirectory(at spot: FileSpot) throws {
        switch try files.occupant(at: spot) {
        case .madeDirectory: throw CofferError.isDirectory(spot.name)
        case .symbolicLink: throw CofferError.isLink(spot.name)
        case .file, nil: return
        }
    }

    /// Refuses a name that a secret has: a name is in one store at a time.
    func checkNotSecret(_ name: ItemName, in group: String) throws {
        if try keychain.contains(GenericPasswordKey(name, in: group)) { throw CofferError.isSecret(name) }
    }
}

extension CofferError {
    static func isDirectory(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a directory \(name.quoted) already",
            hint: "choose another name, or remove the directory",
            operation: .write
        )
    }

    static func isLink(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a symbolic link \(name.quoted) already",
            hint: "choose another name, or remove the link",
            operation: .write
        )
    }

    static func isSecret(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is a secret \(name.quoted) in the keychain already",
            hint: "choose another name, or remove the secret",
            operation: .create
        )
    }
}
