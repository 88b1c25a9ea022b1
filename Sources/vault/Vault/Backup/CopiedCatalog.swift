internal import CofferAudit
internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferWire

/// The keybag, the anchor and the catalog of one instant.
struct CopiedInstant {
    var keybag: [UInt8] = []
    var anchor: [UInt8]?
    /// The size of the catalog's copy.
    var byteCount: Int64 = 0
    /// The ThisDeviceOnly items of the copy.
    var leftBehindCount = 0
}

/// What a backup has copied, to find out whether the vault is still the same.
///
/// It is forgotten with the daemon: the first backup after a start copies the catalog.
struct CopiedCatalog {
    /// The version of the database that differs from the copy only in what backups have recorded of themselves.
    var version: UInt32
    var instant: CopiedInstant
    /// The client whose backup is under way, or has ended and is not recorded yet.
    ///
    /// It also lists items, to name those that are left behind.
    private(set) var client: ClientIdentity?
    private var isUnderWay = true
    /// The snapshot that has the copy; `nil` until one was stored.
    var snapshot: BackupReference?

    init(version: UInt32, _ instant: CopiedInstant, client: ClientIdentity) {
        (self.version, self.instant, self.client) = (version, instant, client)
    }

    /// Begins another backup, of what was copied.
    mutating func begin(by client: ClientIdentity) { (self.client, isUnderWay) = (client, true) }

    /// Ends the backup; what was recorded of it waits for the next commit.
    mutating func end() { isUnderWay = false }

    /// Takes a commit that only records the backup.
    mutating func commit(as version: UInt32) {
        self.version = version
        if !isUnderWay { client = nil }
    }

    /// Whether a record of the audit says only that a backup was made.
    func isOwn(_ record: AuditRecord) -> Bool {
        if record.action == Method.itemList.rawValue { return client.map { $0.recorded == record.client } ?? false }
        return [.backupBegin, .backupSign, .backupEnd].contains(Method(rawValue: record.action))
    }
}

extension Catalog {
    /// Whether the vault is as the newest snapshot has it.
    ///
    /// - Parameters:
    ///   - digest: The digest of the snapshot that the client has, in hexadecimal digits.
    ///   - newest: The newest one that the vault remembers.
    func isUnchanged(since digest: String?, _ newest: BackupReference?, _ keys: VaultKeys) -> Bool {
        guard let copied, let newest, copied.snapshot == newest, hexadecimal(newest.digest) == digest else {
            return false
        }
        // What waits to be recorded is a change, too.
        return !hasChanges && !audit.isWaiting && copied.version == connection.dataVersion
            && (try? keys.storedKeybag()) == copied.instant.keybag
    }
}
