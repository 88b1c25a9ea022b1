package import CofferCore
internal import CofferAccess
internal import CofferKeychain
package import CofferWire

extension Vault {
    /// Carries out a request that the gate has let in.
    ///
    /// - Parameters:
    ///   - method: Its method.
    ///   - params: Its parameters, which may make no sense.
    ///   - call: Who has sent it, and what came with it.
    package func begin(_ method: Method, _ params: JSONObject, _ call: Call) throws(CofferError) -> Step {
        if let lease = call.lease { return try answer(to: method, params, under: lease, call) }
        if !method.takesAttachments { try call.attachments.refuseLeftovers(of: method) }
        let caller = call.caller
        switch method {
        case .auditList: return .done(Reply(try listRecords(AuditListParameters(params: params))))
        case .auditVerify: return .done(Reply(try verifyAudit(AuditVerifyParameters(params: params))))
        case .contextAuthenticate: return try authenticateContext(ContextAuthenticateParameters(params: params), call)
        case .contextEnd:
            _ = try ContextEndParameters(params: params)
            caller.context.end()
            return .done
        case .entitlementExplain:
            return .done(Reply(try explainAccess(EntitlementExplainParameters(params: params), from: caller)))
        case .entitlementList: return .done(Reply(listEntitlements(try EntitlementListParameters(params: params))))
        case .fileAllocate: return try allocateFile(FileAllocateParameters(params: params), call)
        case .fileClose: return try closeFile(FileCloseParameters(params: params), call)
        case .fileList: return try listFiles(FileListParameters(params: params), call)
        case .fileMkdir:
            return .done(Reply(try makeDirectory(FileMkdirParameters(params: params), from: caller)))
        case .fileOpen: return try openFile(FileOpenParameters(params: params), call)
        case .fileProtect: return try protectFile(FileProtectParameters(params: params), call)
        case .fileRead: return try readFile(FileReadParameters(params: params), call)
        case .fileRemove: return try removeFile(FileRemoveParameters(params: params), call)
        case .fileRename: return .done(Reply(try renameFile(FileRenameParameters(params: params), from: caller)))
        case .fileSalvage: return try salvageFile(FileSalvageParameters(params: params), call)
        case .fileStat: return .done(Reply(try statFile(FileStatParameters(params: params), from: caller)))
        case .fileSync: return try syncFile(FileSyncParameters(params: params), call)
        case .fileTruncate: return try truncateFile(FileTruncateParameters(params: params), call)
        case .fileWrite: return try writeFile(FileWriteParameters(params: params), call)
        case .hello: return .done(Reply(try hello(HelloParameters(params: params))))
        case .itemExplain: return .done(try explainItem(ItemExplainParameters(params: params), call))
        case .itemGet: return try getItem(ItemGetParameters(params: params), in: try caller.group(nil), call)
        case .itemList: return try listItems(ItemListParameters(params: params), call)
        case .itemMove: return .done(Reply(try moveItem(ItemMoveParameters(params: params), from: caller)))
        case .itemProtect: return .done(Reply(try protectItem(ItemProtectParameters(params: params), from: caller)))
        case .itemPut: return try putItem(ItemPutParameters(params: params), call)
        case .itemRemove: return .done(Reply(try removeItem(ItemRemoveParameters(params: params), from: caller)))
        case .itemShow: return .done(try showItem(ItemShowParameters(params: params), in: try caller.group(nil)))
        case .keychainAdd: return .done(try addKeychainItem(KeychainAddParameters(params: params), call))
        case .keychainAgree: return try agree(KeychainAgreeParameters(params: params), call)
        case .keychainDelete: return try deleteKeychainItems(KeychainDeleteParameters(params: params).query, call)
        case .keychainFind: return try findKeychainItems(KeychainFindParameters(params: params), call)
        case .keychainHistory: return try history(KeychainHistoryParameters(params: params), call)
        case .keychainPublicKey: return try publicKey(KeychainPublicKeyParameters(params: params).query, call)
        case .keychainRestore: return try restore(KeychainRestoreParameters(params: params), call)
        case .keychainSign: return try sign(KeychainSignParameters(params: params).query, call)
        case .keychainUpdate: return try updateKeychainItems(KeychainUpdateParameters(params: params), call)
        case .leaseGrant: return .done(Reply(try grantLease(LeaseGrantParameters(params: params), from: caller)))
        case .leaseList: return .done(Reply(try listLeases(LeaseListParameters(params: params), from: caller)))
        case .leaseRevoke: return .done(Reply(try revokeLease(LeaseRevokeParameters(params: params), from: caller)))
        case .passcodeChange: return try changePasscode(PasscodeChangeParameters(params: params), call)
        case .passcodeRemove: return try removePasscode(PasscodeRemoveParameters(params: params), call)
        case .passcodeSet: return try setPasscode(PasscodeSetParameters(params: params), call)
        case .requestCancel:
            observer?.cancelRequest(try RequestCancelParameters(params: params).request, besides: call)
            return .done
        case .slotAdd: return try addSlot(SlotAddParameters(params: params), call)
        case .slotList:
            _ = try SlotListParameters(params: params)
            return .done(Reply(try listSlots()))
        case .slotRemove: return try removeSlot(SlotRemoveParameters(params: params), call)
        case .slotTest: return try testSlot(SlotTestParameters(params: params), call)
        case .vaultCheck: return .done(Reply(try checkVault(VaultCheckParameters(params: params), from: caller)))
        case .vaultErase: return try eraseVault(VaultEraseParameters(params: params))
        case .vaultInit: return try initVault(VaultInitParameters(params: params), call)
        case .vaultLock: return .done(Reply(try lockVault(VaultLockParameters(params: params))))
        case .vaultQuarantine: return .done(Reply(try quarantine(VaultQuarantineParameters(params: params), from: caller)))
        case .vaultStatus:
            _ = try VaultStatusParameters(params: params)
            return .done(Reply(try vaultStatus()))
        case .vaultUnlock: return try unlockVault(VaultUnlockParameters(params: params), call)
        case .vaultWatch:
            caller.subscription.selection = try VaultWatchParameters(params: params).selection
            observer?.subscriptionsDidChange()
            return .done
        }
    }

