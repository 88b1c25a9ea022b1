package import CofferAccess
package import CofferCore
package import CofferWire

/// What leases give a client, as far as a request is concerned.
package enum LeaseCover: Sendable {
    /// Nothing: there is none that it fits.
    case nothing
    /// Something else than what the request names.
    case somethingElse
    /// The item that the request names.
    case item(Lease)
}

/// The one place that decides whether a method may run for a client, in a state of the vault, before any handler.
///
/// Whether an item's key is there is decided where the key is used, and whether the client holds its group where the item is
/// looked for; the gate refuses what no item could make right.
package enum Gate {
    /// Lets a method run, or says why it may not: what is not allowed is not allowed in any state, and is said first.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters, which may make no sense.
    ///   - rights: What the client may do.
    ///   - cover: What leases give it besides.
    ///   - state: The state of the vault.
    package static func check(
        _ method: Method,
        _ params: JSONObject,
        for rights: AccessRights,
        and cover: LeaseCover,
        in state: () throws(CofferError) -> VaultState
    ) throws(CofferError) {
        if let refusal = refusal(of: method, params, to: rights, and: cover) { throw refusal }
        if let refusal = refusal(of: method, in: try state()) { throw refusal }
    }

    /// Decides whether a client may ask for a method at all, whatever the state is.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters, which may make no sense: then more is wanted rather than less.
    ///   - rights: What the client may do.
    ///   - cover: What leases give it besides.
    /// - Returns: Why the method may not run; `nil` where it may.
    package static func refusal(
        of method: Method,
        _ params: JSONObject,
        to rights: AccessRights,
        and cover: LeaseCover
    ) -> CofferError? {
        switch cover {
        case .item where method.isLeasable: return nil
        // Let in for a lease alone.
        case .nothing where rights.verbs.isEmpty: return leaseHasEnded
        case .nothing, .somethingElse, .item: break
        }
        let missing = verbs(for: method, params).subtracting(rights.verbs)
        guard !missing.isEmpty else { return nil }
        let held = Verb.allCases.filter(rights.verbs.contains).map(\.rawValue)
        let words = Verb.allCases.filter(missing.contains).map { "'\($0.rawValue)'" }.joined(separator: " and ")
        return CofferError(
            .missingEntitlement,
            "'\(method.rawValue)' wants \(words), which you may not",
            hint: "what you may is \(held.isEmpty ? "nothing" : held.joined(separator: ", ")): \(rights.reason)"
        )
    }

    /// What a client has to be entitled to for a method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters: some methods look or change, as they say.
    package static func verbs(for method: Method, _ params: JSONObject) -> Set<Verb> {
        switch method {
        // A wrong passcode counts against everybody's attempts; an application password is the item's own.
        case .contextAuthenticate where params["factor"] == .string("applicationPassword"): [.read]
        // One's own rights are no secret.
        case .entitlementExplain where ["pid", "unit", "userUnit"].contains { params[$0] ?? .null != .null }: [.admin]
        case .vaultWatch where params["audit"] ?? .bool(false) != .bool(false): method.verbs.union([.audit])
        case .fileOpen: verbs(forOpening: params)
        default: method.verbs
        }
    }

    /// A handle reads, writes or both; one that makes or empties its file has written by that alone.
    private static func verbs(forOpening params: JSONObject) -> Set<Verb> {
        let changes = ["create", "truncate", "append"].contains { params[$0] != nil && params[$0] != .bool(false) }
        switch params["access"]?.stringValue {
        case "read", nil: return changes ? [.read, .write] : [.read]
        case "write": return [.write]
        default: return [.read, .write]
        }
    }

    /// Decides whether a method may run in a state of the vault, whoever asks.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - state: The state of the vault.
    /// - Returns: Why the method may not run; `nil` where it may.
    package static func refusal(of method: Method, in state: VaultState) -> CofferError? {
        switch (method.need, state) {
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

    private static let leaseHasEnded = CofferError(
        .missingEntitlement,
        "the lease that let you in has ended",
        hint: "ask whoever granted it for another one"
    )

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
