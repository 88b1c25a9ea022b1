package import CofferRights
package import CofferCore
package import CofferWire

/// What the access rules of a client cover of a request.
package enum Cover: Sendable {
    /// The client has no rule, or none that applies.
    case nothing
    /// The client has rules, but not for what the request names.
    case somethingElse
    /// The client has rules, of which only an unlock reveals whether they are for what the request names.
    case sealed(CofferError)
    /// A rule permits it.
    case item(StoredAccessRule)
}

/// Decides before any handler whether a client may call a method, in the state of the vault.
///
/// The handlers check whether the key of an item is available, and whether the client holds its group. The gate refuses
/// what no item could make valid.
package enum Gate {
    /// Admits a request, or throws why not.
    ///
    /// Missing rights are reported first: they don't depend on the state.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters, not validated.
    ///   - rights: The client's rights.
    ///   - cover: What its access rules cover.
    ///   - state: The state of the vault.
    package static func check(
        _ method: Method,
        _ params: JSONObject,
        for rights: AccessRights,
        and cover: Cover,
        in state: () throws(CofferError) -> VaultState
    ) throws(CofferError) {
        if let refusal = refusal(of: method, params, to: rights, and: cover) { throw refusal }
        if let refusal = refusal(of: method, in: try state()) { throw refusal }
    }

    /// Decides whether a client may call a method at all, in whatever state the vault is.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters, not validated: invalid ones require more rights, not fewer.
    ///   - rights: The client's rights.
    ///   - cover: What its access rules cover.
    /// - Returns: Why the client may not; `nil` if it may.
    package static func refusal(
        of method: Method,
        _ params: JSONObject,
        to rights: AccessRights,
        and cover: Cover
    ) -> CofferError? {
        switch cover {
        case .item where method.isRuled: return nil
        case .sealed(let error) where method.isRuled: return error
        // The client was admitted only because of a rule.
        case .nothing where rights.verbs.isEmpty: return ruleHasEnded
        case .nothing, .somethingElse, .sealed, .item: break
        }
        let needed = verbs(for: method, params)
        if let only = rights.itemClass, !isAbout(only, method, params, needed) { return refusal(beyond: only, rights) }
        if needed.isSubset(of: rights.verbs) { return nil }
        if method.isAdministered && rights.verbs.contains(.admin) { return nil }
        let missing = needed.subtracting(rights.verbs)
        guard !(missing == [.admin] && rights.verbs.contains(.share) && isSharing(method, params, by: rights))
        else { return nil }
        let held = Verb.allCases.filter(rights.verbs.contains).map(\.rawValue)
        let words = Verb.allCases.filter(missing.contains).map { "'\($0.rawValue)'" }.joined(separator: " and ")
        return CofferError(
            .missingEntitlement,
            "you lack the right \(words), which '\(method.rawValue)' needs",
            hint: held.isEmpty ? rights.reason : "your rights are \(held.joined(separator: ", ")): \(rights.reason)"
        )
    }

    /// The verbs that a client needs for a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters: for some methods they decide between reading and writing.
    package static func verbs(for method: Method, _ params: JSONObject) -> Set<Verb> {
        switch method {
        // Wrong passcodes use up attempts that all clients share. An application password concerns one item only.
        case .contextAuthenticate where params["factor"] == .string("applicationPassword"): [.read]
        // A client may always see its own rights, and the rules that are for it.
        case .accessList where params["mine"] ?? .bool(false) == .bool(true): []
        case .entitlementExplain where ["pid", "unit", "userUnit"].contains { params[$0] ?? .null != .null }: [.admin]
        case .vaultWatch: verbs(forWatching: params)
        case .fileOpen: verbs(forOpening: params)
        default: method.verbs
        }
    }

    /// Whether a request may be about what the caller shares out of its own group.
    ///
    /// The handlers check whether it is: the rule that it adds, lists or removes.
    private static func isSharing(_ method: Method, _ params: JSONObject, by rights: AccessRights) -> Bool {
        switch method {
        case .accessAllow: params["verbs"] == .array([.string(Verb.read.rawValue)]) && rights.verbs.contains(.read)
        case .accessList, .accessRemove: true
        default: false
        }
    }

    /// Whether a request of a client that may use one class of items is about that class only.
    ///
    /// - Parameter needed: The verbs that it needs: without one that concerns items, it is.
    private static func isAbout(
        _ itemClass: ItemClass,
        _ method: Method,
        _ params: JSONObject,
        _ needed: Set<Verb>
    ) -> Bool {
        if needed.isDisjoint(with: [.read, .write, .delete]) { return true }
        return method.isOfKeychain && params["class"] == .string(itemClass.rawValue)
    }

    private static func refusal(beyond itemClass: ItemClass, _ rights: AccessRights) -> CofferError {
        CofferError(
            .missingEntitlement,
            "you may use items of the class '\(itemClass.rawValue)' only",
            hint: "name the class in a request of the keychain: \(rights.reason)"
        )
    }

    /// Waiting for the state of the vault needs no verb: it is what a client does that may read one locked item.
    private static func verbs(forWatching params: JSONObject) -> Set<Verb> {
        func wants(_ key: String) -> Bool { ![.null, .bool(false)].contains(params[key] ?? .null) }
        if wants("audit") { return [.read, .audit] }
        return wants("items") || wants("attempts") ? [.read] : []
    }

    /// Creating or emptying a file is writing, even if the handle then only reads.
    private static func verbs(forOpening params: JSONObject) -> Set<Verb> {
        let changes = ["create", "truncate", "append"].contains { params[$0] != nil && params[$0] != .bool(false) }
        switch params["access"]?.stringValue {
        case "read", nil: return changes ? [.read, .write] : [.read]
        case "write": return [.write]
        default: return [.read, .write]
        }
    }

    /// Decides whether a state of the vault permits a method, for any client.
    ///
    /// - Returns: Why not; `nil` if it does.
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

    private static let ruleHasEnded = CofferError(
        .missingEntitlement,
        "the access rule that let you in has ended",
        hint: "ask the owner for another one"
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
        hint: "make one with 'coffer setup', or in a script with 'coffer init'"
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

extension Method {
    /// Whether its requests name the class of the items that they are about.
    fileprivate var isOfKeychain: Bool { rawValue.hasPrefix("keychain.") }
}
