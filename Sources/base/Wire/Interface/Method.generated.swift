// packaging/tools/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// Every method of the protocol, by its name on the wire.
package enum Method: String, CaseIterable, Sendable {
    /// Adds a rule that allows clients to read, write or remove items of a group: those whose names match a
    /// pattern, or the one that has a name now.
    ///
    /// It counts until it ends or is removed.
    case accessAllow = "access.allow"
    /// Adds an exception to the rules that allow: it prevails over all of them, and over nothing else.
    case accessDeny = "access.deny"
    /// Lists a page of access rules, in the order in which they were added.
    case accessList = "access.list"
    /// Removes an access rule.
    case accessRemove = "access.remove"
    /// Reports a page of audit records, the oldest first.
    case auditList = "audit.list"
    /// Verifies that a part of the audit records is what the daemon wrote.
    case auditVerify = "audit.verify"
    /// Begins a backup: copies the catalog, and keeps what the copy names as it is until the backup ends.
    ///
    /// A vault has one at a time. If nothing has changed since the newest snapshot, which the client names,
    /// nothing is copied, and nothing is to be read.
    case backupBegin = "backup.begin"
    /// Lists a page of the contents of files that the copied catalog names.
    case backupContents = "backup.contents"
    /// Ends the backup of this connection, and removes the copy of the catalog.
    ///
    /// The daemon does so too if the connection ends.
    case backupEnd = "backup.end"
    /// Delivers a descriptor, open for reading, of a part of what a backup reads, sealed as it is on the
    /// disk.
    ///
    /// The daemon sends it, with one byte, over the socket that comes with the request.
    case backupRead = "backup.read"
    /// Sets up the backup of the vault: creates the key that signs its snapshots, unless there is one, and
    /// records the repository.
    ///
    /// If that has snapshots of the vault already, which a restored vault does not remember, the client
    /// names the newest one.
    case backupRegister = "backup.register"
    /// Signs a snapshot with the key of the vault's backup: its number and, as the payload, its digest.
    ///
    /// The signature is the payload of the answer.
    case backupSign = "backup.sign"
    /// Reports how the vault is backed up.
    case backupStatus = "backup.status"
    /// Presents a credential on this connection, for items that have an access control.
    ///
    /// The credential is the payload.
    case contextAuthenticate = "context.authenticate"
    /// Drops the authentication of this connection.
    case contextEnd = "context.end"
    /// Reports what a client may do, and which rule decides that.
    case entitlementExplain = "entitlement.explain"
    /// Lists a page of the entitlements in force, in the order in which the daemon checks them.
    case entitlementList = "entitlement.list"
    /// Reserves space on the disk for a range of an open file.
    case fileAllocate = "file.allocate"
    /// Syncs and closes a handle.
    case fileClose = "file.close"
    /// Finds how far an open file is data, or a hole, from an offset on.
    ///
    /// A hole takes no space, and reads as zeros.
    case fileExtent = "file.extent"
    /// Returns an extended attribute of a file.
    ///
    /// Its value is the payload of the answer.
    case fileGetExtendedAttribute = "file.getExtendedAttribute"
    /// Changes how many former contents of a file are kept, or of the files in a directory.
    ///
    /// Those beyond that are destroyed, the oldest first.
    case fileKeepVersions = "file.keepVersions"
    /// Gives a file, or a symbolic link, a further name.
    ///
    /// All names are equal: the content stays until the last is removed.
    case fileLink = "file.link"
    /// Lists a page of a directory.
    case fileList = "file.list"
    /// Lists the extended attributes of a file.
    case fileListExtendedAttributes = "file.listExtendedAttributes"
    /// Creates a directory.
    case fileMkdir = "file.mkdir"
    /// Opens a file.
    ///
    /// The handle belongs to the connection and ends with it.
    case fileOpen = "file.open"
    /// Changes the class of a file, or of everything in a directory.
    case fileProtect = "file.protect"
    /// Turns a range of an open file into zeros.
    ///
    /// Its size stays. If fewer bytes are turned than asked for, the client repeats the request for the
    /// rest.
    case filePunch = "file.punch"
    /// Reads a range of an open file.
    ///
    /// The bytes are the payload of the answer.
    case fileRead = "file.read"
    /// Removes a file or a directory.
    case fileRemove = "file.remove"
    /// Removes an extended attribute of a file.
    case fileRemoveExtendedAttribute = "file.removeExtendedAttribute"
    /// Destroys former contents of a file.
    case fileRemoveVersions = "file.removeVersions"
    /// Renames a file or a directory.
    case fileRename = "file.rename"
    /// Makes a former content of a file the present one.
    ///
    /// The present one becomes a version, and nothing is copied.
    case fileRestore = "file.restore"
    /// Delivers a damaged file as far as it can be read.
    ///
    /// The descriptor takes the content.
    case fileSalvage = "file.salvage"
    /// Changes the mode, the owner and the times of a file or a directory.
    case fileSetAttributes = "file.setAttributes"
    /// Sets an extended attribute of a file.
    ///
    /// The payload is its value.
    case fileSetExtendedAttribute = "file.setExtendedAttribute"
    /// Reports how much space the disk of the vault has.
    case fileSpace = "file.space"
    /// Reports on a file or a directory.
    case fileStat = "file.stat"
    /// Creates a symbolic link.
    ///
    /// The daemon keeps where it leads, and never follows it.
    case fileSymlink = "file.symlink"
    /// Syncs what was written through a handle to the disk.
    case fileSync = "file.sync"
    /// Syncs the changes of the tree that were answered before they were on the disk, of all connections.
    case fileSyncTree = "file.syncTree"
    /// Sets the length of an open file.
    ///
    /// Bytes that are added read as zeros.
    case fileTruncate = "file.truncate"
    /// Lists the former contents of a file, the newest first, and says how many are kept.
    case fileVersions = "file.versions"
    /// Writes a range of an open file.
    ///
    /// The bytes are the payload.
    case fileWrite = "file.write"
    /// Agrees on the protocol that both sides speak.
    ///
    /// A client calls it first.
    case hello
    /// Reports where an item is or would be stored, and what the client may do with it.
    ///
    /// The first bytes of the content may be the payload.
    case itemExplain = "item.explain"
    /// Delivers the content of an item, as payload or into the descriptor.
    case itemGet = "item.get"
    /// Lists a page of items, in an order that does not depend on their names.
    case itemList = "item.list"
    /// Renames an item.
    case itemMove = "item.move"
    /// Changes the protection of an item, or its store.
    ///
    /// One of class and accessible is given, which is converted for the store of the item, or both with the
    /// same meaning; with a store, neither has to be.
    case itemProtect = "item.protect"
    /// Stores an item.
    ///
    /// The content is the payload, followed by what the descriptor delivers.
    case itemPut = "item.put"
    /// Removes an item.
    case itemRemove = "item.remove"
    /// Reports on an item without its content.
    case itemShow = "item.show"
    /// Lists a page of items, with what a client could do with each in a state of the vault.
    case itemSimulate = "item.simulate"
    /// Adds an item to the keychain.
    ///
    /// The payload is its secret, or empty if the daemon generates a key.
    case keychainAdd = "keychain.add"
    /// Computes a shared secret with a private key.
    ///
    /// It is the payload of the answer.
    case keychainAgree = "keychain.agree"
    /// Deletes every item that the query finds.
    case keychainDelete = "keychain.delete"
    /// Finds items of the keychain.
    ///
    /// The payload of the answer is their secrets, if the request asks for them.
    case keychainFind = "keychain.find"
    /// Reports the former values of an item.
    ///
    /// The payload of the answer is the value, if the request asks for it.
    case keychainHistory = "keychain.history"
    /// Returns the public key of a key or a certificate.
    case keychainPublicKey = "keychain.publicKey"
    /// Restores a former value as the secret of the item.
    case keychainRestore = "keychain.restore"
    /// Signs the payload with a private key.
    ///
    /// The signature is the payload of the answer: 64 bytes of Ed25519, PKCS #1 v1.5 of RSA, DER of ECDSA.
    case keychainSign = "keychain.sign"
    /// Changes every item that the query finds.
    ///
    /// The payload is the new secret; without one the secret is kept, unless 'emptySecret' is true.
    case keychainUpdate = "keychain.update"
    /// Answers a mount: the daemon reads the kernel's requests from the descriptor, and writes the answers
    /// to it.
    ///
    /// It does so until the file system is unmounted, whether or not the connection ends, with the rights
    /// of the client.
    case mountServe = "mount.serve"
    /// Changes the passcode.
    ///
    /// The payload is the credential and the new passcode.
    case passcodeChange = "passcode.change"
    /// Removes the passcode, and destroys the items that depend on it.
    ///
    /// The credential is the payload.
    case passcodeRemove = "passcode.remove"
    /// Sets the passcode of a vault without one.
    ///
    /// The new passcode is the payload.
    case passcodeSet = "passcode.set"
    /// Cancels a request of the same connection.
    case requestCancel = "request.cancel"
    /// Creates a recovery key, which is the payload of the answer.
    case slotAdd = "slot.add"
    /// Lists the keyslots of the vault.
    case slotList = "slot.list"
    /// Removes a recovery key.
    case slotRemove = "slot.remove"
    /// Reports which keyslot a credential opens.
    ///
    /// The credential is the payload.
    case slotTest = "slot.test"
    /// Destroys what is in the trash: one entry, or all that a group has in it.
    case trashEmpty = "trash.empty"
    /// Lists what is in the trash of a group, a page at a time, the oldest first.
    case trashList = "trash.list"
    /// Takes an item out of the trash, with its protection, its dates and its former values.
    case trashRestore = "trash.restore"
    /// Lists a page of what is in use of the vault: open files and running transfers, of all clients.
    case vaultBlockers = "vault.blockers"
    /// Checks a page of rows, and repairs them if requested, or the contents of some files.
    case vaultCheck = "vault.check"
    /// Destroys the keys of the vault, and then everything else.
    ///
    /// Nothing can be read afterwards.
    case vaultErase = "vault.erase"
    /// Creates a vault.
    ///
    /// The payload is its passcode, and the payload of the answer is its recovery key.
    case vaultInit = "vault.init"
    /// Locks the vault, immediately or after a grace.
    case vaultLock = "vault.lock"
    /// Lists, restores or discards rows in quarantine.
    case vaultQuarantine = "vault.quarantine"
    /// Reports the state of the vault.
    ///
    /// The daemon answers it in every state.
    case vaultStatus = "vault.status"
    /// Unlocks the vault.
    ///
    /// The credential is the payload.
    case vaultUnlock = "vault.unlock"
    /// Subscribes the connection to notifications about the vault.
    ///
    /// A later call replaces the subscription.
    case vaultWatch = "vault.watch"
}

