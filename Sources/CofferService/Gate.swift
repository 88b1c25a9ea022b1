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
        /// That there is one.
        case vault
        /// That there is one with a passcode.
        case passcode
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
        case (.vault, .noVault), (.passcode, .noVault): noVault
        case (.noVault, _): vaultExists
        case (.passcode, .noPasscode): noPasscode
        case (.vault, _), (.passcode, _): nil
        }
    }

    private static func need(of method: Method) -> Need {
        switch method {
        case .hello, .vaultStatus, .vaultWatch: .nothing
        case .vaultInit: .noVault
        case .vaultLock, .vaultUnlock: .passcode
        case .itemExplain, .itemGet, .itemList, .itemPut, .itemRemove, .itemShow: .vault
        }
    }

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
        hint: "everything in it is readable whenever the daemon runs"
    )
}
