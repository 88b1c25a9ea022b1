package import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Why a key could not be had or used.
package enum KeyError: Error, Equatable, Sendable {
    /// It is not there in the vault's present state.
    case locked
    /// What it wraps is not what was wrapped.
    case damaged
    /// Memory for it could not be locked.
    case noMemory

    init(_ error: CryptoError) {
        switch error {
        case .unauthentic: self = .damaged
        case .noMemory: self = .noMemory
        }
    }

    /// The error as a client sees it.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - state: The state of the vault.
    ///   - operation: What was to be done with the item.
    package func cofferError(_ subject: String, in state: VaultState, for operation: ItemOperation) -> CofferError {
        switch self {
        case .locked: .locked(subject, in: state, for: operation)
        case .damaged: .damaged(subject, found: "its wrapped key is not authentic")
        case .noMemory: .noSecretMemory
        }
    }
}

extension CofferError {
    /// The answer where stored data is not what was stored.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - finding: What was found.
    package static func damaged(_ subject: String, found finding: String) -> CofferError {
        CofferError(
            .decode,
            "\(subject) is damaged or was tampered with: \(finding)",
            hint: "other items are not affected; restore this one from a backup"
        )
    }

    /// The answer where memory could not be locked.
    package static let noSecretMemory = CofferError(
        .internal,
        "memory for secrets can't be locked",
        hint: "raise the limit on locked memory: LimitMEMLOCK= in the unit, 'ulimit -l' in a shell"
    )
}
