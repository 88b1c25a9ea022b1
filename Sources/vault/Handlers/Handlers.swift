package import CofferCore
internal import CofferSystem
package import CofferVault
package import CofferWire

/// The handlers of a vault's methods.
///
/// Each family is a value that owns nothing: all of them share ``CofferVault/HandlerState``.
package struct Handlers: MethodHandler {
    package typealias Context = Call
    package typealias Answer = Step

    package let shared: HandlerState

    package init(of vault: Vault) { self.init(sharing: HandlerState(of: vault)) }

    init(sharing state: HandlerState) { shared = state }

    package var access: AccessHandlers { AccessHandlers(shared: shared) }
    package var audit: AccessHandlers { access }
    package var backup: BackupHandlers { BackupHandlers(shared) }
    package var context: KeyHandlers { passcode }
    package var entitlement: AccessHandlers { access }
    package var file: FileHandlers { FileHandlers(shared: shared) }
    package var item: ItemHandlers { ItemHandlers(shared: shared) }
    package var keychain: KeychainHandlers { KeychainHandlers(shared: shared) }
    package var passcode: KeyHandlers { KeyHandlers(shared: shared) }
    package var trash: TrashHandlers { TrashHandlers(shared: shared) }
    package var vault: VaultHandlers { VaultHandlers(shared: shared) }

    /// Carries out a request that the gate has admitted.
    ///
    /// - Parameters:
    ///   - method: Its method.
    ///   - params: Its parameters, not validated.
    ///   - call: Its caller and attachments.
    /// - Throws: An error of the request; one that does not name the operation is about ``Call/subject``.
    package func begin(_ method: Method, _ params: JSONObject, _ call: Call) throws -> Step {
        try call.attachments.check(for: method)
        if let rule = call.permit, call.countsUse, method == .itemGet {
            return try access.get(params, countedBy: rule, call)
        }
        return try dispatch(method, params, call)
    }

    /// The state that the gate checks.
    package func state(for method: Method) throws(CofferError) -> VaultState {
        switch method {
        case .hello: return .noVault
        // A vault that can't be opened can still be erased.
        case .vaultErase: return (try? shared.vault.state()) ?? .deviceKeyMissing
        default: return try shared.vault.state()
        }
    }
}

/// Answers what concerns rights and their use: access rules, entitlements and the audit.
package struct AccessHandlers: HandlerFamily, AccessMethodHandlers, AuditMethodHandlers, EntitlementMethodHandlers {
    package let shared: HandlerState
}

/// Answers what reads and changes the file store, by path or by handle.
package struct FileHandlers: HandlerFamily, FileMethodHandlers {
    package let shared: HandlerState
}

/// Answers what concerns items by their names, in whichever store they are.
package struct ItemHandlers: HandlerFamily, ItemMethodHandlers {
    package let shared: HandlerState
}

/// Answers what reads and changes the keychain store, by attributes.
package struct KeychainHandlers: HandlerFamily, KeychainMethodHandlers {
    package let shared: HandlerState
}

/// Answers what concerns credentials: the passcode, keyslots, and what is presented on a connection.
package struct KeyHandlers: HandlerFamily, PasscodeMethodHandlers, ContextMethodHandlers {
    package let shared: HandlerState
}

/// Answers what concerns the trash.
package struct TrashHandlers: HandlerFamily, TrashMethodHandlers {
    package let shared: HandlerState
}

/// Answers what concerns the vault as a whole: its making, its states, its check.
package struct VaultHandlers: HandlerFamily, VaultMethodHandlers {
    package let shared: HandlerState
}

extension BackupHandlers: BackupMethodHandlers {}

extension HandlerFamily {
    /// All families: one may need another.
    var handlers: Handlers { Handlers(sharing: shared) }
}

extension VaultHandlers {
    package func hello(_ params: HelloParameters, _ call: Call) throws -> Step {
        guard params.protocolNumber >= Int64(Version.protocolNumber) else {
            throw CofferError(
                .unimplemented,
                "this daemon speaks protocol \(Version.protocolNumber), and not \(params.protocolNumber)",
                hint: "bring the client up to date"
            )
        }
        if let passed = try call.attachments.takeDescriptor() { try act(onBehalfOf: passed, call) }
        if let group = params.group { call.caller.choice.group = try call.caller.group(group) }
        call.caller.choice.defersSyncs = params.defersSyncs
        // A newer client also speaks this protocol: it understands the answer.
        let result = HelloResult(
            protocolNumber: Int64(Version.protocolNumber),
            version: Version.program,
            group: call.caller.groups.first
        )
        return .done(Reply(result))
    }

    /// Has a connection act on behalf of the process of a descriptor.
    private func act(onBehalfOf passed: consuming PeerDescriptor, _ call: Call) throws {
        let caller = call.caller
        guard caller.rights.actsOnBehalf else {
            throw CofferError(
                .missingEntitlement,
                "you may not act on behalf of another process",
                hint: "an entitlement with 'OnBehalfOf=yes' allows it"
            )
        }
        guard caller.choice.served == nil else {
            throw CofferError(
                .param,
                "this connection acts on behalf of a process already",
                hint: "connect once for each process"
            )
        }
        call.isFor("can't act on behalf of a process")
        guard let process = try HeldProcess(passed) else {
            throw CofferError(.param, "the passed descriptor is no pidfd")
        }
        guard process.number > 0, try process.isRunning else { throw CofferError.servedIsGone }
        let identity = try settings.identity(of: process, try process.identity(), gone: .servedIsGone)
        guard identity.userID == caller.identity.userID else {
            throw CofferError(
                .missingEntitlement,
                "the process belongs to user \(identity.userID), and you may act on behalf of your own programs only"
            )
        }
        caller.choice.served = ServedProcess(identity, process)
    }

    package func requestCancel(_ params: RequestCancelParameters, _ call: Call) throws(CofferError) -> Step {
        observer?.cancelRequest(params.request, besides: call)
        return .done
    }

    package func vaultWatch(_ params: VaultWatchParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        if params.group == AccessGroup.every && caller.rights.reach == .all {
            caller.subscription.groups = .all
        } else {
            let group = try params.group.map { (named) throws(CofferError) in try caller.group(named) }
            caller.subscription.groups = group.map { [$0] } ?? .only(caller.groups)
        }
        caller.subscription.selection = params.selection
        observer?.subscriptionsDidChange()
        return .done
    }
}

extension Method {
    /// Whether it concerns the authentication of a connection.
    package var isOfContext: Bool { self == .contextAuthenticate || self == .contextEnd }

    /// Whether its handler waits for the commit itself: its answer depends on no later commit.
    package var awaitsCommit: Bool {
        switch claim {
        // The keybag has a commit of its own.
        case .barrier, .keys, .changes(.handle): true
        default: self == .fileOpen
        }
    }
}