extension Method {
    /// What state the vault has to be in.
    package var need: VaultNeed {
        switch self {
        case .accessAllow, .accessDeny, .accessList, .accessRemove, .auditList, .auditVerify, .backupBegin,
            .backupContents, .backupEnd, .backupRead, .backupRegister, .backupSign, .backupStatus, .contextAuthenticate,
            .contextEnd, .fileAllocate, .fileClose, .fileExtent, .fileGetExtendedAttribute, .fileKeepVersions,
            .fileLink, .fileList, .fileListExtendedAttributes, .fileMkdir, .fileOpen, .fileProtect, .filePunch,
            .fileRead, .fileRemove, .fileRemoveExtendedAttribute, .fileRemoveVersions, .fileRename, .fileRestore,
            .fileSalvage, .fileSetAttributes, .fileSetExtendedAttribute, .fileSpace, .fileStat, .fileSymlink, .fileSync,
            .fileSyncTree, .fileTruncate, .fileVersions, .fileWrite, .itemExplain, .itemGet, .itemList, .itemMove,
            .itemProtect, .itemPut, .itemRemove, .itemShow, .itemSimulate, .keychainAdd, .keychainAgree,
            .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainRestore, .keychainSign,
            .keychainUpdate, .mountServe, .slotAdd, .slotRemove, .slotTest, .trashEmpty, .trashList, .trashRestore,
            .vaultBlockers, .vaultCheck, .vaultQuarantine:
            .vault
        case .entitlementExplain, .entitlementList, .hello, .requestCancel, .vaultStatus, .vaultWatch: .nothing
        case .passcodeChange: .passcodeToReplace
        case .passcodeRemove, .vaultLock, .vaultUnlock: .passcode
        case .passcodeSet: .noPasscode
        case .slotList, .vaultErase: .keybag
        case .vaultInit: .noVault
        }
    }

    /// What a request has to do with.
    package var claim: MethodClaim {
        switch self {
        case .accessAllow, .accessDeny, .accessRemove, .backupEnd, .backupRegister, .fileSyncTree, .mountServe,
            .trashEmpty, .trashRestore, .vaultCheck, .vaultQuarantine:
            .changes(.catalog)
        case .accessList, .auditList, .auditVerify, .backupBegin, .backupStatus, .fileSpace, .itemList, .itemSimulate,
            .trashList, .vaultBlockers, .vaultStatus:
            .reads(.catalog)
        case .backupContents, .backupRead, .backupSign, .entitlementExplain, .entitlementList, .hello, .requestCancel,
            .vaultWatch:
            .nothing
        case .contextAuthenticate, .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd, .slotRemove, .slotTest,
            .vaultErase, .vaultInit, .vaultUnlock:
            .keys
        case .contextEnd, .slotList, .vaultLock: .barrier
        case .fileAllocate, .fileClose, .filePunch, .fileSync, .fileTruncate, .fileWrite: .changes(.handle)
        case .fileExtent, .fileRead: .reads(.handle)
        case .fileGetExtendedAttribute, .fileList, .fileListExtendedAttributes, .fileSalvage, .fileStat, .fileVersions,
            .itemExplain, .itemGet, .itemShow:
            .reads(.names(["name"]))
        case .fileKeepVersions, .fileMkdir, .fileOpen, .fileProtect, .fileRemove, .fileRemoveExtendedAttribute,
            .fileRemoveVersions, .fileRestore, .fileSetAttributes, .fileSetExtendedAttribute, .fileSymlink,
            .itemProtect, .itemPut, .itemRemove:
            .changes(.names(["name"]))
        case .fileLink, .fileRename, .itemMove: .changes(.names(["name", "to"]))
        case .keychainAdd, .keychainDelete, .keychainRestore, .keychainUpdate: .changes(.keychain)
        case .keychainAgree, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainSign: .reads(.keychain)
        }
    }

