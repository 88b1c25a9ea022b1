internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferWire
internal import Glibc

/// A backup under way: a copy of the catalog, and what it names.
///
/// The keybag, the anchor and the catalog are of one instant. Everything is sealed, so that the state of the vault does
/// not matter.
final class BackupSession {
    /// The copy of the catalog, which is worthless once the session has ended.
    static let copyName = "backup.sqlite"
    /// What may exist of it in the state directory.
    static let copyNames = ["", "-wal", "-shm", "-journal"].map { copyName + $0 }

    let client: AuthenticationContext
    private let identity: ClientIdentity
    let catalog: Catalog
    let directory: Directory
    private let keys: VaultKeys
    /// The key that signs snapshots.
    let key: SealedBackupKey
    /// The newest snapshot that was stored before.
    let newest: BackupReference?
    /// The snapshot that was signed last.
    var signed: BackupReference?
    private(set) var copied = CopiedInstant()
    /// Whether the copy is complete and everything was counted.
    private(set) var isReady = false
    private var copying: DatabaseCopy?
    /// The copy, and the item up to which was counted in it.
    private var copy: (connection: Connection, countedItem: Int64)?

    /// Makes a session, which has to be begun.
    init(
        of caller: Caller,
        _ catalog: Catalog,
        _ keys: VaultKeys,
        in directory: Directory,
        _ key: SealedBackupKey,
        newest: BackupReference?
    ) {
        (client, identity) = (caller.context, caller.identity)
        (self.catalog, self.keys, self.directory) = (catalog, keys, directory)
        (self.key, self.newest) = (key, newest)
    }

    /// Begins to copy the catalog, unless the vault is as the newest snapshot has it.
    ///
    /// - Parameter digest: The digest of the snapshot that the client has, in hexadecimal digits.
    func begin(since digest: String?) throws {
        Self.removeCopy(in: directory)
        if let known = catalog.copied, catalog.isUnchanged(since: digest, newest, keys) {
            catalog.copied?.begin(by: identity)
            (copied, isReady) = (known.instant, true)
            return
        }
        catalog.copied = nil
        copying = try DatabaseCopy(
            of: catalog.connection,
            at: "\(try directory.resolvedPath())/\(Self.copyName)"
        )
    }

    /// Removes what a crash has left of a copy.
    static func removeCopy(in directory: Directory) {
        for name in copyNames where directory.contains(name) { try? directory.remove(name) }
    }

    /// The pages of the catalog that were copied.
    var copiedPages: Int { copying?.copiedPages ?? 0 }

    var vaultID: ItemID { keys.vaultID }

    /// Whether nothing was copied, because the newest snapshot has it all.
    var isUnchanged: Bool { isReady && copy == nil }

    /// Copies and counts, until it is enough or done.
    ///
    /// No transaction may be open.
    func advance(until isEnough: () -> Bool) throws {
        if let copying {
            repeat {
                if try copying.step(Limits.copiedPages) {
                    try finishCopy()
                    return
                }
            } while !isEnough()
            return
        }
        repeat { try countSome() } while !isReady && !isEnough()
    }

    /// Reads what belongs to the copy: with its last step, in the same turn.
    private func finishCopy() throws {
        copied.keybag = try keys.storedKeybag()
        copied.anchor = try keys.storedAnchor()
        catalog.files.pin()
        copying = nil
        copied.byteCount = Int64(try directory.open(Self.copyName).status().st_size)
        catalog.copied = CopiedCatalog(version: catalog.connection.dataVersion, copied, client: identity)
        let copy = try Connection(path: "\(try directory.resolvedPath())/\(Self.copyName)")
        try copy.forbidChanges()
        self.copy = (copy, 0)
    }

    private func countSome() throws {
        guard let copy, let page = try KeychainStore.countOfThisDevice(in: copy.connection, after: copy.countedItem)
        else {
            catalog.copied?.instant.leftBehindCount = copied.leftBehindCount
            isReady = true
            return
        }
        self.copy?.countedItem = page.last
        copied.leftBehindCount += page.count
    }

    /// The contents that the copy names after one, in the order of their ids; those of rows in quarantine are among them.
    func contents(after id: ItemID?) throws -> [ItemID] {
        try copy.map { try FileStore.contents(in: $0.connection, after: id) } ?? []
    }

    /// Records that the snapshot that was signed has what was copied.
    func noteStored() { catalog.copied?.snapshot = signed }

    /// Ends the session: the copy is removed, and what it names may change.
    func end() {
        catalog.copied?.end()
        copying = nil
        copy = nil
        Self.removeCopy(in: directory)
        catalog.files.unpin()
    }
}
