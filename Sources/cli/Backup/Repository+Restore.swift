package import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// How far a restore, a check or a prune is.
package struct RepositoryProgress: Sendable {
    /// The bytes that are done.
    package var byteCount: Int64 = 0
    /// The bytes of all.
    package var totalByteCount: Int64
    /// The files, packs or snapshots that are done.
    package var fileCount: Int64 = 0
    /// The number of all of them.
    package var totalFileCount: Int64
}

/// What was restored.
package struct RestoreOutcome: Sendable {
    /// The files that are there now, verified.
    package fileprivate(set) var fileCount: Int64 = 0
    /// Their bytes.
    package fileprivate(set) var byteCount: Int64 = 0
    /// Those of them that were there before, from a restore that was interrupted.
    package fileprivate(set) var keptFileCount: Int64 = 0
    /// Files that can't be restored, each named, and why.
    package fileprivate(set) var findings: [RepositoryFinding] = []
}

extension Repository {
    /// Restores the files of a snapshot, each of which appears whole and verified, or not at all.
    ///
    /// It can be interrupted and repeated: files that are there, and are those of the snapshot, are kept. When it
    /// returns, all are synced.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - path: The directory, which is created if it is missing. Other files in it stay.
    ///   - selected: Whether a file is restored, by its path in the state directory.
    ///   - progress: Called after each file.
    /// - Returns: What was restored, and what can't be.
    /// - Throws: If the target can't be written, or the list of files can't be read.
    package func restore(
        _ snapshot: Snapshot,
        into path: String,
        where selected: (String) -> Bool = { _ in true },
        progress: (RepositoryProgress) -> Void = { _ in }
    ) throws(CofferError) -> RestoreOutcome {
        let lock = try storage.lock(.read)
        defer { withExtendedLifetime(lock) {} }
        let contents = try RepositoryContents(self)
        let target = try RestoreTarget(path, contents.reader, key)
        var files = FileListReader(snapshot.listIDs, contents.reader)
        var outcome = RestoreOutcome()
        var state = RepositoryProgress(totalByteCount: snapshot.byteCount, totalFileCount: snapshot.fileCount)
        while let file = try files.nextFile() {
            if selected(file.path) { try outcome.add(file, to: target) }
            state.fileCount += 1
            state.byteCount += file.byteCount
            progress(state)
        }
        try target.finish()
        return outcome
    }
}

extension RestoreOutcome {
    fileprivate mutating func add(_ file: FileEntry, to target: RestoreTarget) throws(CofferError) {
        do throws(CofferError) {
            if try target.restore(file) { keptFileCount += 1 }
            fileCount += 1
            byteCount += file.byteCount
        } catch  where error == CofferError(.decode, "") {
            findings.append(RepositoryFinding(error.message))
        }
    }
}

/// The directory that is restored into.
private final class RestoreTarget {
    private let path: String
    private let tree: OutputTree
    private let chunks: ChunkReader
    private let key: RepositoryKey

    init(_ path: String, _ chunks: ChunkReader, _ key: RepositoryKey) throws(CofferError) {
        self.path = path
        self.chunks = chunks
        self.key = key
        do throws(SystemError) {
            tree = try OutputTree(making: path)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(path))")
        }
    }

    /// Restores a file.
    ///
    /// - Returns: Whether it was there.
    func restore(_ file: FileEntry) throws(CofferError) -> Bool {
        guard let pending = try onTarget(file, begin) else { return true }
        try write(file, to: pending)
        try onTarget(file) { (_) throws(SystemError) in try pending.finish(isSynced: false) }
        return false
    }

    private func onTarget<Value>(
        _ file: FileEntry,
        _ body: (FileEntry) throws(SystemError) -> Value
    ) throws(CofferError) -> Value {
        do throws(SystemError) {
            return try body(file)
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(file.path)) in \(quotedForDisplay(path))")
        }
    }

    /// - Returns: The file to write; `nil` if it is there.
    private func begin(_ file: FileEntry) throws(SystemError) -> PendingFile? {
        let components = file.path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if let present = try tree.fileIfPresent(components), try has(file, present) { return nil }
        return try tree.file(components, .isReplaced, isRemovedWhenKilled: false)
    }

    /// Whether the bytes of a file are the right ones.
    private func has(_ file: FileEntry, _ source: borrowing OwnedDescriptor) throws(SystemError) -> Bool {
        guard Int64(try source.status().st_size) == file.byteCount else { return false }
        for (index, id) in file.chunks.enumerated() {
            let bytes = try source.bytes(file.byteCount(ofChunk: index), at: Int64(index) * Int64(file.chunkBytes))
            if key.id(of: bytes) != id { return false }
        }
        return true
    }

    private func write(_ file: FileEntry, to pending: PendingFile) throws(CofferError) {
        for (index, id) in file.chunks.enumerated() {
            let count = file.byteCount(ofChunk: index)
            let bytes = try chunks.chunk(id, upTo: count, of: quotedForDisplay(file.path))
            guard bytes.count == count else {
                throw .damaged(object: file.path, "a part of it has another size")
            }
            try onTarget(file) { (_) throws(SystemError) in try unsafe pending.write(all: bytes.span.bytes) }
        }
    }

    func finish() throws(CofferError) {
        do throws(SystemError) {
            try tree.synchronizeFileSystem()
        } catch {
            throw error.cofferError("can't sync \(quotedForDisplay(path))")
        }
    }
}
