package import CofferFileContent
package import CofferCore
internal import CofferKeys

// The keys of contents that are read and written.

extension FileStore {
    /// Drops the key of a content after a write, if it is not in use otherwise.
    ///
    /// - Parameter write: A write that has ended, successfully or not.
    package func finished(_ write: ContentWrite) { close(write.key, of: write.id) }

    /// Drops the key of a content after a read, if it is not in use otherwise.
    ///
    /// - Parameter read: A read that has ended, successfully or not.
    package func finished(_ read: ContentRead) { close(read.key, of: read.id) }

    func close(_ key: ContentKey, of id: ItemID) {
        if takeTransferUse() { keys.noteUse() }
        key.close()
        recentChunks.forget(key)
        openContents.remove(key, of: id)
    }

    /// Whether a content of a class that the passcode protects was read or written since the last call.
    package func takeTransferUse() -> Bool { openContents.uses.take() && openContents.takeKeyUses() }

    /// Wipes the keys of the open contents that may not continue in a state of the vault, and all chunks that are kept in
    /// plaintext.
    ///
    /// This depends on the class that the file has now, and not on the one with which it was opened.
    ///
    /// - Parameter state: The current state of the vault.
    package func revokeOpenKeys(in state: VaultState) {
        openContents.revoke(in: state)
        recentChunks.forget()
    }

    /// The current class of a file that is being read.
    ///
    /// - Parameter read: A read that has not ended.
    package func protectionClass(of read: ContentRead) -> ProtectionClass {
        protectionClass(ofContent: read.id) ?? read.protectionClass
    }

    func protectionClass(ofContent id: ItemID) -> ProtectionClass? { openContents.protectionClass(of: id) }
}
