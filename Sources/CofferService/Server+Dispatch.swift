internal import CofferCore
internal import CofferKeychain
internal import CofferWire

/// What takes long: runs on the server's actor and waits for worker threads.
typealias Work = (Transfer) async throws(CofferError) -> Reply

/// How a request is answered.
enum Answer: ~Copyable {
    /// On the spot.
    case now(Reply)
    /// After work that holds nobody else up.
    case later(Work)
}

extension Method {
    /// Whether it is about what was shown on the connection, and uses nothing of it.
    var isOfContext: Bool { self == .contextAuthenticate || self == .contextEnd }
}

extension Server {
    /// Hands a request that has passed the gate to its handler.
    func respond(
        to method: Method,
        _ params: JSONObject,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        switch method {
        case .itemPut:
            return .later(try putItem(ItemPutParameters(params: params), attachments, from: caller))
        case .itemGet:
            let params = try ItemGetParameters(params: params)
            return try getItem(params, attachments, in: try caller.group(nil), caller.context)
        case .itemExplain:
            return .now(try explainItem(ItemExplainParameters(params: params), attachments, from: caller))
        case .vaultInit:
            return .later(try initVault(VaultInitParameters(params: params), attachments, from: caller))
        case .vaultUnlock:
            return .later(try unlockVault(VaultUnlockParameters(params: params), attachments, from: caller))
        case .passcodeChange:
            return .later(try changePasscode(PasscodeChangeParameters(params: params), attachments, from: caller))
        case .passcodeRemove:
            return .later(try removePasscode(PasscodeRemoveParameters(params: params), attachments))
        case .passcodeSet:
            return .later(try setPasscode(PasscodeSetParameters(params: params), attachments, from: caller))
        case .slotAdd:
            return .later(try addSlot(SlotAddParameters(params: params), attachments))
        case .slotRemove:
            return .later(try removeSlot(SlotRemoveParameters(params: params), attachments))
        case .slotTest:
            return .later(try testSlot(SlotTestParameters(params: params), attachments))
        case .contextAuthenticate:
            return .later(
                try authenticateContext(ContextAuthenticateParameters(params: params), attachments, of: caller)
            )
        case .vaultErase:
            try attachments.refuseLeftovers(of: method)
            return .later(eraseVault(try VaultEraseParameters(params: params)))
        case .itemList:
            try attachments.refuseLeftovers(of: method)
            return try listItems(ItemListParameters(params: params), from: caller)
        case .requestCancel: preconditionFailure("answered where the requests of a connection are known")
        case .auditList, .auditVerify, .contextEnd, .entitlementExplain, .entitlementList, .hello, .itemMove,
            .itemProtect, .itemRemove, .itemShow, .leaseGrant, .leaseList, .leaseRevoke, .slotList, .vaultCheck,
            .vaultLock, .vaultQuarantine, .vaultStatus, .vaultWatch:
            try attachments.refuseLeftovers(of: method)
            return .now(try respondAtOnce(to: method, params, from: caller))
        case .fileSalvage:
            return try salvageFile(FileSalvageParameters(params: params), attachments, from: caller)
        case .fileWrite:
            return try writeFile(FileWriteParameters(params: params), attachments, from: caller)
        case .fileAllocate, .fileClose, .fileOpen, .fileRead, .fileSync, .fileTruncate:
            try attachments.refuseLeftovers(of: method)
            return try respondOfHandle(to: method, params, from: caller)
        case .fileList, .fileMkdir, .fileProtect, .fileRemove, .fileRename, .fileStat:
            try attachments.refuseLeftovers(of: method)
            return try respondOfTree(to: method, params, from: caller)
        case .keychainAdd:
            return .now(try addKeychainItem(KeychainAddParameters(params: params), attachments, from: caller))
        case .keychainUpdate:
            return try updateKeychainItems(KeychainUpdateParameters(params: params), attachments, from: caller)
        case .keychainSign:
            return try sign(KeychainSignParameters(params: params).query, attachments, from: caller)
        case .keychainAgree, .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainRestore:
            try attachments.refuseLeftovers(of: method)
            return try respondOfKeychain(to: method, params, from: caller)
        }
    }