    private static let admin: Set<Verb> = [.admin]
    private static let audit: Set<Verb> = [.audit]
    private static let backup: Set<Verb> = [.backup]
    private static let unlock: Set<Verb> = [.unlock]
    private static let none: Set<Verb> = []
    private static let write: Set<Verb> = [.write]
    private static let read: Set<Verb> = [.read]
    private static let delete: Set<Verb> = [.delete]
    private static let lock: Set<Verb> = [.lock]

    /// What the client has to be entitled to.
    ///
    /// Some parameters change it, which the gate knows.
    package var verbs: Set<Verb> {
        switch self {
        case .accessAllow, .accessDeny, .accessList, .accessRemove, .backupRegister, .entitlementList, .passcodeChange,
            .passcodeRemove, .passcodeSet, .slotAdd, .slotList, .slotRemove, .slotTest, .vaultBlockers, .vaultCheck,
            .vaultErase, .vaultInit, .vaultQuarantine:
            Self.admin
        case .auditList, .auditVerify: Self.audit
        case .backupBegin, .backupContents, .backupEnd, .backupRead, .backupSign, .backupStatus: Self.backup
        case .contextAuthenticate, .vaultUnlock: Self.unlock
        case .contextEnd, .entitlementExplain, .fileClose, .fileSync, .hello, .requestCancel, .vaultStatus, .vaultWatch:
            Self.none
        case .fileAllocate, .fileKeepVersions, .fileLink, .fileMkdir, .fileProtect, .filePunch,
            .fileRemoveExtendedAttribute, .fileRename, .fileRestore, .fileSetAttributes, .fileSetExtendedAttribute,
            .fileSymlink, .fileSyncTree, .fileTruncate, .fileWrite, .itemMove, .itemProtect, .itemPut, .keychainAdd,
            .keychainRestore, .keychainUpdate, .trashRestore:
            Self.write
        case .fileExtent, .fileGetExtendedAttribute, .fileList, .fileListExtendedAttributes, .fileOpen, .fileRead,
            .fileSalvage, .fileSpace, .fileStat, .fileVersions, .itemExplain, .itemGet, .itemList, .itemShow,
            .itemSimulate, .keychainAgree, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainSign,
            .mountServe, .trashList:
            Self.read
        case .fileRemove, .fileRemoveVersions, .itemRemove, .keychainDelete, .trashEmpty: Self.delete
        case .vaultLock: Self.lock
        }
    }

    /// Whether the right to administer is enough.
    package var isAdministered: Bool {
        switch self {
        case .fileList, .fileStat, .fileVersions, .itemExplain, .itemList, .itemMove, .itemRemove, .itemShow,
            .itemSimulate, .trashEmpty, .trashList, .trashRestore:
            true
        default: false
        }
    }

    /// Whether an access rule for the named item is enough.
    package var isRuled: Bool {
        switch self {
        case .itemGet, .itemPut, .itemRemove, .itemShow: true
        default: false
        }
    }

    /// Whether a thing that is missing is an item of the catalog.
    package var looksUpItems: Bool {
        switch self {
        case .accessAllow, .fileAllocate, .fileClose, .fileExtent, .fileGetExtendedAttribute, .fileKeepVersions,
            .fileLink, .fileList, .fileListExtendedAttributes, .fileMkdir, .fileOpen, .fileProtect, .filePunch,
            .fileRead, .fileRemove, .fileRemoveExtendedAttribute, .fileRemoveVersions, .fileRename, .fileRestore,
            .fileSalvage, .fileSetAttributes, .fileSetExtendedAttribute, .fileStat, .fileSymlink, .fileSync,
            .fileTruncate, .fileVersions, .fileWrite, .itemExplain, .itemGet, .itemList, .itemMove, .itemProtect,
            .itemPut, .itemRemove, .itemShow, .itemSimulate, .keychainAdd, .keychainAgree, .keychainDelete,
            .keychainFind, .keychainHistory, .keychainPublicKey, .keychainRestore, .keychainSign, .keychainUpdate,
            .mountServe, .passcodeRemove, .trashEmpty, .trashRestore:
            true
        default: false
        }
    }

    /// Whether each request is recorded.
    ///
    /// A refused one always is.
    package var isAudited: Bool {
        switch self {
        case .accessAllow, .accessDeny, .accessList, .accessRemove, .auditList, .auditVerify, .backupBegin, .backupEnd,
            .backupRegister, .backupSign, .contextAuthenticate, .fileGetExtendedAttribute, .fileKeepVersions, .fileLink,
            .fileList, .fileListExtendedAttributes, .fileMkdir, .fileOpen, .fileProtect, .fileRemove,
            .fileRemoveExtendedAttribute, .fileRemoveVersions, .fileRename, .fileRestore, .fileSalvage,
            .fileSetAttributes, .fileSetExtendedAttribute, .fileStat, .fileSymlink, .fileVersions, .itemExplain,
            .itemGet, .itemList, .itemMove, .itemProtect, .itemPut, .itemRemove, .itemShow, .itemSimulate, .keychainAdd,
            .keychainAgree, .keychainDelete, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainRestore,
            .keychainSign, .keychainUpdate, .mountServe, .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd,
            .slotList, .slotRemove, .slotTest, .trashEmpty, .trashList, .trashRestore, .vaultBlockers, .vaultCheck,
            .vaultErase, .vaultInit, .vaultLock, .vaultQuarantine, .vaultUnlock, .vaultWatch:
            true
        default: false
        }
    }

    /// Whether a client may repeat a request whose answer it lost.
    package var isIdempotent: Bool {
        switch self {
        case .accessList, .auditList, .auditVerify, .backupStatus, .entitlementExplain, .entitlementList, .fileExtent,
            .fileGetExtendedAttribute, .fileList, .fileListExtendedAttributes, .fileRead, .fileSpace, .fileStat,
            .fileSyncTree, .fileVersions, .hello, .itemExplain, .itemGet, .itemList, .itemShow, .itemSimulate,
            .keychainAgree, .keychainFind, .keychainHistory, .keychainPublicKey, .keychainSign, .slotList, .trashList,
            .vaultBlockers, .vaultLock, .vaultStatus, .vaultWatch:
            true
        default: false
        }
    }

    /// Whether its changes may be answered before they are on the disk, on a connection that defers syncs.
    package var isDeferrable: Bool {
        switch self {
        case .fileClose, .fileLink, .fileMkdir, .fileOpen, .fileRemove, .fileRemoveExtendedAttribute, .fileRename,
            .fileSetAttributes, .fileSetExtendedAttribute, .fileSymlink:
            true
        default: false
        }
    }

