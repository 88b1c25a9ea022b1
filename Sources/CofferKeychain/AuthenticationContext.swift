package import CofferCore
internal import CofferCrypto
internal import CofferKeys
package import CofferMemory

/// What a client has shown of the person behind it, for the items whose access control asks for that.
///
/// It belongs to one connection. What was shown for one use is good for the next request, and anything else until its time
/// is over.
package final class AuthenticationContext {
    /// How long something that was shown is good.
    private enum Validity {
        /// For one request, which has not come yet.
        case nextRequest
        /// For the request that is being carried out.
        case thisRequest
        /// Until then, in nanoseconds of boot time.
        case until(UInt64)
    }

    private var validities: [AuthenticationFactor: Validity] = [:]
    private var applicationPassword: StretchedPassword?

    /// Makes a context in which nothing was shown.
    package init() {}

    /// What was shown, and is good for the present request.
    package var factors: Set<AuthenticationFactor> { Set(validities.keys) }

    /// Takes note of the right passcode.
    ///
    /// - Parameter deadline: Until when it is good, in nanoseconds of boot time; for one request if nothing is said.
    package func showPasscode(until deadline: UInt64?) {
        validities[.passcode] = deadline.map { .until($0) } ?? .nextRequest
    }

    /// Takes an application password, right or wrong, in the place of an earlier one.
    ///
    /// - Parameters:
    ///   - password: What was made of it.
    ///   - deadline: Until when it is good, in nanoseconds of boot time; for one request if nothing is said.
    package func show(_ password: StretchedPassword, until deadline: UInt64?) {
        applicationPassword = password
        validities[.applicationPassword] = deadline.map { .until($0) } ?? .nextRequest
    }

    /// Begins a request: what is too old for it goes.
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

    /// Whether something is good for the present request only: another one beside it would use it, too.
    package var isForThisRequest: Bool {
        validities.values.contains { if case .thisRequest = $0 { true } else { false } }
    }

    /// Ends a request: what was good for one goes.
    package func endRequest() {
        if validities.isEmpty { return }
        update { validity in
            if case .thisRequest = validity { nil } else { validity }
        }
    }

    /// Forgets everything: the vault was locked, or the client asks for it.
    package func end() { update { _ in nil } }

    private func update(_ change: (Validity) -> Validity?) {
        validities = validities.compactMapValues(change)
        if validities[.applicationPassword] == nil { applicationPassword = nil }
    }

    /// The application password, if one was shown.
    var password: StretchedPassword? { applicationPassword }
}

/// An application password after Argon2id: what the keys of items depend on.
package final class StretchedPassword: Sendable {
    let key: SymmetricKey

    init(_ key: consuming SymmetricKey) { self.key = key }
}

/// What another thread needs to stretch an application password.
package struct PasswordStretching: Sendable {
    /// Argon2id's cost, fixed: that of a passcode guess which is made often.
    private static let cost = PasscodeCost.interactive

    let salt: [UInt8]

    /// Stretches a password.
    ///
    /// Takes tens of milliseconds: not for the event loop.
    ///
    /// - Parameter password: What the person typed.
    /// - Throws: `internal` where the memory for it is not to be had.
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
    /// What application passwords are stretched with.
    ///
    /// One salt a vault, so that a password is stretched once a context and not once an item: the key of each item makes the
    /// difference.
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
