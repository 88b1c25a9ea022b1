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
        case .item where isLeasable(method): return nil
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

    /// Whether a lease of an item is enough for a method that names the item.
    ///
    /// - Parameter method: The method.
    package static func isLeasable(_ method: Method) -> Bool { method == .itemGet || method == .itemShow }

    /// What a client has to be entitled to for a method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters: some methods look or change, as they say.
    package static func verbs(for method: Method, _ params: JSONObject) -> Set<Verb> {
        switch method {
        case .hello, .requestCancel, .vaultStatus: []
        // What was opened or shown can be let go of, whatever has changed since.
        case .contextEnd, .fileClose, .fileSync: []
        case .vaultLock: [.lock]
        case .vaultUnlock: [.unlock]
        // A wrong passcode counts against everybody's attempts; an application password is the item's own.
        case .contextAuthenticate: params["factor"] == .string("applicationPassword") ? [.read] : [.unlock]
        case .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd, .slotList, .slotRemove, .slotTest, .vaultErase,
            .vaultInit:
            [.admin]
        case .vaultCheck, .vaultQuarantine: [.admin]
        case .auditList, .auditVerify: [.audit]
        case .entitlementList: [.admin]
        // One's own rights are no secret.
        case .entitlementExplain:
            ["pid", "unit", "userUnit"].allSatisfy { params[$0] == nil || params[$0] == .null } ? [] : [.admin]
        case .vaultWatch: params["audit"] == nil || params["audit"] == .bool(false) ? [.read] : [.read, .audit]
        case .fileOpen: verbs(forOpening: params)
        case .fileList, .fileRead, .fileSalvage, .fileStat: [.read]
        case .fileAllocate, .fileMkdir, .fileProtect, .fileRename, .fileTruncate, .fileWrite: [.write]
        case .fileRemove, .itemRemove, .keychainDelete: [.delete]
        case .itemExplain, .itemGet, .itemList, .itemShow: [.read]
        case .itemMove, .itemProtect, .itemPut: [.write]
        case .keychainAgree, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainSign: [.read]
        case .keychainAdd, .keychainRestore, .keychainUpdate: [.write]
        // Nobody gives what he may not take himself.
        case .leaseGrant: [.admin, .read]
        case .leaseList, .leaseRevoke: [.admin]
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
        case .entitlementExplain, .entitlementList, .hello, .requestCancel, .vaultStatus, .vaultWatch: .nothing
        case .vaultInit: .noVault
        case .vaultErase, .slotList: .keybag
        case .vaultLock, .vaultUnlock, .passcodeRemove: .passcode
        case .passcodeChange: .passcodeToReplace
        case .passcodeSet: .noPasscode
        case .slotAdd, .slotRemove, .slotTest: .vault
        case .contextAuthenticate, .contextEnd: .vault
        case .fileList, .fileMkdir, .fileProtect, .fileRemove, .fileRename, .fileStat: .vault
        case .fileAllocate, .fileClose, .fileOpen, .fileRead, .fileSalvage, .fileSync, .fileTruncate, .fileWrite: .vault
        case .auditList, .auditVerify, .vaultCheck, .vaultQuarantine: .vault
        case .itemExplain, .itemGet, .itemList, .itemMove, .itemProtect, .itemPut, .itemRemove, .itemShow: .vault
        case .keychainAdd, .keychainAgree, .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey,
            .keychainRestore, .keychainSign, .keychainUpdate:
            .vault
        case .leaseGrant, .leaseList, .leaseRevoke: .vault
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
