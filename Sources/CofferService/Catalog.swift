internal import CofferAccess
internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import Glibc

/// The two stores on their one database: everything that a vault holds.
///
/// All changes of one turn of the event loop share a transaction, and so one sync of the disk: the answers to all of them
/// wait for it.
final class Catalog {
    static let fileName = "vault.sqlite"
    /// All that SQLite may have there.
    static let fileNames = ["", "-wal", "-shm", "-journal"].map { fileName + $0 }
    /// The directory beside it, with the contents of files.
    static let contentsName = ContentDirectory.directoryName
    /// The file that keeps room on the disk for removals.
    static let reserveName = "reserve"
    /// `COFR`, in the header of the database.
    private static let applicationID: Int32 = 0x434f_4652

    let keychain: KeychainStore
    let files: FileStore
    /// Who did what.
    let audit: AuditLog
    /// Who may read what until that ends by itself.
    let leases: LeaseStore
    private let connection: Connection
    private let log: CatalogLog
    /// Whether there were commits since ``takeCommits()``.
    private var hasCommitted = false
    /// What is wrong with it as a whole, found when it was opened.
    private var openingFaults: [VaultFault] = []
    private let reserve: DiskReserve
    /// Whether all changes of the turn so far are removals, for which the reserve may be given up.
    private var isRemovalTurn = false
    /// What is told of the changes of the turn.
    let changes = ItemChangeLog()
    /// The end of the turn, for those who wait for it.
    private var openCommit: PendingCommit?

