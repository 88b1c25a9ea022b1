package import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Why a key is not available or can't be used.
package enum KeyError: Error, Equatable, Sendable {
    /// It is not in memory in the current state of the vault.
    case locked
    /// What it opens is not authentic.
    case damaged
    /// Memory for it could not be locked.
    case noMemory

    init(_ error: CryptoError) {
        switch error {
        case .unauthentic, .unusableKey: self = .damaged
        case .noMemory, .noMemoryToStretch: self = .noMemory
        }
    }

    /// The error as a client sees it.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - state: The state of the vault.
    ///   - operation: What the request was going to do with the item.
    package func cofferError(_ subject: String, in state: VaultState, for operation: ItemOperation) -> CofferError {
        switch self {
        case .locked: .locked(subject, in: state, for: operation)
        case .damaged: .damaged(subject, found: "its wrapped key is not authentic")
        case .noMemory: .noSecretMemory
        }
    }
}
