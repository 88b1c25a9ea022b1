internal import CofferCore

/// What the packs of a repository have.
struct RepositoryContents {
    let index: ChunkIndex
    let reader: ChunkReader
    /// The size of each pack that exists.
    let packs: [ItemID: Int64]
    /// The names of the indexes.
    let indexNames: [String]
    /// Packs that no index names, which a crash left: they are in `index` all the same.
    let unindexed: [PackRecord]
    /// Damaged or missing indexes and packs.
    let findings: [RepositoryFinding]

    /// Reads the indexes, and the ends of the packs that no index names.
    ///
    /// A pack that is missing, or has not the size that the index says, is passed over: its chunks are as if they had
    /// never been stored, so that a backup stores them again.
    init(_ repository: Repository) throws(CofferError) {
        let storage = repository.storage
        packs = try Self.packs(storage)
        let names = try storage.objects(in: BackupFormat.indexes)
        indexNames = names.map { "\(BackupFormat.indexes)/\($0.name)" }
        let bytes = names.reduce(0) { $0 + Int(clamping: $1.byteCount) }
        let index = ChunkIndex(capacity: min(bytes / PackRecord.Chunk.recordBytes, 1 << 20))
        var findings: [RepositoryFinding] = []
        var indexed: Set<ItemID> = []
        for object in names {
            let name = "\(BackupFormat.indexes)/\(object.name)"
            guard let records = try Self.records(name, repository) else {
                let words = "\(quotedForDisplay(name)) is damaged: the packs themselves are scanned"
                findings.append(RepositoryFinding(words))
                continue
            }
            for record in records where indexed.insert(record.id).inserted {
                if let finding = Self.finding(record, packs[record.id]) {
                    findings.append(finding)
                } else {
                    index.add(record)
                }
            }
        }
        (unindexed, self.findings) = try Self.adopt(packs, except: indexed, repository, findings)
        for record in unindexed { index.add(record) }
        self.index = index
        reader = ChunkReader(storage, index, repository.key)
    }

    private static func packs(_ storage: any RepositoryStorage) throws(CofferError) -> [ItemID: Int64] {
        var packs: [ItemID: Int64] = [:]
        for folder in BackupFormat.packFolders {
            for object in try storage.objects(in: folder) {
                guard let id = ItemID(hexadecimal: object.name), folder.hasSuffix("/\(object.name.prefix(2))") else {
                    continue
                }
                packs[id] = object.byteCount
            }
        }
        return packs
    }

    private static func records(_ name: String, _ repository: Repository) throws(CofferError) -> [PackRecord]? {
        guard let bytes = try repository.storage.read(name, at: 0, Limits.backupIndexBytes + 1),
            bytes.count <= Limits.backupIndexBytes
        else { return nil }
        return try? IndexObject.records(in: bytes, repository.configuration.id, under: repository.key.key)
    }

    private static func finding(_ record: PackRecord, _ byteCount: Int64?) -> RepositoryFinding? {
        guard let byteCount else { return RepositoryFinding("\(quotedForDisplay(record.name)) is missing") }
        if byteCount == record.packBytes { return nil }
        return RepositoryFinding(
            "\(quotedForDisplay(record.name)) has \(byteCount) bytes instead of \(record.packBytes)"
        )
    }

    /// The packs that no index names.
    private static func adopt(
        _ packs: [ItemID: Int64],
        except indexed: Set<ItemID>,
        _ repository: Repository,
        _ findings: [RepositoryFinding]
    ) throws(CofferError) -> ([PackRecord], [RepositoryFinding]) {
        var records: [PackRecord] = []
        for (id, byteCount) in packs where !indexed.contains(id) {
            do throws(CofferError) {
                let record = try PackRecord(of: id, byteCount, under: repository.key.key) {
                    (offset, count) throws(CofferError) in
                    try repository.storage.read(BackupFormat.name(ofPack: id), at: offset, count)
                }
                records.append(record)
            } catch  where error == CofferError(.decode, "") {
                // What a crash left of a pack, on a storage without a rename: no snapshot can refer to it.
                continue
            }
        }
        return (records, findings)
    }
}