    /// Opens the catalog of a vault, and finishes what a crash cut off.
    ///
    /// - Throws: `notAvailable` where there is none: lost is not empty.
    init(in directory: Directory, keys: VaultKeys) throws(CofferError) {
        do {
            guard try Self.fileExists(in: directory) else { throw Self.missing }
            let scratch = try Self.scratch(for: directory)
            // SQLite goes on with the files that it has opened.
            defer { withExtendedLifetime(scratch) {} }
            let place = scratch?.directory ?? directory
            log = try CatalogLog(in: place)
            let connection = try Self.connect(in: place)
            self.connection = connection
            reserve = DiskReserve(Self.reserveName, of: Limits.diskReserveBytes, in: directory)
            keychain = KeychainStore(connection: connection, keys: keys)
            leases = LeaseStore(connection: connection, keys: keys)
            files = FileStore(connection: connection, keys: keys, contents: try ContentDirectory(in: directory))
            audit = try Self.openAudit(connection, keys)
            openingFaults += audit.faults
            try keychain.tagOlderItems()
            // Their key is gone already, where a crash came between it and them.
            if keys.state == .noPasscode { try connection.transaction { try keychain.removeWantingPasscode() } }
            try log.check(audit.nextNumber)
            openingFaults = log.faults + openingFaults
            if scratch == nil {
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

    /// Makes the catalog of a vault whose keybag comes next.
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

    /// A copy of the catalog, if its file system is read-only: SQLite can't read a log that it may not write, and without the
    /// log, what was stored last would be missing.
    private static func scratch(for directory: Directory) throws -> ScratchDirectory? {
        guard directory.isReadOnly else { return nil }
        let scratch = try ScratchDirectory()
        for name in [fileName] + CatalogLog.liveNames { try directory.copyIfPresent(name, to: scratch.directory) }
        return scratch
    }

    private static func connect(in directory: Directory, isNew: Bool = false) throws -> Connection {
        // SQLite would wait for what is no file, and follows whoever can write it.
        for name in fileNames { try directory.requireOwnFile(name) }
        let connection = try Connection(path: "\(try directory.resolvedPath())/\(fileName)")
        let mark = try connection.row("PRAGMA application_id") { try $0.integer(0) }
        // One that has a mark, and another one, is damaged.
        if !isNew && mark == 0 { throw missing }
        try connection.migrate(
            // Sorting keeps the order of those of one generation.
            (migrations + KeychainStore.migrations + FileStore.migrations + AuditLog.migrations + LeaseStore.migrations)
                .sorted { $0.generation < $1.generation },
            applicationID: applicationID
        )
        return connection
    }

    private static let migrations = [
        Migration(
            name: "catalog: settings",
            sql: "CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;"
        )
    ]

    /// A catalog belongs to one keybag: with another one nothing in it could be opened, or be told from damage.
    private static func bind(_ connection: Connection, to vaultID: ItemID) throws {
        let stored = try connection.row("SELECT value FROM catalog_settings WHERE name = 'vaultID'") { try $0.blob(0) }
        if stored == vaultID.bytes { return }
        guard stored == nil else {
            throw CofferError(
                .decode,
                "the catalog belongs to another keybag than the one beside it",
                hint: "restore 'keybag' and 'vault.sqlite' from the same backup"
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

    /// Opens the audit of a catalog that belongs to the keybag.
    private static func openAudit(_ connection: Connection, _ keys: VaultKeys) throws -> AuditLog {
        let isNew = try isNew(connection)
        let open = {
            try bind(connection, to: keys.vaultID)
            return try AuditLog(connection: connection, keys: keys, isNew: isNew)
        }
        // From the moment that it is bound, it says where its audit ends.
        return try isNew ? connection.transaction(open) : open()
    }

    /// Takes note of what is wrong with the audit as a whole: that is no fault any more.
    func acknowledgeAuditFaults() {
        let known = audit.faults
        audit.acknowledgeDoubts()
        openingFaults.removeAll { known.contains($0) }
    }

    /// Whether a catalog was made for a keybag that came next, and nothing is in it.
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
        hint: "restore the file 'vault.sqlite' of the state directory from a backup"
    )

    // MARK: The one namespace

    /// The secret that a name stands for.
    ///
    /// Names of files are told apart by their bytes, and secrets after NFC: where a file has exactly that name, a secret
    /// that is spelled in another way is another item, and neither hidden nor replaced with it.
    func secret(named name: ItemName, in group: String) throws -> KeychainItem? {
        guard let item = try keychain.find(GenericPasswordKey(name, in: group)) else { return nil }
        if item.key.path.utf8.elementsEqual(name.path.utf8) { return item }
        return try files.find(name, in: group) == nil ? item : nil
    }

    /// Whether a name stands for a file, though there is a secret that is spelled in another way.
    func isOnlyFile(_ name: ItemName, in group: String) throws -> Bool {
        if name.isSpelledInOneWay { return false }
        return try keychain.find(GenericPasswordKey(name, in: group)) != nil && secret(named: name, in: group) == nil
    }

    /// Whether the secret that a name stands for is on the disk as it was found.
    func isCommitted(_ item: KeychainItem, named name: ItemName) -> Bool {
        // In another way of spelling, it may be a file that makes the difference.
        name.isSpelledInOneWay && keychain.isCommitted(item)
    }

    // MARK: Damage

    private var damage: FaultLog { connection.faults }

    /// What is wrong with it as a whole: what was found when it was opened, and damage that was met since.
    var faults: [VaultFault] { openingFaults + (damage.fault.map { [$0] } ?? []) }

    /// What an error means while damage is known: an item that was not found may be there.
    func doubt(_ error: CofferError) -> CofferError { damage.doubt(error) }

    /// Makes a step of a check; damage is forgotten behind the last one, where none is left.
    func survey(from cursor: String?, _ step: () throws -> CheckPage) throws -> CheckPage {
        try damage.survey(from: cursor, step)
    }

    /// Looks at a part of the database's file.
    func checkStructure(after place: Int64, _ order: CheckOrder) throws -> CheckSlice<Int64> {
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

    /// Whether changes wait for ``commit()``.
    var hasChanges: Bool { connection.isInBatch }

    /// Makes a change that becomes durable with the turn, or not at all.
    ///
    /// - Parameters:
    ///   - isRemoval: Whether it removes, and nothing else: on a full disk, the room that is kept for that is given up.
    ///   - body: The change; it notes what those who watch are told of it. If it throws, nothing of it stays.
    /// - Returns: What `body` returns.
    func change<Result: ~Copyable>(
        isRemoval: Bool = false,
        _ body: (ItemChangeLog) throws -> Result
    ) throws -> Result {
        isRemovalTurn = isRemoval && (isRemovalTurn || !connection.isInBatch)
        if isRemovalTurn { reserve.giveUpIfShort() }
        if !connection.isInBatch { try connection.beginBatch() }
        let mark = changes.mark
        do {
            return try connection.transaction { try body(changes) }
        } catch {
            changes.forget(since: mark)
            leases.reread()
            throw error
        }
    }

    /// The commit that what was changed in this turn waits for; `nil` where nothing was.
    ///
    /// Asked for right behind the change, before anything is waited for: work that waits, for whatever it may be, may go on
    /// in a later turn, which has another one.
    var pendingCommit: PendingCommit? {
        guard hasChanges else { return nil }
        let commit = openCommit ?? PendingCommit()
        openCommit = commit
        return commit
    }

    /// Ends the turn: when this returns, its changes are on the disk.
    ///
    /// - Throws: Why none of them is.
    func commit() throws(CofferError) {
        let isRemoval = isRemovalTurn
        isRemovalTurn = false
        // What else there is in the turn must not use up what was given up for removals.
        if !isRemoval { reserve.fill() }
        defer { reserve.fill() }
        do {
            if !connection.isInBatch { try connection.beginBatch() }
            try audit.write(at: wallClockMilliseconds())
            if !isRemoval { try connection.reserveRoom() }
        } catch {
            // What can't be recorded does not happen.
            try? connection.rollbackBatch()
            throw undo(because: CofferError(mapping: error, "can't record what was done"), isCertain: true)
        }
        do {
            try connection.commitBatch()
        } catch {
            // After an error of the disk the log may hold the transaction all the same.
            throw undo(because: error.cofferError, isCertain: error.isCertain)
        }
        files.settle()
        damage.settle(isDone: true)
        hasCommitted = true
        log.note(connection.logPosition, number: audit.nextNumber)
        if isRemoval && !reserve.isFull { checkpoint(truncates: true) }
        endCommit(with: nil)
    }

    /// Whether there were commits since this was asked last.
    func takeCommits() -> Bool {
        defer { hasCommitted = false }
        return hasCommitted
    }

    /// Writes the log back into the database file: what can't be written back now is with the next commits.
    ///
    /// - Parameter truncates: Whether to empty the log as well.
    func checkpoint(truncates: Bool = false) {
        if hasChanges { return }
        try? connection.checkpoint(truncates: truncates)
        log.note(connection.logPosition, number: audit.nextNumber)
    }

    /// Ends the faults that are told of until they are acknowledged.
    func acknowledgeFaults() throws {
        acknowledgeAuditFaults()
        let ended = log.faults
        try log.acknowledge()
        openingFaults.removeAll { ended.contains($0) }
    }

    private func undo(because error: CofferError, isCertain: Bool) -> CofferError {
        files.abandon(isCertain: isCertain)
        damage.settle(isDone: false)
        leases.reread()
        endCommit(with: error)
        _ = changes.takeEvents()
        audit.undo(because: error)
        return error
    }

    private func endCommit(with error: CofferError?) {
        openCommit?.end(with: error)
        openCommit = nil
    }

    deinit { endCommit(with: .vaultIsGone) }
}

/// A commit that is to come, for those who have to know how it ended before they go on, or are answered.
final class PendingCommit {
    /// How it ended; `nil` where it has not.
    private(set) var outcome: Result<Void, CofferError>?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    fileprivate func end(with error: CofferError?) {
        outcome = error.map { .failure($0) } ?? .success(())
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Waits until what was changed is on the disk.
    ///
    /// - Throws: Why it is not, and undone.
    func wait(isolation: isolated (any Actor)? = #isolation) async throws(CofferError) {
        // Looked at where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation { waiter in
            if outcome == nil { waiters.append(waiter) } else { waiter.resume() }
        }
        try outcome?.get()
    }
}

extension ItemName {
    /// Whether its characters are the same bytes in every Unicode form.
    fileprivate var isSpelledInOneWay: Bool { path.utf8.allSatisfy { $0 < 0x80 } }
}

extension CofferError {
    /// Turns what a store threw into what a client is told.
    init(mapping error: any Error, _ subject: String) {
        switch error {
        case let error as CofferError: self = error
        case let error as DatabaseError: self = error.cofferError
        case let error as SystemError: self = error.cofferError(subject)
        default: self = CofferError(.internal, "\(subject): unexpected error")
        }
    }
}
