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
    let catalog: Catalog
    let directory: Directory
    private let keys: VaultKeys
    /// The key that signs snapshots.
    let key: SealedBackupKey
    /// The newest snapshot that was stored before.
    var newest: BackupReference?
    /// The snapshot that was signed last.
    var signed: BackupReference?
    private(set) var keybag: [UInt8] = []
    private(set) var anchor: [UInt8]?
    /// The ThisDeviceOnly items of the copy.
    private(set) var leftBehindCount = 0
    /// Whether the copy is complete and everything was counted.
    private(set) var isReady = false
    private var copying: DatabaseCopy?
    private var copy: Connection?
    /// The item up to which was counted.
    private var countedItem: Int64 = 0

    /// Begins to copy a catalog.
    init(
        of client: AuthenticationContext,
        _ catalog: Catalog,
        _ keys: VaultKeys,
        in directory: Directory,
        _ key: SealedBackupKey
    )
        throws
    {
        self.client = client
        self.catalog = catalog
        self.keys = keys
        self.key = key
        self.directory = directory
        Self.removeCopy(in: directory)
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

    /// The size of the copy.
    func catalogByteCount() throws -> Int64 { Int64(try directory.open(Self.copyName).status().st_size) }

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
        keybag = try keys.storedKeybag()
        anchor = try keys.storedAnchor()
        catalog.files.pin()
        copying = nil
        let copy = try Connection(path: "\(try directory.resolvedPath())/\(Self.copyName)")
        try copy.forbidChanges()
        self.copy = copy
    }

    private func countSome() throws {
        guard let copy, let page = try KeychainStore.countOfThisDevice(in: copy, after: countedItem) else {
            isReady = true
            return
        }
        countedItem = page.last
        leftBehindCount += page.count
    }

    /// The contents that the copy names after one, in the order of their ids; those of rows in quarantine are among them.
    func contents(after id: ItemID?) throws -> [ItemID] {
        try copy.map { try FileStore.contents(in: $0, after: id) } ?? []
    }

    /// Ends the session: the copy is removed, and what it names may change.
    func end() {
        copying = nil
        copy = nil
        Self.removeCopy(in: directory)
        catalog.files.unpin()
    }
}
