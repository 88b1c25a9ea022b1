internal import CofferCore
package import CofferKeys
internal import CofferSystem
internal import CofferWire

/// What a vault records of its backup, sealed, so that it can be read and written in every state.
struct BackupRecord {
    private static let version: UInt8 = 1

    /// Where the repository is, for people to read.
    var repository: String
    /// After how many seconds without a snapshot the client warns; 0 for never.
    var warnAfterSeconds: Int64
    /// When the last snapshot was stored, in milliseconds since 1970; `nil` if none was.
    var completed: Int64?
    /// The newest snapshot that was stored.
    var newest: BackupReference?

    init(repository: String, warnAfterSeconds: Int64) {
        self.repository = repository
        self.warnAfterSeconds = warnAfterSeconds
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(completed ?? 0)
        writer.write(warnAfterSeconds)
        writer.write(UInt16(repository.utf8.count))
        writer.write(raw: Array(repository.utf8))
        writer.write(newest?.number ?? 0)
        if let newest { writer.write(raw: newest.digest) }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let completed: Int64 = try reader.read()
        self.completed = completed == 0 ? nil : completed
        warnAfterSeconds = try reader.read()
        let count = Int(try reader.read(UInt16.self))
        repository = String(decoding: try reader.readRaw(count), as: UTF8.self)
        let number: Int64 = try reader.read()
        if number != 0 {
            newest = BackupReference(number: number, digest: Array(try reader.readRaw(Limits.snapshotDigestBytes)))
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension Catalog {
    private static let damagedRecord = CofferError.damaged(
        "what the vault records of its backup",
        found: "it is not authentic"
    )

    /// The key that signs snapshots; `nil` if no backup was set up.
    func backupKey() throws -> SealedBackupKey? {
        try setting(.backupKey).map { SealedBackupKey($0) }
    }

    /// Stores the key that signs snapshots, within the open transaction.
    func store(_ key: SealedBackupKey) throws {
        try store(key.sealed, as: .backupKey)
    }

    /// What is recorded of the backup; `nil` if none was set up.
    func backupRecord(_ keys: VaultKeys) throws -> BackupRecord? {
        let stored = try setting(.backup)
        guard let stored else { return nil }
        do {
            return try BackupRecord(decoding: try keys.open(backupRecord: stored))
        } catch KeyError.noMemory {
            throw CofferError.noSecretMemory
        } catch {
            throw Self.damagedRecord
        }
    }

    /// The age of the last snapshot, if it is older than the user wants, and 0 if there is none yet; `nil` otherwise.
    package func backupDueSeconds(_ keys: VaultKeys) -> Int64? {
        guard let record = try? backupRecord(keys), record.warnAfterSeconds > 0 else { return nil }
        guard let completed = record.completed else { return 0 }
        let age = max(0, wallClockMilliseconds().nearestDifference(completed)) / 1000
        return age > record.warnAfterSeconds ? age : nil
    }

    /// Stores what is recorded of the backup, within the open transaction.
    func store(_ record: BackupRecord, _ keys: VaultKeys) throws {
        try store(keys.seal(backupRecord: record.encoded), as: .backup)
    }
}
