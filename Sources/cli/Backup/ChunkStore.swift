internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Synchronization

/// Puts chunks that the repository does not have into packs.
final class ChunkStore {
    /// The packs that chunks go into: lists of files are apart, so that a check reads few packs.
    enum Kind {
        case data, lists
    }

    /// A pack that is being written.
    private struct OpenPack {
        var record: PackRecord
        let sink: any ObjectSink
        let number: UInt32
        var byteCount = PackRecord.headerBytes
    }

    private let storage: any RepositoryStorage
    private let repositoryID: ItemID
    private let key: RepositoryKey
    private let index: ChunkIndex
    private let pipeline = SyncPipeline()
    private var data: OpenPack?
    private var lists: OpenPack?
    private var unindexed: [PackRecord]
    /// The bytes that were written into packs.
    private(set) var addedByteCount: Int64 = 0
    /// Called when an index was written.
    private let refresh: () throws(CofferError) -> Void

    /// Makes a store.
    ///
    /// - Parameters:
    ///   - unindexed: Packs that are in no index, but in `index`.
    ///   - refresh: Called every few packs.
    init(
        _ storage: any RepositoryStorage,
        _ repositoryID: ItemID,
        _ key: RepositoryKey,
        _ index: ChunkIndex,
        unindexed: [PackRecord],
        refresh: @escaping () throws(CofferError) -> Void
    ) {
        self.storage = storage
        self.repositoryID = repositoryID
        self.key = key
        self.index = index
        self.unindexed = unindexed
        self.refresh = refresh
    }

    /// Whether the repository has a chunk.
    func has(_ id: ChunkID) -> Bool { index.number(of: id) != nil }

    /// Stores a chunk, unless the repository has it.
    func put(_ chunk: RawSpan, in kind: Kind) throws(CofferError) -> ChunkID {
        let id = ChunkID(of: chunk, under: key.key)
        if !has(id) { try append(chunk, id, kind) }
        return id
    }

    private func append(_ chunk: RawSpan, _ id: ChunkID, _ kind: Kind) throws(CofferError) {
        var pack: OpenPack
        if let open = take(kind) { pack = open } else { pack = try open() }
        try pack.sink.write(chunk)
        let byteCount = UInt32(chunk.byteCount)
        index.add(id, at: ChunkPlace(pack: pack.number, offset: UInt32(pack.byteCount), byteCount: byteCount))
        pack.record.chunks.append(PackRecord.Chunk(id: id, byteCount: byteCount))
        pack.byteCount += chunk.byteCount
        addedByteCount += Int64(chunk.byteCount)
        let isFull = pack.byteCount >= Limits.packBytes || pack.record.chunks.count >= Limits.packChunks
        if isFull { try close(pack) }
        if kind == .data { data = isFull ? nil : pack } else { lists = isFull ? nil : pack }
        if unindexed.count >= Limits.packsPerIndex { try writeIndex() }
    }

    /// The pack, which has no other owner meanwhile: its record is changed in place.
    private func take(_ kind: Kind) -> OpenPack? {
        switch kind {
        case .data:
            defer { data = nil }
            return data
        case .lists:
            defer { lists = nil }
            return lists
        }
    }

    private func open() throws(CofferError) -> OpenPack {
        let record = PackRecord(id: ItemID())
        let sink = try storage.create(record.name)
        try unsafe sink.write(record.header.span.bytes)
        return OpenPack(record: record, sink: sink, number: index.add(pack: record.id))
    }

    private func close(_ pack: OpenPack) throws(CofferError) {
        try unsafe pack.sink.write(pack.record.end(under: key.key).span.bytes)
        try pipeline.finish(pack.sink)
        unindexed.append(pack.record)
    }

    /// Makes everything that was put durable: the packs first, then the index that names them.
    func finish() throws(CofferError) {
        if let data { try close(data) }
        if let lists { try close(lists) }
        (data, lists) = (nil, nil)
        try writeIndex()
    }

    private func writeIndex() throws(CofferError) {
        try pipeline.wait()
        try refresh()
        while !unindexed.isEmpty {
            let records = Array(unindexed.prefix(Limits.packsPerIndex))
            let bytes = IndexObject.bytes(of: records, repositoryID, under: key.key)
            try storage.write(BackupFormat.name(ofIndex: ItemID()), bytes)
            unindexed.removeFirst(records.count)
        }
    }
}

/// Syncs packs on other threads while the next ones are written.
private final class SyncPipeline: Sendable {
    private let free = CountingSemaphore(Limits.packsInFlight)
    private let failure = Mutex<CofferError?>(nil)
    private let pool = WorkerPool(limit: Limits.packsInFlight)

    /// Has an object finished, once fewer than so many are.
    func finish(_ sink: any ObjectSink) throws(CofferError) {
        free.wait()
        if let error = failure.withLock({ $0 }) {
            free.signal()
            throw error
        }
        let work: @Sendable () -> Void = { [self] in
            do throws(CofferError) {
                try sink.finish()
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
            free.signal()
        }
        if !pool.start(work) { work() }
    }

    /// Waits until all are finished.
    func wait() throws(CofferError) {
        for _ in 0..<Limits.packsInFlight { free.wait() }
        for _ in 0..<Limits.packsInFlight { free.signal() }
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