    /// The state that the gate decides by.
    package func state(for method: Method) throws(CofferError) -> VaultState {
        switch method {
        case .hello: return .noVault
        // What can't be used can be erased.
        case .vaultErase: return (try? state()) ?? .deviceKeyMissing
        default: return try state()
        }
    }

    private func hello(_ params: HelloParameters) throws(CofferError) -> HelloResult {
        guard params.protocolNumber >= Int64(Version.protocolNumber) else {
            throw CofferError(
                .unimplemented,
                "this daemon speaks protocol \(Version.protocolNumber), and not \(params.protocolNumber)",
                hint: "bring the client up to date"
            )
        }
        // A newer client speaks ours as well: it knows what is answered here.
        return HelloResult(protocolNumber: Int64(Version.protocolNumber), version: Version.program)
    }

    // MARK: The audit

    /// A page of what was done.
    private func listRecords(_ params: AuditListParameters) throws(CofferError) -> AuditPage {
        let limit = min(params.limit ?? .max, Limits.pageItems)
        do {
            return try writtenAudit().page(after: params.after, params.query, limit: limit)
        } catch {
            throw .init(mapping: error, "can't read the audit")
        }
    }

    /// Checks a part of the chain.
    private func verifyAudit(_ params: AuditVerifyParameters) throws(CofferError) -> AuditVerification {
        do { return try writtenAudit().verify(after: params.after) } catch {
            throw .init(mapping: error, "can't check the audit")
        }
    }
}

extension Vault {
    /// The audit, with all that was noted before: who has done something sees it.
    private func writtenAudit() throws(CofferError) -> AuditLog {
        let catalog = try catalog
        if !catalog.hasChanges && catalog.audit.isWaiting { observer?.commit() }
        return catalog.audit
    }
}

extension Method {
    /// Whether a payload or a descriptor may come with it.
    fileprivate var takesAttachments: Bool { takenPayload != nil || descriptor != nil }

    /// Whether it is about what was shown of the person.
    package var isOfContext: Bool { self == .contextAuthenticate || self == .contextEnd }

    /// Whether it makes, opens or changes the keys: one at a time does.
    package var claimsKeys: Bool {
        switch self {
        case .contextAuthenticate, .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd, .slotRemove, .slotTest,
            .vaultErase, .vaultInit, .vaultUnlock:
            true
        default: false
        }
    }
}
