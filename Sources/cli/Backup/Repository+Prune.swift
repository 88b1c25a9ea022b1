package import CofferCore
internal import CofferMemory

/// What a prune did.
package struct PruneOutcome: Sendable {
    /// The packs that were removed, and their bytes.
    package fileprivate(set) var removedPackCount = 0
    package fileprivate(set) var removedByteCount: Int64 = 0
    /// The bytes that were written again, in packs without gaps.
    package fileprivate(set) var writtenByteCount: Int64 = 0
}

extension Repository {
    /// Removes chunks that no snapshot refers to.
    ///
    /// Packs that no snapshot needs go first, so that a full disk has room again. What is needed of the others is written
    /// anew and indexed before they are removed: after a crash at any instant, every snapshot can be restored, and the
    /// next prune goes on.
    ///
    /// - Parameter progress: Called after each pack that is written anew or removed.
    /// - Throws: `param` in a repository that is append-only; `decode` if a snapshot or its list can't be read, because
    ///   what it needs is not known.
    package func prune(progress: (RepositoryProgress) -> Void = { _ in }) throws(CofferError) -> PruneOutcome {
        try requireRemoval("prune")
        let lock = try storage.lock(.remove)
        defer { withExtendedLifetime(lock) {} }
        let chain = try chain()
        if let name = chain.unreadable.first {
            throw CofferError(
                .decode,
                "can't prune: \(quotedForDisplay(name)) can't be read, so what it needs is not known",
                hint: "move that file out of the repository, if 'coffer backup check' says that it is lost"
            )
        }
        let contents = try RepositoryContents(self)
        let needed = try NeededChunks(chain.snapshots, contents)
        var prune = RepositoryPrune(self, contents, needed)
        // On a full disk, this is what makes room for the rest.
        try prune.removeUnneeded(progress)
        try prune.rewrite(lock, progress)
        try prune.replaceIndexes()
        try prune.removeRewritten(progress)
        let folders = [BackupFormat.indexes, BackupFormat.snapshots, BackupFormat.forgotten]
        for folder in BackupFormat.packFolders + folders { try storage.removeLeftovers(in: folder) }
        return prune.outcome
    }
}

/// The chunks that snapshots refer to.
private struct NeededChunks {
    /// By the numbers of the index.
    private(set) var isNeeded: [Bool]
    /// Of them, the lists of files.
    private(set) var lists: Set<ChunkID> = []

    init(_ snapshots: [Snapshot], _ contents: RepositoryContents) throws(CofferError) {
        isNeeded = Array(repeating: false, count: contents.index.count)
        for snapshot in snapshots {
            for id in snapshot.listIDs where lists.insert(id).inserted {
                mark(id, contents.index)
                let bytes = try contents.reader.chunk(id, upTo: Limits.largestFileListBytes, of: "a list of files")
                for entry in try FileEntry.all(in: bytes) { for chunk in entry.chunks { mark(chunk, contents.index) } }
            }
        }
    }

    private mutating func mark(_ id: ChunkID, _ index: ChunkIndex) {
        if let number = index.number(of: id) { isNeeded[number] = true }
    }
}

private struct RepositoryPrune {
    private let repository: Repository
    private let contents: RepositoryContents
    private let needed: NeededChunks
    /// Packs without a needed chunk, those without an index and a table included.
    private var unneeded: Set<ItemID> = []
    /// Packs whose needed chunks are written anew.
    private var rewrittenPacks: Set<ItemID> = []
    /// Their numbers.
    private var rewritten: Set<UInt32> = []
    private var removed: Set<ItemID> { unneeded.union(rewrittenPacks) }
    /// The indexes that exist now.
    private var indexNames: [String]
    var outcome = PruneOutcome()

    init(_ repository: Repository, _ contents: RepositoryContents, _ needed: NeededChunks) {
        self.repository = repository
        self.contents = contents
        self.needed = needed
        indexNames = contents.indexNames
        choose()
    }

    /// Decides what happens to each pack.
    private mutating func choose() {
        let index = contents.index
        var neededBytes = [Int64](repeating: 0, count: index.packs.count)
        for number in index.ids.indices where needed.isNeeded[number] {
            neededBytes[Int(index.places[number].pack)] += Int64(index.places[number].byteCount)
        }
        let numbers = Dictionary(uniqueKeysWithValues: index.packs.enumerated().map { ($1, $0) })
        var small: [(id: ItemID, number: UInt32)] = []
        for (id, byteCount) in contents.packs {
            let bytes = numbers[id].map { neededBytes[$0] } ?? 0
            guard bytes > 0, let number = numbers[id] else {
                unneeded.insert(id)
                continue
            }
            if (byteCount - bytes) * 100 >= byteCount * Int64(Limits.unusedPercent) {
                rewrittenPacks.insert(id)
                rewritten.insert(UInt32(number))
            } else if byteCount < Limits.packBytes / 4 {
                small.append((id, UInt32(number)))
            }
        }
        // Many small backups leave many small packs.
        guard small.count >= Limits.packsPerIndex else { return }
        for pack in small {
            rewrittenPacks.insert(pack.id)
            rewritten.insert(pack.number)
        }
    }

