internal import CofferCore
package import CofferKeys
internal import CofferSystem
internal import CofferWire

/// What a vault records of its backup, sealed, so that it can be read and written in every state.
struct BackupRecord {
    private static let versions: ClosedRange<UInt8> = 1...2

    /// Where the repository is, for people to read.
    var repository: String
    /// After how many seconds without a snapshot the client warns; 0 for never.
    var warnAfterSeconds: Int64
    /// When the last snapshot was stored, in milliseconds since 1970; `nil` if none was.
    var completed: Int64?
    /// The newest snapshot that was stored.
    var newest: BackupReference?
    /// The digest of the configuration of the repository, in hexadecimal digits.
    var configuration: String?
    /// When a backup failed, and why; `nil` if the last one succeeded.
    var failure: (date: Int64, reason: String)?

    init(repository: String, warnAfterSeconds: Int64) {
        self.repository = repository
        self.warnAfterSeconds = warnAfterSeconds
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.versions.upperBound)
        writer.write(completed ?? 0)
        writer.write(warnAfterSeconds)
        writer.write(UInt16(repository.utf8.count))
        writer.write(raw: Array(repository.utf8))
        writer.write(newest?.number ?? 0)
        if let newest { writer.write(raw: newest.digest) }
        Self.write(configuration ?? "", &writer)
        writer.write(failure?.date ?? 0)
        Self.write(failure?.reason ?? "", &writer)
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        let version: UInt8 = try reader.read()
        guard Self.versions.contains(version) else { throw ByteReader.Malformed() }
        let completed: Int64 = try reader.read()
        self.completed = completed == 0 ? nil : completed
        warnAfterSeconds = try reader.read()
        let count = Int(try reader.read(UInt16.self))
        repository = String(decoding: try reader.readRaw(count), as: UTF8.self)
        let number: Int64 = try reader.read()
        if number != 0 {
            newest = BackupReference(number: number, digest: Array(try reader.readRaw(Limits.snapshotDigestBytes)))
        }
        if version > 1 {
            let configuration = try Self.readText(&reader)
            self.configuration = configuration.isEmpty ? nil : configuration
            let date: Int64 = try reader.read()
            let reason = try Self.readText(&reader)
            if date != 0 { failure = (date: date, reason: reason) }
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }

    private static func write(_ text: String, _ writer: inout ByteWriter) {
        writer.write(UInt16(clamping: text.utf8.count))
        writer.write(raw: Array(text.utf8.prefix(Int(UInt16.max))))
    }

    private static func readText(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> String {
        let count = Int(try reader.read(UInt16.self))
        return String(decoding: try reader.readRaw(count), as: UTF8.self)
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

    /// When a backup failed, and when the last snapshot was stored; `nil` if the last backup succeeded.
    package func backupFailure(_ keys: VaultKeys) -> (failed: Int64, completed: Int64?)? {
        guard let record = try? backupRecord(keys), let failure = record.failure else { return nil }
        return (failure.date, record.completed)
    }

    /// Stores what is recorded of the backup, within the open transaction.
    func store(_ record: BackupRecord, _ keys: VaultKeys) throws {
        try store(keys.seal(backupRecord: record.encoded), as: .backup)
    }
}
