import CofferCore
import CofferWire
import Testing

/// Who is asked for what.
@Suite struct `A dispatch` {
    @Test(arguments: Method.allCases)
    func `brings parameters to the handler of their method, and the answer back`(method: Method) throws {
        let answer = try Handler().dispatch(method, required[method] ?? [:], Box(method: nil))
        let answered = answer.method
        #expect(answered == method)
    }

    @Test func `refuses what is no parameter of the method`() {
        #expect(throws: CofferError(.param, "")) {
            let answer = try Handler().dispatch(.vaultStatus, ["name": "a"], Box(method: nil))
            Issue.record("answered \(String(describing: answer.method))")
        }
    }
}

/// A context and an answer that can't be copied.
private struct Box: ~Copyable {
    var method: Method?

    consuming func taken<Parameters: MethodParameters>(by parameters: Parameters) -> Box {
        method = Parameters.method
        return self
    }
}

private struct Handler: MethodHandler {
    func accessAllow(_ parameters: AccessAllowParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func accessDeny(_ parameters: AccessDenyParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func accessList(_ parameters: AccessListParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func accessRemove(_ parameters: AccessRemoveParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func auditList(_ parameters: AuditListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func auditVerify(_ parameters: AuditVerifyParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func contextAuthenticate(_ parameters: ContextAuthenticateParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func contextEnd(_ parameters: ContextEndParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func entitlementExplain(_ parameters: EntitlementExplainParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func entitlementList(_ parameters: EntitlementListParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupBegin(_ parameters: BackupBeginParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupContents(_ parameters: BackupContentsParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupEnd(_ parameters: BackupEndParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func backupRead(_ parameters: BackupReadParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupRegister(_ parameters: BackupRegisterParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupSign(_ parameters: BackupSignParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func backupStatus(_ parameters: BackupStatusParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileAllocate(_ parameters: FileAllocateParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileClose(_ parameters: FileCloseParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileList(_ parameters: FileListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileMkdir(_ parameters: FileMkdirParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileOpen(_ parameters: FileOpenParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileProtect(_ parameters: FileProtectParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileRead(_ parameters: FileReadParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileRemove(_ parameters: FileRemoveParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileKeepVersions(_ parameters: FileKeepVersionsParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileRemoveVersions(_ parameters: FileRemoveVersionsParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileRestore(_ parameters: FileRestoreParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileVersions(_ parameters: FileVersionsParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileRename(_ parameters: FileRenameParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileSalvage(_ parameters: FileSalvageParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileExtent(_ parameters: FileExtentParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileGetExtendedAttribute(_ parameters: FileGetExtendedAttributeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileLink(_ parameters: FileLinkParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileListExtendedAttributes(
        _ parameters: FileListExtendedAttributesParameters,
        _ context: consuming Box
    ) -> Box { context.taken(by: parameters) }
    func filePunch(_ parameters: FilePunchParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileRemoveExtendedAttribute(
        _ parameters: FileRemoveExtendedAttributeParameters,
        _ context: consuming Box
    ) -> Box { context.taken(by: parameters) }
    func fileSetExtendedAttribute(_ parameters: FileSetExtendedAttributeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileSpace(_ parameters: FileSpaceParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileSymlink(_ parameters: FileSymlinkParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileSetAttributes(_ parameters: FileSetAttributesParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileStat(_ parameters: FileStatParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileSync(_ parameters: FileSyncParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func fileSyncTree(_ parameters: FileSyncTreeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileTruncate(_ parameters: FileTruncateParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func fileWrite(_ parameters: FileWriteParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func hello(_ parameters: HelloParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemExplain(_ parameters: ItemExplainParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func itemGet(_ parameters: ItemGetParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemList(_ parameters: ItemListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemMove(_ parameters: ItemMoveParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemProtect(_ parameters: ItemProtectParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func itemPut(_ parameters: ItemPutParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemRemove(_ parameters: ItemRemoveParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func itemShow(_ parameters: ItemShowParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func itemSimulate(_ parameters: ItemSimulateParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainAdd(_ parameters: KeychainAddParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainAgree(_ parameters: KeychainAgreeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainDelete(_ parameters: KeychainDeleteParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainFind(_ parameters: KeychainFindParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainHistory(_ parameters: KeychainHistoryParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainPublicKey(_ parameters: KeychainPublicKeyParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainRestore(_ parameters: KeychainRestoreParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainSign(_ parameters: KeychainSignParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func keychainUpdate(_ parameters: KeychainUpdateParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func leaseGrant(_ parameters: LeaseGrantParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func leaseList(_ parameters: LeaseListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func leaseRevoke(_ parameters: LeaseRevokeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func passcodeChange(_ parameters: PasscodeChangeParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func passcodeRemove(_ parameters: PasscodeRemoveParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func passcodeSet(_ parameters: PasscodeSetParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func requestCancel(_ parameters: RequestCancelParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func slotAdd(_ parameters: SlotAddParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func slotList(_ parameters: SlotListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func slotRemove(_ parameters: SlotRemoveParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func slotTest(_ parameters: SlotTestParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func trashEmpty(_ parameters: TrashEmptyParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func trashList(_ parameters: TrashListParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func trashRestore(_ parameters: TrashRestoreParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultBlockers(_ parameters: VaultBlockersParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultCheck(_ parameters: VaultCheckParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultErase(_ parameters: VaultEraseParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultInit(_ parameters: VaultInitParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func vaultLock(_ parameters: VaultLockParameters, _ context: consuming Box) -> Box { context.taken(by: parameters) }
    func vaultQuarantine(_ parameters: VaultQuarantineParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultStatus(_ parameters: VaultStatusParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultUnlock(_ parameters: VaultUnlockParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
    func vaultWatch(_ parameters: VaultWatchParameters, _ context: consuming Box) -> Box {
        context.taken(by: parameters)
    }
}

private let name: JSONObject = ["name": "a"]
private let pair: JSONObject = ["name": "a", "to": "b"]
private let attribute: JSONObject = ["name": "a", "attribute": "user.a"]
private let handle: JSONObject = ["handle": 1]
private let place: JSONObject = ["handle": 1, "offset": 0]
private let range: JSONObject = ["handle": 1, "offset": 0, "length": 1]
private let key: JSONObject = ["class": "key"]
private let every: JSONObject = ["class": "key", "all": true]

private let rule: JSONObject = ["client": "uid:1", "verbs": .array(["read"]), "pattern": "a"]

/// What the methods can't do without.
private let required: [Method: JSONObject] = [
    .accessAllow: rule, .accessDeny: rule, .accessRemove: ["rule": 1],
    .backupRead: ["part": "keybag"], .backupRegister: ["repository": "a"], .backupSign: ["number": 1],
    .fileAllocate: range, .fileClose: handle, .fileExtent: place, .fileMkdir: name, .fileOpen: name,
    .fileProtect: ["name": "a", "class": "none"], .fileRead: range, .fileRemove: name, .fileRename: pair,
    .fileSalvage: name, .fileSetAttributes: name, .fileGetExtendedAttribute: attribute, .fileLink: pair,
    .fileListExtendedAttributes: name, .filePunch: range, .fileRemoveExtendedAttribute: attribute,
    .fileSetExtendedAttribute: attribute, .fileSymlink: ["name": "a", "target": "b"], .fileStat: name,
    .fileSync: handle, .fileSyncTree: [:], .fileTruncate: ["handle": 1, "bytes": 0],
    .fileKeepVersions: name, .fileRemoveVersions: name, .fileRestore: ["name": "a", "version": 1], .fileVersions: name,
    .fileWrite: handle, .hello: ["protocol": 1], .itemGet: name, .itemMove: pair, .itemProtect: name, .itemPut: name,
    .itemRemove: name, .itemShow: name, .keychainAdd: key,
    .keychainAgree: ["class": "key", "peer": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
    .keychainDelete: every, .keychainFind: key, .keychainHistory: key, .keychainPublicKey: key,
    .keychainRestore: ["class": "key", "number": 1], .keychainSign: key, .keychainUpdate: every,
    .leaseGrant: ["name": "a", "to": "uid:1", "seconds": 1], .leaseRevoke: ["lease": 1],
    .passcodeRemove: ["destroys": 0], .requestCancel: ["request": 1], .slotRemove: ["slot": 1],
    .trashRestore: ["entry": 1],
    .vaultErase: ["whatever": true],
]
