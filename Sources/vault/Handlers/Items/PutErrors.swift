internal import CofferCore
internal import CofferKeychain

// Why a put is refused.

extension CofferError {
    static func existsAlready(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is an item \(name.quoted) already, and it stays as it is",
            hint: "without --if-absent, it is replaced",
            operation: .create
        )
    }

    /// The error for a deposit that would become a file with its values, which can't be read now.
    static func depositStays(_ name: ItemName, in state: VaultState) -> CofferError {
        var error = locked(name.quoted, in: state, for: .write)
        error.message += ", and a file would take the present value along"
        error.hint = "run 'coffer unlock' and repeat the command; another name takes the content now"
        return error
    }

    static func noAccessControl(_ name: ItemName) -> CofferError {
        CofferError(
            .param,
            "\(name.quoted) would be a file, and a file has no access control",
            hint: "leave '--access-control' out, or store up to \(Limits.secretBytes) bytes with '--store keychain'"
        )
    }

    static func noFile(_ item: KeychainItem) -> CofferError {
        CofferError(
            .dataTooLarge,
            "can't store \(quotedForDisplay(item.listedName)) as a file: it is in the keychain, and keeps its attributes there",
            hint: "a secret of the keychain has at most \(Limits.secretBytes) bytes"
        )
    }
}
