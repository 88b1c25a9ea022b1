package import CofferCore

/// Writes the list of a snapshot's files, in chunks.
///
/// A chunk ends behind an entry that the name of its file selects. So the list of the next snapshot has the same chunks,
/// except those in which files were added, changed or removed.
struct FileListWriter {
    private var writer = ByteWriter(capacity: Limits.fileListBytes)
    private(set) var ids: [ChunkID] = []
    private(set) var fileCount: Int64 = 0
    private(set) var byteCount: Int64 = 0

    /// Appends a file.
    mutating func add(_ entry: FileEntry, to store: ChunkStore) throws(CofferError) {
        entry.write(to: &writer)
        fileCount += 1
        byteCount += entry.byteCount
        if Self.isEnd(entry.path) || writer.bytes.count >= Limits.fileListBytes { try cut(store) }
    }

    /// Writes the last chunk.
    mutating func finish(_ store: ChunkStore) throws(CofferError) { if !writer.bytes.isEmpty { try cut(store) } }

    private mutating func cut(_ store: ChunkStore) throws(CofferError) {
        guard ids.count < Limits.snapshotBytes / ChunkID.byteCount - 16 else {
            throw CofferError(.dataTooLarge, "the vault has more files than a snapshot can list")
        }
        let bytes = writer.bytes
        ids.append(try unsafe store.put(bytes.span.bytes, in: .lists))
        writer = ByteWriter(capacity: Limits.fileListBytes)
    }

    /// One path in 512, by a hash that needs no secret.
    private static func isEnd(_ path: String) -> Bool {
        let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (hash ^ hash >> 32) % 512 == 0
    }
}

extension FileEntry {
    /// The entries of one chunk of a list.
    ///
    /// - Throws: `decode` if one has a value that none can have, or they are not in order.
    package static func all(in bytes: [UInt8]) throws(CofferError) -> [FileEntry] {
        var reader = ByteReader(bytes)
        var entries: [FileEntry] = []
        while !reader.isAtEnd {
            let entry = try next(&reader, after: entries.last?.path ?? "")
            entries.append(entry)
        }
        return entries
    }

    fileprivate static func next(
        _ reader: inout ByteReader,
        after path: String
    ) throws(CofferError) -> FileEntry {
        let entry: FileEntry
        do { entry = try FileEntry(&reader) } catch { throw .damagedList("an entry has a value that none can have") }
        guard path.utf8.lexicographicallyPrecedes(entry.path.utf8) else {
            throw .damagedList("its entries are not in order")
        }
        return entry
    }
}

/// Reads the files of a snapshot, one after another.
struct FileListReader {
    private let ids: [ChunkID]
    private let chunks: ChunkReader
    private var next = 0
    private var reader = ByteReader([])
    private var lastPath = ""
    private var pending: FileEntry?

    init(_ ids: [ChunkID], _ chunks: ChunkReader) {
        self.ids = ids
        self.chunks = chunks
    }

    /// The next file; `nil` at the end.
    ///
    /// - Throws: `decode` if the list can't be read.
    mutating func nextFile() throws(CofferError) -> FileEntry? {
        if let pending {
            self.pending = nil
            return pending
        }
        while reader.isAtEnd {
            guard next < ids.count else { return nil }
            let bytes = try chunks.chunk(ids[next], upTo: Limits.largestFileListBytes, of: "a list of files")
            next += 1
            reader = ByteReader(bytes)
        }
        let entry = try FileEntry.next(&reader, after: lastPath)
        lastPath = entry.path
        return entry
    }

    /// The file of a path, if the list has it; earlier ones are passed over.
    mutating func file(at path: String) throws(CofferError) -> FileEntry? {
        while let entry = try nextFile() {
            if entry.path.utf8.elementsEqual(path.utf8) { return entry }
            if path.utf8.lexicographicallyPrecedes(entry.path.utf8) {
                pending = entry
                return nil
            }
        }
        return nil
    }
}

extension CofferError {
    fileprivate static func damagedList(_ finding: String) -> CofferError {
        CofferError(
            .decode,
            "a list of files of the repository is damaged: \(finding)",
            hint: "restore another snapshot: 'coffer backup list' has them"
        )
    }
}