    private func respondOfHandle(
        to method: Method,
        _ params: JSONObject,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        switch method {
        case .fileAllocate: return try allocateFile(FileAllocateParameters(params: params), from: caller)
        case .fileClose: return try closeFile(FileCloseParameters(params: params), from: caller)
        case .fileOpen: return try openFile(FileOpenParameters(params: params), from: caller)
        case .fileRead: return try readFile(FileReadParameters(params: params), from: caller)
        case .fileSync: return try syncFile(FileSyncParameters(params: params), from: caller)
        case .fileTruncate: return try truncateFile(FileTruncateParameters(params: params), from: caller)
        default: preconditionFailure("answered by the caller of this function")
        }
    }

    private func respondOfTree(
        to method: Method,
        _ params: JSONObject,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        switch method {
        case .fileList: return try listFiles(FileListParameters(params: params), from: caller)
        case .fileMkdir:
            return .now(Reply(try makeDirectory(FileMkdirParameters(params: params), from: caller)))
        case .fileProtect: return try protectFile(FileProtectParameters(params: params), from: caller)
        case .fileRemove: return try removeFile(FileRemoveParameters(params: params), from: caller)
        case .fileRename: return .now(Reply(try renameFile(FileRenameParameters(params: params), from: caller)))
        case .fileStat: return .now(Reply(try statFile(FileStatParameters(params: params), from: caller)))
        default: preconditionFailure("answered by the caller of this function")
        }
    }

    private func respondOfKeychain(
        to method: Method,
        _ params: JSONObject,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        switch method {
        case .keychainAgree: return try agree(KeychainAgreeParameters(params: params), from: caller)
        case .keychainDelete:
            return try deleteKeychainItems(KeychainDeleteParameters(params: params).query, from: caller)
        case .keychainFind: return try findKeychainItems(KeychainFindParameters(params: params), from: caller)
        case .keychainHistory: return try history(KeychainHistoryParameters(params: params), from: caller)
        case .keychainPublicKey: return try publicKey(KeychainPublicKeyParameters(params: params).query, from: caller)
        case .keychainRestore: return try restore(KeychainRestoreParameters(params: params), from: caller)
        default: preconditionFailure("answered by the caller of this function")
        }
    }

    private func respondAtOnce(
        to method: Method,
        _ params: JSONObject,
        from caller: Caller
    ) throws(CofferError) -> Reply {
        switch method {
        case .auditList: return Reply(try listRecords(AuditListParameters(params: params)))
        case .auditVerify: return Reply(try verifyAudit(AuditVerifyParameters(params: params)))
        case .contextEnd:
            _ = try ContextEndParameters(params: params)
            caller.context.end()
            return Reply(Empty())
        case .entitlementExplain:
            return Reply(try explainAccess(EntitlementExplainParameters(params: params), from: caller))
        case .entitlementList: return Reply(listEntitlements(try EntitlementListParameters(params: params)))
        case .hello: return Reply(try hello(HelloParameters(params: params)))
        case .itemMove: return Reply(try moveItem(ItemMoveParameters(params: params), from: caller))
        case .itemProtect: return Reply(try protectItem(ItemProtectParameters(params: params), from: caller))
        case .itemRemove: return Reply(try removeItem(ItemRemoveParameters(params: params), from: caller))
        case .itemShow: return try showItem(ItemShowParameters(params: params), in: try caller.group(nil))
        case .leaseGrant: return Reply(try grantLease(LeaseGrantParameters(params: params), from: caller))
        case .leaseList: return Reply(try listLeases(LeaseListParameters(params: params), from: caller))
        case .leaseRevoke: return Reply(try revokeLease(LeaseRevokeParameters(params: params), from: caller))
        case .slotList:
            _ = try SlotListParameters(params: params)
            return Reply(try listSlots())
        case .vaultCheck: return Reply(try checkVault(VaultCheckParameters(params: params), from: caller))
        case .vaultQuarantine: return Reply(try quarantine(VaultQuarantineParameters(params: params), from: caller))
        case .vaultLock: return Reply(try lockVault(VaultLockParameters(params: params)))
        case .vaultStatus:
            _ = try VaultStatusParameters(params: params)
            return Reply(try vaultStatus())
        case .vaultWatch: return Reply(watchVault(try VaultWatchParameters(params: params), from: caller))
        default:
            preconditionFailure("answered by the caller of this function")
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
}
