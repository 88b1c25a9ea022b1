package import CofferAudit
package import CofferRights
internal import CofferFileContent
package import CofferCore
internal import CofferDatabase
package import CofferFiles
package import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferPast
internal import Glibc

/// The database of a vault, with both stores, the trash, the audit and the access rules.
///
/// All changes of one turn share a transaction and one sync of the disk. Their answers wait for it.
package final class Catalog {
    static let fileName = "vault.sqlite"
    /// The database's own files: SQLite may make each of them.
    static let fileNames = ["", "-wal", "-shm", "-journal"].map { fileName + $0 }
    /// The directory with the contents of files, beside the database.
    static let contentsName = ContentDirectory.directoryName
    /// The file that reserves disk space for removals.
    static let reserveName = "reserve"
    /// `COFR`, in the header of the database.
    private static let applicationID: Int32 = 0x434f_4652

    /// The changes of a turn, as far as its commit has to know them.
    private struct Turn {
        /// Whether it has only removals so far: only then may the reserve be used.
        var isRemoval = false
        /// Whether it has changes that must be on the disk when they are answered.
        var isDurable = false
        /// Whether it has changes other than what a backup records of itself.
        var changesVault = false
        /// Whether the request that is being carried out leaves its sync to a later commit.
        var isDeferring = false
    }

    package let keychain: KeychainStore
    package let files: FileStore
    package let audit: AuditLog
    package let rules: AccessRuleStore
    let connection: Connection
    private let log: CatalogLog
    /// Whether there were commits since ``takeCommits()``.
    private var hasCommitted = false
    /// Faults of the vault as a whole that were found when it was opened.
    private var openingFaults: [VaultFault] = []
    private let reserve: DiskReserve
    private var turn = Turn()
    /// The changes of the turn, for subscribed clients.
    package let changes = ItemChangeLog()
    /// What the last backup has copied, if nothing else has changed since.
    var copied: CopiedCatalog?
    package var past: PastStore { files.past }

    /// Opens the catalog of a vault, and recovers from a crash.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - keys: The keys of the vault.
    ///   - clock: The clock of the boot.
    /// - Throws: `notAvailable` if there is none: a lost catalog must not look like an empty one.
    init(in directory: Directory, keys: VaultKeys, clock: BootClock) throws(CofferError) {
        do {
            guard try Self.fileExists(in: directory) else { throw Self.missing }
            let scratch = try Self.scratch(for: directory)
            // SQLite keeps the files that it has opened.
            defer { withExtendedLifetime(scratch) {} }
            let place = scratch?.directory ?? directory
            log = try CatalogLog(in: place)
            let connection = try Self.connect(in: place)
            self.connection = connection
            reserve = DiskReserve(Self.reserveName, of: Limits.diskReserveBytes, in: directory)
            keychain = KeychainStore(connection: connection, keys: keys)
            rules = AccessRuleStore(connection: connection, keys: keys)
            files = FileStore(
                connection: connection,
                keys: keys,
                contents: try ContentDirectory(in: directory),
                unsynced: UnsyncedLog(in: directory, keys: keys, clock: clock)
            )
            audit = try Self.openAudit(connection, keys)
            openingFaults += audit.faults
            // After a crash, the key of these items may be gone while their rows are still there.
            if keys.state == .noPasscode { try connection.transaction { try keychain.removeWantingPasscode() } }
            try log.check(audit.nextNumber)
            openingFaults = log.faults + openingFaults
            if scratch == nil {
                BackupSession.removeCopy(in: directory)
                try files.recover()
                reserve.fill()
            } else {
                openingFaults += CatalogLog.faults(in: directory)
                try connection.forbidChanges()
            }
        } catch {
            throw .init(mapping: error, "can't open the catalog")
        }
    }

    /// Creates the catalog of a new vault, before its keybag.
    static func prepare(in directory: Directory) throws(CofferError) {
        do {
            if directory.isReadOnly { throw SystemError("open", code: EROFS) }
            if try fileExists(in: directory) {
                _ = try CatalogLog(in: directory)
            } else {
                try CatalogLog.forgetMark(in: directory)
            }
            let connection = try connect(in: directory, isNew: true)
            try connection.execute("INSERT OR IGNORE INTO catalog_settings (name, value) VALUES ('isNew', x'01')")
        } catch {
            throw .init(mapping: error, "can't make the catalog")
        }
    }

    /// Whether a state directory has a catalog that belongs to a keybag.
    static func isBound(in directory: Directory) throws(CofferError) -> Bool {
        do {
            guard try fileExists(in: directory) else { return false }
            let scratch = try scratch(for: directory)
            defer { withExtendedLifetime(scratch) {} }
            let place = scratch?.directory ?? directory
            _ = try CatalogLog(in: place)
            let connection = try connect(in: place, isNew: true)
            return try connection.row("SELECT 1 FROM catalog_settings WHERE name = 'vaultID'") { _ in true } ?? false
        } catch {
            throw .init(mapping: error, "can't open the catalog")
        }
    }

    private static func fileExists(in directory: Directory) throws(SystemError) -> Bool {
        try directory.openIfPresent(fileName) != nil
    }

    /// A copy of the catalog, if its file system is read-only.
    ///
    /// SQLite can't read a log that it may not write, and without the log the latest changes would be missing.
    private static func scratch(for directory: Directory) throws -> ScratchDirectory? {
        guard directory.isReadOnly else { return nil }
        let scratch = try ScratchDirectory()
        for name in [fileName] + CatalogLog.liveNames { try directory.copyIfPresent(name, to: scratch.directory) }
        return scratch
    }

    private static func connect(in directory: Directory, isNew: Bool = false) throws -> Connection {
        // SQLite would block on a FIFO, and would trust a file that another user can write.
        for name in fileNames { try directory.requireOwnFile(name) }
        let connection = try Connection(path: "\(try directory.resolvedPath())/\(fileName)")
        let mark = try connection.row("PRAGMA application_id") { try $0.integer(0) }
        // An application id that is neither zero nor ours means damage, which the migration reports.
        if !isNew && mark == 0 { throw missing }
        try connection.migrate(
            migrations + PastStore.migrations + KeychainStore.migrations + FileStore.migrations
                + AuditLog.migrations + AccessRuleStore.migrations,
            applicationID: applicationID,
            to: .catalog
        )
        return connection
    }

    private static let migrations = [
        Migration(
            name: "catalog",
            sql: "CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;"
        )
    ]

    /// Binds a catalog to its keybag.
    ///
    /// With another keybag, every row would look damaged.
    private static func bind(_ connection: Connection, to vaultID: ItemID) throws {
        let stored = try connection.row("SELECT value FROM catalog_settings WHERE name = 'vaultID'") { try $0.blob(0) }
        if stored == vaultID.bytes { return }
        guard stored == nil else {
            throw CofferError(
                .decode,
                "the catalog belongs to another keybag than the one beside it",
                hint: "put back the 'keybag' and the 'vault.sqlite' that belong together"
            )
        }
        try connection.transaction {
            try connection.execute("DELETE FROM catalog_settings WHERE name = 'isNew'")
            guard connection.changes == 1 else { throw missing }
            try connection.execute(
                "INSERT INTO catalog_settings (name, value) VALUES ('vaultID', ?)",
                .blob(vaultID.bytes)
            )
        }
    }

    /// Opens the audit of a catalog, after checking that the catalog belongs to the keybag.
    private static func openAudit(_ connection: Connection, _ keys: VaultKeys) throws -> AuditLog {
        let isNew = try isNew(connection)
        let open = {
            try bind(connection, to: keys.vaultID)
            return try AuditLog(connection: connection, keys: keys, isNew: isNew)
        }
        // The binding and the first end of the audit are in one transaction.
        return try isNew ? connection.transaction(open) : open()
    }

    /// Acknowledges the faults of the audit as a whole.
    package func acknowledgeAuditFaults() {
        let known = audit.faults
        audit.acknowledgeDoubts()
        openingFaults.removeAll { known.contains($0) }
    }

    /// Whether the catalog was made for a keybag that is not bound yet, and is empty.
    private static func isNew(_ connection: Connection) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM catalog_settings WHERE name = 'isNew'
            AND NOT EXISTS (SELECT 1 FROM keychain_items) AND NOT EXISTS (SELECT 1 FROM file_nodes)
            """
        ) { _ in true } ?? false
    }

    private static let missing = CofferError(
        .notAvailable,
        "the catalog of this vault is missing or was emptied",
        hint: "put back a copy of the file 'vault.sqlite', or make room for a new vault with 'coffer erase'"
    )

    // MARK: Damage

    private var damage: FaultLog { connection.faults }

    /// Faults of the vault as a whole: those found when it was opened, and damage found since.
    package var faults: [VaultFault] {
        openingFaults + files.openFiles.losses + (damage.fault.map { [$0] } ?? [])
    }

    /// The error to report while damage is known: an item that was not found may exist.
    package func doubt(_ error: CofferError) -> CofferError { damage.doubt(error) }

    /// Carries out a step of a check.
    ///
    /// If a complete check finds no damage, the known damage is forgotten.
    package func survey(from cursor: String?, _ step: () throws -> CheckPage) throws -> CheckPage {
        try damage.survey(from: cursor, step)
    }

    /// Checks a part of the database's file.
    package func checkStructure(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        try connection.checkStructure(after: place, order) { table, rebuild in
            switch table {
            case KeychainStore.table: return try keychain.rebuildIndices(order, rebuild)
            case FileStore.table: return try files.rebuildIndices(order, rebuild)
            default:
                try rebuild()
                return []
            }
        }
    }

    // MARK: One commit a turn

    /// Whether there are changes that wait for ``commit()``.
    package var hasChanges: Bool { connection.isInBatch }

    /// Makes a change, which becomes durable with the commit of the turn or is rolled back.
    ///
    /// - Parameters:
    ///   - isRemoval: Whether it only removes: then it may use the reserve on a full disk.
    ///   - isOfBackup: Whether it only records a backup, so that the vault counts as unchanged.
    ///   - body: The change. It records the events for subscribed clients. If it throws, it is rolled back.
    /// - Returns: What `body` returns.
    package func change<Result: ~Copyable>(
        isRemoval: Bool = false,
        isOfBackup: Bool = false,
        _ body: (ItemChangeLog) throws -> Result
    ) throws -> Result {
        if !isOfBackup { turn.changesVault = true }
        turn.isRemoval = isRemoval && (turn.isRemoval || !connection.isInBatch)
        if !turn.isDeferring { turn.isDurable = true }
        if turn.isRemoval { reserve.giveUpIfShort() }
        if !connection.isInBatch { try connection.beginBatch() }
        let mark = changes.mark
        do {
            let result = try connection.transaction { try body(changes) }
            changes.madeCount += 1
            return result
        } catch {
            changes.forget(since: mark)
            rules.reread()
            throw error
        }
    }

    /// Serves a request of a caller from now on.
    ///
    /// - Parameter isDeferrable: Whether the request's changes may be synced later, if the caller's connection wants that.
    package func serve(_ caller: Caller, isDeferrable: Bool) {
        turn.isDeferring = isDeferrable && caller.choice.defersSyncs
        changes.origin = caller.origin
    }

    /// Makes the changes durable that were answered before they were on the disk, at once or with the commit of the turn.
    ///
    /// - Throws: Why they still are not.
    package func makeDurable() throws(CofferError) {
        if hasChanges { return turn.isDurable = true }
        guard connection.hasUnsyncedCommits else { return }
        do throws(DatabaseError) { try connection.syncDeferredCommits() } catch { throw error.cofferError }
        settleDurably()
    }

    /// Whether there are answered changes that are not on the disk yet.
    package var isBehind: Bool { connection.hasUnsyncedCommits }

    /// Handles that all commits are on the disk.
    private func settleDurably() {
        files.settleSynced()
        log.note(connection.logPosition, number: audit.nextNumber)
    }

    /// Has later commits of this generation of the log deferred, if the disk knows of that.
    private func permitDeferring() {
        guard let position = connection.logPosition, !position.isBackfilled,
            log.permitDeferring(after: position, number: audit.nextNumber)
        else { return }
        connection.permitDeferredCommits(after: position)
    }

    /// Commits the turn; when this returns, its changes are synced, unless all of them have deferred that.
    ///
    /// - Throws: Why all of them were rolled back.
    package func commit() throws(CofferError) {
        let ended = turn
        turn = Turn(isDeferring: ended.isDeferring)
        let isDeferred = connection.isInBatch && !ended.isDurable
        let isAsCopied = copied?.version == connection.dataVersion
        // Other changes of the turn must not use the space that is reserved for removals.
        if !ended.isRemoval { reserve.fill() }
        defer { reserve.fill() }
        do {
            if !connection.isInBatch { try connection.beginBatch() }
            try audit.write(at: wallClockMilliseconds())
            if !ended.isRemoval { try connection.reserveRoom() }
        } catch {
            // A change that can't be recorded is rolled back.
            try? connection.rollbackBatch()
            throw undo(because: CofferError(mapping: error, "can't record what was done"), isCertain: true)
        }
        do {
            try connection.commitBatch(isDeferred: isDeferred)
        } catch {
            // After a disk error, the log may contain the transaction all the same.
            throw undo(because: error.cofferError, isCertain: error.isCertain)
        }
        if isAsCopied && !ended.changesVault && copied.map({ audit.isWriting($0.isOwn) }) == true {
            copied?.commit(as: connection.dataVersion)
        }
        files.settle()
        damage.settle(isDone: true)
        changes.settle()
        hasCommitted = true
        if connection.hasUnsyncedCommits { return }
        settleDurably()
        if isDeferred { permitDeferring() }
        if ended.isRemoval && !reserve.isFull { checkpoint(truncates: true) }
    }

    /// Whether there were commits since the last call.
    package func takeCommits() -> Bool {
        defer { hasCommitted = false }
        return hasCommitted
    }

    /// Checkpoints the log; what can't be written back now stays in it until a later checkpoint.
    ///
    /// - Parameter truncates: Whether to empty the log as well.
    package func checkpoint(truncates: Bool = false) {
        if hasChanges { return }
        try? connection.checkpoint(truncates: truncates)
        if !connection.hasUnsyncedCommits { settleDurably() }
    }

    /// Ends the faults that are reported until they are acknowledged.
    package func acknowledgeFaults() throws {
        acknowledgeAuditFaults()
        let ended = log.faults
        try log.acknowledge()
        files.openFiles.acknowledgeLosses()
        openingFaults.removeAll { ended.contains($0) }
    }

    private func undo(because error: CofferError, isCertain: Bool) -> CofferError {
        files.abandon(isCertain: isCertain)
        damage.settle(isDone: false)
        rules.reread()
        _ = changes.takeEvents()
        // A client that has seen the undone change has to look again.
        changes.madeCount += 1
        audit.undo(because: error)
        return error
    }

}

extension CofferError {
    /// Maps an error of a store to the error for the client.
    package init(mapping error: any Error, _ subject: String) {
        switch error {
        case let error as CofferError: self = error
        case let error as DatabaseError: self = error.cofferError
        case let error as SystemError: self = error.cofferError(subject)
        case is SecretMemoryError: self = .noSecretMemory
        default: self = CofferError(.internal, "\(subject): unexpected error")
        }
    }
}