    /// The payload that a request takes.
    package var takenPayload: PayloadRule? {
        switch self {
        case .backupRegister: PayloadRule(bytes: 96...96, isRequired: false)
        case .backupSign: PayloadRule(bytes: 32...32, isRequired: true)
        case .contextAuthenticate, .passcodeRemove, .passcodeSet, .slotTest, .vaultUnlock:
            PayloadRule(bytes: 1...Limits.passcodeBytes, isRequired: true)
        case .fileSetExtendedAttribute: PayloadRule(bytes: 0...Limits.extendedAttributeBytes, isRequired: false)
        case .fileWrite, .itemExplain, .itemPut, .keychainSign:
            PayloadRule(bytes: 0...Limits.framePayloadBytes, isRequired: false)
        case .keychainAdd, .keychainUpdate: PayloadRule(bytes: 0...Limits.secretBytes, isRequired: false)
        case .passcodeChange: PayloadRule(bytes: 6...2052, isRequired: true)
        case .slotAdd, .slotRemove, .vaultInit: PayloadRule(bytes: 1...Limits.passcodeBytes, isRequired: false)
        default: nil
        }
    }

    /// The payload that an answer carries.
    package var givenPayload: PayloadRule? {
        switch self {
        case .backupSign: PayloadRule(bytes: 64...64, isRequired: true)
        case .fileGetExtendedAttribute: PayloadRule(bytes: 0...Limits.extendedAttributeBytes, isRequired: false)
        case .fileRead, .itemGet, .keychainFind: PayloadRule(bytes: 0...Limits.framePayloadBytes, isRequired: false)
        case .keychainAdd, .keychainHistory: PayloadRule(bytes: 0...Limits.secretBytes, isRequired: false)
        case .keychainAgree: PayloadRule(bytes: 32...32, isRequired: true)
        case .keychainSign: PayloadRule(bytes: 8...1024, isRequired: true)
        case .slotAdd: PayloadRule(bytes: 44...44, isRequired: true)
        case .vaultInit: PayloadRule(bytes: 44...44, isRequired: false)
        default: nil
        }
    }

    /// The descriptor that a request takes.
    package var descriptor: DescriptorRule? {
        switch self {
        case .backupRead, .fileSalvage, .mountServe: DescriptorRule(access: .write, isRequired: true)
        case .hello, .itemPut: DescriptorRule(access: .read, isRequired: false)
        case .itemGet: DescriptorRule(access: .write, isRequired: false)
        default: nil
        }
    }

    /// The notifications that it may cause.
    package var notifications: [Notification] {
        switch self {
        case .backupBegin, .fileProtect, .fileRemove, .fileSalvage, .itemGet, .itemPut, .vaultCheck: [.progress]
        case .vaultWatch:
            [
                .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable,
                .protectedDataDidBecomeAvailable, .inactiveDataDidBecomeUnavailable,
                .firstUnlockDataDidBecomeUnavailable, .itemsDidChange, .attemptDidFail, .auditDidGrow, .eventsMissed,
            ]
        default: []
        }
    }

    /// How its parameters are read.
    package var parameters: any (MethodParameters & WireObject).Type {
        switch self {
        case .accessAllow: AccessAllowParameters.self
        case .accessDeny: AccessDenyParameters.self
        case .accessList: AccessListParameters.self
        case .accessRemove: AccessRemoveParameters.self
        case .auditList: AuditListParameters.self
        case .auditVerify: AuditVerifyParameters.self
        case .backupBegin: BackupBeginParameters.self
        case .backupContents: BackupContentsParameters.self
        case .backupEnd: BackupEndParameters.self
        case .backupRead: BackupReadParameters.self
        case .backupRegister: BackupRegisterParameters.self
        case .backupSign: BackupSignParameters.self
        case .backupStatus: BackupStatusParameters.self
        case .contextAuthenticate: ContextAuthenticateParameters.self
        case .contextEnd: ContextEndParameters.self
        case .entitlementExplain: EntitlementExplainParameters.self
        case .entitlementList: EntitlementListParameters.self
        case .fileAllocate: FileAllocateParameters.self
        case .fileClose: FileCloseParameters.self
        case .fileExtent: FileExtentParameters.self
        case .fileGetExtendedAttribute: FileGetExtendedAttributeParameters.self
        case .fileKeepVersions: FileKeepVersionsParameters.self
        case .fileLink: FileLinkParameters.self
        case .fileList: FileListParameters.self
        case .fileListExtendedAttributes: FileListExtendedAttributesParameters.self
        case .fileMkdir: FileMkdirParameters.self
        case .fileOpen: FileOpenParameters.self
        case .fileProtect: FileProtectParameters.self
        case .filePunch: FilePunchParameters.self
        case .fileRead: FileReadParameters.self
        case .fileRemove: FileRemoveParameters.self
        case .fileRemoveExtendedAttribute: FileRemoveExtendedAttributeParameters.self
        case .fileRemoveVersions: FileRemoveVersionsParameters.self
        case .fileRename: FileRenameParameters.self
        case .fileRestore: FileRestoreParameters.self
        case .fileSalvage: FileSalvageParameters.self
        case .fileSetAttributes: FileSetAttributesParameters.self
        case .fileSetExtendedAttribute: FileSetExtendedAttributeParameters.self
        case .fileSpace: FileSpaceParameters.self
        case .fileStat: FileStatParameters.self
        case .fileSymlink: FileSymlinkParameters.self
        case .fileSync: FileSyncParameters.self
        case .fileSyncTree: FileSyncTreeParameters.self
        case .fileTruncate: FileTruncateParameters.self
        case .fileVersions: FileVersionsParameters.self
        case .fileWrite: FileWriteParameters.self
        case .hello: HelloParameters.self
        case .itemExplain: ItemExplainParameters.self
        case .itemGet: ItemGetParameters.self
        case .itemList: ItemListParameters.self
        case .itemMove: ItemMoveParameters.self
        case .itemProtect: ItemProtectParameters.self
        case .itemPut: ItemPutParameters.self
        case .itemRemove: ItemRemoveParameters.self
        case .itemShow: ItemShowParameters.self
        case .itemSimulate: ItemSimulateParameters.self
        case .keychainAdd: KeychainAddParameters.self
        case .keychainAgree: KeychainAgreeParameters.self
        case .keychainDelete: KeychainDeleteParameters.self
        case .keychainFind: KeychainFindParameters.self
        case .keychainHistory: KeychainHistoryParameters.self
        case .keychainPublicKey: KeychainPublicKeyParameters.self
        case .keychainRestore: KeychainRestoreParameters.self
        case .keychainSign: KeychainSignParameters.self
        case .keychainUpdate: KeychainUpdateParameters.self
        case .mountServe: MountServeParameters.self
        case .passcodeChange: PasscodeChangeParameters.self
        case .passcodeRemove: PasscodeRemoveParameters.self
        case .passcodeSet: PasscodeSetParameters.self
        case .requestCancel: RequestCancelParameters.self
        case .slotAdd: SlotAddParameters.self
        case .slotList: SlotListParameters.self
        case .slotRemove: SlotRemoveParameters.self
        case .slotTest: SlotTestParameters.self
        case .trashEmpty: TrashEmptyParameters.self
        case .trashList: TrashListParameters.self
        case .trashRestore: TrashRestoreParameters.self
        case .vaultBlockers: VaultBlockersParameters.self
        case .vaultCheck: VaultCheckParameters.self
        case .vaultErase: VaultEraseParameters.self
        case .vaultInit: VaultInitParameters.self
        case .vaultLock: VaultLockParameters.self
        case .vaultQuarantine: VaultQuarantineParameters.self
        case .vaultStatus: VaultStatusParameters.self
        case .vaultUnlock: VaultUnlockParameters.self
        case .vaultWatch: VaultWatchParameters.self
        }
    }
}

