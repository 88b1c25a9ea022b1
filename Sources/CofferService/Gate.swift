package import CofferCore
package import CofferWire

/// The one place that decides whether a method may run in a state of the vault, before any handler.
///
/// Whether an item's key is there is decided where the key is used; the gate refuses what no item could make right.
package enum Gate {
    /// What a method needs of the vault.
    private enum Need {
        /// Nothing: it answers in every state.
        case nothing
        /// That there is none.
        case noVault
        /// That there is a keybag, be its device key here or not.
        case keybag
        /// That there is one that can be used.
        case vault
        /// That there is one that can be used, with a passcode.
        case passcode
        /// That there is one that can be used, without a passcode.
        case noPasscode
        /// That there is one with a passcode to replace, or one that wants a new passcode with its new device.
        case passcodeToReplace
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - state: The state of the vault.
    /// - Returns: Why the method may not run; `nil` where it may.
    package static func refusal(of method: Method, in state: VaultState) -> CofferError? {
        switch (need(of: method), state) {
        case (.nothing, _), (.noVault, .noVault): nil
        case (.noVault, _): vaultExists
        case (_, .noVault): noVault
        case (.keybag, _), (.passcodeToReplace, .deviceKeyMissing): nil
        case (_, .deviceKeyMissing): deviceKeyMissing
        case (.vault, _), (.noPasscode, .noPasscode): nil
        case (.noPasscode, _): passcodeExists
        case (.passcode, .noPasscode), (.passcodeToReplace, .noPasscode): noPasscode
        case (.passcode, _), (.passcodeToReplace, _): nil
        }
    }

    private static func need(of method: Method) -> Need {
        switch method {
        case .hello, .requestCancel, .vaultStatus, .vaultWatch: .nothing
        case .vaultInit: .noVault
        case .vaultErase, .slotList: .keybag
        case .vaultLock, .vaultUnlock, .passcodeRemove: .passcode
        case .passcodeChange: .passcodeToReplace
        case .passcodeSet: .noPasscode
        case .slotAdd, .slotRemove, .slotTest: .vault
        case .contextAuthenticate, .contextEnd: .vault
        case .fileList, .fileMkdir, .fileProtect, .fileRemove, .fileRename, .fileStat: .vault
        case .fileAllocate, .fileClose, .fileOpen, .fileRead, .fileSalvage, .fileSync, .fileTruncate, .fileWrite: .vault
        case .vaultCheck, .vaultQuarantine: .vault
        case .itemExplain, .itemGet, .itemList, .itemMove, .itemProtect, .itemPut, .itemRemove, .itemShow: .vault
        case .keychainAdd, .keychainAgree, .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey,
            .keychainRestore, .keychainSign, .keychainUpdate:
            .vault
        }
    }

    private static let deviceKeyMissing = CofferError(
        .notAvailable,
        "the device key of this vault is not on this machine",
        hint:
            "put the vault's own 'device.key' back, or open it with a recovery key: 'coffer passcode change --recovery-key'"
    )

    private static let noVault = CofferError(
        .notAvailable,
        "there is no vault yet",
        hint: "make one with 'coffer init'"
    )

    private static let vaultExists = CofferError(
        .duplicateItem,
        "there is a vault already",
        hint: "unlock it with 'coffer unlock'"
    )

    private static let noPasscode = CofferError(
        .notAvailable,
        "the vault has no passcode, so it can't be locked or unlocked",
        hint: "everything in it is readable whenever the daemon runs; 'coffer passcode set' gives it one"
    )

    private static let passcodeExists = CofferError(
        .duplicateItem,
        "the vault has a passcode already",
        hint: "change it with 'coffer passcode change'"
    )
}