    // MARK: Making room

    /// Removes the packs without a needed chunk.
    ///
    /// An index that names one of them is replaced first. If the disk is too full for that, it is removed without a
    /// replacement, which costs nothing as long as the packs' own tables say the same, and written again afterwards.
    mutating func removeUnneeded(_ progress: (RepositoryProgress) -> Void) throws(CofferError) {
        if unneeded.isEmpty { return }
        var pending: [[PackRecord]] = []
        for name in indexNames {
            guard let records = try records(name) else { continue }
            let kept = records.filter { !unneeded.contains($0.id) }
            if kept.count == records.count { continue }
            if !kept.isEmpty {
                do throws(CofferError) {
                    try writeIndex(of: kept)
                } catch {
                    guard [.diskFull, .io].contains(error.code), try areDescribedByThemselves(kept) else {
                        throw error
                    }
                    pending.append(kept)
                }
            }
            try repository.storage.remove(name)
            indexNames.removeAll { $0 == name }
        }
        try remove(unneeded, progress)
        for records in pending { try writeIndex(of: records) }
    }

    private func records(_ name: String) throws(CofferError) -> [PackRecord]? {
        let bytes = try repository.storage.read(name, at: 0, Limits.backupIndexBytes + 1) ?? []
        return try? IndexObject.records(in: bytes, repository.configuration.id, under: repository.key.key)
    }

    private mutating func writeIndex(of records: [PackRecord]) throws(CofferError) {
        let name = BackupFormat.name(ofIndex: ItemID())
        let bytes = IndexObject.bytes(of: records, repository.configuration.id, under: repository.key.key)
        try repository.storage.write(name, bytes)
        indexNames.append(name)
    }

    private func areDescribedByThemselves(_ records: [PackRecord]) throws(CofferError) -> Bool {
        for record in records { if try !isDescribedByItself(record) { return false } }
        return true
    }

    /// Whether the table of a pack says what an index says.
    private func isDescribedByItself(_ record: PackRecord) throws(CofferError) -> Bool {
        // A missing one is lost with an index and without.
        guard let byteCount = contents.packs[record.id] else { return true }
        do throws(CofferError) {
            let own = try PackRecord(of: record.id, byteCount, under: repository.key.key) {
                (offset, count) throws(CofferError) in
                try repository.storage.read(record.name, at: offset, count)
            }
            return own == record
        } catch  where error == CofferError(.decode, "") {
            return false
        }
    }

    // MARK: Writing

    mutating func rewrite(
        _ lock: (any RepositoryLock)?,
        _ progress: (RepositoryProgress) -> Void
    ) throws(CofferError) {
        let (index, removed) = (contents.index, removed)
        let store = ChunkStore(
            repository.storage,
            repository.configuration.id,
            repository.key,
            ChunkIndex(),
            unindexed: contents.unindexed.filter { !removed.contains($0.id) }
        ) { () throws(CofferError) in
            try lock?.refresh()
        }
        for number in index.ids.indices
        where needed.isNeeded[number] && rewritten.contains(index.places[number].pack) {
            let count = Int(index.places[number].byteCount)
            let bytes = try contents.reader.chunk(index.ids[number], upTo: count, of: "a part of a file")
            let isList = needed.lists.contains(index.ids[number])
            _ = try unsafe store.put(bytes.span.bytes, in: isList ? .lists : .data)
            outcome.writtenByteCount += Int64(count)
            progress(RepositoryProgress(byteCount: outcome.writtenByteCount, totalByteCount: 0, totalFileCount: 0))
        }
        try store.finish()
    }

    /// Replaces the indexes that name a pack which goes, and those that can't be read.
    mutating func replaceIndexes() throws(CofferError) {
        let removed = removed
        for name in indexNames {
            if let records = try records(name) {
                let kept = records.filter { !removed.contains($0.id) && contents.packs[$0.id] != nil }
                if kept.count == records.count { continue }
                if !kept.isEmpty { try writeIndex(of: kept) }
            }
            try repository.storage.remove(name)
        }
    }

    mutating func removeRewritten(_ progress: (RepositoryProgress) -> Void) throws(CofferError) {
        try remove(rewrittenPacks, progress)
    }

    private mutating func remove(
        _ packs: Set<ItemID>,
        _ progress: (RepositoryProgress) -> Void
    ) throws(CofferError) {
        for id in packs {
            try repository.storage.remove(BackupFormat.name(ofPack: id))
            outcome.removedPackCount += 1
            outcome.removedByteCount += contents.packs[id] ?? 0
            progress(
                RepositoryProgress(
                    byteCount: outcome.removedByteCount,
                    totalByteCount: 0,
                    fileCount: Int64(outcome.removedPackCount),
                    totalFileCount: Int64(removed.count)
                )
            )
        }
    }
}