/// Every notification of the protocol, by its name on the wire.
package enum Notification: String, CaseIterable, Sendable {
    /// The progress of a transfer.
    case progress
    /// A lock has begun.
    ///
    /// When its grace ends, the keys of items that are readable only while unlocked are wiped.
    case protectedDataWillBecomeUnavailable
    /// The keys of items that are readable only while unlocked have been wiped.
    case protectedDataDidBecomeUnavailable
    /// The vault was created or unlocked, or a lock was cancelled during its grace.
    case protectedDataDidBecomeAvailable
    /// The vault has been locked for so long that the key of files of class completeWhenUserInactive was
    /// wiped.
    case inactiveDataDidBecomeUnavailable
    /// The vault has been locked for so long that every key that the passcode protects was wiped.
    ///
    /// It is as before the first unlock.
    case firstUnlockDataDidBecomeUnavailable
    /// Items in the client's access groups were added, changed, removed or renamed, and that is on the
    /// disk, or they have expired.
    case itemsDidChange
    /// A wrong passcode or recovery key was presented.
    case attemptDidFail
    /// A request was recorded, and its record is on the disk.
    case auditDidGrow
    /// The daemon dropped events because the client was slow.
    case eventsMissed
}

/// The types that the handlers of all families share.
package protocol Handling {
    /// What a handler knows of a request besides its parameters.
    associatedtype Context: ~Copyable
    /// What a handler gives.
    associatedtype Answer: ~Copyable
}

