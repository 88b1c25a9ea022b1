package import CofferCore
internal import CofferMemory

/// What a check found.
package struct CheckOutcome: Sendable {
    /// What is wrong; none if all is as it was written.
    package fileprivate(set) var findings: [RepositoryFinding] = []
    /// More findings, beyond those that are listed.
    package fileprivate(set) var unlistedCount = 0
    /// The snapshots whose lists were read.
    package fileprivate(set) var snapshotCount = 0
    /// The packs, and their bytes.
    package fileprivate(set) var packCount = 0
    package fileprivate(set) var byteCount: Int64 = 0
    /// The bytes of packs that were read and verified.
    package fileprivate(set) var readByteCount: Int64 = 0

    fileprivate mutating func add(_ finding: RepositoryFinding) {
        if findings.count < Limits.backupFindings { findings.append(finding) } else { unlistedCount += 1 }
    }
}

extension Repository {
    /// Checks that every snapshot can be restored.
    ///
    /// - Parameters:
    ///   - isReadingData: Whether each byte of the packs is read and verified.
    ///   - newest: The newest snapshot that the vault remembers.
    ///   - progress: Called after each pack, and after each snapshot.
    package func check(
        isReadingData: Bool,
        newest: SnapshotReference? = nil,
        progress: (RepositoryProgress) -> Void = { _ in }
    ) throws(CofferError) -> CheckOutcome {
        let lock = try storage.lock(.read)
        defer { withExtendedLifetime(lock) {} }
        let chain = try chain(newest: newest)
        var check = RepositoryCheck(self, try RepositoryContents(self))
        for finding in chain.findings { check.outcome.add(finding) }
        if isReadingData { try check.readPacks(progress) }
        try check.readLists(chain.snapshots)
        return check.outcome
    }
}

private struct RepositoryCheck {
    private let repository: Repository
    private let contents: RepositoryContents
    /// Chunks that are not as they were written.
    private var lost: Set<ChunkID> = []
    var outcome = CheckOutcome()

    init(_ repository: Repository, _ contents: RepositoryContents) {
        self.repository = repository
        self.contents = contents
        for finding in contents.findings { outcome.add(finding) }
        outcome.packCount = contents.packs.count
        outcome.byteCount = contents.packs.values.reduce(0, +)
    }

    // MARK: Packs

    mutating func readPacks(_ progress: (RepositoryProgress) -> Void) throws(CofferError) {
        var state = RepositoryProgress(
            totalByteCount: outcome.byteCount,
            totalFileCount: Int64(contents.packs.count)
        )
        for (id, byteCount) in contents.packs {
            try readPack(id, byteCount)
            state.fileCount += 1
            state.byteCount += byteCount
            progress(state)
        }
        outcome.readByteCount = state.byteCount
    }

    private mutating func readPack(_ id: ItemID, _ byteCount: Int64) throws(CofferError) {
        let name = BackupFormat.name(ofPack: id)
        let storage = repository.storage
        var chunks: [PackRecord.Chunk] = []
        do throws(CofferError) {
            chunks = try PackRecord(of: id, byteCount, under: repository.key.key) {
                (offset, count) throws(CofferError) in
                try storage.read(name, at: offset, count)
            }
            .chunks
        } catch  where error == CofferError(.decode, "") {
            chunks = indexed(id)
            if chunks.isEmpty && !repository.configuration.isAppendOnly {
                outcome.add(RepositoryFinding("\(error.message); no snapshot refers to it, and a prune removes it"))
            } else if !chunks.isEmpty {
                outcome.add(RepositoryFinding(error.message))
            }
        }
        var offset = Int64(PackRecord.headerBytes)
        for chunk in chunks {
            let bytes = try storage.read(name, at: offset, Int(chunk.byteCount)) ?? []
            if repository.key.id(of: bytes) != chunk.id {
                outcome.add(RepositoryFinding("\(quotedForDisplay(name)) is damaged at byte \(offset)"))
                lost.insert(chunk.id)
            }
            offset += Int64(chunk.byteCount)
        }
    }

    /// What the index says about a pack.
    private func indexed(_ id: ItemID) -> [PackRecord.Chunk] {
        guard let pack = contents.index.packs.firstIndex(of: id) else { return [] }
        return contents.index.ids.indices.filter { contents.index.places[$0].pack == pack }.map {
            PackRecord.Chunk(id: contents.index.ids[$0], byteCount: contents.index.places[$0].byteCount)
        }
    }

    // MARK: Lists

    mutating func readLists(_ snapshots: [Snapshot]) throws(CofferError) {
        // Of a list that several snapshots have, the newest names what is wrong.
        var seen: Set<ChunkID> = []
        var bad: Set<ChunkID> = []
        for snapshot in snapshots.reversed() {
            for id in snapshot.listIDs {
                let isNew = seen.insert(id).inserted
                if isNew, try !readList(id, of: snapshot) { bad.insert(id) }
                if !isNew && bad.contains(id) {
                    outcome.add(RepositoryFinding("snapshot \(snapshot.reference.number) needs the same"))
                }
            }
            outcome.snapshotCount += 1
        }
    }

    /// - Returns: Whether all that it names is there.
    private mutating func readList(_ id: ChunkID, of snapshot: Snapshot) throws(CofferError) -> Bool {
        let number = snapshot.reference.number
        let entries: [FileEntry]
        do throws(CofferError) {
            let bytes = try contents.reader.chunk(id, upTo: Limits.largestFileListBytes, of: "a list of files")
            entries = try FileEntry.all(in: bytes)
        } catch  where error == CofferError(.decode, "") {
            outcome.add(RepositoryFinding("snapshot \(number): \(error.message)"))
            return false
        }
        var isWhole = true
        for entry in entries {
            guard let finding = finding(entry) else { continue }
            let file = quotedForDisplay(entry.path)
            outcome.add(RepositoryFinding("snapshot \(number): \(file) can't be restored: \(finding)"))
            isWhole = false
        }
        return isWhole
    }

    private func finding(_ entry: FileEntry) -> String? {
        for (index, id) in entry.chunks.enumerated() {
            guard let place = contents.index.place(of: id) else { return "a part of it is missing" }
            if lost.contains(id) { return "a part of it is damaged" }
            if Int(place.byteCount) != entry.byteCount(ofChunk: index) { return "a part of it has another size" }
        }
        return nil
    }
}
