package import CofferCore
internal import CofferCrypto
internal import CofferKeys
package import CofferMemory

/// The authentication of a client, for items whose access control requires it.
///
/// It belongs to one connection. An authentication for one use is valid for the next request, any other until its time
/// is over.
package final class AuthenticationContext {
    /// How long an authentication is valid.
    private enum Validity {
        /// For one request, which has not started yet.
        case nextRequest
        /// For the current request.
        case thisRequest
        /// Until that time, in nanoseconds of boot time.
        case until(UInt64)
    }

    private var validities: [AuthenticationFactor: Validity] = [:]
    private var applicationPassword: StretchedPassword?

    /// Creates a context without authentication.
    package init() {}

    /// The factors that are valid for the current request.
    package var factors: Set<AuthenticationFactor> { Set(validities.keys) }

    /// Records that the right passcode was presented.
    ///
    /// - Parameter deadline: Until when it is valid, in nanoseconds of boot time; `nil` for one request.
    package func confirmPasscode(until deadline: UInt64?) {
        validities[.passcode] = deadline.map { .until($0) } ?? .nextRequest
    }

    /// Records an application password, right or wrong, and replaces an earlier one.
    ///
    /// - Parameters:
    ///   - password: The stretched password.
    ///   - deadline: Until when it is valid, in nanoseconds of boot time; `nil` for one request.
    package func show(_ password: StretchedPassword, until deadline: UInt64?) {
        applicationPassword = password
        validities[.applicationPassword] = deadline.map { .until($0) } ?? .nextRequest
    }

    /// Begins a request: drops what is not valid for it.
    ///
    /// - Parameter now: Nanoseconds of boot time.
    package func beginRequest(at now: UInt64) {
        if validities.isEmpty { return }
        update { validity in
            switch validity {
            case .nextRequest: .thisRequest
            case .thisRequest: nil
            case .until(let deadline): deadline > now ? validity : nil
            }
        }
    }

    /// Whether a factor is valid for the current request only: a concurrent request would use it as well.
    package var isForThisRequest: Bool {
        validities.values.contains { if case .thisRequest = $0 { true } else { false } }
    }

    /// Ends a request: drops factors that were valid for it only.
    package func endRequest() {
        if validities.isEmpty { return }
        update { validity in
            if case .thisRequest = validity { nil } else { validity }
        }
    }

    /// Drops all factors: the vault was locked, or the client requested it.
    package func end() {
        if validities.isEmpty { return }
        update { _ in nil }
    }

    private func update(_ change: (Validity) -> Validity?) {
        validities = validities.compactMapValues(change)
        if validities[.applicationPassword] == nil { applicationPassword = nil }
    }

    /// The application password, if one was presented.
    var password: StretchedPassword? { applicationPassword }
}

/// An application password after Argon2id, on which the keys of items depend.
package final class StretchedPassword: Sendable {
    let key: SymmetricKey

    init(_ key: consuming SymmetricKey) { self.key = key }
}

/// What another thread needs to stretch an application password.
package struct PasswordStretching: Sendable {
    /// The cost is fixed, and that of frequent passcode checks.
    private static let cost = PasscodeCost.interactive

    let salt: [UInt8]

    /// Stretches a password.
    ///
    /// Takes tens of milliseconds: not for the event loop.
    ///
    /// - Parameter password: The password as it was entered.
    /// - Throws: `internal` if there is not enough memory.
    package func stretch(_ password: borrowing SecretBytes) throws(CofferError) -> StretchedPassword {
        do {
            return StretchedPassword(
                try KeyDerivation.passcodeKey(
                    password,
                    salt: salt,
                    operations: Self.cost.operations,
                    memoryKiB: Self.cost.memoryKiB
                )
            )
        } catch {
            throw .noSecretMemory
        }
    }
}

extension KeychainStore {
    /// The parameters with which application passwords are stretched.
    ///
    /// There is one salt per vault, so that a password is stretched once per context and not once per item. The key of
    /// each item makes the results differ.
    package var passwordStretching: PasswordStretching {
        PasswordStretching(
            salt: KeyedHash.tag(
                under: keys.catalog.search,
                for: "coffer application password salt v1",
                byteCount: KeyDerivation.saltBytes,
                []
            )
        )
    }
}