/// What answers the requests of the methods of the family `access`.
package protocol AccessMethodHandlers: Handling {
    /// Answers `access.allow`.
    ///
    /// Adds a rule that allows clients to read, write or remove items of a group: those whose names match a
    /// pattern, or the one that has a name now. It counts until it ends or is removed.
    func accessAllow(_ parameters: AccessAllowParameters, _ context: consuming Context) throws -> Answer
    /// Answers `access.deny`.
    ///
    /// Adds an exception to the rules that allow: it prevails over all of them, and over nothing else.
    func accessDeny(_ parameters: AccessDenyParameters, _ context: consuming Context) throws -> Answer
    /// Answers `access.list`.
    ///
    /// Lists a page of access rules, in the order in which they were added.
    func accessList(_ parameters: AccessListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `access.remove`.
    ///
    /// Removes an access rule.
    func accessRemove(_ parameters: AccessRemoveParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `audit`.
package protocol AuditMethodHandlers: Handling {
    /// Answers `audit.list`.
    ///
    /// Reports a page of audit records, the oldest first.
    func auditList(_ parameters: AuditListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `audit.verify`.
    ///
    /// Verifies that a part of the audit records is what the daemon wrote.
    func auditVerify(_ parameters: AuditVerifyParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `backup`.
package protocol BackupMethodHandlers: Handling {
    /// Answers `backup.begin`.
    ///
    /// Begins a backup: copies the catalog, and keeps what the copy names as it is until the backup ends. A
    /// vault has one at a time. If nothing has changed since the newest snapshot, which the client names,
    /// nothing is copied, and nothing is to be read.
    func backupBegin(_ parameters: BackupBeginParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.contents`.
    ///
    /// Lists a page of the contents of files that the copied catalog names.
    func backupContents(_ parameters: BackupContentsParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.end`.
    ///
    /// Ends the backup of this connection, and removes the copy of the catalog. The daemon does so too if
    /// the connection ends.
    func backupEnd(_ parameters: BackupEndParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.read`.
    ///
    /// Delivers a descriptor, open for reading, of a part of what a backup reads, sealed as it is on the
    /// disk. The daemon sends it, with one byte, over the socket that comes with the request.
    func backupRead(_ parameters: BackupReadParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.register`.
    ///
    /// Sets up the backup of the vault: creates the key that signs its snapshots, unless there is one, and
    /// records the repository. If that has snapshots of the vault already, which a restored vault does not
    /// remember, the client names the newest one.
    func backupRegister(_ parameters: BackupRegisterParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.sign`.
    ///
    /// Signs a snapshot with the key of the vault's backup: its number and, as the payload, its digest. The
    /// signature is the payload of the answer.
    func backupSign(_ parameters: BackupSignParameters, _ context: consuming Context) throws -> Answer
    /// Answers `backup.status`.
    ///
    /// Reports how the vault is backed up.
    func backupStatus(_ parameters: BackupStatusParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `context`.
package protocol ContextMethodHandlers: Handling {
    /// Answers `context.authenticate`.
    ///
    /// Presents a credential on this connection, for items that have an access control. The credential is
    /// the payload.
    func contextAuthenticate(_ parameters: ContextAuthenticateParameters, _ context: consuming Context) throws -> Answer
    /// Answers `context.end`.
    ///
    /// Drops the authentication of this connection.
    func contextEnd(_ parameters: ContextEndParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `entitlement`.
package protocol EntitlementMethodHandlers: Handling {
    /// Answers `entitlement.explain`.
    ///
    /// Reports what a client may do, and which rule decides that.
    func entitlementExplain(_ parameters: EntitlementExplainParameters, _ context: consuming Context) throws -> Answer
    /// Answers `entitlement.list`.
    ///
    /// Lists a page of the entitlements in force, in the order in which the daemon checks them.
    func entitlementList(_ parameters: EntitlementListParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `file`.
package protocol FileMethodHandlers: Handling {
    /// Answers `file.allocate`.
    ///
    /// Reserves space on the disk for a range of an open file.
    func fileAllocate(_ parameters: FileAllocateParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.close`.
    ///
    /// Syncs and closes a handle.
    func fileClose(_ parameters: FileCloseParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.extent`.
    ///
    /// Finds how far an open file is data, or a hole, from an offset on. A hole takes no space, and reads
    /// as zeros.
    func fileExtent(_ parameters: FileExtentParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.getExtendedAttribute`.
    ///
    /// Returns an extended attribute of a file. Its value is the payload of the answer.
    func fileGetExtendedAttribute(
        _ parameters: FileGetExtendedAttributeParameters,
        _ context: consuming Context
    ) throws -> Answer
    /// Answers `file.keepVersions`.
    ///
    /// Changes how many former contents of a file are kept, or of the files in a directory. Those beyond
    /// that are destroyed, the oldest first.
    func fileKeepVersions(_ parameters: FileKeepVersionsParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.link`.
    ///
    /// Gives a file, or a symbolic link, a further name. All names are equal: the content stays until the
    /// last is removed.
    func fileLink(_ parameters: FileLinkParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.list`.
    ///
    /// Lists a page of a directory.
    func fileList(_ parameters: FileListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.listExtendedAttributes`.
    ///
    /// Lists the extended attributes of a file.
    func fileListExtendedAttributes(
        _ parameters: FileListExtendedAttributesParameters,
        _ context: consuming Context
    ) throws -> Answer
    /// Answers `file.mkdir`.
    ///
    /// Creates a directory.
    func fileMkdir(_ parameters: FileMkdirParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.open`.
    ///
    /// Opens a file. The handle belongs to the connection and ends with it.
    func fileOpen(_ parameters: FileOpenParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.protect`.
    ///
    /// Changes the class of a file, or of everything in a directory.
    func fileProtect(_ parameters: FileProtectParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.punch`.
    ///
    /// Turns a range of an open file into zeros. Its size stays. If fewer bytes are turned than asked for,
    /// the client repeats the request for the rest.
    func filePunch(_ parameters: FilePunchParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.read`.
    ///
    /// Reads a range of an open file. The bytes are the payload of the answer.
    func fileRead(_ parameters: FileReadParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.remove`.
    ///
    /// Removes a file or a directory.
    func fileRemove(_ parameters: FileRemoveParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.removeExtendedAttribute`.
    ///
    /// Removes an extended attribute of a file.
    func fileRemoveExtendedAttribute(
        _ parameters: FileRemoveExtendedAttributeParameters,
        _ context: consuming Context
    ) throws -> Answer
    /// Answers `file.removeVersions`.
    ///
    /// Destroys former contents of a file.
    func fileRemoveVersions(_ parameters: FileRemoveVersionsParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.rename`.
    ///
    /// Renames a file or a directory.
    func fileRename(_ parameters: FileRenameParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.restore`.
    ///
    /// Makes a former content of a file the present one. The present one becomes a version, and nothing is
    /// copied.
    func fileRestore(_ parameters: FileRestoreParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.salvage`.
    ///
    /// Delivers a damaged file as far as it can be read. The descriptor takes the content.
    func fileSalvage(_ parameters: FileSalvageParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.setAttributes`.
    ///
    /// Changes the mode, the owner and the times of a file or a directory.
    func fileSetAttributes(_ parameters: FileSetAttributesParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.setExtendedAttribute`.
    ///
    /// Sets an extended attribute of a file. The payload is its value.
    func fileSetExtendedAttribute(
        _ parameters: FileSetExtendedAttributeParameters,
        _ context: consuming Context
    ) throws -> Answer
    /// Answers `file.space`.
    ///
    /// Reports how much space the disk of the vault has.
    func fileSpace(_ parameters: FileSpaceParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.stat`.
    ///
    /// Reports on a file or a directory.
    func fileStat(_ parameters: FileStatParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.symlink`.
    ///
    /// Creates a symbolic link. The daemon keeps where it leads, and never follows it.
    func fileSymlink(_ parameters: FileSymlinkParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.sync`.
    ///
    /// Syncs what was written through a handle to the disk.
    func fileSync(_ parameters: FileSyncParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.syncTree`.
    ///
    /// Syncs the changes of the tree that were answered before they were on the disk, of all connections.
    func fileSyncTree(_ parameters: FileSyncTreeParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.truncate`.
    ///
    /// Sets the length of an open file. Bytes that are added read as zeros.
    func fileTruncate(_ parameters: FileTruncateParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.versions`.
    ///
    /// Lists the former contents of a file, the newest first, and says how many are kept.
    func fileVersions(_ parameters: FileVersionsParameters, _ context: consuming Context) throws -> Answer
    /// Answers `file.write`.
    ///
    /// Writes a range of an open file. The bytes are the payload.
    func fileWrite(_ parameters: FileWriteParameters, _ context: consuming Context) throws -> Answer
    /// Answers `mount.serve`.
    ///
    /// Answers a mount: the daemon reads the kernel's requests from the descriptor, and writes the answers
    /// to it. It does so until the file system is unmounted, whether or not the connection ends, with the
    /// rights of the client.
    func mountServe(_ parameters: MountServeParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `vault`.
package protocol VaultMethodHandlers: Handling {
    /// Answers `hello`.
    ///
    /// Agrees on the protocol that both sides speak. A client calls it first.
    func hello(_ parameters: HelloParameters, _ context: consuming Context) throws -> Answer
    /// Answers `request.cancel`.
    ///
    /// Cancels a request of the same connection.
    func requestCancel(_ parameters: RequestCancelParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.blockers`.
    ///
    /// Lists a page of what is in use of the vault: open files and running transfers, of all clients.
    func vaultBlockers(_ parameters: VaultBlockersParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.check`.
    ///
    /// Checks a page of rows, and repairs them if requested, or the contents of some files.
    func vaultCheck(_ parameters: VaultCheckParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.erase`.
    ///
    /// Destroys the keys of the vault, and then everything else. Nothing can be read afterwards.
    func vaultErase(_ parameters: VaultEraseParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.init`.
    ///
    /// Creates a vault. The payload is its passcode, and the payload of the answer is its recovery key.
    func vaultInit(_ parameters: VaultInitParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.lock`.
    ///
    /// Locks the vault, immediately or after a grace.
    func vaultLock(_ parameters: VaultLockParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.quarantine`.
    ///
    /// Lists, restores or discards rows in quarantine.
    func vaultQuarantine(_ parameters: VaultQuarantineParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.status`.
    ///
    /// Reports the state of the vault. The daemon answers it in every state.
    func vaultStatus(_ parameters: VaultStatusParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.unlock`.
    ///
    /// Unlocks the vault. The credential is the payload.
    func vaultUnlock(_ parameters: VaultUnlockParameters, _ context: consuming Context) throws -> Answer
    /// Answers `vault.watch`.
    ///
    /// Subscribes the connection to notifications about the vault. A later call replaces the subscription.
    func vaultWatch(_ parameters: VaultWatchParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `item`.
package protocol ItemMethodHandlers: Handling {
    /// Answers `item.explain`.
    ///
    /// Reports where an item is or would be stored, and what the client may do with it. The first bytes of
    /// the content may be the payload.
    func itemExplain(_ parameters: ItemExplainParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.get`.
    ///
    /// Delivers the content of an item, as payload or into the descriptor.
    func itemGet(_ parameters: ItemGetParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.list`.
    ///
    /// Lists a page of items, in an order that does not depend on their names.
    func itemList(_ parameters: ItemListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.move`.
    ///
    /// Renames an item.
    func itemMove(_ parameters: ItemMoveParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.protect`.
    ///
    /// Changes the protection of an item, or its store. One of class and accessible is given, which is
    /// converted for the store of the item, or both with the same meaning; with a store, neither has to be.
    func itemProtect(_ parameters: ItemProtectParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.put`.
    ///
    /// Stores an item. The content is the payload, followed by what the descriptor delivers.
    func itemPut(_ parameters: ItemPutParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.remove`.
    ///
    /// Removes an item.
    func itemRemove(_ parameters: ItemRemoveParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.show`.
    ///
    /// Reports on an item without its content.
    func itemShow(_ parameters: ItemShowParameters, _ context: consuming Context) throws -> Answer
    /// Answers `item.simulate`.
    ///
    /// Lists a page of items, with what a client could do with each in a state of the vault.
    func itemSimulate(_ parameters: ItemSimulateParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `keychain`.
package protocol KeychainMethodHandlers: Handling {
    /// Answers `keychain.add`.
    ///
    /// Adds an item to the keychain. The payload is its secret, or empty if the daemon generates a key.
    func keychainAdd(_ parameters: KeychainAddParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.agree`.
    ///
    /// Computes a shared secret with a private key. It is the payload of the answer.
    func keychainAgree(_ parameters: KeychainAgreeParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.delete`.
    ///
    /// Deletes every item that the query finds.
    func keychainDelete(_ parameters: KeychainDeleteParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.find`.
    ///
    /// Finds items of the keychain. The payload of the answer is their secrets, if the request asks for
    /// them.
    func keychainFind(_ parameters: KeychainFindParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.history`.
    ///
    /// Reports the former values of an item. The payload of the answer is the value, if the request asks
    /// for it.
    func keychainHistory(_ parameters: KeychainHistoryParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.publicKey`.
    ///
    /// Returns the public key of a key or a certificate.
    func keychainPublicKey(_ parameters: KeychainPublicKeyParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.restore`.
    ///
    /// Restores a former value as the secret of the item.
    func keychainRestore(_ parameters: KeychainRestoreParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.sign`.
    ///
    /// Signs the payload with a private key. The signature is the payload of the answer: 64 bytes of
    /// Ed25519, PKCS #1 v1.5 of RSA, DER of ECDSA.
    func keychainSign(_ parameters: KeychainSignParameters, _ context: consuming Context) throws -> Answer
    /// Answers `keychain.update`.
    ///
    /// Changes every item that the query finds. The payload is the new secret; without one the secret is
    /// kept, unless 'emptySecret' is true.
    func keychainUpdate(_ parameters: KeychainUpdateParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `passcode`.
package protocol PasscodeMethodHandlers: Handling {
    /// Answers `passcode.change`.
    ///
    /// Changes the passcode. The payload is the credential and the new passcode.
    func passcodeChange(_ parameters: PasscodeChangeParameters, _ context: consuming Context) throws -> Answer
    /// Answers `passcode.remove`.
    ///
    /// Removes the passcode, and destroys the items that depend on it. The credential is the payload.
    func passcodeRemove(_ parameters: PasscodeRemoveParameters, _ context: consuming Context) throws -> Answer
    /// Answers `passcode.set`.
    ///
    /// Sets the passcode of a vault without one. The new passcode is the payload.
    func passcodeSet(_ parameters: PasscodeSetParameters, _ context: consuming Context) throws -> Answer
    /// Answers `slot.add`.
    ///
    /// Creates a recovery key, which is the payload of the answer.
    func slotAdd(_ parameters: SlotAddParameters, _ context: consuming Context) throws -> Answer
    /// Answers `slot.list`.
    ///
    /// Lists the keyslots of the vault.
    func slotList(_ parameters: SlotListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `slot.remove`.
    ///
    /// Removes a recovery key.
    func slotRemove(_ parameters: SlotRemoveParameters, _ context: consuming Context) throws -> Answer
    /// Answers `slot.test`.
    ///
    /// Reports which keyslot a credential opens. The credential is the payload.
    func slotTest(_ parameters: SlotTestParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of the methods of the family `trash`.
package protocol TrashMethodHandlers: Handling {
    /// Answers `trash.empty`.
    ///
    /// Destroys what is in the trash: one entry, or all that a group has in it.
    func trashEmpty(_ parameters: TrashEmptyParameters, _ context: consuming Context) throws -> Answer
    /// Answers `trash.list`.
    ///
    /// Lists what is in the trash of a group, a page at a time, the oldest first.
    func trashList(_ parameters: TrashListParameters, _ context: consuming Context) throws -> Answer
    /// Answers `trash.restore`.
    ///
    /// Takes an item out of the trash, with its protection, its dates and its former values.
    func trashRestore(_ parameters: TrashRestoreParameters, _ context: consuming Context) throws -> Answer
}

/// What answers the requests of every method.
///
/// The compiler demands one function a method.
package protocol MethodHandler: Handling {
    associatedtype AccessFamily: AccessMethodHandlers
    where AccessFamily.Context == Context, AccessFamily.Answer == Answer
    var access: AccessFamily { get }
    associatedtype AuditFamily: AuditMethodHandlers where AuditFamily.Context == Context, AuditFamily.Answer == Answer
    var audit: AuditFamily { get }
    associatedtype BackupFamily: BackupMethodHandlers
    where BackupFamily.Context == Context, BackupFamily.Answer == Answer
    var backup: BackupFamily { get }
    associatedtype ContextFamily: ContextMethodHandlers
    where ContextFamily.Context == Context, ContextFamily.Answer == Answer
    var context: ContextFamily { get }
    associatedtype EntitlementFamily: EntitlementMethodHandlers
    where EntitlementFamily.Context == Context, EntitlementFamily.Answer == Answer
    var entitlement: EntitlementFamily { get }
    associatedtype FileFamily: FileMethodHandlers where FileFamily.Context == Context, FileFamily.Answer == Answer
    var file: FileFamily { get }
    associatedtype VaultFamily: VaultMethodHandlers where VaultFamily.Context == Context, VaultFamily.Answer == Answer
    var vault: VaultFamily { get }
    associatedtype ItemFamily: ItemMethodHandlers where ItemFamily.Context == Context, ItemFamily.Answer == Answer
    var item: ItemFamily { get }
    associatedtype KeychainFamily: KeychainMethodHandlers
    where KeychainFamily.Context == Context, KeychainFamily.Answer == Answer
    var keychain: KeychainFamily { get }
    associatedtype PasscodeFamily: PasscodeMethodHandlers
    where PasscodeFamily.Context == Context, PasscodeFamily.Answer == Answer
    var passcode: PasscodeFamily { get }
    associatedtype TrashFamily: TrashMethodHandlers where TrashFamily.Context == Context, TrashFamily.Answer == Answer
    var trash: TrashFamily { get }
}

extension MethodHandler {
    /// Reads the parameters of a request and has it answered.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters.
    ///   - context: What the handler knows besides.
    package func dispatch(_ method: Method, _ params: JSONObject, _ context: consuming Context) throws -> Answer {
        switch method {
        case .accessAllow: try self.access.accessAllow(AccessAllowParameters(params: params), context)
        case .accessDeny: try self.access.accessDeny(AccessDenyParameters(params: params), context)
        case .accessList: try self.access.accessList(AccessListParameters(params: params), context)
        case .accessRemove: try self.access.accessRemove(AccessRemoveParameters(params: params), context)
        case .auditList: try self.audit.auditList(AuditListParameters(params: params), context)
        case .auditVerify: try self.audit.auditVerify(AuditVerifyParameters(params: params), context)
        case .backupBegin: try self.backup.backupBegin(BackupBeginParameters(params: params), context)
        case .backupContents: try self.backup.backupContents(BackupContentsParameters(params: params), context)
        case .backupEnd: try self.backup.backupEnd(BackupEndParameters(params: params), context)
        case .backupRead: try self.backup.backupRead(BackupReadParameters(params: params), context)
        case .backupRegister: try self.backup.backupRegister(BackupRegisterParameters(params: params), context)
        case .backupSign: try self.backup.backupSign(BackupSignParameters(params: params), context)
        case .backupStatus: try self.backup.backupStatus(BackupStatusParameters(params: params), context)
        case .contextAuthenticate:
            try self.context.contextAuthenticate(ContextAuthenticateParameters(params: params), context)
        case .contextEnd: try self.context.contextEnd(ContextEndParameters(params: params), context)
        case .entitlementExplain:
            try self.entitlement.entitlementExplain(EntitlementExplainParameters(params: params), context)
        case .entitlementList: try self.entitlement.entitlementList(EntitlementListParameters(params: params), context)
        case .fileAllocate: try self.file.fileAllocate(FileAllocateParameters(params: params), context)
        case .fileClose: try self.file.fileClose(FileCloseParameters(params: params), context)
        case .fileExtent: try self.file.fileExtent(FileExtentParameters(params: params), context)
        case .fileGetExtendedAttribute:
            try self.file.fileGetExtendedAttribute(FileGetExtendedAttributeParameters(params: params), context)
        case .fileKeepVersions: try self.file.fileKeepVersions(FileKeepVersionsParameters(params: params), context)
        case .fileLink: try self.file.fileLink(FileLinkParameters(params: params), context)
        case .fileList: try self.file.fileList(FileListParameters(params: params), context)
        case .fileListExtendedAttributes:
            try self.file.fileListExtendedAttributes(FileListExtendedAttributesParameters(params: params), context)
        case .fileMkdir: try self.file.fileMkdir(FileMkdirParameters(params: params), context)
        case .fileOpen: try self.file.fileOpen(FileOpenParameters(params: params), context)
        case .fileProtect: try self.file.fileProtect(FileProtectParameters(params: params), context)
        case .filePunch: try self.file.filePunch(FilePunchParameters(params: params), context)
        case .fileRead: try self.file.fileRead(FileReadParameters(params: params), context)
        case .fileRemove: try self.file.fileRemove(FileRemoveParameters(params: params), context)
        case .fileRemoveExtendedAttribute:
            try self.file.fileRemoveExtendedAttribute(FileRemoveExtendedAttributeParameters(params: params), context)
        case .fileRemoveVersions:
            try self.file.fileRemoveVersions(FileRemoveVersionsParameters(params: params), context)
        case .fileRename: try self.file.fileRename(FileRenameParameters(params: params), context)
        case .fileRestore: try self.file.fileRestore(FileRestoreParameters(params: params), context)
        case .fileSalvage: try self.file.fileSalvage(FileSalvageParameters(params: params), context)
        case .fileSetAttributes: try self.file.fileSetAttributes(FileSetAttributesParameters(params: params), context)
        case .fileSetExtendedAttribute:
            try self.file.fileSetExtendedAttribute(FileSetExtendedAttributeParameters(params: params), context)
        case .fileSpace: try self.file.fileSpace(FileSpaceParameters(params: params), context)
        case .fileStat: try self.file.fileStat(FileStatParameters(params: params), context)
        case .fileSymlink: try self.file.fileSymlink(FileSymlinkParameters(params: params), context)
        case .fileSync: try self.file.fileSync(FileSyncParameters(params: params), context)
        case .fileSyncTree: try self.file.fileSyncTree(FileSyncTreeParameters(params: params), context)
        case .fileTruncate: try self.file.fileTruncate(FileTruncateParameters(params: params), context)
        case .fileVersions: try self.file.fileVersions(FileVersionsParameters(params: params), context)
        case .fileWrite: try self.file.fileWrite(FileWriteParameters(params: params), context)
        case .mountServe: try self.file.mountServe(MountServeParameters(params: params), context)
        case .hello: try self.vault.hello(HelloParameters(params: params), context)
        case .requestCancel: try self.vault.requestCancel(RequestCancelParameters(params: params), context)
        case .vaultBlockers: try self.vault.vaultBlockers(VaultBlockersParameters(params: params), context)
        case .vaultCheck: try self.vault.vaultCheck(VaultCheckParameters(params: params), context)
        case .vaultErase: try self.vault.vaultErase(VaultEraseParameters(params: params), context)
        case .vaultInit: try self.vault.vaultInit(VaultInitParameters(params: params), context)
        case .vaultLock: try self.vault.vaultLock(VaultLockParameters(params: params), context)
        case .vaultQuarantine: try self.vault.vaultQuarantine(VaultQuarantineParameters(params: params), context)
        case .vaultStatus: try self.vault.vaultStatus(VaultStatusParameters(params: params), context)
        case .vaultUnlock: try self.vault.vaultUnlock(VaultUnlockParameters(params: params), context)
        case .vaultWatch: try self.vault.vaultWatch(VaultWatchParameters(params: params), context)
        case .itemExplain: try self.item.itemExplain(ItemExplainParameters(params: params), context)
        case .itemGet: try self.item.itemGet(ItemGetParameters(params: params), context)
        case .itemList: try self.item.itemList(ItemListParameters(params: params), context)
        case .itemMove: try self.item.itemMove(ItemMoveParameters(params: params), context)
        case .itemProtect: try self.item.itemProtect(ItemProtectParameters(params: params), context)
        case .itemPut: try self.item.itemPut(ItemPutParameters(params: params), context)
        case .itemRemove: try self.item.itemRemove(ItemRemoveParameters(params: params), context)
        case .itemShow: try self.item.itemShow(ItemShowParameters(params: params), context)
        case .itemSimulate: try self.item.itemSimulate(ItemSimulateParameters(params: params), context)
        case .keychainAdd: try self.keychain.keychainAdd(KeychainAddParameters(params: params), context)
        case .keychainAgree: try self.keychain.keychainAgree(KeychainAgreeParameters(params: params), context)
        case .keychainDelete: try self.keychain.keychainDelete(KeychainDeleteParameters(params: params), context)
        case .keychainFind: try self.keychain.keychainFind(KeychainFindParameters(params: params), context)
        case .keychainHistory: try self.keychain.keychainHistory(KeychainHistoryParameters(params: params), context)
        case .keychainPublicKey:
            try self.keychain.keychainPublicKey(KeychainPublicKeyParameters(params: params), context)
        case .keychainRestore: try self.keychain.keychainRestore(KeychainRestoreParameters(params: params), context)
        case .keychainSign: try self.keychain.keychainSign(KeychainSignParameters(params: params), context)
        case .keychainUpdate: try self.keychain.keychainUpdate(KeychainUpdateParameters(params: params), context)
        case .passcodeChange: try self.passcode.passcodeChange(PasscodeChangeParameters(params: params), context)
        case .passcodeRemove: try self.passcode.passcodeRemove(PasscodeRemoveParameters(params: params), context)
        case .passcodeSet: try self.passcode.passcodeSet(PasscodeSetParameters(params: params), context)
        case .slotAdd: try self.passcode.slotAdd(SlotAddParameters(params: params), context)
        case .slotList: try self.passcode.slotList(SlotListParameters(params: params), context)
        case .slotRemove: try self.passcode.slotRemove(SlotRemoveParameters(params: params), context)
        case .slotTest: try self.passcode.slotTest(SlotTestParameters(params: params), context)
        case .trashEmpty: try self.trash.trashEmpty(TrashEmptyParameters(params: params), context)
        case .trashList: try self.trash.trashList(TrashListParameters(params: params), context)
        case .trashRestore: try self.trash.trashRestore(TrashRestoreParameters(params: params), context)
        }
    }
}
