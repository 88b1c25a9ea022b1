package import CofferFileContent
package import CofferCore
internal import CofferCrypto
internal import CofferKeys
internal import CofferMemory

/// The contents that are being read or written, each with the current class of its file: a lock has to end some of
/// them.
///
/// A change of class takes effect when it is made. Until it is on the disk, the former class counts as well: if the
/// change is rolled back, no content may have survived a lock that its class does not allow.
package final class OpenContents {
    private struct Handles {
        var protectionClass: ProtectionClass
        var keys: [ContentKey]
    }

    private let keys: VaultKeys
    /// The chunks that were opened last on the daemon's thread.
    private let recentChunks: ChunkReader
    private var handles: [ItemID: Handles] = [:]
    /// Set by each use of a key.
    private let uses = UseFlag()
    /// The former classes of contents whose change is not committed yet, open or not.
    private var formerClasses: [ItemID: ProtectionClass] = [:]

    init(_ keys: VaultKeys, _ recentChunks: ChunkReader) {
        self.keys = keys
        self.recentChunks = recentChunks
    }

    // MARK: Keys

    /// Registers the key of a content that is going to be read or written.
    func open(
        _ key: consuming sending SymmetricKey,
        of id: ItemID,
        as protectionClass: ProtectionClass
    ) -> ContentKey {
        let key = ContentKey(key, noting: uses)
        handles[id, default: Handles(protectionClass: protectionClass, keys: [])].keys.append(key)
        return key
    }

    /// Drops the key of a content, if it is not in use otherwise.
    func close(_ key: ContentKey, of id: ItemID) {
        if takeUse() { keys.noteUse() }
        key.close()
        recentChunks.forget(key)
        handles[id]?.keys.removeAll { $0 === key }
        if handles[id]?.keys.isEmpty == true { handles[id] = nil }
    }

    /// Drops the key of a content after a write that has ended, successfully or not.
    package func finished(_ write: ContentWrite) { close(write.key, of: write.id) }

    /// Drops the key of a content after a read that has ended, successfully or not.
    package func finished(_ read: ContentRead) { close(read.key, of: read.id) }

    /// Whether a content of a class that the passcode protects was read or written since the last call; being open is no use.
    package func takeUse() -> Bool {
        guard uses.take() else { return false }
        return handles.values.filter { $0.protectionClass != .none }.flatMap(\.keys)
            .reduce(false) { $1.takeUse() || $0 }
    }

    /// Wipes the keys of all contents whose class, or former class, does not allow them to continue in a state of the
    /// vault, and all chunks that are kept in plaintext.
    ///
    /// This depends on the class that the file has now, and not on the one with which it was opened.
    ///
    /// - Parameter state: The current state of the vault.
    package func revoke(in state: VaultState) {
        for (id, open) in handles {
            let classes = [open.protectionClass, formerClasses[id] ?? open.protectionClass]
            if classes.allSatisfy({ $0.permits(.proceed, in: state) }) { continue }
            for key in open.keys { key.revoke() }
            handles[id] = nil
        }
        recentChunks.forget()
    }

    /// The current class of an open content; `nil` if it is not open.
    func protectionClass(of id: ItemID) -> ProtectionClass? { handles[id]?.protectionClass }

    /// The current class of a file that is being read.
    ///
    /// - Parameter read: A read that has not ended.
    package func protectionClass(of read: ContentRead) -> ProtectionClass {
        protectionClass(of: read.id) ?? read.protectionClass
    }

    /// The current class of an open file.
    package func protectionClass(of file: OpenFile) -> ProtectionClass {
        protectionClass(of: file.id) ?? file.protectionClass
    }

    // MARK: Changes of class

    /// Moves a content to another class.
    func change(_ id: ItemID, from old: ProtectionClass, to new: ProtectionClass) {
        formerClasses[id] = formerClasses[id] ?? old
        handles[id]?.protectionClass = new
    }

    /// The transaction was committed: drops the former classes.
    func keepChanges() { formerClasses = [:] }

    /// The transaction was rolled back: restores the former classes.
    func undoChanges() {
        for (id, protectionClass) in formerClasses { handles[id]?.protectionClass = protectionClass }
        formerClasses = [:]
    }
}
