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
