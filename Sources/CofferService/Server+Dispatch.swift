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

    /// Whether something that it does not find is an item of the catalog.
    var looksUpItems: Bool {
        switch self {
        case .leaseList, .leaseRevoke, .vaultCheck, .vaultQuarantine: false
        default: readsCatalog
        }
    }

    /// Whether the answer tells of the catalog, and so maybe of changes that the turn has yet to commit.
    var readsCatalog: Bool {
        switch self {
        case .hello, .requestCancel, .vaultErase, .vaultInit, .vaultLock, .vaultStatus, .vaultUnlock, .vaultWatch: false
        case .contextAuthenticate, .contextEnd, .passcodeChange, .passcodeSet, .slotAdd, .slotList, .slotRemove,
            .slotTest:
            false
        case .fileAllocate, .fileClose, .fileOpen, .fileRead, .fileSalvage, .fileSync, .fileTruncate, .fileWrite: true
        case .auditList, .auditVerify, .entitlementExplain, .entitlementList: false
        case .vaultCheck, .vaultQuarantine: true
        case .fileList, .fileMkdir, .fileProtect, .fileRemove, .fileRename, .fileStat: true
        case .passcodeRemove, .itemExplain, .itemGet, .itemList, .itemMove, .itemProtect, .itemPut, .itemRemove,
            .itemShow:
            true
        case .keychainAdd, .keychainAgree, .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey,
            .keychainRestore, .keychainSign, .keychainUpdate:
            true
        case .leaseGrant, .leaseList, .leaseRevoke: true
        }
    }
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
            return .later(try putItem(PutParameters(params: params), attachments, from: caller))
        case .itemGet:
            let params = try GetParameters(params: params)
            return try getItem(params, attachments, in: try caller.group(nil), caller.context)
        case .itemExplain:
            return .now(try explainItem(ExplainParameters(params: params), attachments, from: caller))
        case .vaultInit:
            return .later(try initVault(InitParameters(params: params), attachments, from: caller))
        case .vaultUnlock:
            return .later(try unlockVault(CredentialParameters(params: params), attachments, from: caller))
        case .passcodeChange:
            return .later(try changePasscode(PasscodeChangeParameters(params: params), attachments, from: caller))
        case .passcodeRemove:
            return .later(try removePasscode(PasscodeRemoveParameters(params: params), attachments))
        case .passcodeSet:
            return .later(try setPasscode(PasscodeSetParameters(params: params), attachments, from: caller))
        case .slotAdd:
            return .later(try addSlot(CredentialParameters(params: params), attachments))
        case .slotRemove:
            return .later(try removeSlot(SlotRemoveParameters(params: params), attachments))
        case .slotTest:
            return .later(try testSlot(CredentialParameters(params: params), attachments))
        case .contextAuthenticate:
            return .later(try authenticateContext(ContextParameters(params: params), attachments, of: caller))
        case .vaultErase:
            try attachments.refuseLeftovers(of: method)
            return .later(eraseVault(try EraseParameters(params: params)))
        case .itemList:
            try attachments.refuseLeftovers(of: method)
            return try listItems(ListParameters(params: params), from: caller)
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
            return try sign(KeychainQuery(params: params), attachments, from: caller)
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
        case .fileClose: return try closeFile(FileHandleParameters(params: params), from: caller)
        case .fileOpen: return try openFile(FileOpenParameters(params: params), from: caller)
        case .fileRead: return try readFile(FileReadParameters(params: params), from: caller)
        case .fileSync: return try syncFile(FileHandleParameters(params: params), from: caller)
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
            return .now(Reply(try makeDirectory(FileMakeDirectoryParameters(params: params), from: caller)))
        case .fileProtect: return try protectFile(FileProtectParameters(params: params), from: caller)
        case .fileRemove: return try removeFile(FileRemoveParameters(params: params), from: caller)
        case .fileRename: return .now(Reply(try renameFile(MoveParameters(params: params), from: caller)))
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
        case .keychainDelete: return try deleteKeychainItems(KeychainQuery(params: params), from: caller)
        case .keychainFind: return try findKeychainItems(KeychainFindParameters(params: params), from: caller)
        case .keychainHistory: return try history(KeychainHistoryParameters(params: params), from: caller)
        case .keychainPublicKey: return try publicKey(KeychainQuery(params: params), from: caller)
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
            _ = try Nothing(params: params)
            caller.context.end()
            return Reply(Nothing())
        case .entitlementExplain:
            return Reply(try explainAccess(EntitlementExplainParameters(params: params), from: caller))
        case .entitlementList: return Reply(listEntitlements(try EntitlementListParameters(params: params)))
        case .hello: return Reply(try hello(HelloParameters(params: params)))
        case .itemMove: return Reply(try moveItem(MoveParameters(params: params), from: caller))
        case .itemProtect: return Reply(try protectItem(ProtectParameters(params: params), from: caller))
        case .itemRemove: return Reply(try removeItem(NameParameters(params: params), from: caller))
        case .itemShow: return try showItem(NameParameters(params: params), in: try caller.group(nil))
        case .leaseGrant: return Reply(try grantLease(LeaseGrantParameters(params: params), from: caller))
        case .leaseList: return Reply(try listLeases(LeaseListParameters(params: params), from: caller))
        case .leaseRevoke: return Reply(try revokeLease(LeaseNumber(params: params), from: caller))
        case .slotList:
            _ = try Nothing(params: params)
            return Reply(try listSlots())
        case .vaultCheck: return Reply(try checkVault(CheckParameters(params: params), from: caller))
        case .vaultQuarantine: return Reply(try quarantine(QuarantineParameters(params: params), from: caller))
        case .vaultLock: return Reply(try lockVault(LockParameters(params: params)))
        case .vaultStatus:
            _ = try Nothing(params: params)
            return Reply(try vaultStatus())
        case .vaultWatch: return Reply(watchVault(try WatchParameters(params: params), from: caller))
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
