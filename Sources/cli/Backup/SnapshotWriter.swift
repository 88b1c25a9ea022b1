package import CofferCore
package import CofferSystem

/// Adds a snapshot to a repository.
///
/// If it ends without ``finish(sign:)``, by an error or a kill, the next one finds what it has stored.
package final class SnapshotWriter {
    /// What was wrong in the repository before: the snapshot is made all the same, and the user has to be notified.
    package let findings: [RepositoryFinding]
    /// The files so far.
    package var fileCount: Int64 { list.fileCount }
    /// Their bytes.
    package var byteCount: Int64 { list.byteCount }
    /// The bytes that were read, and not taken over from the previous snapshot.
    package private(set) var readByteCount: Int64 = 0
    /// The bytes that the repository did not have.
    package var addedByteCount: Int64 { store.addedByteCount }

    /// The snapshot whose files can be taken over; `nil` for none.
    package var base: SnapshotReference? { former.snapshot }

    private let repository: Repository
    private var lock: (any RepositoryLock)?
    private var former: FormerFiles
    private let previous: SnapshotReference?
    private let store: ChunkStore
    private var list = FileListWriter()
    private var lastPath = ""
    private var buffer: [UInt8] = []
    private let date = wallClockMilliseconds()

    init(
        _ repository: Repository,
        _ lock: (any RepositoryLock)?,
        _ chain: SnapshotChain,
        newest: SnapshotReference?
    ) throws(CofferError) {
        let contents = try RepositoryContents(repository)
        self.repository = repository
        findings = chain.findings + contents.findings
        let last = chain.links.last?.reference
        previous = (newest?.number ?? 0) > (last?.number ?? 0) ? newest : last
        former = FormerFiles(chain.snapshots.last, contents.reader)
        self.lock = lock
        store = ChunkStore(
            repository.storage,
            repository.configuration.id,
            repository.key,
            contents.index,
            unindexed: contents.unindexed
        ) { [weak lock] () throws(CofferError) in
            try lock?.refresh()
        }
    }

    /// Adds a file; it is opened and read only if the previous snapshot does not prove what is in it.
    ///
    /// - Parameters:
    ///   - file: The file; paths come in the order of their bytes.
    ///   - open: Opens it for reading.
    /// - Throws: `io` if it has fewer bytes than was said.
    package func add(
        _ file: SnapshotFile,
        open: () throws(CofferError) -> OwnedDescriptor
    ) throws(CofferError) {
        precondition(FileEntry.isAllowed(file.path), "paths are those of a state directory")
        precondition(lastPath.utf8.lexicographicallyPrecedes(file.path.utf8), "paths come in their order")
        lastPath = file.path
        if let entry = former.entry(of: file, keptIn: store) { return try list.add(entry, to: store) }
        try list.add(try read(file, try open()), to: store)
    }

    /// Takes all files of ``base`` over, as the vault says that nothing has changed.
    ///
    /// - Returns: Whether the repository has all of them. If not, no file was added.
    package func addUnchanged() throws(CofferError) -> Bool {
        precondition(lastPath.isEmpty, "either all files are taken over, or each is added")
        guard try addFormerFiles() else {
            list = FileListWriter()
            former.rewind()
            return false
        }
        return true
    }

    private func addFormerFiles() throws(CofferError) -> Bool {
        guard var files = former.list else { return false }
        while true {
            let entry: FileEntry?
            do throws(CofferError) { entry = try files.nextFile() } catch  where error == CofferError(.decode, "") {
                return false
            }
            guard let entry else { return fileCount > 0 }
            guard entry.chunks.allSatisfy(store.has) else { return false }
            try list.add(entry, to: store)
        }
    }

    private func read(_ file: SnapshotFile, _ source: consuming OwnedDescriptor) throws(CofferError) -> FileEntry {
        let chunkBytes = FileEntry.chunkBytes(for: file.byteCount, isImmutable: file.isImmutable)
        var chunks: [ChunkID] = []
        var offset: Int64 = 0
        while offset < file.byteCount {
            let count = Int(min(Int64(chunkBytes), file.byteCount - offset))
            chunks.append(try readChunk(source, at: offset, count, of: file.path))
            offset += Int64(count)
        }
        readByteCount += file.byteCount
        return FileEntry(file, chunkBytes: chunkBytes, chunks)
    }

    private func readChunk(
        _ source: borrowing OwnedDescriptor,
        at offset: Int64,
        _ count: Int,
        of path: String
    ) throws(CofferError) -> ChunkID {
        // It has one owner while it is filled, so that it is not copied.
        var buffer = self.buffer.count >= count ? self.buffer : [UInt8](repeating: 0, count: count)
        self.buffer = []
        defer { self.buffer = buffer }
        let outcome = unsafe buffer.withUnsafeMutableBytes { all in
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: all[..<count])
            return Result { () throws(SystemError) in unsafe try source.read(into: part, at: offset) }
        }
        let done: Int
        do throws(SystemError) {
            done = try outcome.get()
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
        guard done == count else {
            throw CofferError(.io, "\(quotedForDisplay(path)) became shorter while it was read", hint: "try again")
        }
        return try unsafe store.put(buffer.span.bytes.extracting(0..<count), in: .data)
    }

    /// Completes the snapshot: it exists when this returns.
    ///
    /// - Parameter sign: Has the vault sign `signedMessage` of the reference.
    /// - Returns: The snapshot.
    package func finish(
        sign: (SnapshotReference) throws(CofferError) -> [UInt8]
    ) throws(CofferError) -> Snapshot {
        try list.finish(store)
        try store.finish()
        let snapshot = try Snapshot(
            repository.configuration,
            repository.key,
            after: previous,
            date: date,
            list,
            sign: sign
        )
        try repository.storage.write(snapshot.name, snapshot.bytes)
        lock = nil
        return snapshot
    }
}
