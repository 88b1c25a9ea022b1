/// Every method of the protocol, by its name on the wire.
package enum Method: String, CaseIterable, Sendable {
    case hello
    case auditList = "audit.list"
    case auditVerify = "audit.verify"
    case contextAuthenticate = "context.authenticate"
    case contextEnd = "context.end"
    case entitlementExplain = "entitlement.explain"
    case entitlementList = "entitlement.list"
    case vaultCheck = "vault.check"
    case vaultErase = "vault.erase"
    case vaultInit = "vault.init"
    case vaultLock = "vault.lock"
    case vaultQuarantine = "vault.quarantine"
    case vaultStatus = "vault.status"
    case vaultUnlock = "vault.unlock"
    case vaultWatch = "vault.watch"
    case passcodeChange = "passcode.change"
    case passcodeRemove = "passcode.remove"
    case passcodeSet = "passcode.set"
    case requestCancel = "request.cancel"
    case slotAdd = "slot.add"
    case slotList = "slot.list"
    case slotRemove = "slot.remove"
    case slotTest = "slot.test"
    case fileAllocate = "file.allocate"
    case fileClose = "file.close"
    case fileList = "file.list"
    case fileMkdir = "file.mkdir"
    case fileOpen = "file.open"
    case fileProtect = "file.protect"
    case fileRead = "file.read"
    case fileRemove = "file.remove"
    case fileRename = "file.rename"
    case fileSalvage = "file.salvage"
    case fileStat = "file.stat"
    case fileSync = "file.sync"
    case fileTruncate = "file.truncate"
    case fileWrite = "file.write"
    case itemExplain = "item.explain"
    case itemGet = "item.get"
    case itemList = "item.list"
    case itemMove = "item.move"
    case itemProtect = "item.protect"
    case itemPut = "item.put"
    case itemRemove = "item.remove"
    case itemShow = "item.show"
    case keychainAdd = "keychain.add"
    case keychainAgree = "keychain.agree"
    case keychainDelete = "keychain.delete"
    case keychainFind = "keychain.find"
    case keychainHistory = "keychain.history"
    case keychainPublicKey = "keychain.publicKey"
    case keychainRestore = "keychain.restore"
    case keychainSign = "keychain.sign"
    case keychainUpdate = "keychain.update"
    case leaseGrant = "lease.grant"
    case leaseList = "lease.list"
    case leaseRevoke = "lease.revoke"
}

/// Every notification of the protocol, by its name on the wire.
package enum Notification: String, CaseIterable, Sendable {
    /// How far a transfer has come.
    case progress
    /// A lock has begun: when its grace ends, what is there while unlocked only goes.
    case protectedDataWillBecomeUnavailable
    /// The keys of what is there while unlocked only are gone.
    case protectedDataDidBecomeUnavailable
    /// The vault was unlocked, or a lock was called off in its grace.
    case protectedDataDidBecomeAvailable
    /// Items in the client's groups came, changed or went.
    case itemsDidChange
    /// Somebody has shown a wrong passcode or recovery key.
    case attemptDidFail
    /// Somebody did something, or was kept from it.
    case auditDidGrow
    /// Events that were not told one by one.
    case eventsMissed
}
