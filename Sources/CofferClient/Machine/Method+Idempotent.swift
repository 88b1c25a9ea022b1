package import CofferWire

extension Method {
    /// Whether carrying it out twice does no more than once, and brings the same answer.
    ///
    /// It alone decides what a client may repeat after a connection broke, when it is not known what the daemon has done. A
    /// wrong passcode counts each time, so nothing that tries one is here; nor is what may repair or restore by the way.
    package var isIdempotent: Bool {
        switch self {
        case .hello, .auditList, .auditVerify, .entitlementExplain, .entitlementList, .vaultLock, .vaultStatus,
            .vaultWatch:
            true
        case .contextAuthenticate, .contextEnd, .vaultCheck, .vaultErase, .vaultInit, .vaultQuarantine, .vaultUnlock:
            false
        case .requestCancel: false
        case .slotList: true
        case .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd, .slotRemove, .slotTest: false
        case .fileList, .fileRead, .fileStat: true
        case .fileAllocate, .fileClose, .fileOpen, .fileSync, .fileTruncate, .fileWrite: false
        case .fileMkdir, .fileProtect, .fileRemove, .fileRename, .fileSalvage: false
        case .itemExplain, .itemGet, .itemList, .itemShow: true
        case .itemMove, .itemProtect, .itemPut, .itemRemove: false
        case .keychainAgree, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainSign: true
        case .keychainAdd, .keychainDelete, .keychainRestore, .keychainUpdate: false
        case .leaseList: true
        case .leaseGrant, .leaseRevoke: false
        }
    }
}
